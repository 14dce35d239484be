/** What the watching rules look at: reports, refused files and job runs, and what was told of them already. */
import type { Db } from '../db/types.ts'
import { dayOf } from '../lib/clock.ts'

export interface QuietDomain {
  id: string
  tenant_id: string
  name: string
  last_end: number
}

export interface Refusals {
  tenant_id: string
  files: number
  newest: number
}

export interface LastRun {
  id: string
  name: string
  status: 'ok' | 'failed'
  detail: string | null
  started_at: number
}

export type WatchStore = ReturnType<typeof createWatchStore>

export function createWatchStore(db: Pick<Db, 'query'>) {
  return {
    /** Domains whose newest report ended within the range (milliseconds). */
    quietDomains(from: number, to: number): Promise<QuietDomain[]> {
      return db.query(
        `SELECT d.id, d.tenant_id, d.name, max(p.last_end) AS last_end
FROM policy_domains p JOIN domains d ON d.id = p.domain_id
GROUP BY d.id HAVING max(p.last_end) BETWEEN ? AND ?`,
        [from, to],
      )
    },

    /** Days with reports among the `days` that end with the one of `last_end`. */
    async daysWithReports(domain_id: string, last_end: number, days: number): Promise<number> {
      const last = dayOf(last_end)
      const [row] = await db.query<{ n: number }>(
        `SELECT count(DISTINCT r.day) AS n FROM policy_domains p
CROSS JOIN report_days r ON r.policy_domain_id = p.id AND r.day BETWEEN ? AND ?
WHERE p.domain_id = ? AND r.reports > 0`,
        [last - days + 1, last, domain_id],
      )
      return row!.n
    },

    /** Unresolved alerts about stopped reports, where reports came again after `since`. */
    resumed(since: number): Promise<{ tenant_id: string; dedupe_key: string }[]> {
      return db.query(
        `SELECT a.tenant_id, a.dedupe_key FROM alerts a
WHERE a.kind = 'reports_stopped' AND a.status <> 'resolved'
AND (SELECT max(p.last_end) FROM policy_domains p WHERE p.domain_id = a.subject_id) > ?`,
        [since],
      )
    },

    /** Files refused since, by tenant. */
    refusals(since: number): Promise<Refusals[]> {
      return db.query(
        `SELECT tenant_id, count(*) AS files, max(created_at) AS newest FROM rejected_files
WHERE created_at > ? GROUP BY tenant_id`,
        [since],
      )
    },

    refusalCodes(
      tenant_id: string,
      since: number,
    ): Promise<{ code: string; files: number; example: string }[]> {
      return db.query(
        `SELECT code, count(*) AS files, max(file_name) AS example FROM rejected_files
WHERE tenant_id = ? AND created_at > ? GROUP BY code ORDER BY files DESC, code LIMIT 10`,
        [tenant_id, since],
      )
    },

    tenantsWithOpen(kind: string): Promise<{ tenant_id: string; dedupe_key: string }[]> {
      return db.query(`SELECT tenant_id, dedupe_key FROM alerts WHERE kind = ? AND status <> 'resolved'`, [
        kind,
      ])
    },

    /** The last two runs of every job that came to an end, newest first. */
    lastRuns(): Promise<LastRun[]> {
      return db.query(
        `SELECT id, name, status, detail, started_at FROM (SELECT *,
  row_number() OVER (PARTITION BY name ORDER BY started_at DESC, id DESC) AS nth
  FROM job_runs WHERE status IN ('ok', 'failed'))
WHERE nth <= 2 ORDER BY name, nth`,
      )
    },

    /** Whether an alert of this key, resolved or not, was raised for the very same observation. */
    async told(tenant_id: string, dedupe_key: string, seen: string): Promise<boolean> {
      const rows = await db.query(
        `SELECT 1 FROM alerts WHERE tenant_id = ? AND dedupe_key = ? AND json_extract(evidence_json, '$.seen') = ?
LIMIT 1`,
        [tenant_id, dedupe_key, seen],
      )
      return rows.length > 0
    },
  }
}
