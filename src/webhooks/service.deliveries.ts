/** What became of events, and sending again what did not arrive. */
import { Conflict, type Db } from '../db/types.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { invalid, problem } from '../lib/errors.ts'
import { EVENT_TYPES, isEventType } from '../lib/event-kinds.ts'
import { newId } from '../lib/ids.ts'
import { DELIVERY_KEPT_MS, DELIVERY_ROW_KEPT_MS } from '../lib/limits.ts'
import type { Principal } from '../lib/principal.ts'
import type { Dispatcher } from './dispatcher.ts'
import { deliveryDetail, deliveryDto, jobDto } from './present.ts'
import type { Redelivery } from './redelivery.ts'
import type { DeliveryDetailDto, DeliveryDto, RedeliverJobDto } from './schema.ts'
import { REDELIVERABLE, type Redeliverable } from './statuses.ts'
import type { DeliveryFilter, DeliveryRow, DeliveryStore } from './store.deliveries.ts'
import type { WebhookRow, WebhookStore } from './store.ts'

export type DeliveryService = ReturnType<typeof createDeliveries>

export interface RedeliverRequest {
  since: number
  statuses: readonly Redeliverable[] | undefined
  dry_run: boolean
}

export function createDeliveries(deps: {
  db: Db
  store: DeliveryStore
  webhooks: Pick<WebhookStore, 'find'>
  clock: Clock
  dispatcher: Pick<Dispatcher, 'wake'>
  redelivery: Pick<Redelivery, 'start'>
}) {
  const { db, store, clock } = deps

  const loadWebhook = async (tenantId: string, id: string): Promise<WebhookRow> => {
    const row = await deps.webhooks.find(tenantId, id)
    if (row === undefined) throw problem('not_found', 'There is no such webhook.')
    return row
  }

  /** 404 when there is none or it is older than 180 days, 410 when its body is gone (90 days). */
  async function load(tenantId: string, webhook_id: string, id: string): Promise<DeliveryRow> {
    await loadWebhook(tenantId, webhook_id)
    const row = await store.find(tenantId, webhook_id, id)
    const age = clock.now() - (row?.created_at ?? 0)
    if (row === undefined || age >= DELIVERY_ROW_KEPT_MS) {
      throw problem('not_found', 'There is no such delivery.')
    }
    if (age >= DELIVERY_KEPT_MS) throw problem('gone', 'Deliveries are kept for 90 days.')
    return row
  }

  function mustBeActive({ status }: WebhookRow): void {
    if (status !== 'active') throw problem('conflict', `The webhook is ${status}: resume it first.`)
  }

  return {
    /** One row more than `limit`, newest first. Throws 422 for an unknown kind. */
    async list(tenantId: string, webhook_id: string, filter: DeliveryFilter): Promise<DeliveryDto[]> {
      if (filter.type !== undefined && !isEventType(filter.type)) {
        throw invalid('?type', 'unknown_value', `type can be ${EVENT_TYPES.join(', ')}.`)
      }
      await loadWebhook(tenantId, webhook_id)
      const rows = await store.list(tenantId, webhook_id, { ...filter, limit: filter.limit + 1 })
      return rows.map(deliveryDto)
    },

    async undelivered(tenantId: string, after: string | null, limit: number): Promise<DeliveryDto[]> {
      return (await store.undelivered(tenantId, after, limit + 1)).map(deliveryDto)
    },

    async get(tenantId: string, webhook_id: string, id: string): Promise<DeliveryDetailDto> {
      const row = await load(tenantId, webhook_id, id)
      const [attempts, body] = await Promise.all([
        store.attempts(tenantId, id),
        store.eventBody(tenantId, row.event_id),
      ])
      if (body === null) throw problem('gone', 'Deliveries are kept for 90 days.')
      return deliveryDetail(row, attempts, body)
    },

    /** A new round of seven attempts with the same ids. 409 unless it failed or was skipped. */
    async redeliver(principal: Principal, webhook_id: string, id: string): Promise<DeliveryDto> {
      const { actor, tenant_id } = principal
      const row = await load(tenant_id, webhook_id, id)
      if (!REDELIVERABLE.some((each) => each === row.status)) {
        throw problem(
          'conflict',
          `Only a failed or skipped delivery can be sent again; this one is ${row.status}.`,
        )
      }
      mustBeActive(await loadWebhook(tenant_id, webhook_id))
      const now = clock.now()
      const after: DeliveryRow = { ...row, status: 'pending', next_attempt_at: now, completed_at: null }
      const dto = deliveryDto(after)
      try {
        await db.commit(actor, {
          writes: [{ must: store.redeliver(tenant_id, id, now), label: 'redeliver' }],
          audit: { action: 'webhooks.redeliver', target: { type: 'delivery', id }, detail: { webhook_id } },
          ...(actor.reply === undefined ? {} : { idempotency: actor.reply(202, dto) }),
        })
      } catch (error) {
        if (!(error instanceof Conflict) || error.label !== 'redeliver') throw error
        throw problem('conflict', 'It is being sent again already.')
      }
      deps.dispatcher.wake(webhook_id)
      return dto
    },

    /** Counts (`dry_run`), or starts the job. Only what is younger than 90 days. */
    async redeliverMany(principal: Principal, webhook_id: string, request: RedeliverRequest) {
      const { actor, tenant_id } = principal
      const webhook = await loadWebhook(tenant_id, webhook_id)
      const statuses = request.statuses ?? ['failed']
      const now = clock.now()
      const since = Math.max(request.since, now - DELIVERY_KEPT_MS)
      const count = await store.countUndelivered(tenant_id, webhook_id, statuses, since)
      if (request.dry_run) return { count }
      mustBeActive(webhook)
      const row = {
        id: newId('job', now),
        tenant_id,
        webhook_id,
        statuses: JSON.stringify(statuses),
        since,
        position: '',
        last_id: newId('dlv', now),
        status: 'running' as const,
        total: count,
        done: 0,
        created_at: now,
      }
      const answer = { job_id: row.id, count }
      await db.commit(actor, {
        writes: [store.insertRedelivery(row)],
        audit: {
          action: 'webhooks.redeliver_many',
          target: { type: 'webhook', id: webhook_id },
          detail: { since: isoTime(since), statuses: [...statuses], count },
        },
        ...(actor.reply === undefined ? {} : { idempotency: actor.reply(202, answer) }),
      })
      deps.redelivery.start(row)
      return answer
    },

    async job(tenantId: string, webhook_id: string, id: string): Promise<RedeliverJobDto> {
      const row = await store.findRedelivery(tenantId, webhook_id, id)
      if (row === undefined) throw problem('not_found', 'There is no such job.')
      return jobDto(row)
    },
  }
}
