/**
 * The rules that look at things by the clock: reports that stopped, files that cannot be read, jobs and backups that
 * fail, a disk that fills up. Each tells of an observation once; what goes on adds to the alert that is there, and an
 * alert whose cause is gone is resolved.
 */
import { systemActor } from '../lib/actors.ts'
import { type Clock, DAY_MS, isoTime } from '../lib/clock.ts'
import {
  DISK_CRITICAL_BYTES,
  DISK_LOW_BYTES,
  REFUSED_FILES_A_DAY_ALERT,
  REPORTS_STOPPED_AFTER_MS,
} from '../lib/limits.ts'
import type { AlertDraft, AlertRaiser } from './types.ts'
import type { AlertStore } from './store.ts'
import type { LastRun, QuietDomain, Refusals, WatchStore } from './watch.store.ts'

/** Reports came regularly when there were some on this many of the last days. */
const REGULAR_DAYS = 10
const REGULAR_OF_DAYS = 28
/** Nobody waits any more for reports that stopped this long ago. */
const FORGOTTEN_AFTER_MS = 30 * DAY_MS
/** So much more than the limit must be free before the alert about it ends: no alert by the minute at its edge. */
const DISK_RECOVERED = 1.2

type Draft = AlertDraft & { evidence: { seen: string } }

export type Watch = ReturnType<typeof createWatch>

export function createWatch(deps: {
  store: WatchStore
  alerts: AlertStore
  raiser: AlertRaiser
  clock: Clock
}) {
  const { store, raiser, clock } = deps

  const raiseNews = async (tenant_id: string, draft: Draft): Promise<boolean> => {
    if (await store.told(tenant_id, draft.dedupe_key, draft.evidence.seen)) return false
    await raiser.raiseNow(systemActor(tenant_id), draft)
    return true
  }
  const raiseForOperators = async (draft: Draft): Promise<void> => {
    for (const tenant_id of await deps.alerts.operatorTenants()) await raiseNews(tenant_id, draft)
  }

  return {
    /** Domains that had reports regularly, and have none any more. Says how many alerts began or ended. */
    async reportsStopped(): Promise<number> {
      const now = clock.now()
      let changed = 0
      for (const { tenant_id, dedupe_key } of await store.resumed(now - REPORTS_STOPPED_AFTER_MS)) {
        if (await raiser.settleNow(tenant_id, dedupe_key, 'Reports arrive again.')) changed++
      }
      const quiet = await store.quietDomains(now - FORGOTTEN_AFTER_MS, now - REPORTS_STOPPED_AFTER_MS)
      for (const domain of quiet) {
        const days = await store.daysWithReports(domain.id, domain.last_end, REGULAR_OF_DAYS)
        if (days >= REGULAR_DAYS && (await raiseNews(domain.tenant_id, stopped(domain, days, now)))) changed++
      }
      return changed
    },

    /** Many files in a day that could not be read. */
    async importFailures(): Promise<number> {
      const since = clock.now() - DAY_MS
      const refused = await store.refusals(since)
      const still = new Set(refused.map((each) => each.tenant_id))
      let changed = 0
      for (const { tenant_id, dedupe_key } of await store.tenantsWithOpen('import_failures')) {
        if (still.has(tenant_id)) continue
        if (await raiser.settleNow(tenant_id, dedupe_key, 'No file was refused for a day.')) changed++
      }
      for (const each of refused.filter(({ files }) => files >= REFUSED_FILES_A_DAY_ALERT)) {
        const codes = await store.refusalCodes(each.tenant_id, since)
        if (await raiseNews(each.tenant_id, unreadable(each, codes))) changed++
      }
      return changed
    },

    /** A job that failed twice in a row, a backup that failed once. */
    async jobs(): Promise<void> {
      const by_job = Map.groupBy(await store.lastRuns(), (run) => run.name)
      for (const [name, [last, previous]] of by_job) {
        const draft = name === 'backup' ? backupFailed(last!) : jobFailed(last!)
        if (last!.status === 'ok') {
          await raiser.settleForOperators(draft.dedupe_key, 'The next run succeeded.')
        } else if (name === 'backup' || previous?.status === 'failed') await raiseForOperators(draft)
      }
    },

    /** `free` bytes for us where the data folder is; null where the system does not say. */
    async disk(free: number | null): Promise<void> {
      if (free === null) return
      if (free < DISK_LOW_BYTES) await raiseForOperators(diskLow(free, clock.now()))
      else if (free >= DISK_LOW_BYTES * DISK_RECOVERED) {
        await raiser.settleForOperators('disk_low', `${gigabytes(free)} are free again.`)
      }
    },
  }
}

