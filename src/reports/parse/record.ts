/** One record of an aggregate report: from the texts of its elements to a row, or to the reason why it is none. */
import { quote, type Repairs } from './repairs.ts'
import { readCount, readDomain, readIp } from './fields.ts'
import type { DkimAuth, DmarcRow, Reason, SpfAuth } from './types.ts'
import { DISPOSITION, DKIM_RESULT, REASON_TYPE, SCOPE, SPF_RESULT, type Vocabulary } from './values.ts'

const DKIM_MAX = 100
const SPF_MAX = 20
const REASONS_MAX = 20

/** Texts of one <dkim> or <spf> in auth_results; undefined: the element is absent. */
export interface RawAuth {
  domain?: string
  selector?: string
  scope?: string
  result?: string
  human_result?: string
}

export interface RawReason {
  type?: string
  comment?: string
  /** Text directly inside <reason>. */
  bare?: string
}

export interface RawRecord {
  source_ip?: string
  count?: string
  disposition?: string
  dkim?: string
  spf?: string
  header_from?: string
  envelope_from?: string
  envelope_to?: string
  reasons: RawReason[]
  dkim_results: RawAuth[]
  spf_results: RawAuth[]
}

export function emptyRecord(): RawRecord {
  return { reasons: [], dkim_results: [], spf_results: [] }
}

/** Domains repeat from record to record: the last answers are kept, and nothing else, so that no input is held. */
export interface RecordReader {
  /** A row, or why not; `blank` when the record says nothing at all. */
  read(n: number, raw: RawRecord): { row: DmarcRow } | { skipped: string; blank: boolean }
}

