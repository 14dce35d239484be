/**
 * Takes away in small steps, so that nobody waits: what is open of a webhook that no longer sends, rows of deleted
 * webhooks, and what has been kept long enough.
 */
import type { Db, RawWrite } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import type { Clock } from '../lib/clock.ts'
import { DELIVERY_CHUNK_ROWS, DELIVERY_KEPT_MS, DELIVERY_ROW_KEPT_MS } from '../lib/limits.ts'
import type { QueueStore } from './store.queue.ts'

export type Sweeper = ReturnType<typeof createSweeper>

export function createSweeper(deps: { db: Db; store: QueueStore; clock: Clock }) {
  const { db, store, clock } = deps

  /** Repeats a write that answers a row for each it changed, until it has nothing more to do. */
  async function repeat(write: () => RawWrite, signal?: AbortSignal): Promise<number> {
    let total = 0
    for (;;) {
      const [rows] = await db.commit(systemActor(), { writes: [write()], audit: { none: 'delivery' } })
      const changed = rows?.length ?? 0
      total += changed
      if (changed < DELIVERY_CHUNK_ROWS || signal?.aborted === true) return total
    }
  }

  const sweep = (webhook_id: string, to: 'skipped' | 'cancelled'): Promise<number> =>
    repeat(() => store.sweep(webhook_id, to, clock.now(), DELIVERY_CHUNK_ROWS))

  /** Everything of deleted webhooks, then the webhooks themselves. */
  async function purgeDeleted(signal: AbortSignal): Promise<number> {
    const deleted = await db.query<{ id: string }>(`SELECT id FROM webhooks WHERE status = 'deleted'`)
    for (const { id } of deleted) {
      for (const sql of [PURGE_ATTEMPTS, PURGE_DELIVERIES, PURGE_REDELIVERIES]) {
        await repeat(() => ({ sql, params: [id, DELIVERY_CHUNK_ROWS] }), signal)
        if (signal.aborted) return 0
      }
      await db.commit(systemActor(), {
        writes: [{ sql: PURGE_WEBHOOK, params: [id] }],
        audit: { none: 'job' },
      })
    }
    return deleted.length
  }

  return {
    sweep,

    /** After a start: webhooks that stopped sending while their open deliveries were being put aside. */
    async finish(): Promise<void> {
      for (const each of await store.openWebhooks()) {
        if (each.active === 0) await sweep(each.id, 'skipped')
      }
    },

    /** What is over: bodies and attempts after 90 days, rows after 180. Answers what was done, in words. */
    async retain(signal: AbortSignal): Promise<string | void> {
      const now = clock.now()
      const kept = now - DELIVERY_KEPT_MS
      const steps: [what: string, sql: string, before: number][] = [
        ['attempts', DELETE_ATTEMPTS, kept],
        ['events', oldest('events'), kept],
        ['deliveries', oldest('deliveries'), now - DELIVERY_ROW_KEPT_MS],
        ['redeliveries', oldest('redeliveries'), kept],
      ]
      const told: string[] = []
      for (const [what, sql, before] of steps) {
        const done = await repeat(() => ({ sql, params: [DELIVERY_CHUNK_ROWS, before] }), signal)
        if (done > 0) told.push(`${done} ${what}`)
        if (signal.aborted) return
      }
      const purged = await purgeDeleted(signal)
      if (purged > 0) told.push(`${purged} deleted webhooks`)
      if (told.length > 0) return told.join(', ')
    },
  }
}

/** Ids ascend with time: the oldest rows are the first of the primary key, and no other index is needed. */
const oldest = (table: string): string => `DELETE FROM ${table} WHERE id IN
  (SELECT id FROM (SELECT id, created_at FROM ${table} ORDER BY id LIMIT ?) WHERE created_at <= ?) RETURNING 1`

const DELETE_ATTEMPTS = `DELETE FROM delivery_attempts WHERE (delivery_id, n) IN
  (SELECT first.delivery_id, first.n
    FROM (SELECT delivery_id, n FROM delivery_attempts ORDER BY delivery_id, n LIMIT ?) first
    LEFT JOIN deliveries d ON d.id = first.delivery_id
    WHERE coalesce(d.created_at, 0) <= ?) RETURNING 1`

const PURGE_ATTEMPTS = `DELETE FROM delivery_attempts WHERE (delivery_id, n) IN
  (SELECT a.delivery_id, a.n FROM deliveries d JOIN delivery_attempts a ON a.delivery_id = d.id
    WHERE d.webhook_id = ? LIMIT ?) RETURNING 1`
const PURGE_DELIVERIES = `DELETE FROM deliveries WHERE id IN
  (SELECT id FROM deliveries WHERE webhook_id = ? AND status <> 'sending' LIMIT ?) RETURNING 1`
const PURGE_REDELIVERIES = `DELETE FROM redeliveries WHERE id IN
  (SELECT id FROM redeliveries WHERE webhook_id = ? LIMIT ?) RETURNING 1`
/** Not yet when one is still on its way; then the next time. */
const PURGE_WEBHOOK = `DELETE FROM webhooks WHERE id = ? AND status = 'deleted'
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = webhooks.id)`
