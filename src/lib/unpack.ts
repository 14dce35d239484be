/**
 * From bytes to the documents in them, told by the bytes alone: gzip and ZIP are opened (also in one another, up to a
 * depth), everything else is handed on in pieces as it comes. Nothing is ever held whole but a ZIP archive, which is
 * as large as the input at most. All caps are in `UnpackLimits`; going over one is a fatal refusal.
 */
import { createGunzip } from './gunzip.ts'
import { isRefusal, refuse, type Refusal } from './refusal.ts'
import { listZip, readZipEntry, type ZipEntry } from './zip.ts'

export interface UnpackLimits {
  input_bytes_max: number
  unpacked_bytes_max: number
  ratio_max: number
  /** The ratio counts only above this many unpacked bytes. */
  ratio_free_bytes: number
  entries_max: number
  nesting_max: number
}

/** Takes pieces of one document. A piece is only valid during the call. */
export interface Sink {
  write(chunk: Uint8Array): void
  end(): void
  /** The document will not be completed. */
  abort(refusal: Refusal): void
}

export type ContainerKind = 'gzip' | 'zip' | 'mail'
export type LeafKind = 'xml' | 'json' | 'mail' | 'empty' | 'unknown'

export interface Leaf {
  kind: LeafKind
  /** Name inside the innermost archive, or the one of the input. */
  name: string
  containers: readonly ContainerKind[]
  /** Opens a document found inside this one (an attachment of a mail): no level, and who opens counts them. */
  nest(name: string): Sink
}

export interface UnpackEvents {
  open(leaf: Leaf, head: Uint8Array): Sink
  /** An entry is refused, and no sink was open for it. */
  refused(where: { name: string; containers: readonly ContainerKind[] }, refusal: Refusal): void
  /** Something was put right: `trailing_garbage`, `zip_directory_rebuilt`. */
  repaired(code: 'trailing_garbage' | 'zip_directory_rebuilt'): void
  /** Called with the running total of unpacked bytes, at most once per 64 kB. */
  progress?(unpacked_bytes: number): void
}

export interface Unpacker extends Sink {
  /** What the first bytes of the input are; known at the end. */
  readonly input_kind: ContainerKind | LeafKind
}

/** `input_bytes` is the length of the whole input: what the ratio is measured against. */
export function createUnpacker(
  name: string,
  input_bytes: number,
  limits: UnpackLimits,
  events: UnpackEvents,
): Unpacker {
  const budget = createBudget(input_bytes, limits, events)
  const top = createSniffer({ name, containers: [], depth: 0 }, { limits, events, budget })
  return {
    write: top.write,
    end: top.end,
    abort: top.abort,
    get input_kind() {
      return top.kind() ?? 'unknown'
    },
  }
}

interface Budget {
  add(bytes: number): void
  entry(): void
}

interface Shared {
  limits: UnpackLimits
  events: UnpackEvents
  budget: Budget
}

interface Place {
  name: string
  containers: readonly ContainerKind[]
  /** Archives around it. */
  depth: number
}

function createBudget(input_bytes: number, limits: UnpackLimits, events: UnpackEvents): Budget {
  let unpacked = 0
  let entries = 0
  return {
    add(bytes) {
      unpacked += bytes
      if (unpacked > limits.unpacked_bytes_max) {
        const detail = `More than ${limits.unpacked_bytes_max} bytes come out of the file`
        throw refuse('unpacked_too_large', detail, { fatal: true })
      }
      if (unpacked > limits.ratio_free_bytes && unpacked > input_bytes * limits.ratio_max) {
        const detail = `The file unpacks to more than ${limits.ratio_max} times its size`
        throw refuse('ratio_too_high', detail, { fatal: true })
      }
      events.progress?.(unpacked)
    },
    entry() {
      if (++entries > limits.entries_max) {
        throw refuse('too_many_entries', `More than ${limits.entries_max} files in one`, { fatal: true })
      }
    },
  }
}

const HEAD_BYTES = 512
/** Mails packed inside mails: what a forwarded mail is, is read in place and does not count. */
const MAILS_DEEP_MAX = 3
/** So much white space may stand before the content. */
const HEAD_BYTES_MAX = 64 * 1024

interface Sniffer extends Sink {
  kind(): ContainerKind | LeafKind | null
}

/** Waits for enough bytes to tell the kind, then hands everything to the one who knows it. Refusals stop here. */
function createSniffer(place: Place, shared: Shared): Sniffer {
  let head: Uint8Array = new Uint8Array(0)
  let inner: Sink | null = null
  let kind: ContainerKind | LeafKind | null = null
  let dead = false

  const fail = (error: unknown): void => {
    if (!isRefusal(error)) throw error
    abort(error)
    if (error.fatal) throw error
  }
  const abort = (refusal: Refusal): void => {
    if (dead) return
    dead = true
    if (inner === null) shared.events.refused(place, refusal)
    else inner.abort(refusal)
  }
  const decide = (bytes: Uint8Array): void => {
    const found = sniff(bytes)
    kind = found
    inner = openKind(found, bytes, place, shared)
    head = new Uint8Array(0)
    if (bytes.length > 0) inner.write(bytes)
  }

  return {
    kind: () => kind,
    abort,
    write(chunk) {
      if (dead) return
      try {
        if (inner !== null) return inner.write(chunk)
        const bytes = head.length === 0 ? chunk : join([head, chunk])
        if (bytes.length >= HEAD_BYTES_MAX || (bytes.length >= HEAD_BYTES && !isBlank(bytes))) decide(bytes)
        else head = bytes.slice()
      } catch (error) {
        fail(error)
      }
    },
    end() {
      if (dead) return
      try {
        if (inner === null) decide(head)
        inner!.end()
      } catch (error) {
        fail(error)
      }
    },
  }
}

