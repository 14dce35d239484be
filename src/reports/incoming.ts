/**
 * Turns the messages of the sandbox about one file into reports that are ready to land. Small reports are held in
 * memory; of a large one the rows go to the database as they come, invisible until the report itself is committed.
 */
import type { Actor, Db } from '../db/types.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import type {
  DmarcMeta,
  DmarcRow,
  DmarcTotals,
  FailureMeta,
  InputKind,
  Message,
  Repair,
  TlsMeta,
  TlsRow,
  TlsTotals,
} from './parse/types.ts'
import { duplicateKey, tlsDuplicateKey } from './rules/duplicates.ts'
import { CHUNK_RECORDS, type PackedRecord, packRecord } from './rules/records.ts'
import { createRollup, type ReportRollup, type RollupBuilder } from './rules/rollup.ts'
import type { Sender } from './rules/senders.ts'
import { chunksInsert, dropRecords, rollupOfStored } from './stored.ts'

export type ReportSource = 'upload' | 'mailbox' | 'watch' | 'api'

/** Rows written ahead in one change: two chunks a trip to the disk. A report that ends with fewer is held in memory. */
const AHEAD_RECORDS = 2 * CHUNK_RECORDS

interface Common {
  id: string
  entry: string
  repairs: Repair[]
  content_sha256: string
}

export interface DmarcIncoming extends Common {
  kind: 'dmarc'
  rid: number
  meta: DmarcMeta
  totals: DmarcTotals
  rows_sha256: string
  dup_key: string
  /** null: written already, waiting under `report_loads`. */
  records: PackedRecord[] | null
  rollup: ReportRollup
}

export interface TlsIncoming extends Common {
  kind: 'tls'
  meta: TlsMeta
  totals: TlsTotals
  rows_sha256: string
  dup_key: string
  rows: TlsRow[]
}

export interface FailureIncoming extends Common {
  kind: 'failure'
  meta: FailureMeta
}

export interface RejectedIncoming {
  kind: 'rejected'
  entry: string
  code: string
  detail: string
}

export type Incoming = DmarcIncoming | TlsIncoming | FailureIncoming | RejectedIncoming

export interface ReadFile {
  kind: InputKind
  reports: Incoming[]
}

export interface IncomingPorts {
  db: Db
  clock: Clock
  senderOf: (row: DmarcRow) => Sender
  nextRid: () => number
}

/** Reads one file to its end. What it wrote ahead of a failure is removed again. */
export async function readIncoming(
  ports: IncomingPorts,
  actor: Actor,
  messages: AsyncIterable<Message>,
): Promise<ReadFile> {
  const open = new Map<number, OpenReport>()
  const reports: Incoming[] = []
  let kind: InputKind = 'unknown'
  try {
    for await (const message of messages) {
      switch (message.type) {
        case 'report':
          open.set(message.index, openReport(ports, message))
          break
        case 'records':
          await takeRecords(ports, actor, open.get(message.index), message)
          break
        case 'end':
          reports.push(await closeReport(ports, actor, open.get(message.index), message))
          open.delete(message.index)
          break
        case 'rejected': {
          const begun = message.index === null ? undefined : open.get(message.index)
          if (begun?.loading) await dropRecords(ports.db, actor, begun.rid)
          if (message.index !== null) open.delete(message.index)
          const entry = message.origin?.name ?? ''
          reports.push({ kind: 'rejected', entry, code: message.code, detail: message.detail })
          break
        }
        case 'done':
          kind = message.input_kind
          break
      }
    }
  } catch (error) {
    const begun = [...open.values(), ...reports.filter((report) => report.kind === 'dmarc')]
    for (const report of begun) {
      if ('loading' in report ? report.loading : report.records === null) {
        await dropRecords(ports.db, actor, report.rid).catch(() => undefined)
      }
    }
    throw error
  }
  return { kind, reports }
}

interface OpenReport {
  id: string
  rid: number
  entry: string
  loading: boolean
  rows: DmarcRow[]
  tls_rows: TlsRow[]
  /** Counted while the rows pass by, for the period that was known when they began. */
  counted: { begin: number; end: number; rollup: RollupBuilder } | null
}

