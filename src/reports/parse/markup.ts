/**
 * XML as it comes, over the tokenizer of htmlparser2: streams, expands nothing, allows no DTD, bounds every token and
 * the depth, takes bare `<` as text, closes what was left open. Gives elements by local name in lower case.
 */
import { Tokenizer } from 'htmlparser2'
import { refuse } from '../../lib/refusal.ts'
import type { Repairs } from './repairs.ts'

/** A tag, comment, CDATA section or declaration may be this long. */
const TOKEN_CHARS_MAX = 64 * 1024
const DEPTH_MAX = 16
const NAMES_CACHED_MAX = 256
const RECENT = 1024
const NAME_CHARS_MAX = 64

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

/** A loop over the letters is four times faster here than `startsWith`. */
function isAt(raw: string, text: string, start: number, length: number): boolean {
  if (raw.length !== length) return false
  for (let i = 0; i < length; i++) if (raw.charCodeAt(i) !== text.charCodeAt(start + i)) return false
  return true
}

export interface MarkupEvents {
  /** `attributes` gives the raw text of the tag's attributes. */
  open(name: Name, attributes: () => string): void
  /** Only called while `wants_text`. */
  text(text: string): void
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
  let buffer = ''
  /** Position of `buffer[0]` in the document. */
  let base = 0
  /** Everything before this position was dealt with. */
  let mark = 0
  const stack: Name[] = []
  /** The start tag being read; null when it is no tag at all but text. */
  let tag: Name | null = null
  let tag_start = 0
  let tag_name_end = 0

  const slice = (start: number, end: number): string => buffer.slice(start - base, end - base)

  const openTag = (name: Name, attributes: () => string): void => {
    if (stack.length >= DEPTH_MAX) throw refuse('too_deep', `Elements are nested more than ${DEPTH_MAX} deep`)
    stack.push(name)
    events.open(name, attributes)
  }

  const closeTag = (name: Name | null): void => {
    const top = stack[stack.length - 1]
    if (top !== undefined && top === name) {
      stack.pop()
      return events.close(top)
    }
    const at = name === null ? -1 : stack.findLastIndex((open) => open.local === name.local)
    if (at < 0) {
      repairs.add('stray_close_tag')
      if (name !== null) events.stray(name)
      return
    }
    while (stack.length - 1 > at) {
      const unclosed = stack.pop()!
      repairs.add('unclosed_tag', `<${unclosed.local}>`)
      events.close(unclosed)
    }
    events.close(stack.pop()!)
  }

  const attributes = (): string => slice(tag_name_end, Math.min(base + buffer.length, tag_name_end + 1024))

  const endOfTag = (end: number, self_closing: boolean): void => {
    if (tag === null) bareMarkup(slice(tag_start, end + 1))
    else {
      openTag(tag, attributes)
      if (self_closing) closeTag(tag)
    }
    mark = end + 1
  }

  /** `<a@b.c>` is an address and `x<y</z>` a bare sign before an end tag, not elements. */
  const bareMarkup = (raw: string): void => {
    repairs.add('bare_markup')
    const last = raw.lastIndexOf('<')
    const inner = last > 0 ? /^<(\/?)([\w.:-]+)\s*>$/.exec(raw.slice(last)) : null
    if (inner === null) {
      if (events.wants_text) events.text(raw)
      return
    }
    if (events.wants_text) events.text(raw.slice(0, last))
    const name = names.of(inner[2]!)
    if (inner[1] === '/') closeTag(name)
    else if (name !== null) openTag(name, () => '')
  }

  const tokenizer = new Tokenizer(
    { xmlMode: true, decodeEntities: false },
    {
      onopentagname(start, end) {
        tag = names.at(buffer, start - base, end - base)
        tag_start = start - 1
        tag_name_end = end
        mark = tag_start
      },
      onopentagend: (end) => endOfTag(end, false),
      onselfclosingtag: (end) => endOfTag(end, true),
      onclosetag(start, end) {
        const top = stack[stack.length - 1]
        const same = top !== undefined && isAt(top.raw, buffer, start - base, end - start)
        closeTag(same ? top : names.at(buffer, start - base, end - base))
        mark = end
      },
      ontext(start, end) {
        if (events.wants_text) events.text(slice(start, end))
        mark = end
      },
      oncdata(start, end, offset) {
        if (events.wants_text) events.text(slice(start, end - offset).replaceAll('&', '&amp;'))
        mark = end + 1
      },
      oncomment(_start, end) {
        mark = end + 1
      },
      onprocessinginstruction(_start, end) {
        mark = end + 1
      },
      ondeclaration(start, end) {
        checkDeclaration(slice(start, end))
        repairs.add('doctype_ignored')
        mark = end + 1
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
    write(text) {
      buffer = mark - base < buffer.length ? buffer.slice(mark - base) + text : text
      base = mark
      tokenizer.write(text)
      if (base + buffer.length - mark > TOKEN_CHARS_MAX) {
        if (/^<!(DOCTYPE|ENTITY)/i.test(slice(mark, mark + 9))) throw dtdRefused()
        throw refuse('token_too_long', `A tag or comment is longer than ${TOKEN_CHARS_MAX} characters`)
      }
    },
    end: () => slice(mark, base + buffer.length),
    open: () => stack,
  }
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
