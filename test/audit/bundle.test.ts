/** Evidence handed over: verified by our code and by the script in it, which must come to the same verdicts. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync, zipSync } from 'fflate'
import { type BundleVerdict, NotABundle, verifyBundle } from '../../src/audit/bundle/read.ts'
import type { BadKind } from '../../src/audit/walk.ts'
import { genesisHash, nextHash } from '../../src/lib/audit-chain.ts'
import { sha256Hex } from '../../src/lib/crypto.ts'
import { type Answer, openTestApp, type TestApp } from '../support/app.ts'
import { openIntruder } from '../support/audit.ts'
import { failureOf } from '../support/db.ts'

const PYTHON = Bun.which('python3')
const UNREADABLE = 'is not a bundle that can be read'
let t: TestApp
let key: string
let tenant_id: string
let folder: string

beforeEach(async () => {
  t = await openTestApp()
  const made = await t.tenant('Acme')
  key = made.key
  tenant_id = made.tenant_id
  folder = mkdtempSync(join(tmpdir(), 'wardpost-bundle-'))
  for (let i = 0; i < 8; i++) {
    t.clock.advance(1000)
    await t.call('PATCH', '/v1/settings', { key, body: { name: `Größe "${i}" \u2028\t🚀` } })
  }
})
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true })
  await t.close()
})

async function download(query = ''): Promise<Uint8Array> {
  const request = new Request(`http://localhost/v1/audit/bundle${query}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const response = await t.app.http.handle(request)
  expect(response.status).toBe(200)
  return new Uint8Array(await response.arrayBuffer())
}

type Files = Record<string, Uint8Array>
const textOf = (files: Files, name: string) => Buffer.from(files[name]!).toString('utf8')
const linesOf = (files: Files, name: string) => textOf(files, name).trimEnd().split('\n')
const put = (files: Files, name: string, lines: readonly string[]) => {
  files[name] = Buffer.from(lines.map((line) => `${line}\n`).join(''))
}

/** Makes the manifest name what is in the bundle now. Its signature does not fit any more. */
function renameFiles(files: Files): void {
  const manifest = JSON.parse(textOf(files, 'manifest.json')) as { files: { name: string; sha256: string }[] }
  for (const file of manifest.files) file.sha256 = sha256Hex(files[file.name]!)
  files['manifest.json'] = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
}

/** Hashes that fit to the entries again. */
function rehash(files: Files): void {
  let hash = genesisHash(t.db.instance_id, tenant_id)
  put(
    files,
    'hashes.txt',
    linesOf(files, 'entries.ndjson').map((line) =>
      Buffer.from((hash = nextHash(hash, line))).toString('hex'),
    ),
  )
}

interface Options {
  key?: string
  given?: string[]
}

/** By our code; and, where there is Python, by the script in the bundle, which must say the same. */
async function verdict(bytes: Uint8Array, options: Options = {}): Promise<BundleVerdict> {
  const ours = await verifyBundle(bytes, options)
  if (PYTHON !== null) {
    const theirs = await byScript(bytes, options)
    const { ok, from_seq, to_seq, checked, verdicts, redacted, unanchored, problems } = ours
    const bad =
      ours.first_bad === undefined
        ? {}
        : { first_bad: { seq: ours.first_bad.seq, kind: ours.first_bad.kind } }
    const checkpoint =
      ours.checkpoint === null ? null : { seq: ours.checkpoint.seq, key: ours.checkpoint.key }
    expect(theirs).toEqual({
      ok,
      tenant_id: ours.tenant_id,
      from_seq,
      to_seq,
      checked,
      verdicts,
      redacted,
      checkpoint,
      unanchored,
      problems,
      key: ours.key,
      ...bad,
    })
  }
  return ours
}

