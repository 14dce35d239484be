/**
 * Webhooks of a tenant: made, changed, paused, given a new secret, tested, disabled when nothing gets through. Secrets
 * are shown in the answer that makes them and never again.
 */
import type { AlertRaiser } from '../alerts/types.ts'
import { Conflict, type Db, type MustWrite, type RawWrite } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { invalid, problem } from '../lib/errors.ts'
import { EVENT_KINDS, EVENT_TYPES, type EventType, isEventType } from '../lib/event-kinds.ts'
import { newId } from '../lib/ids.ts'
import { SECRET_PROMOTE_MS, WEBHOOK_TESTS_AT_ONCE_MAX, WEBHOOKS_PER_TENANT_MAX } from '../lib/limits.ts'
import type { Actor, Principal } from '../lib/principal.ts'
import type { Egress } from '../net/http.ts'
import type { Dispatcher, FailedWebhook } from './dispatcher.ts'
import { webhookDto } from './present.ts'
import { shouldDisable } from './rules/health.ts'
import type {
  EventKindListDto,
  WebhookCreateInput,
  WebhookDto,
  WebhookTestDto,
  WebhookUpdateInput,
  WebhookWithSecretDto,
} from './schema.ts'
import { makeSecret, type SecretBox, secretProblem } from './secrets.ts'
import type { Sender } from './sender.ts'
import type { WebhookRow, WebhookStore } from './store.ts'
import type { Sweeper } from './sweeper.ts'

export interface WebhookDeps {
  db: Db
  store: WebhookStore
  clock: Clock
  egress: Pick<Egress, 'refuses'>
  secrets: SecretBox
  sender: Sender
  sweeper: Sweeper
  dispatcher: Pick<Dispatcher, 'wake'>
  alerts: Pick<AlertRaiser, 'raise' | 'settle'>
  /** A destination was refused at creation: for the audit log. */
  blocked(actor: Actor, webhook_id: string | null): void
}

export type WebhookService = ReturnType<typeof createWebhooks>

