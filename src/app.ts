/**
 * The composition root: the one place where factories are called and handed to each other. Ports come in, the HTTP
 * application, the services and the way to stop come out. Nothing here knows argv, environment or signals.
 */
import { join } from 'node:path'
import { Elysia, t } from 'elysia'
import { createRaiser } from './alerts/raise.ts'
import { alertRoutes } from './alerts/routes.ts'
import { createAlerts } from './alerts/service.ts'
import { createAlertStore } from './alerts/store.ts'
import { createWatch } from './alerts/watch.ts'
import { createWatchStore } from './alerts/watch.store.ts'
import { createAnchors } from './audit/anchors.ts'
import { anchorRoutes } from './audit/anchors.routes.ts'
import { createAnomalies } from './audit/anomalies.ts'
import { createAnomalyStore } from './audit/anomalies.store.ts'
import { createBundles } from './audit/bundles.ts'
import { createCheckpointFile } from './audit/checkpoint-file.ts'
import { createCheckpointStore } from './audit/checkpoint-store.ts'
import { createCheckpoints } from './audit/checkpoints.ts'
import { createErasure } from './audit/erase.ts'
import { createNightly } from './audit/nightly.ts'
import { createPrune } from './audit/prune.ts'
import { createProof } from './audit/proof.ts'
import { auditProofRoutes } from './audit/proof.routes.ts'
import { createAuditService } from './audit/service.ts'
import { openSigner, SIGNING_KEY_FILE } from './audit/signer.ts'
import type { Walker } from './audit/walk.ts'
import { createAuditStore } from './audit/store.ts'
import { createDenials } from './audit/denials.ts'
import { auditRoutes } from './audit/routes.ts'
import type { SettingView } from './config.ts'
import type { OpenedDb } from './db/open.ts'
import { createCompliance } from './domains/compliance.ts'
import { domainRoutes } from './domains/routes.ts'
import { createDomains } from './domains/service.ts'
import { createAnswerCache } from './http/answer-cache.ts'
import { createAuthenticate, createFailures } from './http/auth.ts'
import { clientAddress, fromTrustedProxy } from './http/client-address.ts'
import { problemResponse, toProblem } from './http/errors.ts'
import { createGate } from './http/gate.ts'
import { createGuard } from './http/guard.ts'
import { healthRoutes } from './http/health.ts'
import { createIdempotency } from './http/idempotency.ts'
import { createMetrics } from './http/metrics.ts'
import { createNotFound } from './http/not-found.ts'
import { openApiDocument, type RouteLike } from './http/openapi.ts'
import { op } from './http/schema.ts'
import { createPager } from './http/pagination.ts'
import { createLive, liveRoutes } from './http/live.ts'
import { createLimiter } from './http/rate-limit.ts'
import { createReference } from './http/reference.ts'
import { findState, stateOf } from './http/request.ts'
import { instanceRoutes, type InstancePorts } from './instance/routes.ts'
import { createKeyring } from './lib/crypto.ts'
import { createCursors } from './lib/cursor.ts'
import type { Clock } from './lib/clock.ts'
import { type Cidr, isLoopback, parseIp } from './lib/ip.ts'
import type { Log } from './lib/log.ts'
import { createKeys } from './keys/service.ts'
import { createKeyStore } from './keys/store.ts'
import { keyRoutes } from './keys/routes.ts'
import type { DnsResolver } from './net/dns.ts'
import type { Mailer } from './net/mail-out.ts'
import type { Egress } from './net/http.ts'
import { createMail } from './notifications/mail.ts'
import { createNotifier } from './notifications/notifier.ts'
import { mailRoutes, notificationRoutes } from './notifications/routes.ts'
import { createNotifications } from './notifications/service.ts'
import { createNotificationStore } from './notifications/store.ts'
import { createSyslog } from './net/syslog.ts'
import { createBlobs } from './reports/blobs.ts'
import { domainFigureRoutes, figureRoutes } from './reports/figures.routes.ts'
import { countIngest } from './reports/counted.ts'
import { createIngest } from './reports/ingest.ts'
import { createMaintenance } from './reports/maintenance.ts'
import { otherReportRoutes } from './reports/others.routes.ts'
import { createOtherReports } from './reports/others.ts'
import { createReparse } from './reports/reparse.ts'
import { reportRoutes } from './reports/routes.ts'
import type { NetworkLookup } from './reports/rules/senders.ts'
import { forgetReports } from './reports/retention.ts'
import { createReports } from './reports/service.ts'
import { uploadRoutes } from './reports/upload.routes.ts'
import { createRetention } from './retention/service.ts'
import type { SandboxPool } from './sandbox/types.ts'
import { instanceTenantRoutes, settingsRoutes } from './tenants/routes.ts'
import { createTenants } from './tenants/service.ts'
import { createSetup } from './tenants/setup.ts'
import { createTenantStore } from './tenants/store.ts'
import { authRoutes } from './users/auth.routes.ts'
import { createLinks } from './users/links.ts'
import { createLiveness } from './users/liveness.ts'
import { createLogin } from './users/login.ts'
import { createMe } from './users/me.ts'
import { meRoutes } from './users/me.routes.ts'
import { createMembers } from './users/members.ts'
import { createPasswords } from './users/passwords.ts'
import { instanceUserRoutes, userRoutes } from './users/routes.ts'
import { createSessions } from './users/sessions.ts'
import { createUserStore } from './users/store.ts'
import { createTickets } from './users/tickets.ts'
import { type Asset, createStatic } from './web/static.ts'
import { createWebhookArea } from './webhooks/assembly.ts'
import { deliveryRoutes } from './webhooks/routes.deliveries.ts'
import { webhookRoutes } from './webhooks/routes.ts'

