/** The statements that store what was read. */
import type { Actor, RawWrite, SqlValue } from '../db/types.ts'
import { REJECTED_FILES_KEPT_MS } from '../lib/limits.ts'
import type {
  DmarcIncoming,
  FailureIncoming,
  RejectedIncoming,
  ReportSource,
  TlsIncoming,
} from './incoming.ts'
import type { Relating } from './outcomes.ts'
import type { DmarcPolicy, InputKind } from './parse/types.ts'

interface FileFacts {
  name: string
  kind: InputKind
  bytes: number
  sha256: string
}

interface Doing {
  actor: Actor
  source: ReportSource
}

export interface ReportRow {
  report: DmarcIncoming
  file: FileFacts
  source: ReportSource
  tenant_id: string
  policy_domain_id: number
  primary_day: number
  state: 'current' | 'superseded'
  revision_of: string | null
  created_at: number
}

const REPORT_COLUMNS = [
  'rid',
  'id',
  'tenant_id',
  'state',
  'policy_domain_id',
  'policy_domain',
  'org_name',
  'org_email',
  'report_id',
  'dup_key',
  'date_begin',
  'date_end',
  'primary_day',
  'policy_json',
  'extra_json',
  'records',
  'messages',
  'pass',
  'fail',
  'disp_none',
  'disp_quarantine',
  'disp_reject',
  'disp_pass',
  'repairs_json',
  'source',
  'file_name',
  'file_kind',
  'file_bytes',
  'blob_sha256',
  'content_sha256',
  'rows_sha256',
  'revision_of',
  'created_at',
]
const INSERT_REPORT = insertInto('reports', REPORT_COLUMNS)

export function reportInsert(rows: readonly ReportRow[]): RawWrite {
  return { sql: INSERT_REPORT, rows: rows.map(reportValues) }
}

/** The published policy as stored and compared: members in a fixed order. */
export function policyJson(policy: DmarcPolicy): string {
  const { p, sp, np, adkim, aspf, pct, fo, testing, discovery_method } = policy
  return JSON.stringify({ p, sp, np, adkim, aspf, pct, fo, testing, discovery_method })
}

function reportValues(row: ReportRow): SqlValue[] {
  const { report, file } = row
  const { meta, totals } = report
  const { none, quarantine, reject, pass } = totals.by_disposition
  return [
    report.rid,
    report.id,
    row.tenant_id,
    row.state,
    row.policy_domain_id,
    meta.policy.domain,
    meta.org_name,
    meta.org_email === '' ? null : meta.org_email,
    meta.report_id,
    report.dup_key,
    meta.date_begin,
    meta.date_end,
    row.primary_day,
    policyJson(meta.policy),
    JSON.stringify({
      contact: meta.extra_contact_info,
      version: meta.version,
      standard: meta.standard,
      generator: meta.generator,
      errors: meta.errors,
      entry: report.entry,
    }),
    totals.records,
    totals.messages,
    totals.pass,
    totals.fail,
    none,
    quarantine,
    reject,
    pass,
    JSON.stringify(report.repairs),
    row.source,
    file.name,
    file.kind,
    file.bytes,
    file.sha256,
    report.content_sha256,
    report.rows_sha256,
    row.revision_of,
    row.created_at,
  ]
}

const INSERT_TLS = insertInto('tls_reports', [
  'id',
  'tenant_id',
  'org_name',
  'contact',
  'report_id',
  'date_begin',
  'date_end',
  'domains',
  'successful',
  'failed',
  'policies_json',
  'repairs_json',
  'dup_key',
  'source',
  'file_name',
  'file_kind',
  'file_bytes',
  'blob_sha256',
  'content_sha256',
  'rows_sha256',
  'revision_of',
  'created_at',
])

export function tlsInsert(
  { actor, source }: Doing,
  file: FileFacts,
  report: TlsIncoming,
  relation: Relating,
  now: number,
): RawWrite {
  const { meta, totals } = report
  const domains = [...new Set(report.rows.map((row) => row.policy_domain).filter((name) => name !== ''))]
  return {
    sql: INSERT_TLS,
    params: [
      report.id,
      actor.tenant_id,
      meta.organization_name,
      meta.contact_info,
      meta.report_id,
      meta.date_begin,
      meta.date_end,
      (domains.length === 0 ? [meta.domain] : domains).join(' '),
      totals.successful_sessions,
      totals.failed_sessions,
      JSON.stringify(report.rows),
      JSON.stringify(report.repairs),
      report.dup_key,
      source,
      file.name,
      file.kind,
      file.bytes,
      file.sha256,
      report.content_sha256,
      report.rows_sha256,
      'old' in relation ? relation.old.id : null,
      now,
    ],
  }
}

const INSERT_FAILURE = insertInto('failure_reports', [
  'id',
  'tenant_id',
  'reported_domain',
  'source_ip',
  'auth_failure',
  'arrived_at',
  'subject',
  'detail_json',
  'repairs_json',
  'source',
  'file_name',
  'file_kind',
  'file_bytes',
  'blob_sha256',
  'content_sha256',
  'created_at',
])

export function failureInsert(
  { actor, source }: Doing,
  file: FileFacts,
  report: FailureIncoming,
  now: number,
): RawWrite {
  const { meta } = report
  return {
    sql: INSERT_FAILURE,
    params: [
      report.id,
      actor.tenant_id,
      meta.reported_domain,
      meta.source_ip,
      meta.auth_failure,
      meta.arrival_date,
      meta.subject,
      JSON.stringify(meta),
      JSON.stringify(report.repairs),
      source,
      file.name,
      file.kind,
      file.bytes,
      file.sha256,
      report.content_sha256,
      now,
    ],
  }
}

const UPSERT_REJECTED = `${insertInto('rejected_files', [
  'id',
  'tenant_id',
  'file_name',
  'file_bytes',
  'blob_sha256',
  'code',
  'detail',
  'source',
  'created_at',
  'expires_at',
])} ON CONFLICT (tenant_id, blob_sha256, code) DO UPDATE SET expires_at = excluded.expires_at`

/** A refused file, or the refused entry of one. The same again only renews its time. */
export function rejectedUpsert(
  tenant_id: string,
  source: ReportSource,
  file: FileFacts,
  report: RejectedIncoming,
  id: string,
  now: number,
): RawWrite {
  const name =
    report.entry === '' || report.entry === file.name ? file.name : `${file.name} / ${report.entry}`
  return {
    sql: UPSERT_REJECTED,
    params: [
      id,
      tenant_id,
      name,
      file.bytes,
      file.sha256,
      report.code,
      report.detail,
      source,
      now,
      now + REJECTED_FILES_KEPT_MS,
    ],
  }
}

function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}
