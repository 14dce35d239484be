/**
 * Raw DEFLATE (RFC 1951), synchronous, in pieces, native. node:zlib has no documented call for this: its streams
 * answer asynchronously and its sync functions want the whole content in memory. The handle below them does it,
 * forty times faster than JavaScript; `test/lib/inflate.test.ts` holds it to its promises.
 */
import { constants, createInflateRaw } from 'node:zlib'
import { assert } from './assert.ts'
import { refuse } from './refusal.ts'

const OUTPUT_BYTES = 64 * 1024

interface ZlibHandle {
  writeSync(
    flush: number,
    input: Uint8Array,
    input_offset: number,
    input_length: number,
    output: Uint8Array,
    output_offset: number,
    output_length: number,
  ): void
  close(): void
  onerror: (message: string, errno: number, code: string) => void
}

export interface Inflater {
  /** True once the last block was read. */
  readonly ended: boolean
  /**
   * Feeds compressed bytes; `onOutput` gets pieces of at most 64 kB in a buffer that is reused at once.
   * Answers how many bytes were taken: fewer than given when the data ended before. Throws `archive_corrupt`.
   */
  push(input: Uint8Array, onOutput: (output: Uint8Array) => void): number
  /** Says that no more input comes. Throws `archive_truncated` when the data has not ended. */
  finish(onOutput: (output: Uint8Array) => void): void
  close(): void
}

export function createInflater(): Inflater {
  const stream = createInflateRaw() as unknown as { _handle: ZlibHandle; _writeState: Uint32Array }
  const handle = stream._handle
  const state = stream._writeState
  assert(typeof handle?.writeSync === 'function' && state?.length === 2, 'zlib handle')
  const output = new Uint8Array(OUTPUT_BYTES)
  const none = new Uint8Array(0)
  let ended = false
  let failure: string | null = null
  handle.onerror = (_message, _errno, code) => {
    failure = code
  }

  const step = (flush: number, input: Uint8Array, onOutput: (output: Uint8Array) => void): number => {
    let offset = 0
    for (;;) {
      const length = input.length - offset
      handle.writeSync(flush, input, offset, length, output, 0, OUTPUT_BYTES)
      const code = failure
      if (code !== null) throw corrupt(code)
      const room = state[0]!
      offset += length - state[1]!
      if (room < OUTPUT_BYTES) onOutput(output.subarray(0, OUTPUT_BYTES - room))
      // Room left and input left means that the stream is over; room left and no input means: more, please.
      if (room > 0) {
        if (offset < input.length) ended = true
        return offset
      }
    }
  }

  return {
    get ended() {
      return ended
    },
    push(input, onOutput) {
      if (ended || input.length === 0) return 0
      return step(constants.Z_SYNC_FLUSH, input, onOutput)
    },
    finish(onOutput) {
      if (ended) return
      step(constants.Z_FINISH, none, onOutput)
      ended = true
    },
    close() {
      handle.close()
    },
  }
}

function corrupt(code: string): Error {
  if (code === 'Z_BUF_ERROR') return refuse('archive_truncated', 'The compressed data ends too early')
  return refuse('archive_corrupt', 'The compressed data is damaged')
}
