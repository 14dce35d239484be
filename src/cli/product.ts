/**
 * The product on a data folder, without a listener: what `serve` listens with, and what a command uses by itself when
 * no server runs. Takes the lock of the folder; closing gives everything back in the reverse order.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { type App, createApp } from '../app.ts'
import { createWalkers } from '../audit/walkers.ts'
import type { Config, SettingView } from '../config.ts'
import { createBackups } from '../db/backup.ts'
import { openDb, type OpenedDb } from '../db/open.ts'
import type { LimiterState } from '../http/rate-limit.ts'
import { createScheduler, type Scheduler } from '../jobs/scheduler.ts'
import { wakeOnCommit } from '../jobs/wake.ts'
import { MINUTE_MS, SECOND_MS, systemClock } from '../lib/clock.ts'
import { parseCidr } from '../lib/ip.ts'
import { createLog, type Log } from '../lib/log.ts'
import { createResolver, type DnsResolver, type ResolverOptions } from '../net/dns.ts'
import { createMailer } from '../net/mail-out.ts'
import { createEgressPolicy } from '../net/egress-policy.ts'
import { createEgress, type Egress } from '../net/http.ts'
import { createLookup } from '../net/lookup.ts'
import type { TlsSource } from '../net/tls.ts'
import { createSandboxPool } from '../sandbox/pool.ts'
import { loadAssets } from '../web/assets.ts'
import { createCommands } from './commands.ts'
import { type Dispatch, explain } from './control.ts'
import { createInstance } from './instance.ts'
import { registerJobs } from './jobs.ts'
import { selfCommand } from './self.ts'
import { VERSION } from './version.ts'

export { DataFolderLocked } from '../db/lock.ts'

export interface Product {
  app: App
  db: OpenedDb
  log: Log
  scheduler: Scheduler
  dispatch: Dispatch
  /** The address the server listens on is known only once it does. */
  listensOn(port: number, tls: TlsSource | null): void
  baseUrl: () => string
  /** Clears away what a crash left behind. Before anything new comes in. */
  recover(): Promise<void>
  /** Writes down what is in memory, stops jobs, closes the database and gives back the lock. Once. */
  close(): Promise<void>
}

export interface ProductOptions {
  /** Where log lines go. */
  log: (line: string) => void
  /** A command by itself: no start is recorded, warnings only. */
  quiet: boolean
  /** Other than the settings say: the demo's made-up zone. */
  resolver?: DnsResolver
}

const KEY_BYTES = 32
/** Each may take 256 MB; more bring little, because one process commits. */
const SANDBOX_CHILDREN_MAX = 4
/** For a whole look-up, retries included. */
const DNS_TIMEOUT_MS = 5000

export async function openProduct(
  { config, settings }: { config: Config; settings: SettingView[] },
  options: ProductOptions,
): Promise<Product> {
  // Database, journal and whatever else is made from here on is for the owner alone.
  process.umask(0o077)
  const clock = systemClock
  const log = createLog(options.quiet ? 'warn' : config.log_level, clock, options.log)
  const data_dir = config.data
  const db = openDb({ data_dir, clock })
  let port = config.port
  let tls: TlsSource | null = null
  const baseUrl = (): string => config.base_url ?? urlOf(config, port)
  const backups = createBackups({ data_dir, clock, worker_command: selfCommand('backup-worker') })
  const scheduler = createScheduler({ clock, db, log, holder: `${hostname()}-${process.pid}` })
  const networks = config.asn_db === null ? null : await openNetworks(config.asn_db)
  const resolver =
    options.resolver ?? createResolver({ servers: serversOf(config.resolver), timeout_ms: DNS_TIMEOUT_MS })
  const pool = createSandboxPool({
    command: selfCommand('sandbox'),
    size: sandboxSize(),
    clock,
    onKill(code, pid) {
      log.warn('a child process was ended at its limit', { code, pid })
      app.metrics.sandbox_kills.add(1, [code])
    },
  })
  const app = await createApp({
    clock,
    log,
    db,
    data_dir,
    checkpoints: config.checkpoints,
    walker: createWalkers({
      command: selfCommand('audit-worker'),
      path: join(data_dir, 'wardpost.db'),
      width: Math.min(4, availableParallelism()),
    }),
    pool,
    resolver,
    egress: openEgress(config),
    mailer: createMailer({ ca: authoritiesOf(config) }),
    networks: networks === null ? null : (ip) => networks.lookup(ip),
    instance_key: instanceKey(data_dir),
    version: VERSION,
    baseUrl,
    base_origin: config.base_url,
    trusted_proxies: config.behind_proxy.map((text) => parseCidr(text)!),
    tls: config.tls.mode !== 'off',
    settings,
    keepSetupLink: (link) => keepSetupLink(data_dir, link),
    loadAssets,
    instance: createInstance({
      config,
      settings,
      clock,
      db,
      backups,
      scheduler,
      baseUrl,
      version: VERSION,
      tls: () => tls,
      resolver,
    }),
  })
  countCommits(db, app)
  registerJobs({ scheduler, app, db, backups, clock, data_dir })
  const stopWaking = wakeOnCommit(db, log, [
    {
      name: 'compliance',
      actions: ['reports.upload', 'reports.import', 'domains.create', 'domains.update'],
      every_ms: SECOND_MS,
      run: app.services.compliance.evaluate,
    },
    { name: 'mail', actions: ['alerts.raise'], every_ms: SECOND_MS, run: app.services.notifier.run },
  ])
  loadLimits(data_dir, app, log)
  const chores = startChores(app, log)
  let closed = false
  return {
    app,
    db,
    log,
    scheduler,
    dispatch: createCommands({ app, db, backups, clock }),
    listensOn(on, source) {
      port = on
      tls = source
    },
    baseUrl,
    async recover() {
      rmSync(join(data_dir, 'tmp'), { recursive: true, force: true })
      mkdirSync(join(data_dir, 'tmp'), { recursive: true, mode: 0o700 })
      const dropped = await app.services.ingest.recover()
      if (dropped > 0) log.warn('half-loaded reports were removed', { reports: dropped })
    },
    async close() {
      if (closed) return
      closed = true
      clearInterval(chores)
      app.services.notifier.stop()
      await stopWaking()
      await scheduler.close()
      saveLimits(data_dir, app)
      await pool.close()
      await app.close()
      await db.close()
    },
  }
}

