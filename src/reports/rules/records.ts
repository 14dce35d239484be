/**
 * Records as they are stored: chunks of up to 500, each a JSON list of rows, each row a list of values in a fixed
 * order. Records are only ever read by report and in order; a chunk is written and read in a fraction of the time
 * that 500 rows of a table take. The sender a record was counted under is part of it, so that a revision takes away
 * exactly what was added.
 */
import type {
  DkimAuth,
  DkimResult,
  Disposition,
  DmarcRow,
  Reason,
  ReasonType,
  SpfAuth,
  SpfResult,
} from '../parse/types.ts'
import { type Sender, type SenderKind, senderOf } from './senders.ts'

export const CHUNK_RECORDS = 500

type Text = string | null

export type PackedRecord = [
  n: number,
  source_ip: string,
  count: number,
  disposition: Disposition,
  /** 0 none, 1 DKIM, 2 SPF, 3 both: what is aligned and passed. */
  aligned: number,
  header_from: string,
  envelope_from: Text,
  envelope_to: Text,
  reasons: [ReasonType, Text][],
  dkim: [domain: string, selector: Text, result: DkimResult, human_result: Text][],
  spf: [domain: string, scope: SpfAuth['scope'], result: SpfResult, human_result: Text][],
  sender_kind: SenderKind,
  sender: string,
]

/** A record and under which sender it is counted. */
export interface CountedRecord {
  row: DmarcRow
  sender: Sender
}

export function packRecord(row: DmarcRow, sender: Sender): PackedRecord {
  return [
    row.n,
    row.source_ip,
    row.count,
    row.disposition,
    (row.dkim_aligned ? 1 : 0) + (row.spf_aligned ? 2 : 0),
    row.header_from,
    row.envelope_from,
    row.envelope_to,
    row.reasons.map(({ type, comment }) => [type, comment]),
    row.dkim.map(({ domain, selector, result, human_result }) => [domain, selector, result, human_result]),
    row.spf.map(({ domain, scope, result, human_result }) => [domain, scope, result, human_result]),
    sender.kind,
    sender.name,
  ]
}

export function unpackRecord(packed: PackedRecord): CountedRecord {
  const [n, source_ip, count, disposition, aligned, header_from, envelope_from, envelope_to] = packed
  const [, , , , , , , , reasons, dkim, spf, kind, name] = packed
  return {
    row: {
      n,
      source_ip,
      count,
      disposition,
      dkim_aligned: (aligned & 1) !== 0,
      spf_aligned: (aligned & 2) !== 0,
      reasons: reasons.map(([type, comment]): Reason => ({ type, comment })),
      header_from,
      envelope_from,
      envelope_to,
      dkim: dkim.map(([domain, selector, result, human_result]): DkimAuth => ({
        domain,
        selector,
        result,
        human_result,
      })),
      spf: spf.map(([domain, scope, result, human_result]): SpfAuth => ({
        domain,
        scope,
        result,
        human_result,
      })),
    },
    sender: senderOf(kind, name),
  }
}

/** What makes two records the same for comparing a report with its revision: all but number, count and reasons. */
export function recordKey(packed: PackedRecord): string {
  const [, ip, , disposition, aligned, header_from, envelope_from, envelope_to, , dkim, spf] = packed
  return JSON.stringify([ip, disposition, aligned, header_from, envelope_from, envelope_to, dkim, spf])
}

/** Neither DKIM nor SPF. */
export function fails(packed: PackedRecord): boolean {
  return packed[4] === 0
}
