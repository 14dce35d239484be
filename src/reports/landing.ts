/**
 * Puts read reports into the database: reports, records, roll-ups, refused files and one audit entry in one change.
 * Decides what is new, what is there already and what is a revision; the UNIQUE key of current reports guards the
 * decision, and a batch that meets a conflict is landed again one by one.
 */
import { type Actor, type AuditDraft, Conflict, type Db, type MustWrite, type RawWrite } from '../db/types.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import type { BlobInput, Blobs } from './blobs.ts'
import type { DmarcIncoming, Incoming, ReportSource } from './incoming.ts'
import type { InputKind } from './parse/types.ts'
import { ALL, type PolicyDomains } from './policy-domains.ts'
import { createRollupSink, type RollupSink } from './rollups.ts'
import {
  createdResult,
  type FileOutcome,
  type ReportOutcome,
  rejectedOutcome,
  type Relating,
  relate,
  type StoredReport,
} from './outcomes.ts'
import { failureInsert, rejectedUpsert, reportInsert, type ReportRow, tlsInsert } from './inserts.ts'
import { chunksInsert, dropRecords, type ReportRecords, rollupOfStored } from './stored.ts'

/** Longest change in records and reports: bounds how long one commit keeps the others waiting. */
const BATCH_RECORDS_MAX = 5000
const BATCH_REPORTS_MAX = 160
/** Ids listed in one audit entry; the counts are always complete. */
const AUDIT_IDS_MAX = 50
const ATTEMPTS_MAX = 5

export interface LandingFile {
  name: string
  kind: InputKind
  bytes: number
  sha256: string
  blob: BlobInput
  reports: Incoming[]
}

export interface LandingPorts {
  db: Db
  clock: Clock
  blobs: Blobs
  policy_domains: PolicyDomains
}

export interface Landing {
  /** Lands whole files, in as few changes as the bounds allow; outcomes in the order given. */
  land(
    actor: Actor,
    source: ReportSource,
    action: LandingAction,
    files: readonly LandingFile[],
  ): Promise<FileOutcome[]>
  /** Puts a new reading of one file in the place of a stored report, whatever it holds. */
  replace(actor: Actor, source: ReportSource, file: LandingFile, old: StoredReport): Promise<void>
}

export type LandingAction = 'reports.upload' | 'reports.import' | 'reports.reparse'

/** One report on its way, and where its outcome goes. */
interface Item {
  file: LandingFile
  report: Incoming
  outcome: ReportOutcome | null
}

export function createLanding(ports: LandingPorts): Landing {
  return {
    async replace(actor, source, file, old) {
      const batch = file.reports.map((report): Item => ({ file, report, outcome: null }))
      await tryBatch(ports, { actor, source, action: 'reports.reparse', replacing: old }, batch)
    },
    async land(actor, source, action, files) {
      const by_file = files.map((file) =>
        file.reports.map((report): Item => ({ file, report, outcome: null })),
      )
      let rest = by_file.flat()
      while (rest.length > 0) {
        const { batch, later } = takeBatch(rest)
        await landBatch(ports, { actor, source, action }, batch)
        rest = later
      }
      return files.map((file, i) => ({
        file: file.name,
        kind: file.kind,
        bytes: file.bytes,
        sha256: file.sha256,
        reports: by_file[i]!.map((item) => item.outcome!),
      }))
    },
  }
}

interface Doing {
  actor: Actor
  source: ReportSource
  action: LandingAction
  /** The stored report whose place is taken, when that is decided already. */
  replacing?: StoredReport
}

