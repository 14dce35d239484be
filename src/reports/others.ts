/** TLS-RPT and failure reports, and the files that were refused: lists, details, originals. */
import type { Actor, Db, SqlValue } from '../db/types.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import type { Blobs } from './blobs.ts'
import type { FailureReportDto, RejectedFileDto, ReportDto, TlsReportDto } from './schema.ts'
import type { Original } from './service.ts'

export interface OtherFilter {
  q?: string
  from?: number
  to?: number
}

export interface OtherPage {
  /** What the rows are ordered by, of the last one before. */
  after: readonly SqlValue[] | null
  limit: number
}

interface FileColumns {
  source: string
  file_name: string
  file_kind: string
  file_bytes: number
  blob_sha256: string
  repairs_json: string
  created_at: number
}

interface TlsRow extends FileColumns {
  id: string
  org_name: string
  contact: string | null
  report_id: string
  date_begin: number
  date_end: number
  domains: string
  successful: number
  failed: number
  policies_json: string
  revision_of: string | null
}

interface FailureRow extends FileColumns {
  id: string
  reported_domain: string
  source_ip: string | null
  auth_failure: string | null
  arrived_at: number | null
  subject: string | null
  detail_json: string
}

interface RejectedRow {
  id: string
  file_name: string
  file_bytes: number
  blob_sha256: string
  code: string
  detail: string
  source: string
  created_at: number
  expires_at: number
}

export type OtherReports = ReturnType<typeof createOtherReports>

export function createOtherReports({ db, clock, blobs }: { db: Db; clock: Clock; blobs: Blobs }) {
  const one = async <Row extends object>(sql: string, params: SqlValue[], what: string): Promise<Row> => {
    const [row] = await db.query<Row>(sql, params)
    if (row === undefined) throw problem('not_found', `There is no such ${what}.`)
    return row
  }

  const original = async (
    actor: Actor,
    type: string,
    row: { id: string; file_name: string; blob_sha256: string },
  ): Promise<Original> => {
    const bytes = await blobs.size(actor.tenant_id, row.blob_sha256)
    if (bytes === null) throw problem('gone', 'The original is no longer there.')
    await db.commit(actor, {
      writes: [],
      audit: { action: 'reports.raw', target: { type, id: row.id }, detail: { sha256: row.blob_sha256 } },
    })
    return { path: blobs.path(actor.tenant_id, row.blob_sha256), name: row.file_name, bytes }
  }

  const findTls = (tenant_id: string, id: string): Promise<TlsRow> =>
    one('SELECT * FROM tls_reports WHERE id = ? AND tenant_id = ?', [id, tenant_id], 'report')
  const findFailure = (tenant_id: string, id: string): Promise<FailureRow> =>
    one('SELECT * FROM failure_reports WHERE id = ? AND tenant_id = ?', [id, tenant_id], 'report')

  return {
    /** By end of period, newest first; the position is (date_end, id). */
    async tls(tenant_id: string, filter: OtherFilter, page: OtherPage): Promise<TlsReportDto[]> {
      const { where, params } = conditions(tenant_id, filter, ['org_name', 'domains', 'report_id'])
      between(where, params, filter, 'date_end', 'date_begin')
      after(where, params, ['date_end', 'id'], page)
      const rows = await db.query<TlsRow>(
        `SELECT * FROM tls_reports WHERE ${where.join(' AND ')} ORDER BY date_end DESC, id DESC LIMIT ?`,
        [...params, page.limit],
      )
      return rows.map(presentTls)
    },

    async tlsDetail(tenant_id: string, id: string) {
      const row = await findTls(tenant_id, id)
      return { ...presentTls(row), policies: JSON.parse(row.policies_json) as Record<string, unknown>[] }
    },

    tlsOriginal: async (actor: Actor, id: string): Promise<Original> =>
      original(actor, 'tls_report', await findTls(actor.tenant_id, id)),

    /** By arrival, newest first; the position is (id). */
    async failures(tenant_id: string, filter: OtherFilter, page: OtherPage): Promise<FailureReportDto[]> {
      const { where, params } = conditions(tenant_id, filter, ['reported_domain', 'source_ip', 'subject'])
      between(where, params, filter, 'created_at', 'created_at')
      after(where, params, ['id'], page)
      const rows = await db.query<FailureRow>(
        `SELECT * FROM failure_reports WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT ?`,
        [...params, page.limit],
      )
      return rows.map(presentFailure)
    },

    async failureDetail(tenant_id: string, id: string) {
      const row = await findFailure(tenant_id, id)
      return { ...presentFailure(row), detail: JSON.parse(row.detail_json) as Record<string, unknown> }
    },

    failureOriginal: async (actor: Actor, id: string): Promise<Original> =>
      original(actor, 'failure_report', await findFailure(actor.tenant_id, id)),

    /** By arrival, newest first; the position is (id). Expired ones are gone, whether swept or not. */
    async rejected(tenant_id: string, filter: OtherFilter, page: OtherPage): Promise<RejectedFileDto[]> {
      const { where, params } = conditions(tenant_id, filter, ['file_name', 'code', 'detail'])
      where.push('expires_at > ?')
      params.push(clock.now())
      between(where, params, filter, 'created_at', 'created_at')
      after(where, params, ['id'], page)
      const rows = await db.query<RejectedRow>(
        `SELECT * FROM rejected_files WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT ?`,
        [...params, page.limit],
      )
      return rows.map(presentRejected)
    },

    async rejectedOriginal(actor: Actor, id: string): Promise<Original> {
      const row = await one<RejectedRow>(
        'SELECT * FROM rejected_files WHERE id = ? AND tenant_id = ? AND expires_at > ?',
        [id, actor.tenant_id, clock.now()],
        'file',
      )
      return await original(actor, 'rejected_file', row)
    },
  }
}