export function createWebhooks(deps: WebhookDeps) {
  const { db, store, clock, secrets } = deps
  const testing = new Map<string, number>()

  const load = async (tenantId: string, id: string): Promise<WebhookRow> => {
    const row = await store.find(tenantId, id)
    if (row === undefined) throw problem('not_found', 'There is no such webhook.')
    return row
  }

  /** Throws 422 with the reason, and with the setting where one helps. */
  async function checkUrl(actor: Actor, url: string, webhook_id: string | null): Promise<void> {
    const refused = await deps.egress.refuses(url)
    if (refused === null) return
    if (refused.reason === 'address' || refused.reason === 'metadata') deps.blocked(actor, webhook_id)
    const errors = [{ pointer: '/url', code: `url_${refused.reason}`, detail: refused.detail }]
    throw problem('webhook_url_blocked', refused.detail, { errors })
  }

  /** Applies one guarded write with its audit entry; answers the webhook as it is then. */
  async function apply(
    principal: Principal,
    row: WebhookRow,
    action: string,
    write: RawWrite,
    detail: Record<string, string | string[] | boolean> = {},
    more: readonly RawWrite[] = [],
  ): Promise<WebhookDto> {
    const { actor, tenant_id } = principal
    const must: MustWrite = { must: write, label: 'the webhook was changed meanwhile' }
    await db.commit(actor, {
      writes: [must, ...more],
      audit: { action, target: { type: 'webhook', id: row.id }, detail },
    })
    return webhookDto(await load(tenant_id, row.id), clock.now())
  }

  async function rotate(principal: Principal, id: string, immediate: boolean): Promise<WebhookWithSecretDto> {
    const row = await load(principal.tenant_id, id)
    const now = clock.now()
    const secret = makeSecret()
    const sealed = { secret: secrets.seal(secret), last4: secret.slice(-4) }
    const promote_at = now + SECRET_PROMOTE_MS
    const write = immediate
      ? store.replaceSecret(principal.tenant_id, id, sealed, now)
      : store.rotate(principal.tenant_id, id, { ...sealed, promote_at }, now)
    const after: WebhookRow = immediate
      ? { ...row, secret_last4: sealed.last4, next_secret_last4: null, promote_at: null }
      : { ...row, next_secret_last4: sealed.last4, promote_at }
    const dto = { ...webhookDto({ ...after, version: row.version + 1, updated_at: now }, now), secret }
    const { actor } = principal
    await db.commit(actor, {
      writes: [{ must: write, label: 'the webhook is gone' }],
      audit: { action: 'webhooks.rotate', target: { type: 'webhook', id }, detail: { immediate } },
      ...(actor.reply === undefined ? {} : { idempotency: actor.reply(200, dto, { secret: true }) }),
    })
    return dto
  }

  /** Five days of nothing but failures: off, with an alert. Guarded, so that a late success wins. */
  async function disable(webhook: FailedWebhook): Promise<void> {
    const now = clock.now()
    const { id, tenant_id, failures, failing_since } = webhook
    const row = await store.find(tenant_id, id)
    if (row === undefined) return
    const host = new URL(row.url).host
    const since = isoTime(failing_since ?? now)
    const alert = deps.alerts.raise(tenant_id, {
      kind: 'webhook_disabled',
      severity: 'high',
      title: `Webhook ${host} was disabled`,
      summary:
        `Nothing was delivered since ${since}. Events for it are kept as skipped: when the receiver works ` +
        'again, resume the webhook and send again what was not delivered.',
      subject: { type: 'webhook', id },
      evidence: { url: row.url, failures, failing_since: since },
      dedupe_key: alertKey(id),
    })
    const entry = {
      action: 'webhooks.disable',
      target: { type: 'webhook', id },
      detail: { failures, failing_since: since },
    }
    try {
      await db.commit(systemActor(tenant_id), {
        writes: [{ must: store.disable(tenant_id, id, now), label: 'it works again' }, ...alert.writes],
        audit: [entry, alert.audit],
      })
    } catch (error) {
      if (error instanceof Conflict) return
      throw error
    }
    await deps.sweeper.sweep(id, 'skipped')
  }

  return {
    kinds(tenantId: string): EventKindListDto {
      const items = EVENT_TYPES.map((type) => {
        const { title, description, schema } = EVENT_KINDS[type]
        return { type, title, description, schema, example: exampleOf(tenantId, type, clock.now()) }
      })
      return { items }
    },

    /** One row more than `limit`, newest first. */
    async list(tenantId: string, after: string | null, limit: number): Promise<WebhookDto[]> {
      const now = clock.now()
      return (await store.list(tenantId, after, limit + 1)).map((row) => webhookDto(row, now))
    },

    async get(tenantId: string, id: string): Promise<WebhookDto> {
      return webhookDto(await load(tenantId, id), clock.now())
    },

    /** Throws 422 for unknown kinds, a bad secret or a URL that is not allowed; 409 over the limit of a tenant. */
    async create(principal: Principal, input: WebhookCreateInput): Promise<WebhookWithSecretDto> {
      const { actor, tenant_id } = principal
      const events = checkKinds(input.events)
      const secret = input.secret ?? makeSecret()
      const wrong = secretProblem(secret)
      if (wrong !== null) throw invalid('/secret', 'invalid_secret', wrong)
      await checkUrl(actor, input.url, null)
      const now = clock.now()
      const row: WebhookRow = {
        ...EMPTY,
        id: newId('wh', now),
        tenant_id,
        url: input.url,
        description: input.description?.trim() ?? '',
        events: JSON.stringify(events),
        secret: secrets.seal(secret),
        secret_last4: secret.slice(-4),
        created_at: now,
        updated_at: now,
      }
      const dto = { ...webhookDto(row, now), secret }
      const insert = store.insert(tenant_id, { ...row, now }, WEBHOOKS_PER_TENANT_MAX)
      await db.commit(actor, {
        writes: [{ must: insert, label: `at most ${WEBHOOKS_PER_TENANT_MAX} webhooks are allowed` }],
        audit: {
          action: 'webhooks.create',
          target: { type: 'webhook', id: row.id },
          detail: { url: row.url, events },
        },
        ...(actor.reply === undefined ? {} : { idempotency: actor.reply(201, dto, { secret: true }) }),
      })
      return dto
    },

    /** Throws 412 when the caller expected another version. */
    async update(
      principal: Principal,
      id: string,
      input: WebhookUpdateInput,
      version: number | undefined,
    ): Promise<WebhookDto> {
      const row = await load(principal.tenant_id, id)
      if (version !== undefined && version !== row.version) throw problem('version_conflict')
      const events = input.events === undefined ? undefined : checkKinds(input.events)
      const moved = input.url !== undefined && input.url !== row.url
      if (moved) await checkUrl(principal.actor, input.url!, id)
      const after = {
        ...row,
        url: input.url ?? row.url,
        description: input.description?.trim() ?? row.description,
        events: events === undefined ? row.events : JSON.stringify(events),
      }
      const write = store.change(principal.tenant_id, after, moved, clock.now())
      try {
        return await apply(principal, row, 'webhooks.update', write, {
          ...(moved ? { url: after.url } : {}),
          ...(events === undefined ? {} : { events }),
          ...(input.description === undefined ? {} : { description: after.description }),
        })
      } catch (error) {
        if (error instanceof Conflict) throw problem('version_conflict')
        throw error
      }
    },

    async remove(principal: Principal, id: string): Promise<void> {
      const row = await load(principal.tenant_id, id)
      await db.commit(principal.actor, {
        writes: [
          { must: store.remove(principal.tenant_id, id, clock.now()), label: 'the webhook is gone' },
          ...deps.alerts.settle(principal.tenant_id, alertKey(id), 'The webhook was deleted.'),
        ],
        audit: { action: 'webhooks.delete', target: { type: 'webhook', id }, detail: { url: row.url } },
      })
      await deps.sweeper.sweep(id, 'cancelled')
    },

    /** What is open becomes skipped, and so does what happens until it is resumed. */
    async pause(principal: Principal, id: string): Promise<WebhookDto> {
      const row = await load(principal.tenant_id, id)
      if (row.status !== 'active') throw problem('conflict', `The webhook is ${row.status} already.`)
      const write = store.pause(principal.tenant_id, id, clock.now())
      const dto = await apply(principal, row, 'webhooks.pause', write)
      await deps.sweeper.sweep(id, 'skipped')
      return dto
    },

    async resume(principal: Principal, id: string): Promise<WebhookDto> {
      const row = await load(principal.tenant_id, id)
      if (row.status === 'active') throw problem('conflict', 'The webhook is active already.')
      const write = store.resume(principal.tenant_id, id, clock.now())
      const settled = deps.alerts.settle(principal.tenant_id, alertKey(id), 'The webhook was resumed.')
      const dto = await apply(principal, row, 'webhooks.resume', write, {}, settled)
      deps.dispatcher.wake(id)
      return dto
    },

    rotate,

    async promote(principal: Principal, id: string): Promise<WebhookDto> {
      const row = await load(principal.tenant_id, id)
      if (row.next_secret === null) throw problem('conflict', 'There is no new secret to promote.')
      const write = store.promote(principal.tenant_id, id, clock.now())
      return apply(principal, row, 'webhooks.promote', write)
    },

    /** Sends a signed example and waits for what the receiver says. Leaves no delivery. */
    async test(principal: Principal, id: string, type: string): Promise<WebhookTestDto> {
      const { tenant_id } = principal
      const row = await load(tenant_id, id)
      if (!isEventType(type)) throw unknownKind('/type', type)
      const running = testing.get(tenant_id) ?? 0
      if (running >= WEBHOOK_TESTS_AT_ONCE_MAX) {
        throw problem('overloaded', 'Other tests are still waiting for their receivers.')
      }
      testing.set(tenant_id, running + 1)
      try {
        const envelope = exampleOf(tenant_id, type, clock.now())
        const outcome = await deps.sender.send({
          ...row,
          webhook_id: id,
          delivery_id: null,
          event_id: envelope.id,
          event_type: type,
          body: JSON.stringify(envelope),
        })
        await db.commit(principal.actor, {
          writes: [],
          audit: {
            action: 'webhooks.test',
            target: { type: 'webhook', id },
            detail: { type, ok: outcome.ok, status_code: outcome.status_code },
          },
        })
        return {
          ok: outcome.ok,
          status_code: outcome.status_code,
          error: outcome.error,
          error_class: outcome.error_class,
          ms: outcome.ms,
          address: outcome.address,
          request_headers: outcome.request_headers,
          response_body: outcome.response,
        }
      } finally {
        const left = (testing.get(tenant_id) ?? 1) - 1
        if (left === 0) testing.delete(tenant_id)
        else testing.set(tenant_id, left)
      }
    },

    /** The secrets that deliveries are signed with just now; for checking a signature. */
    async signing(tenantId: string, id: string) {
      return secrets.secretsAt(await load(tenantId, id), clock.now())
    },

    /** Disables those that have failed for too long. Told by the dispatcher after each batch. */
    async judge(failed: readonly FailedWebhook[]): Promise<void> {
      const now = clock.now()
      for (const each of failed) if (shouldDisable(each, now)) await disable(each)
    },

    /** Rotations whose time is over. Called by a job; signing does not wait for it. */
    async promoteDue(): Promise<number> {
      const [rows] = await db.commit(systemActor(), {
        writes: [store.promoteDue(clock.now())],
        audit: { none: 'job' },
      })
      return rows?.length ?? 0
    },
  }
}

const EMPTY = {
  status: 'active',
  next_secret: null,
  next_secret_last4: null,
  promote_at: null,
  failures: 0,
  failing_since: null,
  last_attempt_at: null,
  last_success_at: null,
  version: 1,
} as const

function alertKey(webhook_id: string): string {
  return `webhook_disabled:${webhook_id}`
}

/** An envelope as a receiver gets it, with made-up data. */
function exampleOf(tenant_id: string, type: EventType, now: number) {
  return {
    id: newId('evt', now),
    type,
    created_at: isoTime(now),
    tenant_id,
    data: EVENT_KINDS[type].example,
  }
}

function checkKinds(names: readonly string[]): EventType[] {
  for (const [index, name] of names.entries()) {
    if (!isEventType(name)) throw unknownKind(`/events/${index}`, name)
  }
  return [...new Set(names as EventType[])]
}

function unknownKind(pointer: string, name: string) {
  return invalid(
    pointer,
    'unknown_event',
    `There is no event "${name}". There are: ${EVENT_TYPES.join(', ')}.`,
  )
}
