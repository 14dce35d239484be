import { describe, expect, test } from 'bun:test'
import { deflateRawSync } from 'node:zlib'
import { createInflater } from '../../src/lib/inflate.ts'
import { isRefusal } from '../../src/lib/refusal.ts'

const TEXT = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `line ${i * 7919}\n`).join(''))
const PACKED = deflateRawSync(TEXT)

function inflate(
  input: Uint8Array,
  step: number,
): { text: Buffer; used: number; largest: number; code: string | null } {
  const inflater = createInflater()
  const pieces: Buffer[] = []
  let used = 0
  let largest = 0
  const take = (piece: Uint8Array): void => {
    largest = Math.max(largest, piece.length)
    pieces.push(Buffer.from(piece))
  }
  let code: string | null = null
  try {
    for (let at = 0; at < input.length; at += step) used += inflater.push(input.subarray(at, at + step), take)
    inflater.finish(take)
  } catch (error) {
    if (!isRefusal(error)) throw error
    code = error.code
  } finally {
    inflater.close()
  }
  return { text: Buffer.concat(pieces), used, largest, code }
}

describe('inflate in pieces', () => {
  test.each([1, 7, 1000, 1e9])('gives the same for pieces of %d bytes', (step) => {
    const out = inflate(PACKED, step)
    expect(out.text.equals(TEXT)).toBe(true)
    expect(out.code).toBe(null)
    expect(out.largest).toBeLessThanOrEqual(64 * 1024)
  })

  test.each([1, 3, 1e9])('stops at the end of the data and leaves what follows (pieces of %d)', (step) => {
    const out = inflate(Buffer.concat([PACKED, Buffer.from('what follows')]), step)
    expect(out.used).toBe(PACKED.length)
    expect(out.text.equals(TEXT)).toBe(true)
  })

  test('says that the data is cut or damaged', () => {
    expect(inflate(PACKED.subarray(0, PACKED.length - 1), 100).code).toBe('archive_truncated')
    expect(inflate(new Uint8Array(0), 1).code).toBe('archive_truncated')
    const damaged = Buffer.from(PACKED)
    damaged.fill(0xff, 100, 200)
    expect(inflate(damaged, 1e9).code).toBe('archive_corrupt')
  })

  test('holds 64 kB of output however much comes out', () => {
    const bomb = deflateRawSync(Buffer.alloc(64 * 1024 * 1024))
    const inflater = createInflater()
    let total = 0
    inflater.push(bomb, (piece) => {
      total += piece.length
    })
    inflater.close()
    expect(total).toBe(64 * 1024 * 1024)
  })
})