export interface AppPorts {
  clock: Clock
  log: Log
  db: OpenedDb
  data_dir: string
  /** File of the checkpoints of the audit log; in the data folder unless named. */
  checkpoints?: string | null
  /** Who walks long chains of the audit log; in this process unless named. */
  walker?: Walker
  pool: SandboxPool
  resolver: DnsResolver
  /** The way out, to where somebody else says. */
  egress: Egress
  /** The way out for mail, through the server that the operator names. */
  mailer: Mailer
  /** Who announces an address, from the operator's table; null without one. */
  networks: NetworkLookup | null
  /** 32 bytes from `DATA/instance.key`. */
  instance_key: Uint8Array
  version: string
  /** Where people reach the server, without a trailing slash. Known once it listens. */
  baseUrl(): string
  /** The origin that the operator set, if any. */
  base_origin: string | null
  trusted_proxies: readonly Cidr[]
  /** Our own listener speaks TLS. */
  tls: boolean
  settings: readonly SettingView[]
  keepSetupLink(link: string | null): void
  loadAssets(): Promise<readonly Asset[]>
  instance: InstancePorts
}

export type App = Awaited<ReturnType<typeof createApp>>
/** The type that the UI's client is made from. */
export type Http = App['http']

export async function createApp(ports: AppPorts) {
  const { clock, log, db } = ports
  const keyring = createKeyring(ports.instance_key)
  const pager = createPager(createCursors(keyring.derive('cursor')))
  const answers = createAnswerCache({ db, clock })
  const limiter = createLimiter(clock)
  const failures = createFailures(clock)
  const metrics = createMetrics({ version: ports.version, monotonic: () => clock.monotonic() })
  const denials = createDenials({ db, clock })
  const draining = { now: false }

  const audit_store = createAuditStore(db)
  const { instance_id } = db
  const signer = openSigner(join(ports.data_dir, SIGNING_KEY_FILE))
  const checkpoint_file = createCheckpointFile(ports.checkpoints ?? join(ports.data_dir, 'checkpoints.log'))
  const checkpoint_store = createCheckpointStore(db)
  const checkpoints = createCheckpoints({
    db,
    store: checkpoint_store,
    clock,
    signer,
    file: checkpoint_file,
    instance_id,
  })
  await checkpoints.start()
  const proof = createProof({ store: checkpoint_store, file: checkpoint_file, signer, instance_id })
  const audit = createAuditService({
    store: audit_store,
    db,
    instance_id,
    proof,
    ...(ports.walker === undefined ? {} : { walker: ports.walker }),
  })
  const bundles = createBundles({
    db,
    store: audit_store,
    audit,
    checkpoints,
    proof,
    signer,
    clock,
    instance_id,
  })
  const live = createLive({
    onCommit: db.onCommit,
    head: async (tenant_id) => (await audit_store.ends(tenant_id)).last,
    changes: audit_store.changes,
    alive: createLiveness({ db, clock }),
  })
  const user_store = createUserStore(db)
  const tenant_store = createTenantStore(db)
  const passwords = createPasswords()
  const links = createLinks({ store: user_store, clock, baseUrl: ports.baseUrl })
  const tenants = createTenants({
    db,
    store: tenant_store,
    clock,
    invite(tenantId, email, role, created_by) {
      const draft = links.invite(tenantId, email, role, created_by)
      return { writes: [draft.write], link: draft.link }
    },
  })
  const keys = createKeys({ db, store: createKeyStore(db), clock })
  const sessions = createSessions({ db, store: user_store, clock })
  const members = createMembers({ db, store: user_store, clock, links })
  const me = createMe({ db, store: user_store, clock, keyring, passwords })
  const login = createLogin({
    db,
    store: user_store,
    clock,
    keyring,
    passwords,
    sessions,
    failures,
    tickets: createTickets(keyring.derive('ticket')),
    tenantName: async (tenantId) => (await tenant_store.find(tenantId))?.name ?? null,
  })
  const setup = createSetup({
    db,
    clock,
    users: user_store,
    tenants,
    passwords,
    sessions,
    baseUrl: ports.baseUrl,
    keepLink: ports.keepSetupLink,
  })
  await setup.load()

  const alert_store = createAlertStore(db)
  const raiser = createRaiser({ db, store: alert_store, clock })
  const nightly = createNightly({ db, audit, alerts: raiser })
  const anomalies = createAnomalies({
    db,
    store: createAnomalyStore(db),
    clock,
    alerts: raiser,
    networks: ports.networks,
  })
  const alerts = createAlerts({ db, store: alert_store, clock })
  const mail = createMail({ db, clock, keyring, mailer: ports.mailer })
  const anchors = createAnchors({
    db,
    store: checkpoint_store,
    clock,
    egress: ports.egress,
    syslog: createSyslog(),
    mail: mail.send,
    baseUrl: ports.baseUrl,
    instance_id,
    fingerprint: signer.fingerprint,
  })
  const notification_store = createNotificationStore(db)
  const notifications = createNotifications({ db, store: notification_store, clock, mail })
  const notifier = createNotifier({
    db,
    store: notification_store,
    clock,
    notifications,
    mail,
    raiser,
    baseUrl: ports.baseUrl,
  })
  const watch = createWatch({ store: createWatchStore(db), alerts: alert_store, raiser, clock })

  const { egress } = ports
  const hooks = createWebhookArea({
    db,
    clock,
    log,
    keyring,
    egress,
    alerts: raiser,
    denials,
    ended(error_class, ms) {
      metrics.deliveries.add(1, [error_class ?? 'ok'])
      metrics.delivery_duration.observe(ms / 1000)
    },
  })
  metrics.registry.gauge('wardpost_webhook_in_flight', 'Attempts under way.', hooks.dispatcher.inFlight)
  const { webhooks, deliveries } = hooks

  const blobs = createBlobs(ports.data_dir, clock)
  const compliance = createCompliance({ db, clock, raiser })
  const domains = createDomains({ db, clock, resolver: ports.resolver })
  const ingest = countIngest(
    createIngest({ db, clock, blobs, pool: ports.pool, networks: ports.networks }),
    (kind, status) => metrics.ingest_reports.add(1, [kind, status]),
  )
  const reports = createReports({ db, clock, blobs, domains })
  const others = createOtherReports({ db, clock, blobs })
  const prune = createPrune({ db, store: audit_store, proof, signer, clock, instance_id })
  const retention = createRetention({
    db,
    clock,
    forgetReports: (tenant_id, before, signal) => forgetReports(db, tenant_id, before, signal),
    pruneAudit: prune.prune,
  })
  const maintenance = createMaintenance({ db, clock, blobs })
  const reparse = createReparse({ db, blobs, ingest })

  const authenticate = createAuthenticate({
    clock,
    byKey: (token, state) => keys.authenticate(token, state),
    bySession: (cookie, state) => sessions.authenticate(cookie, state),
    base_origin: ports.base_origin,
    failures,
    failed: (ip) => denials.record401(ip),
  })
  const gate = createGate({
    clock,
    limiter,
    authenticate,
    client: clientReader(ports),
    isSetUp: setup.isSetUp,
    isDraining: () => draining.now,
    observe: ({ route, method, status, ms }) => metrics.observe(route, method, status, ms),
    limited(principal, scope) {
      denials.record429(principal.actor, { scope, action: 'request' })
      metrics.rate_limited.add(1, [scope])
    },
  })
  const guard = createGuard({
    idempotency: createIdempotency({ db, clock, keyring }),
    async denied(principal, scope, action) {
      await denials.record403(principal.actor, { action, code: 'insufficient_scope', required_scope: scope })
    },
  })
  const ui = createStatic(ports.loadAssets)
  const reference = createReference(() =>
    openApiDocument(routes, { version: ports.version, server_url: ports.baseUrl() }),
  )
  const page = async (request: Request): Promise<Response> => {
    const found = await ui.serve(request)
    if (found !== null) return found
    throw notFound('GET', stateOf(request).path)
  }
  // Read at the first request, when all routes are there.
  let routes: readonly RouteLike[] = []
  const notFound = createNotFound(() => routes)

  const http = new Elysia({ name: 'wardpost', normalize: false })
    .onError({ as: 'global' }, ({ code, error, request, set }) => {
      const state = findState(request)
      const found =
        code === 'NOT_FOUND' && state !== undefined
          ? notFound(request.method, state.path)
          : toProblem(code, error, log, state?.id ?? '')
      set.status = found.status
      return problemResponse(found, state?.id ?? '', state?.path ?? '/', plainHeaders(set.headers))
    })
    .use(gate)
    .use(
      healthRoutes({
        metrics,
        async notReady() {
          if (draining.now) return 'stopping'
          return db.query('SELECT 1').then(
            () => null,
            () => 'database',
          )
        },
        mayReadMetrics: async (request) => {
          const state = stateOf(request)
          const address = state.ip === null ? null : parseIp(state.ip)
          if (address !== null && isLoopback(address)) return true
          const found = await authenticate(request, state).catch(() => null)
          return found?.scopes.has('instance:read') ?? false
        },
      }),
    )
    .use(
      authRoutes({
        login,
        sessions,
        setup,
        version: ports.version,
        baseUrl: ports.baseUrl,
        base_origin: ports.base_origin,
        isSetUp: setup.isSetUp,
      }),
    )
    .use(meRoutes({ guard, me, sessions, pager }))
    .use(settingsRoutes({ guard, tenants, pager }))
    .use(keyRoutes({ guard, keys, pager }))
    .use(userRoutes({ guard, members, sessions, pager }))
    .use(instanceRoutes({ guard, instance: ports.instance, pager }))
    .use(instanceTenantRoutes({ guard, tenants, pager }))
    .use(instanceUserRoutes({ guard, members, sessions, pager }))
    .use(domainRoutes({ guard, domains, pager, answers }))
    .use(domainFigureRoutes({ guard, reports, pager }))
    .use(figureRoutes({ guard, reports, pager }))
    .use(otherReportRoutes({ guard, others, pager }))
    .use(uploadRoutes({ guard, ingest, tempPath: blobs.tempPath }))
    .use(reportRoutes({ guard, reports, pager, log }))
    .use(webhookRoutes({ guard, webhooks, pager, clock }))
    .use(deliveryRoutes({ guard, deliveries, pager }))
    .use(notificationRoutes({ guard, notifications }))
    .use(mailRoutes({ guard, mail }))
    .use(alertRoutes({ guard, alerts, pager }))
    .use(auditRoutes({ guard, audit, pager }))
    .use(auditProofRoutes({ guard, pager, checkpoints, bundles, erasure: createErasure({ db }) }))
    .use(anchorRoutes({ guard, anchors }))
    .use(liveRoutes({ guard, live }))
    .get('/docs/json', ({ request }) => reference.answer(request), { detail: { hide: true } })
    .get('/setup', ({ request }) => page(request), SETUP_PAGE)
    .get('/*', ({ request }) => page(request), { detail: { hide: true } })

  routes = http.routes

  return {
    http,
    services: {
      tenants,
      keys,
      sessions,
      members,
      me,
      login,
      setup,
      audit,
      checkpoints,
      anchors,
      nightly,
      anomalies,
      domains,
      reports,
      others,
      ingest,
      blobs,
      maintenance,
      retention,
      reparse,
      alerts,
      raiser,
      watch,
      mail,
      notifications,
      notifier,
      compliance,
      hooks,
    },
    denials,
    limiter,
    metrics,
    /** New requests are answered 503 from now on. */
    drain(): void {
      draining.now = true
      live.close()
    },
    /** Begins what works by itself. Not for commands that only look. */
    async start(): Promise<void> {
      await hooks.start()
    },
    /** Writes what is only in memory: last uses, counters of refusals. The database stays open. */
    async close(): Promise<void> {
      live.close()
      await hooks.close()
      await keys.flushUses()
      await denials.flush({ all: true })
      metrics.close()
    },
  }
}

/** The one page that shares its path with an operation of the API. */
const SETUP_PAGE = {
  tags: ['Sign-in'],
  ...op('public', {
    summary: 'The page that a setup link opens',
    answers: { 200: { description: 'The page.', content: { 'text/html': { schema: t.String() } } } },
  }),
}

/** Who the client of a request is, seen through the proxies that the operator named. */
function clientReader(ports: AppPorts) {
  return (request: Request, peer: string | null) => {
    if (peer === null) return { ip: null, secure: ports.tls }
    if (ports.trusted_proxies.length === 0) return { ip: canonical(peer), secure: ports.tls }
    const ip = clientAddress(peer, request.headers.get('x-forwarded-for'), ports.trusted_proxies)
    const proxied = fromTrustedProxy(peer, ports.trusted_proxies)
    return { ip, secure: ports.tls || (proxied && request.headers.get('x-forwarded-proto') === 'https') }
  }
}

/** An IPv4 client on an IPv6 socket is written as IPv4. */
function canonical(peer: string): string {
  return peer.startsWith('::ffff:') ? peer.slice(7) : peer
}

function plainHeaders(headers: object): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
