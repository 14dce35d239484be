/**
 * Mail as a container of reports: walks the parts while the bytes come (RFC 2046), in any order and depth, forwarded
 * messages and mailboxes included, and opens every part whose own bytes look like a report, whatever its type and
 * name claim. Also finds failure reports, which are made of parts of one message.
 */
import { createHash } from 'node:crypto'
import { refuse } from '../../lib/refusal.ts'
import { sniff, type Leaf, type Sink } from '../../lib/unpack.ts'
import type { DocumentContext } from './document.ts'
import { readFailureReport } from './failure.ts'
import {
  createTransferDecoder,
  decodeWords,
  headerValue,
  parseHeaders,
  parseParameters,
  type Header,
} from './mime.ts'
import type { Origin, RejectionCode } from './types.ts'

const HEADER_BYTES_MAX = 256 * 1024
const MESSAGES_MAX = 1000
const PARTS_MAX = 2000
const CANDIDATES_MAX = 200_000
const DEPTH_MAX = 16
const SNIFF_BYTES = 512
const TEXT_BYTES_KEPT = 64 * 1024
const ORIGINAL_BYTES_KEPT = 16 * 1024
const LINE_FEED = 10
const DASH = 45

/** One message: of a mailbox, or forwarded in another one. */
export interface MailMessage {
  headers: Header[]
  /** The machine-readable part of a failure report. */
  feedback: string | null
  /** First plain text. */
  plain: string | null
  /** Header block of the reported message. */
  original: string | null
  /** Inside a failure report: its parts are somebody's mail, not reports. */
  quoted: boolean
}

interface Part {
  message: MailMessage
  sink: PartSink
}

interface PartSink {
  write(bytes: Uint8Array): void
  end(): void
}

interface Level {
  boundary: string
  /** `--boundary`. */
  delimiter: Uint8Array
  message: MailMessage
}

