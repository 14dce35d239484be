/**
 * Aggregate reports (RUA; RFC 7489, RFC 9990), read in one pass while the bytes come. Rows leave in chunks; what is
 * kept is one record, the metadata and the repairs. A report is only complete at its `end` message.
 */
import { createHash } from 'node:crypto'
import { isRefusal, refuse, type Refusal } from '../../lib/refusal.ts'
import {
  ERROR_SLOT,
  EXTENSION,
  FEEDBACK,
  INSIDE,
  isStructural,
  METADATA,
  NAMES,
  POLICY,
  REASON,
  RECORD,
  type Inside,
  type Slots,
} from './elements.ts'
import { cleanText } from './fields.ts'
import type { Hints } from './hints.ts'
import { createMarkup, type MarkupEvents, type Name } from './markup.ts'
import { isComplete, readMetadata, type RawMetadata, type RawPolicy } from './metadata.ts'
import {
  createRecordReader,
  emptyRecord,
  partSlots,
  pushLimited,
  resetRecord,
  type RawRecord,
} from './record.ts'
import { createRepairs, quote, type Repairs } from './repairs.ts'
import { createTexts } from './texts.ts'
import { packRows } from './wire.ts'
import type { DmarcMeta, DmarcRow, DmarcTotals, Emit, Origin, RejectionCode } from './types.ts'

const TEXT_CHARS_MAX = 4096
/** Kept of a value while it comes: more than stays, so that a longer one is noticed. */
const PIECE_CHARS_MAX = 2 * TEXT_CHARS_MAX
const TEXTS = createTexts()
const RECORD_CHARS_MAX = 64 * 1024
const CHUNK_ROWS = 500
const CHUNK_CHARS = 128 * 1024
const ERRORS_MAX = 10
/** A document that has not begun a report by now is none. */
const PREAMBLE_CHARS_MAX = 64 * 1024

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

export interface AggregateReader {
  write(text: string): void
  /** Ends the last report. Throws a refusal when there was none at all, or when it broke before its index was taken. */
  end(facts: DocumentFacts): void
  /** The document breaks off: true when a report was open and is now rejected. */
  abort(refusal: Refusal): boolean
}

interface Report {
  index: number
  repairs: Repairs
  metadata: Slots
  errors: string[]
  new_namespace: boolean
  policy: Slots | null
  announced: boolean
  rows: DmarcRow[]
  chars: number
  hash: ReturnType<typeof createHash>
  totals: DmarcTotals
  seen: number
  header_from: string | null | undefined
  finished: boolean
  broken: boolean
}

