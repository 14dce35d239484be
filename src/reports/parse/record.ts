/** One record of an aggregate report: from the texts of its elements to a row, or to the reason why it is none. */
import type { Slots } from './elements.ts'
import { quote, type Repairs } from './repairs.ts'
import { readCount, readDomain, readIp } from './fields.ts'
import type { DkimAuth, DmarcRow, Reason, SpfAuth } from './types.ts'
import { DISPOSITION, DKIM_RESULT, REASON_TYPE, SCOPE, SPF_RESULT, type Vocabulary } from './values.ts'

const DKIM_MAX = 100
const SPF_MAX = 20
const REASONS_MAX = 20

/** Texts of a record as they came. Slots: see `RECORD_FIELDS`, `AUTH` and `REASON`. */
export interface RawRecord {
  fields: Slots
  /** A third slot holds text that stands directly in <reason>. */
  reasons: Slots[]
  dkim_results: Slots[]
  spf_results: Slots[]
}

export function emptyRecord(): RawRecord {
  return { fields: recordSlots(), reasons: [], dkim_results: [], spf_results: [] }
}

/** One record is filled again and again: a report has very many. */
export function resetRecord(record: RawRecord): void {
  record.fields = recordSlots()
  record.reasons.length = 0
  record.dkim_results.length = 0
  record.spf_results.length = 0
}

/** Written out: slots that are there from the start are filled faster than slots that are added. */
function recordSlots(): Slots {
  return [undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined]
}

/** Slots of a <dkim>, <spf> or <reason>. */
export function partSlots(): Slots {
  return [undefined, undefined, undefined, undefined, undefined]
}

/** Domains repeat from record to record: the last answers are kept, and nothing else, so that no input is held. */
export interface RecordReader {
  /** A row, or why not. */
  read(n: number, raw: RawRecord): { row: DmarcRow } | { skipped: string }
}

