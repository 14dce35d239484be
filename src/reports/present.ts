/** Stored reports as the API shows them. */
import { isoTime } from '../lib/clock.ts'
import { type PackedRecord, unpackRecord } from './rules/records.ts'
import type { RecordDto, ReportDto } from './schema.ts'
import type { StoredReport } from './store.ts'

type Policy = ReportDto['policy']

export function presentReport(row: StoredReport): ReportDto {
  const extra = JSON.parse(row.extra_json) as {
    contact: string | null
    version: string | null
    standard: ReportDto['standard']
    errors: string[]
  }
  return {
    id: row.id,
    domain: row.policy_domain,
    domain_id: row.domain_id,
    status: row.state,
    org_name: row.org_name,
    org_email: row.org_email,
    report_id: row.report_id,
    date_begin: isoTime(row.date_begin),
    date_end: isoTime(row.date_end),
    policy: JSON.parse(row.policy_json) as Policy,
    totals: {
      records: row.records,
      messages: row.messages,
      pass: row.pass,
      fail: row.fail,
      by_disposition: {
        none: row.disp_none,
        quarantine: row.disp_quarantine,
        reject: row.disp_reject,
        pass: row.disp_pass,
      },
    },
    source: row.source as ReportDto['source'],
    file: {
      name: row.file_name,
      sha256: row.blob_sha256,
      bytes: row.file_bytes,
      kind: row.file_kind as ReportDto['file']['kind'],
    },
    standard: extra.standard,
    contact: extra.contact,
    errors: extra.errors,
    repairs: JSON.parse(row.repairs_json) as ReportDto['repairs'],
    ...(row.revision_of === null ? {} : { revision_of: row.revision_of }),
    created_at: isoTime(row.created_at),
  }
}

export function presentRecord(packed: PackedRecord): RecordDto {
  const { row, sender } = unpackRecord(packed)
  return {
    n: row.n,
    source_ip: row.source_ip,
    count: row.count,
    disposition: row.disposition,
    dkim_aligned: row.dkim_aligned,
    spf_aligned: row.spf_aligned,
    result: row.dkim_aligned || row.spf_aligned ? 'pass' : 'fail',
    sender: sender.name,
    sender_kind: sender.kind,
    reasons: row.reasons,
    header_from: row.header_from,
    envelope_from: row.envelope_from,
    envelope_to: row.envelope_to,
    dkim: row.dkim,
    spf: row.spf,
  }
}
