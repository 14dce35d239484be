/** What became of a file and the reports in it, as the client is told; and how a report relates to those stored. */
import type { Db } from '../db/types.ts'
import { isoTime } from '../lib/clock.ts'
import type { DmarcIncoming, Incoming, RejectedIncoming, TlsIncoming } from './incoming.ts'
import { policyJson } from './inserts.ts'
import type { InputKind, Repair } from './parse/types.ts'
import { relationOf } from './rules/duplicates.ts'
import { addContent, contentOf } from './stored.ts'

export type OutcomeStatus = 'created' | 'duplicate' | 'revision' | 'rejected'

export interface ReportOutcome {
  status: OutcomeStatus
  id?: string
  kind?: 'dmarc' | 'tls' | 'failure'
  /** Name of the entry or attachment inside the file. */
  entry: string
  domain?: string
  org_name?: string
  messages?: number
  date_begin?: string
  date_end?: string
  assigned?: boolean
  revision_of?: string
  repairs: Repair[]
  code?: string
  detail?: string
}

export interface FileOutcome {
  file: string
  kind: InputKind
  bytes: number
  sha256: string
  reports: ReportOutcome[]
}

/** What a revision needs to know of the report it is compared with. */
export interface StoredReport {
  rid: number
  id: string
  org_name: string
  date_begin: number
  date_end: number
  records: number
  messages: number
}

/**
 * new: nothing has its key · duplicate: it is there · replaces: a revision that holds at least as much ·
 * stays: a revision that holds less, or other things and fewer messages; it is kept and shown, but not counted.
 */
export type Relating =
  | { kind: 'new' }
  | { kind: 'duplicate'; id: string }
  | { kind: 'replaces' | 'stays'; old: StoredReport; detail: string }

/** Records compared one by one; above, the number of messages decides. */
const COMPARED_RECORDS_MAX = 20_000

interface Candidate extends StoredReport {
  dup_key: string
  state: 'current' | 'superseded'
  content_sha256: string
  rows_sha256: string
  policy_json: string
}

/** How each report relates to those stored, in order. */
export async function relate(db: Db, tenant_id: string, reports: readonly Incoming[]): Promise<Relating[]> {
  const keys = JSON.stringify(reports.flatMap((report) => (report.kind === 'dmarc' ? [report.dup_key] : [])))
  const candidates = new Map<string, Candidate[]>()
  if (keys !== '[]') {
    for (const state of ['current', 'superseded'] as const) {
      const found = await db.query<Candidate>(
        `SELECT rid, id, state, dup_key, org_name, date_begin, date_end, records, messages, content_sha256,
rows_sha256, policy_json FROM reports
WHERE tenant_id = ? AND dup_key IN (SELECT value FROM json_each(?)) AND state = '${state}'`,
        [tenant_id, keys],
      )
      for (const row of found) candidates.set(row.dup_key, [...(candidates.get(row.dup_key) ?? []), row])
    }
  }
  const out: Relating[] = []
  for (const report of reports) {
    if (report.kind === 'dmarc') out.push(await relateDmarc(db, report, candidates.get(report.dup_key) ?? []))
    else out.push(report.kind === 'rejected' ? { kind: 'new' } : await relateOther(db, tenant_id, report))
  }
  return out
}

async function relateDmarc(
  db: Db,
  report: DmarcIncoming,
  candidates: readonly Candidate[],
): Promise<Relating> {
  const policy = policyJson(report.meta.policy)
  for (const each of candidates) {
    const same_rows = each.rows_sha256 === report.rows_sha256 && each.policy_json === policy
    if (each.content_sha256 === report.content_sha256 || same_rows) return { kind: 'duplicate', id: each.id }
  }
  const old = candidates.find((each) => each.state === 'current')
  if (old === undefined) return { kind: 'new' }
  const relation = await compare(db, old, report)
  if (relation === 'superset' || relation === 'equal') {
    return {
      kind: 'replaces',
      old,
      detail: 'It holds everything that the earlier report holds, and replaces it.',
    }
  }
  if (relation === 'subset') {
    return { kind: 'stays', old, detail: 'It holds less than the earlier report, which stays in force.' }
  }
  return report.totals.messages >= old.messages
    ? {
        kind: 'replaces',
        old,
        detail: 'It differs from the earlier report and holds as many messages; it replaces it.',
      }
    : {
        kind: 'stays',
        old,
        detail: 'It differs from the earlier report, which has more messages and stays in force.',
      }
}