export function createAggregateReader(options: AggregateOptions): AggregateReader {
  const { emit, origin } = options
  const outside = createRepairs()
  let report: Report | null = null
  let several = false
  let rejected = false
  let chars = 0

  let container: Inside | null = null
  const containers: (Inside | null)[] = []
  /** What the open container fills. */
  let target: Slots = []
  const targets: Slots[] = []
  const kept = emptyRecord()
  /** `kept` while a record is open. */
  let record: RawRecord | null = null
  let record_chars = 0
  /** The slot of the element that is open; -1: none. */
  let leaf = -1
  let text = ''
  /** `text` is one piece of printable characters: nothing to clean. */
  let plain = false
  /** Depth inside an element that is skipped. */
  let skipping = 0
  let depth = 0

  const repairs = (): Repairs => report?.repairs ?? outside
  const reader = createRecordReader(repairs)
  const dropped = (count: number): void => repairs().add('control_characters', '', count)

  const events: MarkupEvents = { open, leaf: onLeaf, text: onText, wants_text: false, close, stray }
  const markup = createMarkup(events, NAMES, {
    add: (code, detail, count) => repairs().add(code, detail, count),
    list: () => repairs().list(),
  })

  function onText(source: string, start: number, end: number): void {
    if (text === '') {
      const known = TEXTS.at(source, start, end)
      plain = known !== null
      text = known ?? source.slice(start, Math.min(end, start + PIECE_CHARS_MAX))
      return
    }
    plain = false
    if (text.length < PIECE_CHARS_MAX) text += source.slice(start, Math.min(end, start + PIECE_CHARS_MAX))
  }

  function onLeaf(name: Name, source: string, start: number, end: number): boolean {
    if (skipping > 0) return true
    if (container === null || leaf >= 0) return false
    const slot = container.leaves[name.id]
    if (slot === undefined) return false
    const known = TEXTS.at(source, start, end)
    setLeaf(
      name,
      slot,
      known ?? cleanPiece(name, source.slice(start, Math.min(end, start + PIECE_CHARS_MAX))),
    )
    return true
  }

  function open(name: Name, attributes: () => string): void {
    depth++
    containers.push(container)
    targets.push(target)
    if (skipping > 0) return
    if (name.id === FEEDBACK) return beginReport(attributes())
    if (container === null) return
    if (leaf < 0) {
      const child = container.children[name.id]
      if (child !== undefined) return enter(child, name)
      const slot = container.leaves[name.id]
      if (slot !== undefined) {
        leaf = slot
        text = ''
        events.wants_text = true
        return
      }
    }
    // Directly under the root unknown elements are looked through: some never end.
    if (container.kind === 'feedback' && leaf < 0 && name.id !== EXTENSION) return
    skipping = depth
    events.wants_text = false
  }

  function enter(inside: Inside, name: Name): void {
    const child = inside.kind
    if (child === 'record') beginRecord()
    else if (child === 'policy_published') beginPolicy()
    else if (child === 'report_metadata' || child === 'date_range') {
      target = report!.metadata
    } else if (record === null) {
      // The record around it was ended by another one inside it.
      skipping = depth
      return
    } else if (child === 'reason' || child === 'dkim' || child === 'spf') {
      target = partSlots()
      text = ''
      events.wants_text = child === 'reason'
    } else target = record.fields
    if (name.local === 'identities') repairs().add('misnamed_element', '<identities> for <identifiers>')
    container = inside
  }

  function beginPolicy(): void {
    target = []
    if (report!.policy === null) report!.policy = target
    else repairs().add('repeated_element', '<policy_published>')
  }

  function close(name: Name): void {
    const outer = containers.pop() ?? null
    if (name.id === FEEDBACK && report !== null) report.finished = true
    if (skipping > 0) {
      if (skipping === depth) {
        skipping = 0
        events.wants_text = leaf >= 0
      }
    } else if (outer !== container) closeContainer(container!.kind)
    else if (leaf >= 0) closeLeaf(name)
    else if (name.id === RECORD) endRecord()
    depth--
    container = outer
    target = targets.pop() ?? []
  }

  function closeLeaf(name: Name): void {
    const slot = leaf
    leaf = -1
    events.wants_text = container?.kind === 'reason'
    const value = plain || text === '' ? text : cleanPiece(name, text)
    plain = false
    text = ''
    setLeaf(name, slot, value)
  }

  function cleanPiece(name: Name, piece: string): string {
    if (piece.length > TEXT_CHARS_MAX) repairs().add('text_truncated', `<${name.local}>`)
    return cleanText(piece, dropped)
  }

  function setLeaf(name: Name, slot: number, text_value: string): void {
    let value = text_value
    if (record !== null && (record_chars += value.length) > RECORD_CHARS_MAX) {
      repairs().add(
        'text_truncated',
        `<${name.local}> of a record longer than ${RECORD_CHARS_MAX} characters`,
      )
      value = ''
    }
    const before = target[slot]
    if (before === undefined || before === '') target[slot] = value
    else if (value !== '' && slot === ERROR_SLOT && target === report!.metadata) addError(value)
    else if (value !== '') repairs().add('repeated_element', `<${name.local}>`)
  }

  /** RFC 7489 allows several. */
  function addError(value: string): void {
    if (report!.errors.length < ERRORS_MAX - 1) report!.errors.push(value)
  }

  function closeContainer(kind: Inside['kind']): void {
    if (kind === 'record') endRecord()
    else if (record === null) return
    else if (kind === 'dkim') pushLimited(record, 'dkim_results', target, repairs())
    else if (kind === 'spf') pushLimited(record, 'spf_results', target, repairs())
    else if (kind === 'reason') {
      const bare = cleanText(text, dropped)
      text = ''
      events.wants_text = false
      if (bare !== '') target[REASON.length] = bare
      pushLimited(record, 'reasons', target, repairs())
    }
  }

  function stray(name: Name): void {
    if (report !== null && isStructural(name.id)) report.broken = true
  }

  function beginReport(attributes: string): void {
    if (report !== null) {
      several = true
      if (report.finished) finish(null)
      else reject(refuse('truncated', 'A report begins before the one before it has ended'))
    }
    container = INSIDE.feedback
    report = newReport(options.nextIndex(), attributes)
    target = report.metadata
  }

  function beginRecord(): void {
    const current = report!
    if (record !== null) endRecord()
    if (!current.announced) announce(current)
    resetRecord(kept)
    record = kept
    record_chars = 0
    target = record.fields
    if (++current.seen > options.records_max) {
      throw refuse('too_many_records', `More than ${options.records_max} records in a report`)
    }
  }

  function announce(current: Report): void {
    current.announced = true
    let meta: DmarcMeta | null = null
    if (isComplete(rawMetadata(current), rawPolicy(current))) {
      // What goes wrong here will do so at the end as well, with all that is known then.
      meta = attempt(() => metadataOf(current, createRepairs(), ''))
    }
    emit({ type: 'report', index: current.index, kind: 'dmarc', origin, meta })
  }

  function endRecord(): void {
    const current = report!
    if (record === null) return
    const result = reader.read(current.seen, record)
    record = null
    if ('skipped' in result) {
      current.totals.skipped++
      current.repairs.add('record_skipped', result.skipped)
      return
    }
    const row = result.row
    count(current.totals, row)
    if (current.header_from === undefined) current.header_from = row.header_from
    else if (current.header_from !== row.header_from) current.header_from = null
    current.rows.push(row)
    current.chars += record_chars
    if (current.rows.length >= CHUNK_ROWS || current.chars >= CHUNK_CHARS) flush(current)
  }

  function flush(current: Report): void {
    if (current.rows.length === 0) return
    const rows = current.rows
    const json = packRows(rows)
    current.hash.update(json.slice(1, -1)).update(',')
    current.rows = []
    current.chars = 0
    emit({ type: 'records', index: current.index, kind: 'dmarc', rows }, json)
  }

  function metadataOf(current: Report, into: Repairs, fingerprint: string): DmarcMeta {
    return readMetadata(
      {
        raw: rawMetadata(current),
        policy: rawPolicy(current),
        hints: options.hints,
        common_header_from: current.header_from ?? null,
        fingerprint: () => fingerprint,
        now: options.now,
      },
      into,
    )
  }

  /** Ends the open report. `facts` null: another one follows in the same document. */
  function finish(facts: DocumentFacts | null): void {
    const current = report!
    try {
      if (current.broken) throw refuse('malformed_xml', 'Parts of the report are missing')
      if (!current.announced) announce(current)
      flush(current)
      const rows_sha256 = current.hash.digest('hex')
      const own = several || facts === null
      const content_sha256 = own ? ownHash(current, rows_sha256) : facts.content_sha256
      const meta = metadataOf(current, current.repairs, content_sha256)
      if (current.totals.records === 0) current.repairs.add('no_records')
      const list = [...(facts?.repairs.list() ?? []), ...outside.list(), ...current.repairs.list()]
      report = null
      emit({
        type: 'end',
        index: current.index,
        kind: 'dmarc',
        meta,
        totals: current.totals,
        rows_sha256,
        content_sha256,
        content_bytes: facts?.content_bytes ?? 0,
        origin,
        repairs: list,
      })
    } catch (error) {
      if (!isRefusal(error)) throw error
      reject(error)
    }
  }

  function reject(refusal: Refusal): void {
    const current = report!
    report = null
    record = null
    rejected = true
    const code = refusal.code as RejectionCode
    emit({ type: 'rejected', index: current.index, origin, code, detail: refusal.detail })
  }

  return {
    write(piece) {
      chars += piece.length
      markup.write(piece)
      if (report === null && !several && !rejected && chars > PREAMBLE_CHARS_MAX) {
        throw notAReport()
      }
    },
    end(facts) {
      const rest = markup.end()
      if (report === null) {
        if (!several && !rejected) throw notAReport()
        return
      }
      if (!report.finished) {
        // Only the end tag of the root may be cut: anything more and records may be missing.
        const cut = /^[^<]*<\/(?:[\w.-]*:)?(\w*)\s*$/.exec(rest)
        const whole = cut !== null && record === null && 'feedback'.startsWith(cut[1]!.toLowerCase())
        if (!whole || markup.open().at(-1)?.id !== FEEDBACK) {
          return reject(refuse('truncated', 'The report ends before its end tag'))
        }
        report.repairs.add('completed_end', `the file ends with ${quote(rest)}`)
      }
      for (const name of markup.open()) {
        if (name.id !== FEEDBACK) report.repairs.add('unclosed_tag', `<${name.local}>`)
      }
      finish(facts)
    },
    abort(refusal) {
      if (report === null) return rejected
      reject(refusal)
      return true
    },
  }
}