function stopped(domain: QuietDomain, days: number, now: number): Draft {
  const silent_days = Math.floor((now - domain.last_end) / DAY_MS)
  return {
    kind: 'reports_stopped',
    severity: 'medium',
    title: `${domain.name}: no reports for ${silent_days} days`,
    summary:
      `Reports about ${domain.name} used to arrive on most days, the last one covered the time up to ` +
      `${isoTime(domain.last_end).slice(0, 10)}. Look at the rua address in its DMARC record and at the mailbox behind it.`,
    subject: { type: 'domain', id: domain.id },
    evidence: {
      seen: isoTime(domain.last_end),
      domain: domain.name,
      last_report_end: isoTime(domain.last_end),
      days_with_reports: days,
      of_days: REGULAR_OF_DAYS,
    },
    dedupe_key: `reports_stopped:${domain.id}`,
  }
}

function unreadable(
  { tenant_id, files, newest }: Refusals,
  codes: { code: string; files: number; example: string }[],
): Draft {
  const most = codes[0]
  return {
    kind: 'import_failures',
    severity: 'medium',
    title: `${files} files could not be read within a day`,
    summary:
      `Most were refused as ${most?.code ?? 'unknown'}, for example ${most?.example ?? 'one of them'}. ` +
      'They are kept with their reasons under Reports, Rejected files.',
    subject: { type: 'tenant', id: tenant_id },
    evidence: { seen: isoTime(newest), files, codes: codes.map((code) => ({ ...code })) },
    dedupe_key: 'import_failures',
  }
}

function jobFailed(run: LastRun): Draft {
  return {
    kind: 'job_failed',
    severity: 'high',
    title: `The job ${run.name} fails`,
    summary: `It failed twice in a row, the last time with: ${run.detail ?? 'no reason given'}.`,
    subject: { type: 'job', id: run.name },
    evidence: { seen: run.id, job: run.name, error: run.detail, started_at: isoTime(run.started_at) },
    dedupe_key: `job_failed:${run.name}`,
  }
}

function backupFailed(run: LastRun): Draft {
  return {
    ...jobFailed(run),
    kind: 'backup_failed',
    severity: 'critical',
    title: 'The nightly backup failed',
    summary: `The last good backup grows older. The reason was: ${run.detail ?? 'none given'}.`,
    dedupe_key: 'backup_failed',
  }
}

function diskLow(free: number, now: number): Draft {
  const critical = free < DISK_CRITICAL_BYTES
  const severity = critical ? 'critical' : 'high'
  return {
    kind: 'disk_low',
    severity,
    title: `${gigabytes(free)} are left on the disk of the data folder`,
    summary: critical
      ? 'Soon nothing can be stored any more: uploads and changes are answered with 507 then. Make room now.'
      : 'Make room, or move the data folder to a larger disk, before nothing can be stored any more.',
    subject: { type: 'instance', id: 'disk' },
    // Told once a day, and again when it gets worse.
    evidence: { seen: `${severity} ${isoTime(now).slice(0, 10)}`, free_bytes: free },
    dedupe_key: 'disk_low',
  }
}

function gigabytes(bytes: number): string {
  return bytes < 1_000_000_000
    ? `${Math.round(bytes / 1_000_000)} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`
}
