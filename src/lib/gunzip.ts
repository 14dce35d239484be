/**
 * GZIP (RFC 1952) as it comes in mail: several members, white space or zeros after the end, any chunking.
 * The checksum and length of each member are checked.
 */
import { crc32 } from 'node:zlib'
import { createInflater, type Inflater } from './inflate.ts'
import { refuse } from './refusal.ts'

/** A header may carry a name, a comment and extra data: more than this is not an honest one. */
const HEADER_BYTES_MAX = 64 * 1024
const TRAILER_BYTES = 8

export interface Gunzip {
  write(chunk: Uint8Array): void
  /** Throws `archive_truncated` when the last member is not complete. */
  end(): void
  close(): void
}

interface Events {
  /** A piece of content, in a buffer that is reused at once. */
  output(chunk: Uint8Array): void
  /** Bytes follow the last member that are neither white space nor zeros nor another member. */
  garbage(): void
}

export function createGunzip(events: Events): Gunzip {
  let held: Uint8Array = new Uint8Array(0)
  let inflater: Inflater | null = null
  let state: 'header' | 'body' | 'trailer' | 'after' | 'garbage' = 'header'
  let crc = 0
  let size = 0

  const onOutput = (chunk: Uint8Array): void => {
    crc = crc32(chunk, crc)
    size = (size + chunk.length) >>> 0
    events.output(chunk)
  }

  /** Takes what it can from the bytes at hand; answers what is left, or null when more is needed. */
  const step = (bytes: Uint8Array): Uint8Array | null => {
    if (state === 'header') {
      const length = headerLength(bytes)
      if (length === null) return null
      inflater = createInflater()
      crc = 0
      size = 0
      state = 'body'
      return bytes.subarray(length)
    }
    if (state === 'body') {
      const used = inflater!.push(bytes, onOutput)
      if (!inflater!.ended) return bytes.subarray(used).length === 0 ? null : bytes.subarray(used)
      inflater!.close()
      inflater = null
      state = 'trailer'
      return bytes.subarray(used)
    }
    if (state === 'trailer') {
      if (bytes.length < TRAILER_BYTES) return null
      checkTrailer(bytes, crc, size)
      state = 'after'
      return bytes.subarray(TRAILER_BYTES)
    }
    return stepAfter(bytes)
  }

  const stepAfter = (bytes: Uint8Array): Uint8Array | null => {
    let at = 0
    while (at < bytes.length && isPadding(bytes[at]!)) at++
    if (at === bytes.length) return new Uint8Array(0)
    if (bytes[at] === 0x1f) {
      if (bytes.length - at < 3) return null
      if (bytes[at + 1] === 0x8b && bytes[at + 2] === 8) {
        state = 'header'
        return bytes.subarray(at)
      }
    }
    state = 'garbage'
    events.garbage()
    return new Uint8Array(0)
  }

  return {
    write(chunk) {
      if (state === 'garbage') return
      let bytes: Uint8Array = held.length === 0 ? chunk : concat(held, chunk)
      held = new Uint8Array(0)
      while (bytes.length > 0) {
        const rest = step(bytes)
        if (rest === null) {
          // In the body everything is taken at once; elsewhere the few bytes wait for the next chunk.
          if (state !== 'body') held = bytes.slice()
          return
        }
        bytes = rest
      }
    },
    end() {
      if (state === 'body') {
        inflater!.finish(onOutput)
        throw refuse('archive_truncated', 'The gzip data ends before its checksum')
      }
      if (state === 'header' || state === 'trailer') {
        throw refuse('archive_truncated', 'The gzip data ends too early')
      }
    },
    close() {
      inflater?.close()
      inflater = null
    },
  }
}

/** Length of the member header, or null when it is not complete yet. */
function headerLength(bytes: Uint8Array): number | null {
  if (bytes.length < 10) return null
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) throw refuse('archive_corrupt', 'The gzip header is damaged')
  if (bytes[2] !== 8)
    throw refuse('compression_unsupported', `gzip compression method ${bytes[2]} not supported`)
  const flags = bytes[3]!
  let at = 10
  if ((flags & 4) !== 0) {
    if (bytes.length < at + 2) return null
    at += 2 + bytes[at]! + (bytes[at + 1]! << 8)
  }
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue
    const zero = bytes.indexOf(0, at)
    if (zero < 0) {
      if (bytes.length > HEADER_BYTES_MAX) throw refuse('archive_corrupt', 'The gzip header is too long')
      return null
    }
    at = zero + 1
  }
  if ((flags & 2) !== 0) at += 2
  return at <= bytes.length ? at : null
}

function checkTrailer(bytes: Uint8Array, crc: number, size: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, TRAILER_BYTES)
  if (view.getUint32(0, true) !== crc || view.getUint32(4, true) !== size) {
    throw refuse('archive_corrupt', 'The checksum of the gzip data does not match its content')
  }
}

function isPadding(byte: number): boolean {
  return byte === 0 || byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09 || byte === 0x1a
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const out = new Uint8Array(a.length + b.length)
  out.set(a)
  out.set(b, a.length)
  return out
}