export function createRecordReader(repairs: () => Repairs): RecordReader {
  const last = new Map<string, { text: string; value: string }>()

  const domain = (field: string, text: string | undefined): string => {
    if (text === undefined || text === '') return ''
    const known = last.get(field)
    if (known !== undefined && known.text === text) return known.value
    const read = readDomain(text)
    if (read.repaired === 'normalised') repairs().add('domain_normalised', `${field} ${quote(text)}`)
    else if (read.repaired === 'invalid') repairs().add('domain_invalid', `${field} ${quote(text)}`)
    else last.set(field, { text, value: read.value })
    return read.value
  }

  const choose = <T extends string>(
    row: DmarcRow,
    path: string,
    vocabulary: Vocabulary<T>,
    text: string | undefined,
  ): T => {
    const { value, found } = vocabulary.read(text ?? '')
    if (found === 'exact') return value
    const field = path.replaceAll(/\.\d+/g, '')
    if (found === 'empty') repairs().add('field_missing', `${field} is empty, read as ${value}`)
    else {
      repairs().add(`enum_${found}`, `${field} ${quote(text!)} read as ${value}`)
      row.raw ??= {}
      row.raw[path] = text!.slice(0, 64)
    }
    return value
  }

  const readDkim = (row: DmarcRow, raw: RawAuth, i: number): DkimAuth => ({
    domain: domain('dkim.domain', raw.domain),
    selector: raw.selector === undefined || raw.selector === '' ? null : raw.selector,
    result: choose(row, `dkim.${i}.result`, DKIM_RESULT, raw.result),
    human_result: orNull(raw.human_result),
  })

  const readSpf = (row: DmarcRow, raw: RawAuth, i: number): SpfAuth => ({
    domain: domain('spf.domain', raw.domain),
    scope: orNull(raw.scope) === null ? null : choose(row, `spf.${i}.scope`, SCOPE, raw.scope),
    result: choose(row, `spf.${i}.result`, SPF_RESULT, raw.result),
    human_result: orNull(raw.human_result),
  })

  const readReason = (row: DmarcRow, raw: RawReason, i: number): Reason | null => {
    const type = orNull(raw.type)
    const comment = orNull(raw.comment)
    const bare = orNull(raw.bare)
    if (type === null && bare !== null) {
      // Some put the type, some a sentence, directly into <reason>.
      const { value, found } = REASON_TYPE.read(bare)
      repairs().add('enum_alias', `reason ${quote(bare)} without type`)
      return found === 'unknown' ? { type: 'other', comment: comment ?? bare } : { type: value, comment }
    }
    if (type === null && comment === null) {
      repairs().add('field_missing', 'reason is empty')
      return null
    }
    return { type: choose(row, `reasons.${i}.type`, REASON_TYPE, raw.type), comment }
  }

  /** Aligned means the word pass; everything else that is not fail is named. */
  const aligned = (row: DmarcRow, field: 'dkim' | 'spf', text: string | undefined): boolean => {
    if (text === 'pass') return true
    if (text === 'fail') return false
    const path = `policy_evaluated.${field}`
    if (text === undefined || text === '') {
      repairs().add('field_missing', `${path} is empty, read as fail`)
      return false
    }
    const pass = text.toLowerCase() === 'pass'
    const known = pass || text.toLowerCase() === 'fail'
    repairs().add(
      known ? 'enum_alias' : 'enum_unknown',
      `${path} ${quote(text)} read as ${pass ? 'pass' : 'fail'}`,
    )
    row.raw ??= {}
    row.raw[path] = text.slice(0, 64)
    return pass
  }

  return {
    read(n, raw) {
      const ip = readIp(raw.source_ip ?? '')
      const blank = (raw.source_ip ?? '') === '' && (raw.count ?? '') === ''
      if (blank) return { skipped: 'the record is empty', blank }
      if (ip === null) return { skipped: `source_ip ${quote(raw.source_ip ?? '')} is not an address`, blank }
      const count = readCount(raw.count ?? '')
      if (count.value === null) return { skipped: `count ${quote(raw.count ?? '')} ${count.why}`, blank }
      if (ip.repaired === 'leading_zeros') repairs().add('ip_leading_zeros', quote(raw.source_ip!))
      else if (ip.repaired !== null) repairs().add('ip_normalised', quote(raw.source_ip!))
      if (count.changed)
        repairs().add('count_normalised', `count ${quote(raw.count!)} read as ${count.value}`)
      return { row: build(n, ip.value, count.value, raw) }
    },
  }

  function build(n: number, source_ip: string, count: number, raw: RawRecord): DmarcRow {
    const row: DmarcRow = {
      n,
      source_ip,
      count,
      disposition: 'none',
      dkim_aligned: false,
      spf_aligned: false,
      reasons: [],
      header_from: domain('header_from', raw.header_from),
      envelope_from: raw.envelope_from === undefined ? null : domain('envelope_from', raw.envelope_from),
      envelope_to: raw.envelope_to === undefined ? null : domain('envelope_to', raw.envelope_to),
      dkim: [],
      spf: [],
    }
    row.disposition = choose(row, 'disposition', DISPOSITION, raw.disposition)
    row.dkim_aligned = aligned(row, 'dkim', raw.dkim)
    row.spf_aligned = aligned(row, 'spf', raw.spf)
    if (row.header_from === '') repairs().add('field_missing', 'header_from is empty')
    for (const [i, reason] of raw.reasons.entries()) {
      const read = readReason(row, reason, i)
      if (read !== null) row.reasons.push(read)
    }
    for (const [i, auth] of raw.dkim_results.entries()) {
      // <dkim/> alone says that there was no signature.
      if (isBlank(auth)) repairs().add('field_missing', 'dkim of auth_results is empty')
      else row.dkim.push(readDkim(row, auth, i))
    }
    for (const [i, auth] of raw.spf_results.entries()) {
      if (isBlank(auth)) repairs().add('field_missing', 'spf of auth_results is empty')
      else row.spf.push(readSpf(row, auth, i))
    }
    return row
  }
}

/** Adds to a list of a record, up to its limit. */
export function pushLimited<K extends 'reasons' | 'dkim_results' | 'spf_results'>(
  record: RawRecord,
  key: K,
  item: RawRecord[K][number],
  repairs: Repairs,
): void {
  const max = key === 'reasons' ? REASONS_MAX : key === 'dkim_results' ? DKIM_MAX : SPF_MAX
  const list = record[key] as RawRecord[K][number][]
  if (list.length < max) list.push(item)
  else repairs.add('results_truncated', `more than ${max} ${key.replace('_results', ' results')}`)
}

function isBlank(auth: RawAuth): boolean {
  return !auth.domain && !auth.selector && !auth.result && !auth.human_result && !auth.scope
}

function orNull(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : text
}