async function compare(
  db: Db,
  old: Candidate,
  report: DmarcIncoming,
): Promise<ReturnType<typeof relationOf>> {
  if (old.rows_sha256 === report.rows_sha256) return 'equal'
  if (Math.max(old.records, report.totals.records) > COMPARED_RECORDS_MAX) return 'overlap'
  const before = await contentOf(db, old.rid)
  if (report.records === null) return relationOf(before, await contentOf(db, report.rid))
  const after = new Map<string, number>()
  addContent(after, report.records)
  return relationOf(before, after)
}

async function relateOther(
  db: Db,
  tenant_id: string,
  report: Exclude<Incoming, DmarcIncoming | RejectedIncoming>,
): Promise<Relating> {
  if (report.kind === 'failure') {
    const [found] = await db.query<{ id: string }>(
      'SELECT id FROM failure_reports WHERE tenant_id = ? AND content_sha256 = ?',
      [tenant_id, report.content_sha256],
    )
    return found === undefined ? { kind: 'new' } : { kind: 'duplicate', id: found.id }
  }
  return await relateTls(db, tenant_id, report)
}

async function relateTls(db: Db, tenant_id: string, report: TlsIncoming): Promise<Relating> {
  const found = await db.query<{ id: string; rows_sha256: string }>(
    'SELECT id, rows_sha256 FROM tls_reports WHERE tenant_id = ? AND dup_key = ? ORDER BY id DESC',
    [tenant_id, report.dup_key],
  )
  const same = found.find((each) => each.rows_sha256 === report.rows_sha256)
  if (same !== undefined) return { kind: 'duplicate', id: same.id }
  const last = found[0]
  if (last === undefined) return { kind: 'new' }
  const old = { rid: 0, id: last.id, org_name: '', date_begin: 0, date_end: 0, records: 0, messages: 0 }
  return {
    kind: 'replaces',
    old,
    detail: 'It differs from the earlier report with the same id; both are kept.',
  }
}

export function rejectedOutcome(report: RejectedIncoming): ReportOutcome {
  return { status: 'rejected', entry: report.entry, repairs: [], code: report.code, detail: report.detail }
}

/** The outcome of a report that could be read. */
export function createdResult(
  report: Exclude<Incoming, RejectedIncoming>,
  status: OutcomeStatus,
  relation: Relating,
): ReportOutcome {
  const id = relation.kind === 'duplicate' ? relation.id : report.id
  const head: ReportOutcome = { status, id, kind: report.kind, entry: report.entry, repairs: report.repairs }
  if ('old' in relation) {
    head.revision_of = relation.old.id
    head.code = relation.kind === 'replaces' ? 'replaces' : 'superseded_on_arrival'
    head.detail = relation.detail
  }
  if (report.kind === 'failure')
    return { ...head, domain: report.meta.reported_domain, org_name: report.meta.reporter }
  const dates = { date_begin: isoTime(report.meta.date_begin), date_end: isoTime(report.meta.date_end) }
  if (report.kind === 'tls') {
    const { successful_sessions, failed_sessions } = report.totals
    const { domain, organization_name } = report.meta
    return {
      ...head,
      ...dates,
      domain,
      org_name: organization_name,
      messages: successful_sessions + failed_sessions,
    }
  }
  const { policy, org_name } = report.meta
  return {
    ...head,
    ...dates,
    domain: policy.domain,
    org_name,
    messages: report.totals.messages,
    assigned: false,
  }
}