function openKind(kind: ContainerKind | LeafKind, head: Uint8Array, place: Place, shared: Shared): Sink {
  if (kind === 'gzip' || kind === 'zip') {
    if (place.depth >= shared.limits.nesting_max) {
      throw refuse('nesting_too_deep', `Archives are nested more than ${shared.limits.nesting_max} deep`)
    }
    return kind === 'gzip' ? openGzip(place, shared) : openZip(place, shared)
  }
  const leaf: Leaf = {
    kind,
    name: place.name,
    containers: place.containers,
    nest: (name) => {
      const mails = place.containers.filter((container) => container === 'mail').length
      if (mails >= MAILS_DEEP_MAX)
        throw refuse('nesting_too_deep', `Mails are nested more than ${MAILS_DEEP_MAX} deep`)
      const inside: Place = { name, containers: [...place.containers, 'mail'], depth: place.depth }
      return createSniffer(inside, shared)
    },
  }
  return shared.events.open(leaf, head)
}

function openGzip(place: Place, shared: Shared): Sink {
  const inside: Place = {
    name: place.name,
    containers: [...place.containers, 'gzip'],
    depth: place.depth + 1,
  }
  const child = createSniffer(inside, shared)
  const gunzip = createGunzip({
    output(chunk) {
      shared.budget.add(chunk.length)
      child.write(chunk)
    },
    garbage: () => shared.events.repaired('trailing_garbage'),
  })
  return {
    write: gunzip.write,
    end() {
      gunzip.end()
      child.end()
    },
    abort(refusal) {
      gunzip.close()
      child.abort(refusal)
    },
  }
}

function openZip(place: Place, shared: Shared): Sink {
  const chunks: Uint8Array[] = []
  let size = 0
  let current: Sink | null = null
  /** The entry that ended it all has said so itself. */
  let told = false

  const readEntry = (bytes: Uint8Array, entry: ZipEntry): void => {
    shared.budget.entry()
    const inside: Place = {
      name: entry.name,
      containers: [...place.containers, 'zip'],
      depth: place.depth + 1,
    }
    const child = createSniffer(inside, shared)
    current = child
    try {
      readZipEntry(bytes, entry, (chunk) => {
        shared.budget.add(chunk.length)
        child.write(chunk)
      })
      child.end()
    } catch (error) {
      if (!isRefusal(error)) throw error
      child.abort(error)
      if (!error.fatal) return
      told = true
      throw error
    } finally {
      current = null
    }
  }

  return {
    write(chunk) {
      size += chunk.length
      if (size > shared.limits.input_bytes_max) {
        throw refuse('input_too_large', `A ZIP archive is larger than ${shared.limits.input_bytes_max} bytes`)
      }
      chunks.push(chunk.slice())
    },
    end() {
      const bytes = join(chunks)
      chunks.length = 0
      const listing = listZip(bytes)
      if (listing.rebuilt) shared.events.repaired('zip_directory_rebuilt')
      if (listing.garbage) shared.events.repaired('trailing_garbage')
      const files = listing.entries.filter((entry) => !isDirectoryOrJunk(entry))
      if (files.length === 0) throw refuse('archive_empty', 'The ZIP archive holds no file')
      if (files.length > shared.limits.entries_max) {
        const detail = `The ZIP archive holds ${files.length} files; at most ${shared.limits.entries_max} are read`
        throw refuse('too_many_entries', detail, { fatal: true })
      }
      for (const entry of files) readEntry(bytes, entry)
    },
    abort(refusal) {
      chunks.length = 0
      if (told) return
      if (current === null) shared.events.refused(place, refusal)
      else current.abort(refusal)
    },
  }
}

function isDirectoryOrJunk(entry: ZipEntry): boolean {
  const name = entry.name.replaceAll('\\', '/')
  if (name.endsWith('/') && entry.unpacked === 0) return true
  return /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\._)/i.test(name)
}

const MAIL = /^>?From \S|^[A-Za-z][A-Za-z0-9-]{0,60}[ \t]*:[ \t\r\n]/
/** A first line longer than what is looked at. */
const MAIL_FIELD =
  /^(?:From|To|Subject|Date|Received|Return-Path|Delivered-To|Message-ID|MIME-Version|Content-|X-|ARC-|DKIM-|Authentication-)/i

/** The kind of a document by its first bytes. */
export function sniff(head: Uint8Array): 'gzip' | 'zip' | LeafKind {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip'
  if (head[0] === 0x50 && head[1] === 0x4b) {
    const next = head[2]! * 256 + head[3]!
    if (next === 0x0304 || next === 0x0506 || next === 0x0708) return 'zip'
  }
  const text = headText(head)
  if (text === '') return head.length < HEAD_BYTES_MAX && isBlank(head) ? 'empty' : 'unknown'
  if (text[0] === '<') return 'xml'
  if (text[0] === '{' || text[0] === '[') return 'json'
  if (MAIL.test(text) && (text.includes('\n') || MAIL_FIELD.test(text))) return 'mail'
  return 'unknown'
}

/** The beginning as text, without byte order mark, white space and the zeros of UTF-16. */
function headText(head: Uint8Array): string {
  const start = head.subarray(0, HEAD_BYTES_MAX)
  let text = new TextDecoder('latin1').decode(start)
  if (text.startsWith('\u00ef\u00bb\u00bf')) text = text.slice(3)
  else if (text.startsWith('\u00ff\u00fe') || text.startsWith('\u00fe\u00ff')) text = text.slice(2)
  return text.replaceAll('\0', '').trimStart().slice(0, HEAD_BYTES)
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 9 && byte <= 13) || byte === 0)
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    out.set(chunk, at)
    at += chunk.length
  }
  return out
}