/** As much as fits one change. A second report with the same key waits for the next one, to see the first stored. */
function takeBatch(items: Item[]): { batch: Item[]; later: Item[] } {
  const batch: Item[] = []
  const later: Item[] = []
  const keys = new Set<string>()
  let records = 0
  for (const item of items) {
    const { report } = item
    const key = keyOf(report)
    const size = report.kind === 'dmarc' ? (report.records?.length ?? 0) : 1
    const full = batch.length >= BATCH_REPORTS_MAX || (records > 0 && records + size > BATCH_RECORDS_MAX)
    if (full || (key !== null && keys.has(key))) {
      later.push(item)
      continue
    }
    if (key !== null) keys.add(key)
    records += size
    batch.push(item)
  }
  return { batch, later }
}

function keyOf(report: Incoming): string | null {
  if (report.kind === 'dmarc' || report.kind === 'tls') return `${report.kind} ${report.dup_key}`
  return report.kind === 'failure' ? `failure ${report.content_sha256}` : null
}

async function landBatch(ports: LandingPorts, doing: Doing, batch: Item[]): Promise<void> {
  try {
    await tryBatch(ports, doing, batch)
  } catch (error) {
    if (!(error instanceof Conflict)) throw error
    for (const item of batch) await landOne(ports, doing, item)
  }
}

async function landOne(ports: LandingPorts, doing: Doing, item: Item): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryBatch(ports, doing, [item])
    } catch (error) {
      if (!(error instanceof Conflict) || attempt === ATTEMPTS_MAX) throw error
    }
  }
}

interface Plan {
  writes: (RawWrite | MustWrite)[]
  sink: RollupSink
  reports: ReportRow[]
  records: ReportRecords[]
  stored: Item[]
}

async function tryBatch(ports: LandingPorts, doing: Doing, batch: Item[]): Promise<void> {
  const { actor } = doing
  const pids = await ports.policy_domains.ensure(actor, spansOf(batch))
  const relations =
    doing.replacing === undefined
      ? await relate(
          ports.db,
          actor.tenant_id,
          batch.map((item) => item.report),
        )
      : batch.map((): Relating => ({ kind: 'replaces', old: doing.replacing!, detail: 'Read again.' }))
  const now = ports.clock.now()
  const plan: Plan = { writes: [], sink: createRollupSink(), reports: [], records: [], stored: [] }
  const abandoned: number[] = []

  for (const [i, item] of batch.entries()) {
    const { report, file } = item
    const relation = relations[i]!
    if (report.kind === 'rejected') {
      plan.writes.push(rejectedUpsert(actor.tenant_id, doing.source, file, report, newId('rej', now), now))
      plan.stored.push(item)
      item.outcome = rejectedOutcome(report)
    } else if (relation.kind === 'duplicate') {
      item.outcome = createdResult(report, 'duplicate', relation)
      if (report.kind === 'dmarc' && report.records === null) abandoned.push(report.rid)
    } else {
      if (report.kind === 'dmarc') await planReport(ports, doing, plan, item, report, relation, pids, now)
      else if (report.kind === 'tls') plan.writes.push(tlsInsert(doing, file, report, relation, now))
      else plan.writes.push(failureInsert(doing, file, report, now))
      plan.stored.push(item)
      item.outcome = createdResult(report, relation.kind === 'new' ? 'created' : 'revision', relation)
    }
  }

  if (plan.stored.length > 0) await commitPlan(ports, doing, plan, batch)
  for (const rid of abandoned) await dropRecords(ports.db, actor, rid)
  await markAssigned(ports.db, actor.tenant_id, batch)
}

async function commitPlan(ports: LandingPorts, doing: Doing, plan: Plan, batch: Item[]): Promise<void> {
  const kept = [...new Set(plan.stored.map(({ file }) => file.blob))]
  await ports.blobs.keep(doing.actor.tenant_id, kept)
  const writes = [...plan.writes]
  if (plan.reports.length > 0) writes.push(reportInsert(plan.reports))
  if (plan.records.length > 0) writes.push(chunksInsert(plan.records))
  await ports.db.commit(doing.actor, {
    writes: [...writes, ...plan.sink.writes()],
    audit: auditOf(doing, batch),
  })
}

