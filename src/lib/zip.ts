/**
 * Reading ZIP archives (APPNOTE 6.3) that lie in memory: by their central directory, which alone is authoritative,
 * and entry by entry when it is missing or broken (a cut or half-written archive). Entry names are data, never paths.
 */
import { crc32 } from 'node:zlib'
import { createInflater } from './inflate.ts'
import { refuse } from './refusal.ts'

export interface ZipEntry {
  name: string
  method: number
  encrypted: boolean
  crc: number
  compressed: number
  unpacked: number
  /** Offset of the local header in the archive. */
  offset: number
  /** Start of the data. */
  data: number
}

export interface ZipListing {
  entries: ZipEntry[]
  /** The directory was missing or broken and the entries were found by their own headers. */
  rebuilt: boolean
  /** Bytes after the archive that are not white space. */
  garbage: boolean
}

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const END_BYTES = 22
const COMMENT_BYTES_MAX = 65_535
/** Reads no more entries than this of any directory; the caller's limit is far below. */
const ENTRIES_READ_MAX = 4096
const METHOD_NAMES: Record<number, string> = {
  1: 'shrink',
  6: 'implode',
  9: 'deflate64',
  12: 'bzip2',
  14: 'lzma',
  93: 'zstd',
  95: 'xz',
  98: 'ppmd',
  99: 'aes',
}

/** The entries of an archive. Throws `archive_corrupt`, `archive_truncated`, `archive_overlap`. */
export function listZip(bytes: Uint8Array): ZipListing {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const end = findEnd(bytes, view)
  let entries = end === null ? null : readDirectory(bytes, view, end)
  const rebuilt = entries === null
  entries ??= scanEntries(bytes, view)
  if (rebuilt && entries.length === 0)
    throw refuse('archive_truncated', 'The ZIP archive has no readable entry')
  checkOverlap(entries)
  return { entries, rebuilt, garbage: end !== null && hasGarbage(bytes, view, end) }
}

/** Writes the content of one entry in pieces of at most 64 kB, in a buffer that is reused at once. */
export function readZipEntry(bytes: Uint8Array, entry: ZipEntry, output: (chunk: Uint8Array) => void): void {
  if (entry.encrypted) throw refuse('archive_encrypted', 'The ZIP archive is encrypted')
  if (entry.method !== 0 && entry.method !== 8) {
    const name = METHOD_NAMES[entry.method]
    const detail = `compression method ${entry.method}${name === undefined ? '' : ` (${name})`} not supported`
    throw refuse('compression_unsupported', detail)
  }
  if (entry.data + entry.compressed > bytes.length)
    throw refuse('archive_truncated', 'The ZIP archive is cut off')
  const data = bytes.subarray(entry.data, entry.data + entry.compressed)
  let crc = 0
  const onOutput = (chunk: Uint8Array): void => {
    crc = crc32(chunk, crc)
    output(chunk)
  }
  const step = 64 * 1024
  if (entry.method === 0) {
    for (let at = 0; at < data.length; at += step) onOutput(data.subarray(at, at + step))
  } else {
    const inflater = createInflater()
    try {
      for (let at = 0; at < data.length && !inflater.ended; at += step) {
        inflater.push(data.subarray(at, at + step), onOutput)
      }
      inflater.finish(onOutput)
    } finally {
      inflater.close()
    }
  }
  if (crc !== entry.crc)
    throw refuse('archive_corrupt', 'The checksum of a ZIP entry does not match its content')
}

function findEnd(bytes: Uint8Array, view: DataView): number | null {
  const lowest = Math.max(0, bytes.length - END_BYTES - COMMENT_BYTES_MAX - 1024)
  for (let at = bytes.length - END_BYTES; at >= lowest; at--) {
    if (bytes[at] === 0x50 && view.getUint32(at, true) === END) return at
  }
  return null
}

function hasGarbage(bytes: Uint8Array, view: DataView, end: number): boolean {
  const rest = bytes.subarray(end + END_BYTES + view.getUint16(end + 20, true))
  return rest.some((byte) => byte !== 0 && byte !== 0x0a && byte !== 0x0d && byte !== 0x20 && byte !== 0x09)
}