export function createMailSink(leaf: Leaf, origin: Origin, context: DocumentContext): Sink {
  const hash = createHash('sha256')
  let bytes = 0
  let held: Uint8Array = new Uint8Array(0)
  let levels: Level[] = []
  let part: Part | null = null
  let header: Uint8Array[] | null = []
  let header_bytes = 0
  let parts = 0
  let messages = 0
  let candidates = 0
  /** Of the current mail of a mailbox. */
  let attachments = 0
  let mailbox = false
  /** Messages of the current mail, innermost last; the first one is the mail itself. */
  let open: MailMessage[] = []
  let pending: MailMessage | null = newMessage(false)
  const found: MailMessage[] = []
  /** The part whose sink is open inside the unpacker: told when the mail breaks off. */
  let nested: Sink | null = null

  const startMail = (): void => {
    if (++messages > MESSAGES_MAX) {
      throw refuse('too_many_entries', `More than ${MESSAGES_MAX} mails in one file`, { fatal: true })
    }
    levels = []
    attachments = 0
    open = []
    pending = newMessage(false)
    header = []
    header_bytes = 0
  }

  const endMail = (): void => {
    endPart()
    if (header !== null && header_bytes > 0) endHeader()
    endPart()
    for (const message of open) found.push(message)
    for (const message of found.splice(0)) emitFailure(message)
    open = []
  }

  const emitFailure = (message: MailMessage): void => {
    if (message.quoted) return
    const failure = readFailureReport(message)
    if (failure === null) return
    const index = context.nextIndex()
    const repairs = [...context.repairs.list(), ...failure.repairs]
    context.emit({ type: 'report', index, kind: 'failure', origin, meta: failure.meta })
    context.emit({
      type: 'end',
      index,
      kind: 'failure',
      meta: failure.meta,
      content_sha256: messages <= 1 ? hash.copy().digest('hex') : sha256(JSON.stringify(failure.meta)),
      content_bytes: bytes,
      origin,
      repairs,
    })
  }

  const endPart = (): void => {
    const ending = part
    part = null
    ending?.sink.end()
  }

  /** The header block of a message (when `pending`) or of a part is complete. */
  const endHeader = (): void => {
    const block = Buffer.concat(header!).toString('latin1')
    header = null
    header_bytes = 0
    const headers = parseHeaders(block)
    let message = pending
    if (message !== null) {
      pending = null
      message.headers = headers
      const outer = open.at(-1)
      if (outer !== undefined) {
        outer.original ??= block.slice(0, ORIGINAL_BYTES_KEPT)
        message.quoted = outer.quoted || outer.feedback !== null || isFailureReport(outer.headers)
      }
      open.push(message)
    } else message = levels.at(-1)?.message ?? open.at(-1)!
    if (++parts > PARTS_MAX) throw refuse('too_many_entries', `More than ${PARTS_MAX} parts in a mail`)
    enterPart(headers, message)
  }

  const enterPart = (headers: Header[], message: MailMessage): void => {
    const type = parseParameters(
      headerValue(headers, 'content-type') ?? headerValue(headers, 'contenttype') ?? '',
    )
    const boundary = type.parameters.get('boundary')
    if (type.value.startsWith('multipart/') && boundary !== undefined && boundary !== '') {
      if (levels.length >= DEPTH_MAX)
        throw refuse('nesting_too_deep', 'Parts of the mail are nested too deep')
      const kept = boundary.slice(0, 256)
      levels.push({ boundary: kept, delimiter: Buffer.from(`--${kept}`, 'latin1'), message })
      return
    }
    const encoding = headerValue(headers, 'content-transfer-encoding') ?? ''
    const plain = !/base64|quoted-printable/i.test(encoding)
    if (/^message\/(rfc822|global)$/.test(type.value) && plain && open.length < DEPTH_MAX) {
      pending = newMessage(false)
      header = []
      return
    }
    const name = nameOf(headers, type.parameters)
    part = { message, sink: openPart(type.value, name, encoding, message) }
  }

  const openPart = (type: string, name: string, encoding: string, message: MailMessage): PartSink => {
    const decoder = createTransferDecoder(encoding)
    const take = createTaker(type, message, () => (message.quoted ? null : openNested(name, message)))
    return {
      write: (data) => take.write(decoder.write(data)),
      end() {
        take.write(decoder.end())
        take.end()
        nested = null
      },
    }
  }

  const openNested = (name: string, message: MailMessage): Sink => {
    if (++attachments > context.limits.entries_max) {
      const detail = `More than ${context.limits.entries_max} reports attached to a mail`
      throw refuse('too_many_entries', detail, { fatal: true })
    }
    const subject = headerValue(message.headers, 'subject')
    context.subject = subject === null ? null : decodeWords(subject)
    nested = leaf.nest(name)
    return nested
  }

  /** True when the line was a delimiter and has been dealt with. */
  const takeDelimiter = (line: Uint8Array): boolean => {
    const text = Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, 300))
      .toString('latin1')
      .trimEnd()
    if (mailbox && /^From \S* .*\d{4}/.test(text)) {
      endMail()
      startMail()
      return true
    }
    if (!text.startsWith('--')) return false
    if (++candidates > CANDIDATES_MAX) throw refuse('too_many_entries', 'Too many delimiters in the mail')
    for (let i = levels.length - 1; i >= 0; i--) {
      const { boundary, message } = levels[i]!
      const closing = text === `--${boundary}--`
      if (!closing && text !== `--${boundary}`) continue
      if (header !== null && header_bytes > 0 && pending !== null) endHeader()
      endPart()
      while (open.length > 0 && open.at(-1) !== message) found.push(open.pop()!)
      levels.length = closing ? i : i + 1
      pending = null
      header = closing ? null : []
      header_bytes = 0
      return true
    }
    return false
  }

  const body = (data: Uint8Array): void => {
    if (data.length > 0) part?.sink.write(data)
  }

  /** Takes whole lines of a header; answers where the body begins or everything was taken. */
  const takeHeader = (data: Uint8Array, start: number): number => {
    let at = start
    while (header !== null && at < data.length) {
      const feed = data.indexOf(LINE_FEED, at)
      if (feed < 0) return at
      const line = data.subarray(at, feed + 1)
      at = feed + 1
      if (line.length <= 2 && (line[0] === LINE_FEED || line[0] === 13)) {
        // Blank lines before the first field belong to nothing.
        if (header_bytes > 0 || pending === null) endHeader()
      } else if (!takeDelimiter(line)) {
        if (header_bytes === 0 && pending !== null && open.length === 0 && /^>?From /.test(ascii(line))) {
          mailbox = true
          continue
        }
        header_bytes += line.length
        if (header_bytes > HEADER_BYTES_MAX)
          throw refuse('token_too_long', 'The header of a mail is too long')
        header.push(line.slice())
      }
    }
    return at
  }

  /** Takes body bytes up to the next delimiter; answers where to go on, or -1 when more bytes are needed from `at`. */
  const takeBody = (data: Uint8Array, start: number): { at: number; wait: boolean } => {
    let from = start
    for (let at = start; ;) {
      const candidate = nextCandidate(data, at, mailbox)
      if (candidate < 0) {
        // A line break at the end may belong to a delimiter that has not come yet.
        const keep = Math.max(from, lastBreak(data, from))
        body(data.subarray(from, keep))
        return { at: keep, wait: true }
      }
      const line_start = candidate === 0 && data[0] !== LINE_FEED ? 0 : candidate + 1
      const feed = data.indexOf(LINE_FEED, line_start)
      if (feed < 0 && data.length - line_start < 512) {
        body(data.subarray(from, Math.max(from, breakBefore(data, line_start))))
        return { at: Math.max(from, breakBefore(data, line_start)), wait: true }
      }
      const line = data.subarray(line_start, feed < 0 ? line_start + 512 : feed + 1)
      if (isDelimiter(line)) {
        body(data.subarray(from, Math.max(from, breakBefore(data, line_start))))
        takeDelimiter(line)
        return { at: feed < 0 ? data.length : feed + 1, wait: false }
      }
      at = line_start
      from = Math.min(from, data.length)
    }
  }

  /** Compares bytes: a body may be made of lines that look like delimiters. */
  const isDelimiter = (line: Uint8Array): boolean => {
    if (++candidates > CANDIDATES_MAX) {
      throw refuse('too_many_entries', `More than ${CANDIDATES_MAX} lines of the mail look like delimiters`)
    }
    if (line[0] !== DASH) return mailbox && /^From \S* .*\d{4}/.test(ascii(line))
    return levels.some(({ delimiter }) => {
      if (line.length < delimiter.length) return false
      for (let i = 0; i < delimiter.length; i++) if (line[i] !== delimiter[i]) return false
      return /^(?:--)?[ \t\r\n]*$/.test(ascii(line.subarray(delimiter.length)))
    })
  }

  const consume = (data: Uint8Array): number => {
    let at = 0
    while (at < data.length) {
      if (header !== null) {
        const next = takeHeader(data, at)
        if (header !== null) return next
        at = next
        // The delimiter may stand at the very beginning of a body.
        const feed = data.indexOf(LINE_FEED, at)
        if (feed >= 0 && isDelimiter(data.subarray(at, feed + 1))) {
          takeDelimiter(data.subarray(at, feed + 1))
          at = feed + 1
        }
        continue
      }
      const taken = takeBody(data, at)
      at = taken.at
      if (taken.wait) return at
    }
    return at
  }

  return {
    write(chunk) {
      hash.update(chunk)
      bytes += chunk.length
      const joined = held.length === 0 ? chunk : concat(held, chunk)
      const data = Buffer.from(joined.buffer, joined.byteOffset, joined.length)
      const used = consume(data)
      held = joined.slice(used)
      if (header !== null && held.length > HEADER_BYTES_MAX) {
        throw refuse('token_too_long', 'A line in the header of a mail is too long')
      }
    },
    end() {
      if (messages === 0) messages = 1
      const rest = held
      held = new Uint8Array(0)
      if (rest.length > 0) {
        const line = concat(rest, Uint8Array.of(LINE_FEED))
        const used = consume(line)
        const left = line.subarray(used, line.length - 1)
        if (header === null) body(left)
      }
      endMail()
    },
    abort(refusal) {
      if (nested !== null) nested.abort(refusal)
      else context.rejected(origin, refusal.code as RejectionCode, refusal.detail)
    },
  }
}

