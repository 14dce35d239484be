/**
 * A record as it is stored: a tuple of columns, the results of DKIM and SPF as compact JSON. `rowTuple` and
 * `rowFromColumns` are inverse to one another but for the sender, which only the stored form has.
 */
import type {
  DkimAuth,
  DkimResult,
  DmarcRow,
  Disposition,
  Reason,
  SpfAuth,
  SpfResult,
} from '../parse/types.ts'
import type { Sender, SenderKind } from './senders.ts'

export interface RecordColumns {
  n: number
  source_ip: string
  messages: number
  disposition: Disposition
  dkim_aligned: number
  spf_aligned: number
  header_from: string | null
  envelope_from: string | null
  envelope_to: string | null
  reasons_json: string | null
  dkim_json: string | null
  spf_json: string | null
  sender: string
  sender_kind: SenderKind
}

export const RECORD_COLUMNS =
  'n, source_ip, messages, disposition, dkim_aligned, spf_aligned, header_from, envelope_from, envelope_to, ' +
  'reasons_json, dkim_json, spf_json, sender, sender_kind'

export const INSERT_RECORD = `INSERT INTO report_records (rid, tenant_id, ${RECORD_COLUMNS})
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export type RecordTuple = [
  rid: number,
  tenant_id: string,
  n: number,
  source_ip: string,
  messages: number,
  disposition: string,
  dkim_aligned: number,
  spf_aligned: number,
  header_from: string,
  envelope_from: string | null,
  envelope_to: string | null,
  reasons_json: string | null,
  dkim_json: string | null,
  spf_json: string | null,
  sender: string,
  sender_kind: string,
]

/** The values of INSERT_RECORD. */
export function rowTuple(rid: number, tenant_id: string, row: DmarcRow, sender: Sender): RecordTuple {
  return [
    rid,
    tenant_id,
    row.n,
    row.source_ip,
    row.count,
    row.disposition,
    row.dkim_aligned ? 1 : 0,
    row.spf_aligned ? 1 : 0,
    row.header_from,
    row.envelope_from,
    row.envelope_to,
    packList(row.reasons, (reason) => [reason.type, reason.comment]),
    packList(row.dkim, (dkim) => [dkim.domain, dkim.selector, dkim.result, dkim.human_result]),
    packList(row.spf, (spf) => [spf.domain, spf.scope, spf.result, spf.human_result]),
    sender.name,
    sender.kind,
  ]
}

/** What makes two records the same for comparing a report with its revision: all but their number and count. */
export function tupleKey(tuple: RecordTuple): string {
  return JSON.stringify([...tuple.slice(3, 4), ...tuple.slice(5, 11), tuple[12], tuple[13]])
}

export function columnsKey(row: RecordColumns): string {
  return JSON.stringify([
    row.source_ip,
    row.disposition,
    row.dkim_aligned,
    row.spf_aligned,
    row.header_from,
    row.envelope_from,
    row.envelope_to,
    row.dkim_json,
    row.spf_json,
  ])
}

export function rowFromColumns(row: RecordColumns): DmarcRow {
  return {
    n: row.n,
    source_ip: row.source_ip,
    count: row.messages,
    disposition: row.disposition,
    dkim_aligned: row.dkim_aligned === 1,
    spf_aligned: row.spf_aligned === 1,
    reasons: unpackList(row.reasons_json).map(([type, comment]): Reason => ({
      type: type as Reason['type'],
      comment: comment ?? null,
    })),
    header_from: row.header_from ?? '',
    envelope_from: row.envelope_from,
    envelope_to: row.envelope_to,
    dkim: unpackList(row.dkim_json).map(([domain, selector, result, human]): DkimAuth => ({
      domain: domain ?? '',
      selector: selector ?? null,
      result: result as DkimResult,
      human_result: human ?? null,
    })),
    spf: unpackList(row.spf_json).map(([domain, scope, result, human]): SpfAuth => ({
      domain: domain ?? '',
      scope: scope as SpfAuth['scope'],
      result: result as SpfResult,
      human_result: human ?? null,
    })),
  }
}

function packList<T>(list: readonly T[], pack: (item: T) => (string | null)[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list.map(pack))
}

function unpackList(json: string | null): (string | null)[][] {
  return json === null ? [] : (JSON.parse(json) as (string | null)[][])
}
