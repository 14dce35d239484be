/**
 * XML as it comes: streams, expands nothing, allows no DTD, bounds every token and the depth, takes bare `<` as text,
 * closes what was left open. Gives elements by local name in lower case. Nearly all of a report is `<name>text</name>`:
 * that is read directly; everything else (attributes, comments, CDATA, declarations, broken tags) goes through the
 * tokenizer of htmlparser2 in XML mode.
 */
import { Tokenizer } from 'htmlparser2'
import { refuse } from '../../lib/refusal.ts'
import type { Repairs } from './repairs.ts'
import { isAt } from './texts.ts'

/** A tag, comment, CDATA section or declaration may be this long. */
const TOKEN_CHARS_MAX = 64 * 1024
const DEPTH_MAX = 16
const ODD_MAX = 10_000
const NAMES_CACHED_MAX = 256
const RECENT = 1024
const NAME_CHARS_MAX = 64
const ATTRIBUTE_CHARS_MAX = 1024
const SLASH = 47
const GREATER = 62
const QUESTION = 63

/** An element name as it was met: spelling, local name in lower case, and the number its user knows it by. */
export interface Name {
  readonly raw: string
  readonly local: string
  /** 0: unknown. */
  readonly id: number
}

/** Spellings met so far. One for all documents: it holds copies, and few. */
export interface Names {
  /** The name at these characters of the text; null when it cannot be one. */
  at(text: string, start: number, end: number): Name | null
  of(raw: string): Name | null
}

/** `known` gives the numbers of local names. */
export function createNames(known: ReadonlyMap<string, number>): Names {
  const names = new Map<string, Name | null>()
  /** Last name met by length, first and last letter: most lookups end here, without a copy. */
  const recent: (Name | undefined)[] = Array.from<undefined>({ length: RECENT })
  for (const [local, id] of known) names.set(local, { raw: local, local, id })

  const of = (raw: string): Name | null => {
    const met = names.get(raw)
    if (met !== undefined) return met
    const found = raw.length > NAME_CHARS_MAX ? null : /^(?:[\p{L}_][\w.-]*:)?([\p{L}_][\w.-]*)$/u.exec(raw)
    if (found === null) return null
    const local = copyOf(found[1]!.toLowerCase())
    const name = { raw: copyOf(raw), local, id: known.get(local) ?? 0 }
    if (names.size < NAMES_CACHED_MAX) names.set(name.raw, name)
    return name
  }
  return {
    of,
    at(text, start, end) {
      const length = end - start
      const mixed = (text.charCodeAt(start) << 4) ^ text.charCodeAt(end - 1) ^ (length << 6)
      const slot = mixed & (RECENT - 1)
      const guess = recent[slot]
      if (guess !== undefined && isAt(guess.raw, text, start, length)) return guess
      const name = of(text.slice(start, end))
      if (name !== null && names.get(name.raw) === name) recent[slot] = name
      return name
    },
  }
}

export interface MarkupEvents {
  /** `attributes` gives the raw text of the tag's attributes. */
  open(name: Name, attributes: () => string): void
  /**
   * A whole element with nothing but text in it. False: the user does not take it so, `open`, `text` and `close`
   * follow.
   */
  leaf(name: Name, source: string, start: number, end: number): boolean
  /** The characters from `start` to `end` of `source`. Only called while `wants_text`. */
  text(source: string, start: number, end: number): void
  wants_text: boolean
  close(name: Name): void
  /** An end tag without its start. */
  stray(name: Name): void
}

export interface Markup {
  write(text: string): void
  /** Answers the characters after the last whole token: a cut tag, if anything. Closes nothing. */
  end(): string
  /** The elements that are open, outermost first. */
  open(): readonly Name[]
}