function notAReport(): Refusal {
  return refuse('not_a_report', 'The XML is no DMARC aggregate report')
}

function newReport(index: number, attributes: string): Report {
  return {
    index,
    repairs: createRepairs(),
    metadata: [],
    errors: [],
    new_namespace: attributes.includes('urn:ietf:params:xml:ns:dmarc-2.0'),
    policy: null,
    announced: false,
    rows: [],
    chars: 0,
    hash: createHash('sha256'),
    totals: {
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
    },
    seen: 0,
    header_from: undefined,
    finished: false,
    broken: false,
  }
}

function rawMetadata(report: Report): RawMetadata {
  const first = report.metadata[ERROR_SLOT]
  return {
    ...(named(METADATA, report.metadata) as Omit<RawMetadata, 'errors' | 'new_namespace'>),
    errors: first === undefined || first === '' ? [] : [first, ...report.errors],
    new_namespace: report.new_namespace,
  }
}

function rawPolicy(report: Report): RawPolicy | null {
  return report.policy === null ? null : named(POLICY, report.policy)
}

/** Slots as an object; absent ones stay absent. */
function named(order: readonly string[], slots: Slots): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [i, name] of order.entries()) if (slots[i] !== undefined) out[name] = slots[i]
  return out
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

/** Stands for the bytes of a report that shares its file with others. */
function ownHash(report: Report, rows_sha256: string): string {
  const content = JSON.stringify([report.metadata, report.errors, report.policy, rows_sha256])
  return createHash('sha256').update(content).digest('hex')
}

function attempt<T>(make: () => T): T | null {
  try {
    return make()
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}
