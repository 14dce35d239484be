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

export interface MarkupEvents {
  /** `namespace` is the raw text of the tag's attributes, asked for only when wanted. */
  open(name: string, attributes: () => string): void
  text(text: string): void
  /** `clean` is false when the element was closed because an outer one ended. */
  close(name: string, clean: boolean): void
  /** An end tag without its start. */
  stray(name: string): void
}

export interface Markup {
  write(text: string): void
  /** Answers the characters after the last whole token: a cut tag, if anything. Closes nothing. */
  end(): string
  /** Names of the elements that are open, outermost first. */
  open(): readonly string[]
}

export function createMarkup(events: MarkupEvents, repairs: Repairs): Markup {
  let buffer = ''
  /** Position of `buffer[0]` in the document. */
  let base = 0
  /** Everything before this position was dealt with. */
  let mark = 0
  const stack: string[] = []
  const raw_stack: string[] = []
  const names = new Map<string, string | null>()
  /** The start tag being read: its local name; null when it is no tag at all but text. */
  let tag: string | null = null
  let tag_raw = ''
  let tag_start = 0
  let tag_name_end = 0

  const slice = (start: number, end: number): string => buffer.slice(start - base, end - base)

  const localName = (raw: string): string | null => {
    let name = names.get(raw)
    if (name === undefined) {
      const found = /^(?:[\p{L}_][\w.-]*:)?([\p{L}_][\w.-]*)$/u.exec(raw)
      name = found === null ? null : found[1]!.toLowerCase()
      if (names.size < NAMES_CACHED_MAX && raw.length <= 64) names.set(raw, name)
    }
    return name
  }

  const openTag = (raw: string, name: string, attributes: () => string): void => {
    if (stack.length >= DEPTH_MAX) throw refuse('too_deep', `Elements are nested more than ${DEPTH_MAX} deep`)
    stack.push(name)
    raw_stack.push(raw)
    events.open(name, attributes)
  }

  const closeTop = (clean: boolean): void => {
    raw_stack.pop()
    events.close(stack.pop()!, clean)
  }

  const closeTag = (raw: string): void => {
    if (raw_stack[raw_stack.length - 1] === raw) return closeTop(true)
    const name = localName(raw)
    const at = name === null ? -1 : stack.lastIndexOf(name)
    if (at < 0) {
      repairs.add('stray_close_tag')
      if (name !== null) events.stray(name)
      return
    }
    while (stack.length - 1 > at) {
      repairs.add('unclosed_tag', `<${stack[stack.length - 1]!}>`)
      closeTop(false)
    }
    closeTop(true)
  }

  const attributes = (): string => slice(tag_name_end, Math.min(base + buffer.length, tag_name_end + 1024))

  const endOfTag = (end: number, self_closing: boolean): void => {
    if (tag === null) bareMarkup(slice(tag_start, end + 1))
    else {
      openTag(tag_raw, tag, attributes)
      if (self_closing) closeTop(true)
    }
    mark = end + 1
  }

  /** `<a@b.c>` is an address and `x<y</z>` a bare sign before an end tag, not elements. */
  const bareMarkup = (raw: string): void => {
    repairs.add('bare_markup')
    const last = raw.lastIndexOf('<')
    const inner = last > 0 ? /^<(\/?)([\w.:-]+)\s*>$/.exec(raw.slice(last)) : null
    if (inner === null) {
      events.text(raw)
      return
    }
    events.text(raw.slice(0, last))
    const name = localName(inner[2]!)
    if (inner[1] === '/') closeTag(inner[2]!)
    else if (name !== null) openTag(inner[2]!, name, () => '')
  }

  const tokenizer = new Tokenizer(
    { xmlMode: true, decodeEntities: false },
    {
      onopentagname(start, end) {
        tag_raw = slice(start, end)
        tag = localName(tag_raw)
        tag_start = start - 1
        tag_name_end = end
        mark = tag_start
      },
      onopentagend: (end) => endOfTag(end, false),
      onselfclosingtag: (end) => endOfTag(end, true),
      onclosetag(start, end) {
        closeTag(slice(start, end))
        mark = end
      },
      ontext(start, end) {
        // After an end tag the sign > is still to come: it is not text.
        events.text(slice(start, end))
        mark = end
      },
      oncdata(start, end, offset) {
        events.text(slice(start, end - offset).replaceAll('&', '&amp;'))
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
