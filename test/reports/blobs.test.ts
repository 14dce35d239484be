import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fakeClock } from '../../src/lib/clock.ts'
import { sha256Hex } from '../../src/lib/crypto.ts'
import { createBlobs } from '../../src/reports/blobs.ts'
import { tempDir } from '../support/db.ts'

let dir: string
beforeEach(() => void (dir = tempDir()))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const received = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return { sha256: sha256Hex(text), path, owned: true as const }
}

test('an original that is kept again, after its change was tried again, is in its place once', async () => {
  const blobs = createBlobs(dir, fakeClock())
  const input = received(blobs.tempPath(), 'a report')
  await blobs.keep('ten_1', [input])
  await blobs.keep('ten_1', [input])
  expect(readFileSync(blobs.path('ten_1', input.sha256), 'utf8')).toBe('a report')
  expect(existsSync(input.path)).toBe(false)
})

test('an original that vanished before it was ever kept is an error, not silence', async () => {
  const blobs = createBlobs(dir, fakeClock())
  const input = { sha256: sha256Hex('x'), path: join(dir, 'tmp', 'gone'), owned: true as const }
  expect(blobs.keep('ten_1', [input])).rejects.toThrow('ENOENT')
})