async function byScript(bytes: Uint8Array, { key: trusted, given }: Options): Promise<unknown> {
  const path = join(folder, 'bundle.zip')
  const script = join(folder, 'verify.py')
  writeFileSync(path, bytes)
  writeFileSync(script, unzipSync(bytes)['verify.py']!)
  const args = trusted === undefined ? [] : ['--key', trusted]
  if (given !== undefined) {
    writeFileSync(join(folder, 'given.log'), given.join('\n'))
    args.push('--against', join(folder, 'given.log'))
  }
  const child = Bun.spawn([PYTHON!, script, path, '--json', ...args], { stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const code = await child.exited
  if (out === '') throw new Error(`verify.py: ${err}`)
  const result = JSON.parse(out) as { ok: boolean }
  expect(code).toBe(result.ok ? 0 : 1)
  return result
}

describe('a bundle', () => {
  const get = (query: string, as?: string) =>
    t.call('GET', `/v1/audit/bundle${query}`, as === undefined ? {} : { key: as })
  const scenarios: [string, () => Promise<Answer>, number][] = [
    ['for nobody', () => get(''), 401],
    ['without the scope', async () => get('', await t.key(tenant_id, ['settings:read'])), 403],
    ['of times and numbers', () => get('?from=2026-01-01&from_seq=1', key), 422],
    ['of a reversed range', () => get('?from_seq=5&to_seq=2', key), 422],
    ['of nothing', () => get('?from_seq=5000', key), 404],
    ['rightly', () => get('', key), 200],
  ]
  for (const [name, run, status] of scenarios) {
    test(`${name}: ${status}`, async () => expect((await run()).status).toBe(status))
  }

  test('holds nothing of another tenant, and itself as its last entry', async () => {
    const other = await t.tenant('Other')
    await t.app.services.checkpoints.round()
    const files = unzipSync(await download())
    for (const name of Object.keys(files)) expect(textOf(files, name)).not.toContain(other.tenant_id)
    expect(JSON.parse(linesOf(files, 'entries.ndjson').at(-1)!)).toMatchObject({ action: 'audit.bundle' })
    expect(Object.keys(files)).toEqual([
      'README.txt',
      'verify.py',
      'entries.ndjson',
      'hashes.txt',
      'personal.ndjson',
      'checkpoints.ndjson',
      'public-key.json',
      'manifest.json',
      'manifest.sig',
    ])
  })

  test('is whole and vouched for to its end', async () => {
    const result = await verdict(await download())
    expect(result).toMatchObject({
      ok: true,
      from_seq: 1,
      unanchored: 0,
      verdicts: { integrity: 'ok', completeness: 'ok', anchoring: 'full', redaction: 'none' },
    })
  })

  test('of a part verifies by itself', async () => {
    expect(await verdict(await download('?from_seq=4&to_seq=7'))).toMatchObject({
      ok: true,
      from_seq: 4,
      to_seq: 7,
      checked: 4,
    })
  })

  test('says how much was erased', async () => {
    const intruder = openIntruder(t.data_dir)
    intruder.run('DELETE FROM audit_personal WHERE seq = 2')
    intruder.close()
    expect(await verdict(await download())).toMatchObject({
      ok: true,
      redacted: 1,
      verdicts: { redaction: 'redacted' },
    })
  })

  test('is signed by the key that one knows, or not', async () => {
    const bytes = await download()
    const { fingerprint } = (await t.call('GET', '/v1/audit/public-key', { key })).body
    expect((await verdict(bytes, { key: fingerprint })).ok).toBe(true)
    expect((await verdict(bytes, { key: '0'.repeat(64) })).problems).toEqual([
      'the manifest is signed by another key than the one you named',
    ])
  })

  test('that is none is refused', async () => {
    expect(await failureOf(verifyBundle(Buffer.from('no archive')))).toBeInstanceOf(NotABundle)
    expect(await failureOf(verifyBundle(zipSync({ 'a.txt': Buffer.from('a') })))).toBeInstanceOf(NotABundle)
  })
})

test('whatever byte is changed, neither calls it whole, and what both can read they judge alike', async () => {
  await t.app.services.checkpoints.round()
  const bytes = await download()
  for (let round = 0; round < 12; round++) {
    const files = unzipSync(bytes)
    const names = Object.keys(files).filter((name) => name !== 'verify.py')
    const name = names[round % names.length]!
    const changed = Uint8Array.from(files[name]!)
    const at = Math.floor((changed.length * (round * 7 + 3)) / 90) % changed.length
    changed[at] = changed[at]! ^ (1 << (round % 7))
    const zip = zipSync({ ...files, [name]: changed })
    const found = await verdict(zip).catch((error: unknown) => error)
    const unreadable = found instanceof Error && found.message.includes(UNREADABLE)
    if (found instanceof NotABundle) {
      const theirs = PYTHON === null ? null : await byScript(zip, {}).catch((error: unknown) => error)
      expect(theirs).not.toMatchObject({ ok: true })
    } else if (!unreadable) expect([name, at, (found as BundleVerdict).ok]).toEqual([name, at, false])
  }
}, 60_000)

describe('a bundle that was changed', () => {
  const CHANGES: [string, (lines: string[]) => string[], number, BadKind, BadKind][] = [
    [
      'an entry',
      (lines) => lines.with(3, lines[3]!.replace('settings.update', 'settings.upgrade')),
      4,
      'altered',
      'altered',
    ],
    ['an entry taken out', (lines) => lines.toSpliced(3, 1), 4, 'missing', 'altered'],
    ['two exchanged', (lines) => lines.toSpliced(3, 2, lines[4]!, lines[3]!), 4, 'order', 'altered'],
    ['one put in', (lines) => lines.toSpliced(3, 0, lines[3]!), 5, 'order', 'altered'],
    ['its end cut off', (lines) => lines.slice(0, -2), -1, 'truncated', 'truncated'],
  ]
  for (const [name, change, seq, kind, rehashed] of CHANGES) {
    test(`${name}: found at the entry`, async () => {
      const files = unzipSync(await download())
      const lines = linesOf(files, 'entries.ndjson')
      put(files, 'entries.ndjson', change(lines))
      const result = await verdict(zipSync(files))
      expect(result.ok).toBe(false)
      expect(result.problems).toContain('entries.ndjson is not what the manifest names')
      expect(result.first_bad).toMatchObject({ seq: seq === -1 ? lines.length - 1 : seq, kind })
    })

    test(`${name}, and every hash made to fit: found at a checkpoint`, async () => {
      await t.app.services.checkpoints.round()
      const files = unzipSync(await download())
      put(files, 'entries.ndjson', change(linesOf(files, 'entries.ndjson')))
      rehash(files)
      renameFiles(files)
      const result = await verdict(zipSync(files))
      expect(result.problems).toEqual(['the signature of the manifest is not genuine'])
      expect(result.first_bad?.kind).toBe(rehashed)
    })
  }

  test('in its personal values', async () => {
    const files = unzipSync(await download())
    put(
      files,
      'personal.ndjson',
      linesOf(files, 'personal.ndjson').map((line) => line.replace('test', 'eve')),
    )
    expect((await verdict(zipSync(files))).first_bad?.kind).toBe('altered')
  })

  test('in its checkpoints', async () => {
    const files = unzipSync(await download())
    put(
      files,
      'checkpoints.ndjson',
      linesOf(files, 'checkpoints.ndjson').map((line) => line.replace(/"seq":(\d+)/, '"seq":2')),
    )
    expect((await verdict(zipSync(files))).first_bad).toMatchObject({ kind: 'bad_checkpoint' })
  })

  test('before it was made, is found by a line that was kept elsewhere', async () => {
    await t.app.services.checkpoints.round()
    const { line } = (await t.call('GET', '/v1/audit/checkpoints', { key })).body.items[0]
    const intruder = openIntruder(t.data_dir)
    for (const table of ['audit_entries', 'audit_heads', 'audit_personal', 'audit_checkpoints']) {
      intruder.run(`DELETE FROM ${table} WHERE tenant_id = '${tenant_id}'`)
    }
    intruder.close()
    const bytes = await download()
    expect((await verdict(bytes)).ok).toBe(true)
    expect((await verdict(bytes, { given: [line] })).first_bad).toMatchObject({ seq: 2, kind: 'truncated' })
  })
})