/** Entries by the central directory; null when it does not make sense. */
function readDirectory(bytes: Uint8Array, view: DataView, end: number): ZipEntry[] | null {
  const count = view.getUint16(end + 10, true)
  const size = view.getUint32(end + 12, true)
  // Bytes in front of the archive (a mailer's or a self-extractor's) shift every offset.
  const stated = view.getUint32(end + 16, true)
  let at = stated !== 0xffffffff && isAt(view, stated, CENTRAL) ? stated : end - size
  const shift = stated === 0xffffffff ? 0 : at - stated
  if (count === 0) return size === 0 ? [] : null
  const entries: ZipEntry[] = []
  while (entries.length < ENTRIES_READ_MAX && isAt(view, at, CENTRAL) && at + 46 <= bytes.length) {
    const entry = readCentral(bytes, view, at, shift)
    if (entry === null) return null
    entries.push(entry)
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries.length === 0 ? null : entries
}

function readCentral(bytes: Uint8Array, view: DataView, at: number, shift: number): ZipEntry | null {
  const name_length = view.getUint16(at + 28, true)
  const extra_length = view.getUint16(at + 30, true)
  const sizes = {
    unpacked: view.getUint32(at + 24, true),
    compressed: view.getUint32(at + 20, true),
    offset: view.getUint32(at + 42, true),
  }
  if (at + 46 + name_length + extra_length > bytes.length) return null
  readZip64(view, at + 46 + name_length, extra_length, sizes)
  const offset = sizes.offset + shift
  if (!isAt(view, offset, LOCAL) || offset + 30 > bytes.length) return null
  const data = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
  return {
    name: decodeName(bytes.subarray(at + 46, at + 46 + name_length)),
    method: view.getUint16(at + 10, true),
    encrypted: (view.getUint16(at + 8, true) & 1) !== 0,
    crc: view.getUint32(at + 16, true),
    compressed: sizes.compressed,
    unpacked: sizes.unpacked,
    offset,
    data,
  }
}

/** ZIP64 extra field: only those of the three values that overflowed, in this order. */
function readZip64(
  view: DataView,
  start: number,
  length: number,
  sizes: { unpacked: number; compressed: number; offset: number },
): void {
  let at = start
  while (at + 4 <= start + length) {
    const id = view.getUint16(at, true)
    const bytes = view.getUint16(at + 2, true)
    if (id === 1) {
      let field = at + 4
      for (const key of ['unpacked', 'compressed', 'offset'] as const) {
        if (sizes[key] !== 0xffffffff || field + 8 > Math.min(start + length, at + 4 + bytes)) continue
        sizes[key] = Number(view.getBigUint64(field, true))
        field += 8
      }
      return
    }
    at += 4 + bytes
  }
}

/** Entries by their local headers, for archives whose directory is lost. Those of unknown length end the search. */
function scanEntries(bytes: Uint8Array, view: DataView): ZipEntry[] {
  const entries: ZipEntry[] = []
  let at = 0
  while (entries.length < ENTRIES_READ_MAX && isAt(view, at, LOCAL) && at + 30 <= bytes.length) {
    const data = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true)
    if (data > bytes.length) break
    const streamed = (view.getUint16(at + 6, true) & 8) !== 0
    const entry: ZipEntry = {
      name: decodeName(bytes.subarray(at + 30, at + 30 + view.getUint16(at + 26, true))),
      method: view.getUint16(at + 8, true),
      encrypted: (view.getUint16(at + 6, true) & 1) !== 0,
      crc: view.getUint32(at + 14, true),
      compressed: view.getUint32(at + 18, true),
      unpacked: view.getUint32(at + 22, true),
      offset: at,
      data,
    }
    if (streamed && !measureStreamed(bytes, view, entry)) break
    if (data + entry.compressed > bytes.length) {
      throw refuse('archive_truncated', 'The ZIP archive is cut off')
    }
    entries.push(entry)
    at = data + entry.compressed
    if (streamed) at += isAt(view, at, 0x08074b50) ? 16 : 12
  }
  return entries
}

/** Finds length and checksum of a streamed entry from where its compressed data ends. False: it does not. */
function measureStreamed(bytes: Uint8Array, view: DataView, entry: ZipEntry): boolean {
  if (entry.method !== 8) return false
  const inflater = createInflater()
  try {
    const used = inflater.push(bytes.subarray(entry.data), ignore)
    const end = entry.data + used
    const descriptor = isAt(view, end, 0x08074b50) ? end + 4 : end
    if (!inflater.ended || descriptor + 12 > bytes.length) return false
    entry.compressed = used
    entry.crc = view.getUint32(descriptor, true)
    entry.unpacked = view.getUint32(descriptor + 8, true)
    return true
  } finally {
    inflater.close()
  }
}

/** One stretch of data unpacked under many names is how small archives become endless. */
function checkOverlap(entries: ZipEntry[]): void {
  const sorted = entries.filter((entry) => entry.compressed > 0).toSorted((a, b) => a.offset - b.offset)
  for (let i = 1; i < sorted.length; i++) {
    const before = sorted[i - 1]!
    if (before.data + before.compressed > sorted[i]!.offset) {
      throw refuse('archive_overlap', 'Entries of the ZIP archive overlap', { fatal: true })
    }
  }
}

function isAt(view: DataView, at: number, signature: number): boolean {
  return at >= 0 && at + 4 <= view.byteLength && view.getUint32(at, true) === signature
}

function decodeName(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes.subarray(0, 512))
}

function ignore(): void {
  // Only the length is wanted.
}
