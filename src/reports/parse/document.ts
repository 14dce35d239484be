/** One document of an input, as a sink: XML goes to the aggregate reader while it comes, the rest is small. */
import { createHash } from 'node:crypto'
import { refuse, type Refusal } from '../../lib/refusal.ts'
import type { Leaf, Sink } from '../../lib/unpack.ts'
import { createAggregateReader, type AggregateReader } from './aggregate.ts'
import { createDecoder, type Decoder } from './decode.ts'
import { readHints } from './hints.ts'
import { createMailSink } from './mail.ts'
import { createRepairs, type Repairs } from './repairs.ts'
import { parseTlsReport } from './tls.ts'
import type { Emit, Origin, ParseContext, RejectionCode } from './types.ts'

/** JSON is read as a whole: an honest TLS report is far below this. */
const JSON_BYTES_MAX = 8 * 1024 * 1024
/** Enough to tell a placeholder from a report. */
const UNKNOWN_BYTES_KEPT = 256

export interface DocumentContext extends ParseContext {
  emit: Emit
  nextIndex(): number
  /** Of the containers around: archive repairs belong to every report inside. */
  repairs: Repairs
  /** Subject of the mail around, when there is one. */
  subject: string | null
  rejected(origin: Origin, code: RejectionCode, detail: string): void
}

export function createDocumentSink(leaf: Leaf, head: Uint8Array, context: DocumentContext): Sink {
  const origin: Origin = { name: leaf.name.slice(0, 512), containers: [...leaf.containers] }
  if (leaf.kind === 'mail') return createMailSink(leaf, origin, context)
  if (leaf.kind === 'xml') return createXmlSink(origin, head, context)
  if (leaf.kind === 'json') return createJsonSink(origin, head, context)
  return createUnknownSink(origin, leaf.kind === 'empty', context)
}

/** Refusals of a document are told once, with the index of the report they cut off. */
function createXmlSink(origin: Origin, head: Uint8Array, context: DocumentContext): Sink {
  const hash = createHash('sha256')
  const decoder: Decoder = createDecoder(head)
  let bytes = 0
  const reader: AggregateReader = createAggregateReader({
    origin,
    hints: readHints(origin.name, context.subject),
    now: context.now,
    records_max: context.limits.records_max,
    nextIndex: context.nextIndex,
    emit: context.emit,
  })
  return {
    write(chunk) {
      hash.update(chunk)
      bytes += chunk.length
      const text = decoder.write(chunk)
      if (text !== '') reader.write(text)
    },
    end() {
      const rest = decoder.end()
      if (rest !== '') reader.write(rest)
      const repairs = createRepairs()
      for (const repair of context.repairs.list()) repairs.add(repair.code, repair.detail, repair.count)
      if (decoder.fallbacks > 0) repairs.add('encoding_fallback', '', decoder.fallbacks)
      if (decoder.wrong_label !== null) repairs.add('encoding_fallback', `declared as ${decoder.wrong_label}`)
      reader.end({ content_sha256: hash.digest('hex'), content_bytes: bytes, repairs })
    },
    abort(refusal) {
      if (!reader.abort(refusal)) context.rejected(origin, refusal.code as RejectionCode, refusal.detail)
    },
  }
}

function createJsonSink(origin: Origin, head: Uint8Array, context: DocumentContext): Sink {
  const decoder = createDecoder(head)
  const hash = createHash('sha256')
  const pieces: string[] = []
  let bytes = 0
  return {
    write(chunk) {
      bytes += chunk.length
      if (bytes > JSON_BYTES_MAX) {
        throw refuse('unpacked_too_large', `A JSON report is larger than ${JSON_BYTES_MAX} bytes`)
      }
      hash.update(chunk)
      pieces.push(decoder.write(chunk))
    },
    end() {
      pieces.push(decoder.end())
      const repairs = createRepairs()
      for (const repair of context.repairs.list()) repairs.add(repair.code, repair.detail, repair.count)
      if (decoder.fallbacks > 0) repairs.add('encoding_fallback', '', decoder.fallbacks)
      parseTlsReport(pieces.join(''), {
        origin,
        content_sha256: hash.digest('hex'),
        content_bytes: bytes,
        repairs,
        now: context.now,
        nextIndex: context.nextIndex,
        emit: context.emit,
      })
    },
    abort(refusal) {
      context.rejected(origin, refusal.code as RejectionCode, refusal.detail)
    },
  }
}

/** Says as clearly as possible what the thing is, if it is no report. */
function createUnknownSink(origin: Origin, empty: boolean, context: DocumentContext): Sink {
  let kept = new Uint8Array(0)
  return {
    write(chunk) {
      if (kept.length >= UNKNOWN_BYTES_KEPT) return
      const joined = new Uint8Array(kept.length + chunk.length)
      joined.set(kept)
      joined.set(chunk, kept.length)
      kept = joined.slice(0, UNKNOWN_BYTES_KEPT)
    },
    end() {
      const refusal = empty ? refuse('empty_file', 'The file is empty') : describeUnknown(kept)
      context.rejected(origin, refusal.code as RejectionCode, refusal.detail)
    },
    abort(refusal) {
      context.rejected(origin, refusal.code as RejectionCode, refusal.detail)
    },
  }
}

const MAGIC: readonly [hex: string, code: RejectionCode, name: string][] = [
  ['d0cf11e0a1b11ae1', 'not_a_report', 'an Outlook message or Office file; save the mail as .eml'],
  ['377abcaf271c', 'compression_unsupported', '7z'],
  ['526172211a07', 'compression_unsupported', 'RAR'],
  ['425a68', 'compression_unsupported', 'bzip2'],
  ['fd377a585a00', 'compression_unsupported', 'xz'],
  ['28b52ffd', 'compression_unsupported', 'zstd'],
  ['89504e47', 'not_a_report', 'a PNG picture'],
  ['ffd8ff', 'not_a_report', 'a JPEG picture'],
  ['47494638', 'not_a_report', 'a GIF picture'],
  ['25504446', 'not_a_report', 'a PDF document'],
]

function describeUnknown(bytes: Uint8Array): Refusal {
  const hex = Buffer.from(bytes.subarray(0, 8)).toString('hex')
  const magic = MAGIC.find(([prefix]) => hex.startsWith(prefix))
  if (magic !== undefined) {
    const detail =
      magic[1] === 'not_a_report' ? `The file is ${magic[2]}` : `${magic[2]} archives are not supported`
    return refuse(magic[1], detail)
  }
  const text = new TextDecoder('latin1').decode(bytes).trim().toLowerCase()
  if (text.length <= 64 && /^\W*unused\b/.test(text)) {
    return refuse('unused_body', 'The reporter sent the word "unused" instead of a report')
  }
  return refuse('not_a_report', 'The content is neither XML nor JSON nor a mail')
}