function serversOf({ mode, servers }: Config['resolver']): ResolverOptions['servers'] {
  if (mode === 'off') return 'none'
  return mode === 'system' ? 'system' : servers
}

/** The way out to where tenants say, within what the operator allows. */
function openEgress(config: Config): Egress {
  const allow = config.egress_allow.map((text) => parseCidr(text)!)
  return createEgress({
    policy: createEgressPolicy({ allow, ports: config.egress_ports }),
    lookup: createLookup({ servers: serversOf(config.resolver), timeout_ms: DNS_TIMEOUT_MS }),
    clock: systemClock,
    authorities: authoritiesOf(config),
  })
}

/** The usual ones and the operator's own, where there is a file of those. */
function authoritiesOf({ ca_file }: Config): string[] | null {
  return ca_file === null ? null : [...rootCertificates, readAuthorities(ca_file)]
}

function readAuthorities(path: string): string {
  const text = readFileSync(path, 'utf8')
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error(`--ca-file: ${path} holds no certificate`)
  return text
}

/** Changes that are told of in one turn of the event loop shared one transaction. */
function countCommits(db: OpenedDb, { metrics }: App): void {
  let group = 0
  db.onCommit(() => {
    metrics.commits.add()
    if (group++ > 0) return
    setImmediate(() => {
      metrics.commit_group.observe(group)
      group = 0
    })
  })
}

/** The reader is loaded only where there is a table. */
async function openNetworks(path: string) {
  const { openNetworkTable } = await import('../net/asn.ts')
  return openNetworkTable(path).catch((error: unknown) => {
    throw new Error(`--asn-db: ${explain(error)}`, { cause: error })
  })
}

/** A core is left to the server: on two cores a second child made an import slower, not faster (measured). */
function sandboxSize(): number {
  return Math.min(SANDBOX_CHILDREN_MAX, Math.max(1, availableParallelism() - 1))
}

/** What is kept in memory for a while is written once a minute. */
function startChores(app: App, log: Log): ReturnType<typeof setInterval> {
  const chore = async (): Promise<void> => {
    await app.services.keys.flushUses()
    await app.denials.flush()
  }
  const timer = setInterval(() => {
    chore().catch((error: unknown) => log.error('could not write last uses and refusals', { error }))
  }, MINUTE_MS)
  timer.unref()
  return timer
}

/** `https://mail.example:8443`; of an address that means every interface, the name of the machine. */
function urlOf(config: Config, port: number): string {
  const scheme = config.tls.mode === 'off' ? 'http' : 'https'
  const everywhere = config.host === '0.0.0.0' || config.host === '::'
  const host = everywhere ? hostname() : config.host.includes(':') ? `[${config.host}]` : config.host
  const usual = (scheme === 'http' && port === 80) || (scheme === 'https' && port === 443)
  return `${scheme}://${host}${usual ? '' : `:${port}`}`
}

/** 32 random bytes made with the data folder. Without them sealed secrets cannot be opened again. */
function instanceKey(data_dir: string): Uint8Array {
  const path = join(data_dir, 'instance.key')
  if (!existsSync(path)) writePrivate(path, randomBytes(KEY_BYTES))
  const key = readFileSync(path)
  if (key.length === KEY_BYTES) return key
  throw new Error(
    `${path} has ${key.length} bytes instead of ${KEY_BYTES}: restore it from where you keep it`,
  )
}

/** The setup link, where whoever has a shell finds it; away once it was used. */
function keepSetupLink(data_dir: string, link: string | null): void {
  const path = join(data_dir, 'setup-link')
  if (link === null) rmSync(path, { force: true })
  else writePrivate(path, `${link}\n`)
}

const LIMITS_FILE = 'limits.json'

/** Counters of the rate limits outlive a graceful restart; after a crash they begin anew. */
function saveLimits(data_dir: string, app: App): void {
  const state = app.limiter.save()
  if (state.counters.length > 0) writePrivate(join(data_dir, LIMITS_FILE), JSON.stringify(state))
}

function loadLimits(data_dir: string, app: App, log: Log): void {
  const path = join(data_dir, LIMITS_FILE)
  if (!existsSync(path)) return
  try {
    app.limiter.load(JSON.parse(readFileSync(path, 'utf8')) as LimiterState)
  } catch (error) {
    log.warn('the saved rate limits cannot be read and begin anew', { error })
  }
  rmSync(path, { force: true })
}

/** Whole or not at all, for the owner's eyes alone. */
function writePrivate(path: string, content: string | Uint8Array): void {
  const fresh = `${path}.new`
  writeFileSync(fresh, content, { mode: 0o600, flush: true })
  chmodSync(fresh, 0o600)
  renameSync(fresh, path)
}