export function createMarkup(events: MarkupEvents, names: Names, repairs: Repairs): Markup {
  const stack: Name[] = []
  /** A beginning of a tag at the end of a piece. */
  let held = ''
  let odd = 0
  /** Made when first needed: most reports never need it. */
  let slow: SlowLane | null = null

  function openTag(name: Name, attributes: () => string): void {
    if (stack.length >= DEPTH_MAX) throw refuse('too_deep', `Elements are nested more than ${DEPTH_MAX} deep`)
    stack.push(name)
    events.open(name, attributes)
  }

  /** What is broken everywhere is not worth mending. */
  function countOdd(): void {
    if (++odd > ODD_MAX) throw refuse('malformed_xml', `More than ${ODD_MAX} broken tags`)
  }

  function closeTag(name: Name | null): void {
    const top = stack[stack.length - 1]
    if (top !== undefined && top === name) {
      stack.pop()
      return events.close(top)
    }
    const at = name === null ? -1 : stack.findLastIndex((open) => open.local === name.local)
    if (at < 0) {
      countOdd()
      repairs.add('stray_close_tag')
      if (name !== null) events.stray(name)
      return
    }
    while (stack.length - 1 > at) {
      countOdd()
      const unclosed = stack.pop()!
      repairs.add('unclosed_tag', `<${unclosed.local}>`)
      events.close(unclosed)
    }
    events.close(stack.pop()!)
  }

  /** `<a@b.c>` is an address and `x<y</z>` a bare sign before an end tag, not elements. */
  function bareMarkup(raw: string): void {
    countOdd()
    repairs.add('bare_markup')
    const last = raw.lastIndexOf('<')
    const inner = last > 0 ? /^<(\/?)([\w.:-]+)\s*>$/.exec(raw.slice(last)) : null
    if (events.wants_text) events.text(raw, 0, inner === null ? raw.length : last)
    if (inner === null) return
    const name = names.of(inner[2]!)
    if (inner[1] === '/') closeTag(name)
    else if (name !== null) openTag(name, noAttributes)
  }

  /** Position after the plain tag `<name>` or `</name>` at `lt`, taken; or -1. */
  function takePlain(text: string, lt: number): number {
    const top = stack[stack.length - 1]
    if (text.charCodeAt(lt + 1) === SLASH) {
      if (top === undefined) return -1
      const end = lt + 2 + top.raw.length
      if (text.charCodeAt(end) !== GREATER || !isAt(top.raw, text, lt + 2, top.raw.length)) return -1
      stack.pop()
      events.close(top)
      return end + 1
    }
    let end = lt + 1
    while (isLetter(text.charCodeAt(end))) end++
    const closed = text.charCodeAt(end) === SLASH ? 1 : 0
    if (text.charCodeAt(end + closed) !== GREATER || end === lt + 1) return -1
    const name = names.at(text, lt + 1, end)
    if (name === null) return -1
    if (closed === 0) {
      const after = takeLeaf(text, end + 1, name)
      if (after >= 0) return after
    }
    openTag(name, noAttributes)
    if (closed === 1) closeTag(name)
    return end + closed + 1
  }

  /** Position after `text</name>` that begins at `start`, when the user took it; or -1. */
  function takeLeaf(text: string, start: number, name: Name): number {
    const lt = text.indexOf('<', start)
    if (lt < 0 || text.charCodeAt(lt + 1) !== SLASH) return -1
    const length = name.raw.length
    if (text.charCodeAt(lt + 2 + length) !== GREATER || !isAt(name.raw, text, lt + 2, length)) return -1
    return events.leaf(name, text, start, lt) ? lt + 3 + length : -1
  }

  /** Whatever is not plain is read by htmlparser2's tokenizer, one construct (up to its `>`) at a time. */
  function createSlowLane(): SlowLane {
    let construct = ''
    /** Position of `construct[0]` in what the tokenizer has seen. */
    let base = 0
    let fed = 0
    let complete = true
    let tag: Name | null = null
    let name_end = 0
    const slice = (start: number, end: number): string => construct.slice(start - base, end - base)
    const attributes = (): string => slice(name_end, name_end + ATTRIBUTE_CHARS_MAX)
    const endOfTag = (end: number, self_closing: boolean): void => {
      complete = true
      if (tag === null) return bareMarkup(slice(base, end + 1))
      openTag(tag, attributes)
      if (self_closing) closeTag(tag)
    }
    const done = (): void => {
      complete = true
    }
    const tokenizer = new Tokenizer(
      { xmlMode: true, decodeEntities: false },
      {
        onopentagname(start, end) {
          tag = names.at(construct, start - base, end - base)
          name_end = end
        },
        onopentagend: (end) => endOfTag(end, false),
        onselfclosingtag: (end) => endOfTag(end, true),
        onclosetag(start, end) {
          complete = true
          closeTag(names.at(construct, start - base, end - base))
        },
        ontext(start, end) {
          complete = true
          if (events.wants_text) events.text(construct, start - base, end - base)
        },
        oncdata(start, end, offset) {
          complete = true
          const text = slice(start, end - offset).replaceAll('&', '&amp;')
          if (events.wants_text) events.text(text, 0, text.length)
        },
        oncomment: done,
        onprocessinginstruction: done,
        ondeclaration(start, end) {
          complete = true
          checkDeclaration(slice(start, end))
          repairs.add('doctype_ignored')
        },
        onattribname: ignore,
        onattribdata: ignore,
        onattribentity: ignore,
        onattribend: ignore,
        ontextentity: ignore,
        onend: ignore,
      },
    )
    return {
      busy: () => !complete,
      rest: () => (complete ? '' : construct),
      feed(text) {
        if (complete) {
          construct = text
          base = fed
          complete = false
        } else construct += text
        checkToken(construct)
        fed += text.length
        tokenizer.write(text)
      },
    }
  }

  function take(text: string): void {
    let at = 0
    while (at < text.length) {
      if (slow?.busy() === true) {
        const gt = text.indexOf('>', at)
        const end = gt < 0 ? text.length : gt + 1
        slow.feed(text.slice(at, end))
        at = end
        continue
      }
      const lt = text.indexOf('<', at)
      const end = lt < 0 ? text.length : lt
      if (end > at && events.wants_text) events.text(text, at, end)
      if (lt < 0) return
      if (isNoTag(text.charCodeAt(lt + 1))) {
        if (events.wants_text) events.text(text, lt, lt + 1)
        at = lt + 1
        continue
      }
      const next = text.charCodeAt(lt + 1) === QUESTION ? afterInstruction(text, lt) : takePlain(text, lt)
      if (next >= 0) {
        at = next
        continue
      }
      const gt = text.indexOf('>', lt)
      if (gt < 0) {
        held = text.slice(lt)
        return checkToken(held)
      }
      slow ??= createSlowLane()
      slow.feed(text.slice(lt, gt + 1))
      at = gt + 1
    }
  }

  return {
    write(text) {
      const whole = held === '' ? text : held + text
      held = ''
      take(whole)
    },
    end: () => (held === '' ? (slow?.rest() ?? '') : held),
    open: () => stack,
  }
}

