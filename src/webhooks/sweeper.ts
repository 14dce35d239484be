/**
 * Takes away in small steps, so that nobody waits: what is open of a webhook that no longer sends, rows of deleted
 * webhooks, and what has been kept long enough.
 */
import type { Db, RawWrite } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import type { Clock } from '../lib/clock.ts'
import { idFloor } from '../lib/ids.ts'
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
      const kept = idFloor(now - DELIVERY_KEPT_MS)
      const rows_kept = idFloor(now - DELIVERY_ROW_KEPT_MS)
      const steps: [what: string, sql: string, params: (string | number)[]][] = [
        ['open ones given up', EXPIRE_OPEN, [now, `dlv_${kept}`]],
        ['attempts', DELETE_ATTEMPTS, [`dlv_${kept}`]],
        ['events', DELETE_EVENTS, [`evt_${kept}`]],
        ['deliveries', DELETE_DELIVERIES, [`dlv_${rows_kept}`]],
        ['redeliveries', DELETE_REDELIVERIES, [`job_${rows_kept}`]],
      ]
      const told: string[] = []
      for (const [what, sql, params] of steps) {
        const done = await repeat(() => ({ sql, params: [...params, DELIVERY_CHUNK_ROWS] }), signal)
        if (done > 0) told.push(`${done} ${what}`)
        if (signal.aborted) return
      }
      const purged = await purgeDeleted(signal)
      if (purged > 0) told.push(`${purged} deleted webhooks`)
      if (told.length > 0) return told.join(', ')
    },
  }
}

/** Ids ascend with time, so that the oldest rows are the first by the primary key. */
const oldest = (table: string, column: string): string =>
  `DELETE FROM ${table} WHERE ${column} IN (SELECT ${column} FROM ${table} WHERE ${column} < ? LIMIT ?) RETURNING 1`

const DELETE_EVENTS = oldest('events', 'id')
const DELETE_DELIVERIES = oldest('deliveries', 'id')
const DELETE_REDELIVERIES = oldest('redeliveries', 'id')
const DELETE_ATTEMPTS = `DELETE FROM delivery_attempts WHERE (delivery_id, n) IN
  (SELECT delivery_id, n FROM delivery_attempts WHERE delivery_id < ? LIMIT ?) RETURNING 1`
/** One that is still being tried has lost its body and cannot be sent any more. */
const EXPIRE_OPEN = `UPDATE deliveries SET status = 'failed', next_attempt_at = NULL, completed_at = ?1,
    last_error = coalesce(last_error, 'expired: kept for 90 days')
  WHERE id IN (SELECT id FROM deliveries WHERE status IN ('pending', 'retrying') AND id < ?2 LIMIT ?3)
  RETURNING 1`

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