export function createRecordReader(repairs: Repairs): RecordReader {
  const last = new Map<string, { text: string; value: string }>()

  const domain = (field: string, text: string | undefined): string => {
    if (text === undefined || text === '') return ''
    const known = last.get(field)
    if (known !== undefined && known.text === text) return known.value
    const read = readDomain(text)
    if (read.repaired === 'normalised') repairs.add('domain_normalised', `${field} ${quote(text)}`)
    else if (read.repaired === 'invalid') repairs.add('domain_invalid', `${field} ${quote(text)}`)
    else last.set(field, { text, value: read.value })
    return read.value
  }

  const choose = <T extends string>(
    row: DmarcRow,
    field: string,
    vocabulary: Vocabulary<T>,
    text: string | undefined,
    at?: number,
  ): T => {
    const { value, found } = vocabulary.read(text ?? '')
    if (found === 'exact') return value
    if (found === 'empty') repairs.add('field_missing', `${field} is empty, read as ${value}`)
    else {
      repairs.add(`enum_${found}`, `${field} ${quote(text!)} read as ${value}`)
      const path = at === undefined ? field : field.replace('.', `.${at}.`)
      row.raw ??= {}
      row.raw[path] = text!.slice(0, 64)
    }
    return value
  }

  const readDkim = (row: DmarcRow, [name, selector, , result, human_result]: Slots, i: number): DkimAuth => ({
    domain: domain('dkim.domain', name),
    selector: orNull(selector),
    result: choose(row, 'dkim.result', DKIM_RESULT, result, i),
    human_result: orNull(human_result),
  })

  const readSpf = (row: DmarcRow, [name, , scope, result, human_result]: Slots, i: number): SpfAuth => ({
    domain: domain('spf.domain', name),
    scope: orNull(scope) === null ? null : choose(row, 'spf.scope', SCOPE, scope, i),
    result: choose(row, 'spf.result', SPF_RESULT, result, i),
    human_result: orNull(human_result),
  })

  const readReason = (row: DmarcRow, raw: Slots, i: number): Reason | null => {
    const type = orNull(raw[0])
    const comment = orNull(raw[1])
    const bare = orNull(raw[2])
    if (type === null && bare !== null) {
      // Some put the type, some a sentence, directly into <reason>.
      const { value, found } = REASON_TYPE.read(bare)
      repairs.add('enum_alias', `reason ${quote(bare)} without type`)
      return found === 'unknown' ? { type: 'other', comment: comment ?? bare } : { type: value, comment }
    }
    if (type === null && comment === null) {
      repairs.add('field_missing', 'reason is empty')
      return null
    }
    return { type: choose(row, 'reasons.type', REASON_TYPE, raw[0], i), comment }
  }

  /** Aligned means the word pass; everything else that is not fail is named. */
  const aligned = (row: DmarcRow, field: 'dkim' | 'spf', text: string | undefined): boolean => {
    if (text === 'pass') return true
    if (text === 'fail') return false
    const path = `policy_evaluated.${field}`
    if (text === undefined || text === '') {
      repairs.add('field_missing', `${path} is empty, read as fail`)
      return false
    }
    const pass = text.toLowerCase() === 'pass'
    const known = pass || text.toLowerCase() === 'fail'
    repairs.add(
      known ? 'enum_alias' : 'enum_unknown',
      `${path} ${quote(text)} read as ${pass ? 'pass' : 'fail'}`,
    )
    row.raw ??= {}
    row.raw[path] = text.slice(0, 64)
    return pass
  }

  return {
    read(n, raw) {
      const ip_text = raw.fields[0] ?? ''
      const count_text = raw.fields[1] ?? ''
      const ip = readIp(ip_text)
      if (ip_text === '' && count_text === '') return { skipped: 'the record is empty' }
      if (ip === null) return { skipped: `source_ip ${quote(ip_text)} is not an address` }
      const count = readCount(count_text)
      if (count.value === null) return { skipped: `count ${quote(count_text)} ${count.why}` }
      if (ip.repaired === 'leading_zeros') repairs.add('ip_leading_zeros', quote(ip_text))
      else if (ip.repaired !== null) repairs.add('ip_normalised', quote(ip_text))
      if (count.changed) repairs.add('count_normalised', `count ${quote(count_text)} read as ${count.value}`)
      return { row: build(n, ip.value, count.value, raw) }
    },
  }

  function build(n: number, source_ip: string, count: number, raw: RawRecord): DmarcRow {
    const [, , disposition, dkim, spf, header_from, envelope_from, envelope_to] = raw.fields
    const row: DmarcRow = {
      n,
      source_ip,
      count,
      disposition: 'none',
      dkim_aligned: false,
      spf_aligned: false,
      reasons: [],
      header_from: domain('header_from', header_from),
      envelope_from: envelope_from === undefined ? null : domain('envelope_from', envelope_from),
      envelope_to: envelope_to === undefined ? null : domain('envelope_to', envelope_to),
      dkim: [],
      spf: [],
    }
    row.disposition = choose(row, 'disposition', DISPOSITION, disposition)
    row.dkim_aligned = aligned(row, 'dkim', dkim)
    row.spf_aligned = aligned(row, 'spf', spf)
    if (row.header_from === '') repairs.add('field_missing', 'header_from is empty')
    for (const [i, reason] of raw.reasons.entries()) {
      const read = readReason(row, reason, i)
      if (read !== null) row.reasons.push(read)
    }
    for (const [i, auth] of raw.dkim_results.entries()) {
      // <dkim/> alone says that there was no signature.
      if (isBlank(auth)) repairs.add('field_missing', 'dkim of auth_results is empty')
      else row.dkim.push(readDkim(row, auth, i))
    }
    for (const [i, auth] of raw.spf_results.entries()) {
      if (isBlank(auth)) repairs.add('field_missing', 'spf of auth_results is empty')
      else row.spf.push(readSpf(row, auth, i))
    }
    return row
  }
}

/** Adds to a list of a record, up to its limit. */
export function pushLimited(
  record: RawRecord,
  key: 'reasons' | 'dkim_results' | 'spf_results',
  item: Slots,
  repairs: Repairs,
): void {
  const max = key === 'reasons' ? REASONS_MAX : key === 'dkim_results' ? DKIM_MAX : SPF_MAX
  if (record[key].length < max) record[key].push(item)
  else repairs.add('results_truncated', `more than ${max} ${key.replace('_results', ' results')}`)
}

function isBlank(auth: Slots): boolean {
  return auth.every((text) => text === undefined || text === '')
}

function orNull(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text
}