interface SlowLane {
  /** In the middle of a construct. */
  busy(): boolean
  /** The construct that was begun. */
  rest(): string
  feed(text: string): void
}

function checkToken(token: string): void {
  if (token.length <= TOKEN_CHARS_MAX) return
  if (/^<!(DOCTYPE|ENTITY)/i.test(token)) throw dtdRefused()
  throw refuse('token_too_long', `A tag or comment is longer than ${TOKEN_CHARS_MAX} characters`)
}

/** Position after the processing instruction at `lt`, or -1 when its end is not in sight. */
function afterInstruction(text: string, lt: number): number {
  const end = text.indexOf('?>', lt + 2)
  return end < 0 ? -1 : end + 2
}

/** White space or another < after it make < a bare sign. (NaN, at the end of a piece, says nothing yet.) */
function isNoTag(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 60
}

/** Letters, digits, _ and -: all that names of reports are made of. */
function isLetter(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    code === 95 ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 45
  )
}

function noAttributes(): string {
  return ''
}

/** A string that does not hold on to the text it was cut from. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

/** Entities are never declared in a report; a bare document type is harmless and says nothing. */
function checkDeclaration(text: string): void {
  if (!/^!?\s*DOCTYPE\b/i.test(text) || text.includes('[') || /\b(ENTITY|ELEMENT|ATTLIST)\b/.test(text)) {
    throw dtdRefused()
  }
}

function dtdRefused(): Error {
  return refuse('dtd_not_allowed', 'Document type definitions and entities are refused')
}

function ignore(): void {
  // Nothing of a report is in attributes.
}