/** Keeps texts that a failure report is made of, opens what looks like a report, drops the rest. */
function createTaker(type: string, message: MailMessage, open: () => Sink | null): PartSink {
  let head: Uint8Array = new Uint8Array(0)
  let kept = 0
  const texts: Uint8Array[] = []
  let sink: Sink | null = null
  let decided = false
  const is_text = /^(message\/feedback-report|text\/plain|text\/rfc822-headers|)$/.test(type)

  const decide = (): void => {
    decided = true
    if (looksLikeReport(head, type)) sink = open()
    if (sink !== null && head.length > 0) sink.write(head)
    head = new Uint8Array(0)
  }
  return {
    write(data) {
      if (is_text && kept < TEXT_BYTES_KEPT) {
        texts.push(data.slice(0, TEXT_BYTES_KEPT - kept))
        kept += Math.min(data.length, TEXT_BYTES_KEPT - kept)
      }
      if (decided) {
        if (data.length > 0) sink?.write(data)
        return
      }
      head = concat(head, data)
      if (head.length >= SNIFF_BYTES) decide()
    },
    end() {
      if (!decided) decide()
      sink?.end()
      if (!is_text) return
      const text = new TextDecoder('utf-8').decode(Buffer.concat(texts))
      if (type === 'message/feedback-report') message.feedback ??= text
      else if (type === 'text/rfc822-headers') message.original ??= text.slice(0, ORIGINAL_BYTES_KEPT)
      else if (sink === null) message.plain ??= text
    },
  }
}

