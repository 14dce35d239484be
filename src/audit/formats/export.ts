/** The forms in which the audit log leaves: each makes text of pages of entries. */
import { csvLine } from '../../lib/csv.ts'
import type { AuditExportRow } from '../service.ts'

export const EXPORT_FORMATS = ['ndjson', 'json', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

interface Writer {
  content_type: string
  head: string
  rows(rows: readonly AuditExportRow[], first: boolean): string
  tail: string
}

const CSV_COLUMNS = [
  'seq',
  'ts',
  'actor_type',
  'actor_id',
  'actor_name',
  'actor_key_id',
  'actor_ip',
  'action',
  'target_type',
  'target_id',
  'outcome',
  'request_id',
  'detail',
  'personal',
  'hash',
  'prev_hash',
]

export const EXPORT_WRITERS: Readonly<Record<ExportFormat, Writer>> = {
  ndjson: {
    content_type: 'application/x-ndjson',
    head: '',
    rows: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    tail: '',
  },
  json: {
    content_type: 'application/json',
    head: '{"items":[',
    rows: (rows, first) => (first ? '' : ',') + rows.map((row) => `\n${JSON.stringify(row)}`).join(','),
    tail: '\n]}\n',
  },
  csv: {
    content_type: 'text/csv; charset=utf-8; header=present',
    head: csvLine(CSV_COLUMNS),
    rows: (rows) => rows.map(csvRow).join(''),
    tail: '',
  },
}

function csvRow(row: AuditExportRow): string {
  return csvLine([
    row.seq,
    row.ts,
    row.actor.type,
    row.actor.id,
    row.actor.name,
    row.actor.key_id,
    row.actor.ip,
    row.action,
    row.target?.type,
    row.target?.id,
    row.outcome,
    row.request_id,
    JSON.stringify(row.detail),
    row.personal === null ? null : JSON.stringify(row.personal),
    row.hash,
    row.prev_hash,
  ])
}

/** The whole export, piece by piece, as fast as it is read and no faster. */
export async function* exportText(
  format: ExportFormat,
  pages: AsyncIterable<readonly AuditExportRow[]>,
): AsyncGenerator<string> {
  const writer = EXPORT_WRITERS[format]
  let first = true
  yield writer.head
  for await (const rows of pages) {
    yield writer.rows(rows, first)
    first = false
  }
  yield writer.tail
}
