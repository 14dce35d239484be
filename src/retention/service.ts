/**
 * Takes away what each tenant keeps no longer, kind by kind, in small steps, so that nobody waits and a stop loses
 * nothing. What was removed is one entry of the tenant's log; the log itself is pruned by audit/prune.ts.
 */
import type { Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { type Clock, DAY_MS } from '../lib/clock.ts'
import { idFloor } from '../lib/ids.ts'
import { type Retention, retentionOf } from '../tenants/rules/retention.ts'

export interface RetentionDeps {
  db: Db
  clock: Clock
  /** Reports of all kinds with their records, that ended before a time. */
  forgetReports(tenant_id: string, before: number, signal: AbortSignal): Promise<number>
  /** Entries of the log before a time. Throws when the log is not whole. */
  pruneAudit(tenant_id: string, before: number, signal: AbortSignal): Promise<number>
}

const ROWS_AT_ONCE = 500

/** `?1` tenant, `?2` the time (of deliveries, whose ids ascend, the id) before which it goes, `?3` how many at once. */
const REJECTED = `DELETE FROM rejected_files WHERE id IN
  (SELECT id FROM rejected_files WHERE tenant_id = ?1 AND created_at < ?2 LIMIT ?3) RETURNING 1`
const ALERTS = `DELETE FROM alerts WHERE id IN
  (SELECT id FROM alerts WHERE tenant_id = ?1 AND status = 'resolved' AND resolved_at < ?2 LIMIT ?3) RETURNING 1`
const OLD_DELIVERIES = `SELECT id FROM deliveries WHERE id < ?2 AND tenant_id = ?1
  AND status IN ('succeeded', 'failed', 'skipped', 'cancelled') ORDER BY id LIMIT ?3`
const ATTEMPTS = `DELETE FROM delivery_attempts WHERE delivery_id IN (${OLD_DELIVERIES})`
const DELIVERIES = `DELETE FROM deliveries WHERE id IN (${OLD_DELIVERIES}) RETURNING 1`

export function createRetention({ db, clock, forgetReports, pruneAudit }: RetentionDeps) {
  /** The last of the statements answers a row for each it removed. */
  async function repeat(
    sql: readonly string[],
    tenant_id: string,
    before: number | string,
    signal: AbortSignal,
  ): Promise<number> {
    let removed = 0
    while (!signal.aborted) {
      const results = await db.commit(systemActor(tenant_id), {
        writes: sql.map((each) => ({ sql: each, params: [tenant_id, before, ROWS_AT_ONCE] })),
        audit: { none: 'job' },
      })
      const rows = results.at(-1)!.length
      removed += rows
      if (rows < ROWS_AT_ONCE) break
    }
    return removed
  }

  async function applyTo(tenant_id: string, keep: Retention, signal: AbortSignal): Promise<number> {
    const now = clock.now()
    const before = (days: number): number => now - days * DAY_MS
    const removed = {
      reports: await forgetReports(tenant_id, before(keep.reports_days), signal),
      rejected: await repeat([REJECTED], tenant_id, before(keep.rejected_days), signal),
      alerts: await repeat([ALERTS], tenant_id, before(keep.alerts_days), signal),
      deliveries: await repeat(
        [ATTEMPTS, DELIVERIES],
        tenant_id,
        `dlv_${idFloor(before(keep.deliveries_days))}`,
        signal,
      ),
    }
    const total = Object.values(removed).reduce((sum, each) => sum + each, 0)
    if (total > 0) {
      await db.commit(systemActor(tenant_id), {
        writes: [],
        audit: { action: 'retention.apply', detail: removed },
      })
    }
    const pruned = keep.audit_days === null ? 0 : await pruneAudit(tenant_id, before(keep.audit_days), signal)
    return total + pruned
  }

  return {
    /** Every tenant. Answers how many things were removed. A tenant that fails holds up no other; then this throws. */
    async run(signal: AbortSignal): Promise<number> {
      const tenants = await db.query<{ id: string; retention: string }>(
        'SELECT id, retention FROM tenants ORDER BY id',
      )
      const failures: string[] = []
      let removed = 0
      for (const { id, retention } of tenants) {
        if (signal.aborted) break
        try {
          removed += await applyTo(id, retentionOf(JSON.parse(retention) as Partial<Retention>), signal)
        } catch (error) {
          failures.push(error instanceof Error ? error.message : String(error))
        }
      }
      if (failures.length > 0) throw new Error(failures.join('; '))
      return removed
    },
  }
}