type Begin = Extract<Message, { type: 'report' }>
type End = Extract<Message, { type: 'end' }>
type Records = Extract<Message, { type: 'records' }>

const ID_OF = { dmarc: 'rpt', tls: 'tls', failure: 'ruf' } as const

function openReport(ports: IncomingPorts, begin: Begin): OpenReport {
  const period = begin.kind === 'dmarc' && begin.meta !== null ? begin.meta : null
  return {
    id: newId(ID_OF[begin.kind], ports.clock.now()),
    rid: ports.nextRid(),
    entry: begin.origin.name,
    loading: false,
    rows: [],
    tls_rows: [],
    counted:
      period === null
        ? null
        : {
            begin: period.date_begin,
            end: period.date_end,
            rollup: createRollup(period.date_begin, period.date_end),
          },
  }
}

async function takeRecords(
  ports: IncomingPorts,
  actor: Actor,
  report: OpenReport | undefined,
  message: Records,
): Promise<void> {
  if (report === undefined) return
  if (message.kind === 'tls') {
    report.tls_rows.push(...message.rows)
    return
  }
  report.rows.push(...message.rows)
  while (report.rows.length > AHEAD_RECORDS) {
    await writeAhead(ports, actor, report, report.rows.splice(0, AHEAD_RECORDS))
  }
}

/** Writes a chunk of a large report and counts it. */
async function writeAhead(
  ports: IncomingPorts,
  actor: Actor,
  report: OpenReport,
  rows: DmarcRow[],
): Promise<void> {
  if (rows.length === 0) return
  const records = rows.map((row) => {
    const sender = ports.senderOf(row)
    report.counted?.rollup.add(row, sender)
    return packRecord(row, sender)
  })
  const chunk = chunksInsert([{ rid: report.rid, tenant_id: actor.tenant_id, records }])
  const begin = {
    sql: 'INSERT INTO report_loads (rid, tenant_id, created_at) VALUES (?, ?, ?)',
    params: [report.rid, actor.tenant_id, ports.clock.now()],
  }
  await ports.db.commit(actor, {
    writes: [...(report.loading ? [] : [begin]), chunk],
    audit: { none: 'staging' },
  })
  report.loading = true
}

async function closeReport(
  ports: IncomingPorts,
  actor: Actor,
  report: OpenReport | undefined,
  end: End,
): Promise<Incoming> {
  if (report === undefined) throw new Error(`report ${end.index} ended before it began`)
  const common = {
    id: report.id,
    entry: end.origin.name,
    repairs: end.repairs,
    content_sha256: end.content_sha256,
  }
  if (end.kind === 'failure') return { ...common, kind: 'failure', meta: end.meta }
  if (end.kind === 'tls') {
    const { meta, totals, rows_sha256 } = end
    return {
      ...common,
      kind: 'tls',
      meta,
      totals,
      rows_sha256,
      rows: report.tls_rows,
      dup_key: tlsDuplicateKey(meta),
    }
  }
  const { meta, totals, rows_sha256 } = end
  const rest = { ...common, kind: 'dmarc' as const, rid: report.rid, meta, totals, rows_sha256 }
  const dup_key = duplicateKey(meta)
  if (!report.loading) {
    const rollup = createRollup(meta.date_begin, meta.date_end)
    const records = report.rows.map((row) => {
      const sender = ports.senderOf(row)
      rollup.add(row, sender)
      return packRecord(row, sender)
    })
    return { ...rest, dup_key, records, rollup: rollup.finish() }
  }
  await writeAhead(ports, actor, report, report.rows.splice(0))
  const { counted } = report
  const period_held = counted !== null && counted.begin === meta.date_begin && counted.end === meta.date_end
  const rollup = period_held
    ? counted.rollup.finish()
    : await rollupOfStored(ports.db, report.rid, meta.date_begin, meta.date_end)
  return { ...rest, dup_key, records: null, rollup }
}
