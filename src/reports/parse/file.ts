/** A whole input file: opens what it is packed in and reads every report in it. Never throws for what is in it. */
import { isRefusal, refuse } from '../../lib/refusal.ts'
import { createUnpacker } from '../../lib/unpack.ts'
import { createDocumentSink, type DocumentContext } from './document.ts'
import { createRepairs } from './repairs.ts'
import type { Emit, InputKind, Message, Origin, ParseContext, RejectionCode } from './types.ts'

const CHUNK_BYTES = 64 * 1024
const OTHERS_MAX = 2

export interface InputFile {
  name: string
  /** Length in bytes. */
  size: number
  /** Reads the next piece into the buffer; 0 at the end. */
  read(buffer: Uint8Array): number
}

/** Reads one input and emits its messages, the last of them `done`. `onProgress` gets the bytes read and
 * unpacked so far. */
export function parseReportFile(
  file: InputFile,
  context: ParseContext,
  sink: Emit,
  onProgress?: (unpacked_bytes: number) => void,
): void {
  let reports = 0
  let rejected = 0
  let index = 0
  let total = 0
  let unpacked = 0
  /** Entries that are no reports: worth a word only when nothing beside them is one. */
  const others: Extract<Message, { type: 'rejected' }>[] = []
  const emit: Emit = (message, rows_json) => {
    if (message.type === 'rejected' && isOther(message)) {
      if (others.length < OTHERS_MAX) others.push(message)
      return
    }
    if (message.type === 'end') reports++
    else if (message.type === 'rejected') rejected++
    sink(message, rows_json)
  }
  const refused = (origin: Origin | null, code: RejectionCode, detail: string): void =>
    emit({ type: 'rejected', index: null, origin, code, detail })
  const documents: DocumentContext = {
    ...context,
    emit,
    nextIndex: () => index++,
    repairs: createRepairs(),
    subject: null,
    rejected: refused,
  }
  const unpacker = createUnpacker(file.name, file.size, context.limits, {
    open: (leaf, head) => createDocumentSink(leaf, head, documents),
    refused: (where, refusal) => {
      const origin: Origin = { name: where.name.slice(0, 512), containers: [...where.containers] }
      refused(origin, refusal.code as RejectionCode, refusal.detail)
    },
    repaired: (code) => documents.repairs.add(code),
    progress: (bytes) => {
      unpacked = bytes
      onProgress?.(total + unpacked)
    },
  })
  try {
    if (file.size > context.limits.input_bytes_max) {
      throw refuse('input_too_large', `The file is larger than ${context.limits.input_bytes_max} bytes`, {
        fatal: true,
      })
    }
    const buffer = new Uint8Array(Math.min(CHUNK_BYTES, file.size + 1))
    for (let length = file.read(buffer); length > 0; length = file.read(buffer)) {
      total += length
      if (total > context.limits.input_bytes_max) {
        throw refuse('input_too_large', 'The file grew while it was read', { fatal: true })
      }
      onProgress?.(total + unpacked)
      unpacker.write(buffer.subarray(0, length))
    }
    unpacker.end()
  } catch (error) {
    if (!isRefusal(error)) throw error
    // Fatal refusals were told where they happened; this tells those that came before anything was open.
    unpacker.abort(error)
  }
  if (reports === 0 && rejected === 0) {
    const only = others.length === 1 ? others[0]! : null
    rejected++
    sink(
      only ?? {
        type: 'rejected',
        index: null,
        origin: null,
        code: 'not_a_report',
        detail: 'Nothing in the file is a report',
      },
    )
  }
  emit({
    type: 'done',
    reports,
    rejected,
    unpacked_bytes: Math.max(total, unpacked),
    input_kind: inputKind(unpacker.input_kind),
  })
}

/** Text beside a report in an archive, a picture in a mail. */
function isOther(message: Extract<Message, { type: 'rejected' }>): boolean {
  if (message.index !== null || message.origin === null || message.origin.containers.length === 0)
    return false
  return message.code === 'not_a_report' || message.code === 'empty_file'
}

function inputKind(kind: string): InputKind {
  return kind === 'empty' ? 'unknown' : (kind as InputKind)
}

/** An input that is in memory already. */
export function inputOfBytes(name: string, bytes: Uint8Array): InputFile {
  let at = 0
  return {
    name,
    size: bytes.length,
    read(buffer) {
      const length = Math.min(buffer.length, bytes.length - at)
      buffer.set(bytes.subarray(at, at + length))
      at += length
      return length
    },
  }
}
