/**
 * "Send everything again that was not delivered since": a job per request, in chunks, whose position is in the row. So
 * it goes on after a restart, and a delivery is sent again at most once per job.
 */
import type { Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import type { Clock } from '../lib/clock.ts'
import { DELIVERY_CHUNK_ROWS } from '../lib/limits.ts'
import type { Log } from '../lib/log.ts'
import type { DeliveryStore, RedeliveryRow } from './store.deliveries.ts'

export type Redelivery = ReturnType<typeof createRedelivery>

export function createRedelivery(deps: {
  db: Db
  store: DeliveryStore
  clock: Clock
  log: Log
  wake(webhook_id: string): void
}) {
  const { db, store, clock, log } = deps
  const running = new Map<string, Promise<void>>()
  let closed = false

  async function run(started: RedeliveryRow): Promise<void> {
    let row = started
    while (!closed) {
      const ids = await store.chunk(row, DELIVERY_CHUNK_ROWS)
      const now = clock.now()
      const writes =
        ids.length === 0 ? [store.endRedelivery(row.id, now)] : store.redeliverChunk(row, ids, now)
      await db.commit(systemActor(row.tenant_id), { writes, audit: { none: 'delivery' } })
      if (ids.length === 0) return
      row = { ...row, position: ids.at(-1)! }
      deps.wake(row.webhook_id)
    }
  }

  function start(row: RedeliveryRow): void {
    if (running.has(row.id)) return
    const work = run(row)
      .catch((error: unknown) => log.error('sending again stopped', { job: row.id, error }))
      .finally(() => running.delete(row.id))
    running.set(row.id, work)
  }

  return {
    start,
    /** Goes on with what a former process had begun. */
    async resume(): Promise<void> {
      for (const row of await store.runningRedeliveries()) start(row)
    },
    /** Waits for the chunk at hand. */
    async close(): Promise<void> {
      closed = true
      await Promise.all(running.values())
    },
    idle: () => Promise.all(running.values()),
  }
}
