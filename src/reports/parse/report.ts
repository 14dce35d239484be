/**
 * One aggregate report while it is read: gathers metadata, sends rows in chunks, says at its end what it was. Only the
 * `end` message makes it a report; until then everything may be taken back.
 */
import { createHash } from 'node:crypto'
import { isRefusal, refuse, type Refusal } from '../../lib/refusal.ts'
import type { Slots } from './elements.ts'
import type { Hints } from './hints.ts'
import { isComplete, readMetadata, type RawMetadata, type RawPolicy } from './metadata.ts'
import { createRecordReader, type RawRecord } from './record.ts'
import { createRepairs, type Repairs } from './repairs.ts'
import type { DmarcMeta, DmarcRow, DmarcTotals, Emit, Origin, RejectionCode } from './types.ts'
import { packRows } from './wire.ts'

const CHUNK_ROWS = 500
const CHUNK_CHARS = 128 * 1024
const ERRORS_MAX = 10

export interface AggregateOptions {
  origin: Origin
  hints: Hints
  now: number
  records_max: number
  /** Takes the next number for a report. */
  nextIndex(): number
  emit: Emit
}

/** What the document as a whole has to say when its reports end. */
export interface DocumentFacts {
  content_sha256: string
  content_bytes: number
  repairs: Repairs
}

export interface OpenReport {
  readonly repairs: Repairs
  readonly metadata: Slots
  /** null: no policy_published yet. */
  policy: Slots | null
  /** The end tag of its root was seen. */
  finished: boolean
  /** A part of it was cut out. */
  broken: boolean
  /** RFC 7489 allows several errors; the first is in the metadata. */
  addError(text: string): void
  /** Throws `too_many_records`. */
  beginRecord(): void
  /** `chars`: length of the texts of the record. */
  endRecord(record: RawRecord, chars: number): void
  /**
   * Tells the end, or why there is none; true when it is a report. `facts` null: another one follows in the same
   * document; `several`: it shares its document with others.
   */
  finish(facts: DocumentFacts | null, several: boolean, outside: Repairs): boolean
  reject(refusal: Refusal): void
}

/** `attributes`: of the root element, as text. */
export function beginReport(options: AggregateOptions, attributes: string): OpenReport {
  const { emit, origin } = options
  const index = options.nextIndex()
  const repairs = createRepairs()
  const reader = createRecordReader(repairs)
  const hash = createHash('sha256')
  const totals = noTotals()
  const errors: string[] = []
  const new_namespace = attributes.includes('urn:ietf:params:xml:ns:dmarc-2.0')
  let rows: DmarcRow[] = []
  let rows_chars = 0
  let seen = 0
  let announced = false
  /** What all records share; null: they differ. */
  let header_from: string | null | undefined

  const metadataOf = (into: Repairs, fingerprint: string): DmarcMeta =>
    readMetadata(
      {
        raw: rawMetadata(report.metadata, errors, new_namespace),
        policy: rawPolicy(report.policy),
        hints: options.hints,
        common_header_from: header_from ?? null,
        fingerprint: () => fingerprint,
        now: options.now,
      },
      into,
    )

  /** `large`: much will follow, so that what is known already is worth saying. */
  const announce = (large: boolean): void => {
    announced = true
    let meta: DmarcMeta | null = null
    if (large && isComplete(rawMetadata(report.metadata, errors, new_namespace), rawPolicy(report.policy))) {
      // What goes wrong here will do so at the end as well, with all that is known then.
      meta = attempt(() => metadataOf(createRepairs(), ''))
    }
    emit({ type: 'report', index, kind: 'dmarc', origin, meta })
  }

  const flush = (): void => {
    if (rows.length === 0) return
    if (!announced) announce(true)
    const chunk = rows
    const json = packRows(chunk)
    hash.update(json.slice(1, -1)).update(',')
    rows = []
    rows_chars = 0
    emit({ type: 'records', index, kind: 'dmarc', rows: chunk }, json)
  }

  const end = (facts: DocumentFacts | null, several: boolean, outside: Repairs): void => {
    if (report.broken) throw refuse('malformed_xml', 'Parts of the report are missing')
    if (!announced) announce(false)
    flush()
    const rows_sha256 = hash.digest('hex')
    const own = JSON.stringify([report.metadata, errors, report.policy, rows_sha256])
    const content_sha256 = several || facts === null ? sha256(own) : facts.content_sha256
    const meta = metadataOf(repairs, content_sha256)
    if (totals.records === 0) repairs.add('no_records')
    emit({
      type: 'end',
      index,
      kind: 'dmarc',
      meta,
      totals,
      rows_sha256,
      content_sha256,
      content_bytes: facts?.content_bytes ?? 0,
      origin,
      repairs: [...(facts?.repairs.list() ?? []), ...outside.list(), ...repairs.list()],
    })
  }

  const report: OpenReport = {
    repairs,
    metadata: [],
    policy: null,
    finished: false,
    broken: false,
    addError(text) {
      if (errors.length < ERRORS_MAX - 1) errors.push(text)
    },
    beginRecord() {
      if (++seen > options.records_max) {
        throw refuse('too_many_records', `More than ${options.records_max} records in a report`)
      }
    },
    endRecord(record, chars) {
      const result = reader.read(seen, record)
      if ('skipped' in result) {
        totals.skipped++
        repairs.add('record_skipped', result.skipped)
        return
      }
      const { row } = result
      count(totals, row)
      if (header_from === undefined) header_from = row.header_from
      else if (header_from !== row.header_from) header_from = null
      rows.push(row)
      rows_chars += chars
      if (rows.length >= CHUNK_ROWS || rows_chars >= CHUNK_CHARS) flush()
    },
    finish(facts, several, outside) {
      try {
        end(facts, several, outside)
        return true
      } catch (error) {
        if (!isRefusal(error)) throw error
        report.reject(error)
        return false
      }
    },
    reject(refusal) {
      emit({ type: 'rejected', index, origin, code: refusal.code as RejectionCode, detail: refusal.detail })
    },
  }
  return report
}

function rawMetadata(slots: Slots, errors: readonly string[], new_namespace: boolean): RawMetadata {
  const [version, org_name, email, extra_contact_info, report_id, generator, error, begin, end] = slots
  return {
    version,
    org_name,
    email,
    extra_contact_info,
    report_id,
    generator,
    begin,
    end,
    errors: error === undefined || error === '' ? [] : [error, ...errors],
    new_namespace,
  }
}

function rawPolicy(slots: Slots | null): RawPolicy | null {
  if (slots === null) return null
  const [domain, p, sp, np, adkim, aspf, pct, fo, testing, discovery_method] = slots
  return { domain, p, sp, np, adkim, aspf, pct, fo, testing, discovery_method }
}

function noTotals(): DmarcTotals {
  return {
    records: 0,
    skipped: 0,
    messages: 0,
    pass: 0,
    fail: 0,
    by_disposition: { none: 0, pass: 0, quarantine: 0, reject: 0 },
    both: 0,
    dkim_only: 0,
    spf_only: 0,
    neither: 0,
  }
}

function count(totals: DmarcTotals, row: DmarcRow): void {
  totals.records++
  totals.messages += row.count
  totals.by_disposition[row.disposition] += row.count
  if (row.dkim_aligned && row.spf_aligned) totals.both += row.count
  else if (row.dkim_aligned) totals.dkim_only += row.count
  else if (row.spf_aligned) totals.spf_only += row.count
  else totals.neither += row.count
  if (row.dkim_aligned || row.spf_aligned) totals.pass += row.count
  else totals.fail += row.count
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function attempt<T>(make: () => T): T | null {
  try {
    return make()
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}
