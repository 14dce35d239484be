import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../src/cli/run.ts'
import { openTestApp, type TestApp } from '../support/app.ts'
import { tempDir } from '../support/db.ts'

let t: TestApp
let folder: string
let bundle: string
let line: string

beforeAll(async () => {
  t = await openTestApp()
  folder = tempDir()
  bundle = join(folder, 'bundle.zip')
  const { key } = await t.tenant('Acme')
  const headers = { authorization: `Bearer ${key}` }
  const response = await t.app.http.handle(new Request('http://localhost/v1/audit/bundle', { headers }))
  writeFileSync(bundle, new Uint8Array(await response.arrayBuffer()))
  await t.call('PATCH', '/v1/settings', { key, body: { name: 'Other' } })
  await t.app.services.checkpoints.round()
  line = (await t.call('GET', '/v1/audit/checkpoints', { key })).body.items[0].line
})
afterAll(async () => {
  await t.close()
  rmSync(folder, { recursive: true, force: true })
})

async function wardpost(...args: string[]) {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  return { code: await run(['audit', 'verify', ...args], {}, io), out: out.join('\n'), err: err.join('\n') }
}

test('a bundle is verified without a data folder', async () => {
  const { code, out } = await wardpost(bundle, '--json')
  const verdict = JSON.parse(out) as { key: string }
  expect([code, verdict]).toMatchObject([0, { ok: true, verdicts: { anchoring: 'full' }, problems: [] }])
  const known = await wardpost(bundle, '--key', verdict.key)
  expect([known.code, known.out]).toEqual([0, expect.stringContaining('The log is whole.')])
})

test('by another key than the known one it is not whole', async () => {
  const { code, out } = await wardpost(bundle, '--key', 'f'.repeat(64))
  expect([code, out]).toEqual([1, expect.stringContaining('THE LOG IS NOT WHOLE.')])
})

test('against a newer signed line it is too short', async () => {
  const kept = join(folder, 'kept.log')
  writeFileSync(kept, `${line}\n`)
  const { code, out } = await wardpost(bundle, '--against', kept)
  expect([code, out]).toEqual([1, expect.stringContaining('is truncated')])
})

test('what is no bundle, or not there, is said so', async () => {
  const file = join(folder, 'no.zip')
  writeFileSync(file, 'no archive')
  expect((await wardpost(file)).err).toContain('no ZIP archive')
  expect((await wardpost(join(folder, 'none.zip'))).err).toContain('cannot be read')
  expect((await wardpost(bundle, '--against', join(folder, 'none'))).code).toBe(2)
})