/** By the bytes; XML and JSON in a text part only when they begin like a report, since mails are full of markup. */
function looksLikeReport(head: Uint8Array, type: string): boolean {
  const kind = sniff(head)
  if (kind === 'gzip' || kind === 'zip') return true
  if (kind === 'mail') return /^message\/|^application\//.test(type)
  if (kind !== 'xml' && kind !== 'json') return false
  if (!/^text\/(plain|html)$|^$/.test(type)) return true
  return /<\?xml|<([\w.-]+:)?feedback[\s>]|"(report-id|organization-name|date-range)"/i.test(
    ascii(head).replaceAll('\0', ''),
  )
}

function isFailureReport(headers: Header[]): boolean {
  return /report-type\s*=\s*"?feedback-report/i.test(headerValue(headers, 'content-type') ?? '')
}

function nameOf(headers: Header[], type_parameters: Map<string, string>): string {
  const disposition = parseParameters(headerValue(headers, 'content-disposition') ?? '')
  const name = disposition.parameters.get('filename') ?? type_parameters.get('name')
  return (
    name ??
    parseParameters(headerValue(headers, 'contenttype') ?? '').parameters.get('name') ??
    ''
  ).slice(0, 512)
}

function newMessage(quoted: boolean): MailMessage {
  return { headers: [], feedback: null, plain: null, original: null, quoted }
}

/** Position of the line break before the next line that begins with `--` (or `From ` in a mailbox), or -1. */
function nextCandidate(data: Uint8Array, from: number, mailbox: boolean): number {
  const dashes = DASHES
  const buffer = data instanceof Buffer ? data : Buffer.from(data.buffer, data.byteOffset, data.length)
  const dash = buffer.indexOf(dashes, from)
  if (!mailbox) return dash
  const mail = buffer.indexOf(FROM, from)
  return dash < 0 ? mail : mail < 0 ? dash : Math.min(dash, mail)
}
const DASHES = Buffer.from([LINE_FEED, DASH, DASH])
const FROM = Buffer.from('\nFrom ')

/** Where a last line break begins that may belong to a delimiter still to come; the end when there is none. */
function lastBreak(data: Uint8Array, from: number): number {
  for (let at = data.length - 1; at >= Math.max(from, data.length - 6); at--) {
    if (data[at] === LINE_FEED) return data[at - 1] === 13 && at - 1 >= from ? at - 1 : at
  }
  return data.at(-1) === 13 ? data.length - 1 : data.length
}

/** The line break before a delimiter belongs to it. */
function breakBefore(data: Uint8Array, line_start: number): number {
  const feed = line_start - 1
  return feed > 0 && data[feed - 1] === 13 ? feed - 1 : Math.max(0, feed)
}

function ascii(line: Uint8Array): string {
  return Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, SNIFF_BYTES))
    .toString('latin1')
    .trimEnd()
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const out = new Uint8Array(a.length + b.length)
  out.set(a)
  out.set(b, a.length)
  return out
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
