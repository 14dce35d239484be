/** The rows of the scheduler. Written through the door like all else, without audit: a job's own changes have theirs. */
import { asc, desc, eq } from 'drizzle-orm'
import { Conflict, type Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { DAY_MS } from '../lib/clock.ts'
import { jobRuns, leases } from './tables.ts'

export interface JobRun {
  id: string
  name: string
  status: 'running' | 'ok' | 'failed' | 'interrupted'
  detail: string | null
  started_at: number
  ended_at: number | null
}

/** Of each job this many runs are kept, and none that is older. */
const RUNS_KEPT = 1000
const RUNS_KEPT_MS = 90 * DAY_MS

export type JobStore = ReturnType<typeof createJobStore>

export function createJobStore(db: Db) {
  return {
    /** Takes the lease and opens the run in one change. Null when somebody else holds it. */
    async begin(run: { id: string; name: string; holder: string; now: number; until: number }) {
      const { id, name, holder, now, until } = run
      try {
        const [claimed] = await db.commit(systemActor(), {
          writes: [
            {
              must: {
                sql: `INSERT INTO leases (name, holder, epoch, until) VALUES (?1, ?2, 1, ?3)
                      ON CONFLICT (name) DO UPDATE SET holder = ?2, epoch = epoch + 1, until = ?3
                      WHERE leases.until <= ?4 RETURNING epoch`,
                params: [name, holder, until, now],
              },
              label: 'lease_taken',
            },
            {
              sql: `INSERT INTO job_runs (id, name, epoch, status, started_at)
                    SELECT ?1, name, epoch, 'running', ?2 FROM leases WHERE name = ?3`,
              params: [id, now, name],
            },
          ],
          audit: { none: 'lease' },
        })
        return Number(claimed![0]![0])
      } catch (error) {
        if (error instanceof Conflict) return null
        throw error
      }
    },

    /** Closes the run, gives the lease back if it is still ours, and forgets the oldest runs. */
    async end(run: {
      id: string
      name: string
      epoch: number
      status: 'ok' | 'failed'
      detail: string | null
      now: number
    }): Promise<void> {
      await db.commit(systemActor(), {
        writes: [
          {
            sql: `UPDATE job_runs SET status = ?, detail = ?, ended_at = ? WHERE id = ? AND status = 'running'`,
            params: [run.status, run.detail, run.now, run.id],
          },
          {
            sql: 'UPDATE leases SET until = 0 WHERE name = ? AND epoch = ?',
            params: [run.name, run.epoch],
          },
          {
            sql: `DELETE FROM job_runs WHERE name = ?1 AND started_at <= max(?3, coalesce(
                  (SELECT started_at FROM job_runs WHERE name = ?1 ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET ?2), 0))
                  AND status <> 'running'`,
            params: [run.name, RUNS_KEPT, run.now - RUNS_KEPT_MS],
          },
        ],
        audit: { none: 'job' },
      })
    },

    /** Runs of a process that is gone (it held the data folder alone): they will never end. */
    async interrupt(now: number): Promise<void> {
      await db.commit(systemActor(), {
        writes: [
          {
            sql: `UPDATE job_runs SET status = 'interrupted', ended_at = ? WHERE status = 'running'`,
            params: [now],
          },
          { sql: 'UPDATE leases SET until = 0', params: [] },
        ],
        audit: { none: 'boot' },
      })
    },

    /** Newest first. Ids ascend with time. */
    runs(name: string, page: { before: string | null; limit: number }): Promise<JobRun[]> {
      return db.query<JobRun>(
        `SELECT id, name, status, detail, started_at, ended_at FROM job_runs
          WHERE name = ?1 AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3`,
        [name, page.before, page.limit],
      )
    },

    async last(name: string): Promise<JobRun | null> {
      const rows = await db.read
        .select()
        .from(jobRuns)
        .where(eq(jobRuns.name, name))
        .orderBy(desc(jobRuns.startedAt), desc(jobRuns.id))
        .limit(1)
      const row = rows[0]
      if (row === undefined) return null
      const { id, status, detail, startedAt, endedAt } = row
      return { id, name, status, detail, started_at: startedAt, ended_at: endedAt }
    },

    leases: () => db.read.select().from(leases).orderBy(asc(leases.name)),
  }
}
