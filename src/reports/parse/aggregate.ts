/**
 * Aggregate reports (RUA; RFC 7489, RFC 9990), read in one pass while the bytes come: puts the texts of elements where
 * they belong, whatever their order. What is kept is one record, the metadata and the repairs.
 */
import { refuse, type Refusal } from '../../lib/refusal.ts'
import {
  ERROR_SLOT,
  EXTENSION,
  FEEDBACK,
  INSIDE,
  isStructural,
  NAMES,
  REASON,
  RECORD,
  type Inside,
  type Slots,
} from './elements.ts'
import { cleanText } from './fields.ts'
import { createMarkup, type MarkupEvents, type Name } from './markup.ts'
import { emptyRecord, partSlots, pushLimited, resetRecord, type RawRecord } from './record.ts'
import { createRepairs, quote, type Repairs } from './repairs.ts'
import { beginReport, type AggregateOptions, type DocumentFacts, type OpenReport } from './report.ts'
import { createTexts } from './texts.ts'

const TEXT_CHARS_MAX = 4096
/** Kept of a value while it comes: more than stays, so that a longer one is noticed. */
const PIECE_CHARS_MAX = 2 * TEXT_CHARS_MAX
const TEXTS = createTexts()
const RECORD_CHARS_MAX = 64 * 1024
/** A document that has not begun a report by now is none. */
const PREAMBLE_CHARS_MAX = 64 * 1024

export interface AggregateReader {
  write(text: string): void
  /** Ends the last report. Throws a refusal when there was none at all, or when it broke before its index was taken. */
  end(facts: DocumentFacts): void
  /** The document breaks off: true when a report was open and is now rejected. */
  abort(refusal: Refusal): boolean
}

export function createAggregateReader(options: AggregateOptions): AggregateReader {
  const outside = createRepairs()
  let report: OpenReport | null = null
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
    if (name.id === FEEDBACK) return openReport(attributes())
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
    if (child === 'record') openRecord()
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
    else if (name.id === RECORD) closeRecord()
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
    else if (value !== '' && slot === ERROR_SLOT && target === report!.metadata) report!.addError(value)
    else if (value !== '') repairs().add('repeated_element', `<${name.local}>`)
  }

  function closeContainer(kind: Inside['kind']): void {
    if (kind === 'record') closeRecord()
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

  function openReport(attributes: string): void {
    if (report !== null) {
      several = true
      if (report.finished) rejected = !report.finish(null, several, outside) || rejected
      else reject(refuse('truncated', 'A report begins before the one before it has ended'))
    }
    container = INSIDE.feedback
    record = null
    report = beginReport(options, attributes)
    target = report.metadata
  }

  function reject(refusal: Refusal): void {
    rejected = true
    report!.reject(refusal)
    report = null
    record = null
  }

  function openRecord(): void {
    if (record !== null) closeRecord()
    report!.beginRecord()
    resetRecord(kept)
    record = kept
    record_chars = 0
    target = record.fields
  }

  function closeRecord(): void {
    if (record === null) return
    report!.endRecord(record, record_chars)
    record = null
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
      rejected = !report.finish(facts, several, outside) || rejected
      report = null
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
