/**
 * Reports as files: one row per record, in csv, json or ndjson. They are read in keyset pages while the client takes
 * them, so that size costs time, not memory. json and ndjson end with `_meta`: a file without `complete: true` is cut
 * off. Its `sha256` is over the items as compact JSON, one line each with its line feed, in both forms.
 */
import { createHash } from 'node:crypto'
import { type CsvCell, csvLine } from '../lib/csv.ts'
import type { RecordDto, ReportDto } from './schema.ts'

export type ExportFormat = 'csv' | 'json' | 'ndjson'

/** One record and what it needs of its report; the record's own members are null for a report without records. */
export interface ExportRow {
  report: ReportDto
  record: RecordDto | null
}

export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
}

export const REPORT_CSV_COLUMNS = [
  'id',
  'domain',
  'status',
  'org_name',
  'org_email',
  'report_id',
  'date_begin',
  'date_end',
  'p',
  'sp',
  'np',
  'adkim',
  'aspf',
  'pct',
  'records',
  'messages',
  'pass',
  'fail',
  'none',
  'quarantine',
  'reject',
  'pass_disposition',
  'source',
  'file_name',
  'file_sha256',
  'repairs',
  'created_at',
]

const RECORD_CSV_COLUMNS = [
  'report_id',
  'reporter_report_id',
  'domain',
  'org_name',
  'org_email',
  'date_begin',
  'date_end',
  'p',
  'sp',
  'np',
  'pct',
  'n',
  'source_ip',
  'count',
  'disposition',
  'dkim_aligned',
  'spf_aligned',
  'result',
  'sender',
  'sender_kind',
  'header_from',
  'envelope_from',
  'envelope_to',
  'reasons',
  'dkim_domains',
  'dkim_selectors',
  'dkim_results',
  'spf_domains',
  'spf_scopes',
  'spf_results',
]

/** A line of a table of reports. */
export function reportCsvCells(report: ReportDto): CsvCell[] {
  const { policy, totals, file } = report
  const { none, quarantine, reject, pass } = totals.by_disposition
  return [
    report.id,
    report.domain,
    report.status,
    report.org_name,
    report.org_email,
    report.report_id,
    report.date_begin,
    report.date_end,
    policy.p,
    policy.sp,
    policy.np,
    policy.adkim,
    policy.aspf,
    policy.pct,
    totals.records,
    totals.messages,
    totals.pass,
    totals.fail,
    none,
    quarantine,
    reject,
    pass,
    report.source,
    file.name,
    file.sha256,
    report.repairs.map((repair) => repair.code).join(';'),
    report.created_at,
  ]
}

/** The export as text, piece by piece. `failed` is told of an error on the way; the text then ends incomplete. */
export async function* exportText(
  format: ExportFormat,
  pages: AsyncIterable<readonly ExportRow[]>,
  failed: (error: unknown) => void,
): AsyncGenerator<string> {
  const hash = createHash('sha256')
  let rows = 0
  let complete = true
  if (format === 'csv') yield csvLine(RECORD_CSV_COLUMNS)
  if (format === 'json') yield '{"items":['
  try {
    for await (const page of pages) {
      if (page.length === 0) continue
      if (format === 'csv') {
        yield page.map((row) => csvLine(recordCsvCells(row))).join('')
      } else {
        const items = page.map((row) => JSON.stringify(flat(row)))
        for (const item of items) hash.update(`${item}\n`)
        yield format === 'ndjson' ? `${items.join('\n')}\n` : `${rows === 0 ? '' : ','}\n${items.join(',\n')}`
      }
      rows += page.length
    }
  } catch (error) {
    failed(error)
    complete = false
    // A table has no place for the remark; a connection that breaks is the remark.
    if (format === 'csv') throw error
  }
  const meta = JSON.stringify({ rows, sha256: hash.digest('hex'), complete })
  if (format === 'json') yield `\n],"_meta":${meta}}\n`
  if (format === 'ndjson') yield `{"_meta":${meta}}\n`
}

function flat({ report, record }: ExportRow): Record<string, unknown> {
  const { id, domain, org_name, org_email, date_begin, date_end, policy } = report
  return {
    report_id: id,
    reporter_report_id: report.report_id,
    domain,
    org_name,
    org_email,
    date_begin,
    date_end,
    policy,
    record,
  }
}

function recordCsvCells({ report, record }: ExportRow): CsvCell[] {
  const { policy } = report
  const joined = <T>(list: readonly T[] | undefined, value: (item: T) => string | null): string =>
    (list ?? []).map((item) => value(item) ?? '').join(';')
  return [
    report.id,
    report.report_id,
    report.domain,
    report.org_name,
    report.org_email,
    report.date_begin,
    report.date_end,
    policy.p,
    policy.sp,
    policy.np,
    policy.pct,
    record?.n,
    record?.source_ip,
    record?.count,
    record?.disposition,
    record?.dkim_aligned,
    record?.spf_aligned,
    record?.result,
    record?.sender,
    record?.sender_kind,
    record?.header_from,
    record?.envelope_from,
    record?.envelope_to,
    joined(record?.reasons, ({ type, comment }) => (comment === null ? type : `${type} (${comment})`)),
    joined(record?.dkim, ({ domain }) => domain),
    joined(record?.dkim, ({ selector }) => selector),
    joined(record?.dkim, ({ result }) => result),
    joined(record?.spf, ({ domain }) => domain),
    joined(record?.spf, ({ scope }) => scope),
    joined(record?.spf, ({ result }) => result),
  ]
}