function conditions(
  tenant_id: string,
  filter: OtherFilter,
  searched: readonly string[],
): { where: string[]; params: SqlValue[] } {
  const where = ['tenant_id = ?']
  const params: SqlValue[] = [tenant_id]
  if (filter.q !== undefined) {
    const like = `%${filter.q.replaceAll(/[\\%_]/g, '\\$&')}%`
    where.push(`(${searched.map((column) => `${column} LIKE ? ESCAPE '\\'`).join(' OR ')})`)
    params.push(...searched.map(() => like))
  }
  return { where, params }
}

function between(where: string[], params: SqlValue[], filter: OtherFilter, from: string, to: string): void {
  if (filter.from !== undefined) {
    where.push(`${from} >= ?`)
    params.push(filter.from)
  }
  if (filter.to !== undefined) {
    where.push(`${to} < ?`)
    params.push(filter.to)
  }
}

function after(where: string[], params: SqlValue[], columns: readonly string[], page: OtherPage): void {
  if (page.after === null) return
  where.push(`(${columns.join(', ')}) < (${columns.map(() => '?').join(', ')})`)
  params.push(...page.after)
}

function originOf(row: FileColumns): Pick<ReportDto, 'source' | 'file' | 'repairs' | 'created_at'> {
  return {
    source: row.source as ReportDto['source'],
    file: {
      name: row.file_name,
      sha256: row.blob_sha256,
      bytes: row.file_bytes,
      kind: row.file_kind as ReportDto['file']['kind'],
    },
    repairs: JSON.parse(row.repairs_json) as ReportDto['repairs'],
    created_at: isoTime(row.created_at),
  }
}

function presentTls(row: TlsRow): TlsReportDto {
  return {
    id: row.id,
    org_name: row.org_name,
    contact: row.contact,
    report_id: row.report_id,
    domains: row.domains.split(' '),
    date_begin: isoTime(row.date_begin),
    date_end: isoTime(row.date_end),
    successful_sessions: row.successful,
    failed_sessions: row.failed,
    ...(row.revision_of === null ? {} : { revision_of: row.revision_of }),
    ...originOf(row),
  }
}

function presentFailure(row: FailureRow): FailureReportDto {
  return {
    id: row.id,
    reported_domain: row.reported_domain,
    source_ip: row.source_ip,
    auth_failure: row.auth_failure,
    arrived_at: row.arrived_at === null ? null : isoTime(row.arrived_at),
    subject: row.subject,
    ...originOf(row),
  }
}

function presentRejected(row: RejectedRow): RejectedFileDto {
  return {
    id: row.id,
    file: row.file_name,
    sha256: row.blob_sha256,
    bytes: row.file_bytes,
    code: row.code,
    detail: row.detail,
    source: row.source as RejectedFileDto['source'],
    created_at: isoTime(row.created_at),
    expires_at: isoTime(row.expires_at),
  }
}