/** The writes of one DMARC report that is new or a revision. */
async function planReport(
  ports: LandingPorts,
  doing: Doing,
  plan: Plan,
  item: Item,
  report: DmarcIncoming,
  relation: Exclude<Relating, { kind: 'duplicate' }>,
  pids: Map<string, number>,
  now: number,
): Promise<void> {
  const { tenant_id } = doing.actor
  const target = {
    tenant_id,
    policy_domain_id: pids.get(report.meta.policy.domain)!,
    all_id: pids.get(ALL)!,
    org_name: report.meta.org_name,
    date_end: report.meta.date_end,
    messages: report.totals.messages,
  }
  const counts = relation.kind === 'new' || relation.kind === 'replaces'
  if (relation.kind === 'replaces') {
    const { old } = relation
    plan.writes.push({
      must: {
        sql: `UPDATE reports SET state = 'superseded' WHERE rid = ? AND tenant_id = ? AND state = 'current'`,
        params: [old.rid, tenant_id],
      },
      label: 'report revised',
    })
    const rollup = await rollupOfStored(ports.db, old.rid, old.date_begin, old.date_end)
    plan.sink.add({ ...target, org_name: old.org_name, date_end: 0 }, rollup, -1)
  }
  if (counts) plan.sink.add(target, report.rollup, 1)
  plan.reports.push({
    report,
    file: item.file,
    source: doing.source,
    tenant_id,
    policy_domain_id: target.policy_domain_id,
    primary_day: report.rollup.primary_day,
    state: counts ? 'current' : 'superseded',
    revision_of: relation.kind === 'new' ? null : relation.old.id,
    created_at: now,
  })
  const { rid, records } = report
  if (records !== null && records.length > 0) plan.records.push({ rid, tenant_id, records })
  if (records === null) {
    plan.writes.push({
      must: { sql: 'DELETE FROM report_loads WHERE rid = ?', params: [report.rid] },
      label: 'report loaded',
    })
  }
}

function spansOf(batch: Item[]): Map<string, number> {
  const spans = new Map<string, number>()
  for (const { report } of batch) {
    if (report.kind !== 'dmarc') continue
    const span = report.meta.date_end - report.meta.date_begin
    const { domain } = report.meta.policy
    spans.set(domain, Math.max(span, spans.get(domain) ?? 0))
  }
  if (spans.size > 0) spans.set(ALL, 0)
  return spans
}

function auditOf(doing: Doing, batch: Item[]): AuditDraft {
  const count = { created: 0, revision: 0, duplicate: 0, rejected: 0 }
  const ids: string[] = []
  for (const { outcome } of batch) {
    count[outcome!.status]++
    if (outcome!.id !== undefined && outcome!.status !== 'duplicate') ids.push(outcome!.id)
  }
  return {
    action: doing.action,
    detail: {
      source: doing.source,
      files: new Set(batch.map((item) => item.file)).size,
      created: count.created,
      revisions: count.revision,
      duplicates: count.duplicate,
      rejected: count.rejected,
      ids: ids.slice(0, AUDIT_IDS_MAX),
    },
    outcome: count.rejected === batch.length ? 'failure' : 'success',
  }
}

/** Says of each outcome whether one of the tenant's domains owns it. */
async function markAssigned(db: Db, tenant_id: string, batch: Item[]): Promise<void> {
  const names = new Set(batch.flatMap(({ outcome }) => (outcome?.kind === 'dmarc' ? [outcome.domain!] : [])))
  if (names.size === 0) return
  const assigned = await db.query<{ name: string }>(
    `SELECT name FROM policy_domains WHERE tenant_id = ? AND domain_id IS NOT NULL
AND name IN (SELECT value FROM json_each(?))`,
    [tenant_id, JSON.stringify([...names])],
  )
  const owned = new Set(assigned.map(({ name }) => name))
  for (const { outcome } of batch)
    if (outcome?.kind === 'dmarc') outcome.assigned = owned.has(outcome.domain!)
}
