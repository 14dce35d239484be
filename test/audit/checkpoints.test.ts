import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBackups } from '../../src/db/backup.ts'
import { openDb } from '../../src/db/open.ts'
import { restoreBackup } from '../../src/db/restore.ts'
import { isSignedBy, publicKeyObject, readStatement } from '../../src/lib/audit-statement.ts'
import { HOUR_MS, MINUTE_MS } from '../../src/lib/clock.ts'
import { type Answer, openTestApp, type TestApp } from '../support/app.ts'
import { openTestAudit } from '../support/audit.ts'
import { failureOf, openTestDb, tempDir, testActor } from '../support/db.ts'

describe('over HTTP', () => {
  let t: TestApp
  let key: string
  let tenant_id: string

  beforeEach(async () => {
    t = await openTestApp()
    const made = await t.tenant('Acme')
    key = made.key
    tenant_id = made.tenant_id
  })
  afterEach(() => t.close())

  const get = (path: string, as?: string) =>
    t.call('GET', `/v1/audit${path}`, as === undefined ? {} : { key: as })

  const scenarios: [string, () => Promise<Answer>, number][] = [
    ['checkpoints for nobody', () => get('/checkpoints'), 401],
    [
      'checkpoints without the scope',
      async () => get('/checkpoints', await t.key(tenant_id, ['settings:read'])),
      403,
    ],
    ['checkpoints with a foreign cursor', () => get('/checkpoints?cursor=abc', key), 400],
    ['checkpoints', async () => get('/checkpoints', await t.key(tenant_id, ['audit:read'])), 200],
    ['the public key for nobody', () => get('/public-key'), 401],
    [
      'the public key without the scope',
      async () => get('/public-key', await t.key(tenant_id, ['domains:read'])),
      403,
    ],
    ['the public key', () => get('/public-key', key), 200],
  ]
  for (const [name, run, status] of scenarios) {
    test(`${name}: ${status}`, async () => expect((await run()).status).toBe(status))
  }

  test('every line is signed by the key that is shown, and only those of the own chain are', async () => {
    const other = await t.tenant('Other')
    await t.app.services.checkpoints.round()
    const { body } = await get('/public-key', key)
    const public_key = Buffer.from(body.public_key, 'base64')
    expect(createHash('sha256').update(public_key).digest('hex')).toBe(body.fingerprint)
    const { items } = (await get('/checkpoints', key)).body
    expect(items).toHaveLength(1)
    const read = readStatement(items[0].line)!
    expect(isSignedBy(read, publicKeyObject(public_key))).toBe(true)
    expect(read.statement).toMatchObject({ tenant_id, seq: items[0].seq, hash: items[0].hash })
    expect((await get('/checkpoints', other.key)).text).not.toContain(tenant_id)
  })

  test('pages hold each checkpoint once, newest first', async () => {
    for (let i = 0; i < 5; i++) {
      await t.call('PATCH', '/v1/settings', { key, body: { name: `Acme ${i}` } })
      await t.app.services.checkpoints.round()
    }
    const first = (await get('/checkpoints?limit=3', key)).body
    const second = (await get(`/checkpoints?limit=3&cursor=${first.next_cursor}`, key)).body
    expect([...first.items, ...second.items].map((each) => each.n)).toEqual([5, 4, 3, 2, 1])
  })

  test('verification says how far the log is vouched for', async () => {
    await t.app.services.checkpoints.round()
    const { body } = await get('/verify', key)
    expect(body.verdicts).toEqual({
      integrity: 'ok',
      completeness: 'ok',
      anchoring: 'full',
      redaction: 'none',
    })
    const again = (await get('/verify', key)).body
    expect(again).toMatchObject({ ok: true, unanchored: 1, verdicts: { anchoring: 'partial' } })
  })
})

describe('a range', () => {
  test('that ends between two checkpoints is vouched for by the next; one after the last is not', async () => {
    const t = await openTestDb()
    const a = openTestAudit(t)
    await a.checkpoints.start()
    const act = () => t.db.commit(testActor('ten_1'), { writes: [], audit: { action: 'domains.create' } })
    for (let i = 1; i <= 12; i++) {
      await act()
      if (i % 5 === 0) await a.checkpoints.round()
    }
    const of = async (from_seq: number, to_seq: number) => {
      const { verdicts, checkpoint, unanchored, checked } = await a.audit.verify(testActor('ten_1'), {
        from_seq,
        to_seq,
      })
      return [verdicts.anchoring, checkpoint?.seq, unanchored, checked]
    }
    expect(await of(2, 3)).toEqual(['full', 5, 0, 2])
    expect(await of(1, 5)).toEqual(['full', 5, 0, 5])
    expect(await of(4, 7)).toEqual(['full', 10, 0, 4])
    expect(await of(8, 12)).toEqual(['partial', 10, 2, 5])
    expect(await of(11, 12)).toEqual(['none', undefined, 2, 2])
    await t.close()
  })
})

describe('rounds', () => {
  test('sign what has news, each hour everything, and take it to the file', async () => {
    const t = await openTestDb()
    const a = openTestAudit(t)
    await a.checkpoints.start()
    const act = (chain: string) =>
      t.db.commit(testActor(chain), { writes: [], audit: { action: 'domains.create' } })
    const counts = async () =>
      (
        await t.db.query<{ n: number }>(
          'SELECT count(*) AS n FROM audit_checkpoints GROUP BY tenant_id ORDER BY tenant_id',
        )
      ).map((row) => row.n)
    await act('ten_1')
    await act('ten_2')
    await a.checkpoints.round()
    expect(await counts()).toEqual([1, 1, 1])
    t.clock.advance(MINUTE_MS)
    await act('ten_1')
    await a.checkpoints.round()
    expect(await counts()).toEqual([2, 2, 1])
    t.clock.advance(MINUTE_MS)
    expect(await a.checkpoints.round()).toBeUndefined()
    expect(await counts()).toEqual([2, 2, 1])
    t.clock.advance(HOUR_MS)
    await a.checkpoints.round()
    expect(await counts()).toEqual([3, 3, 2])
    const lines = readFileSync(a.file.path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => readStatement(line)!.statement)
    expect(lines.map((line) => line.kind)).toEqual([
      'key',
      ...Array.from({ length: 8 }, () => 'checkpoint' as const),
    ])
    expect(statSync(join(t.data_dir, 'audit-signing.key')).mode & 0o777).toBe(0o600)
    await t.close()
  })

  test('go on while the file cannot be written, and catch up when it can', async () => {
    const t = await openTestDb()
    // A folder stands where the file should be.
    const path = mkdtempSync(join(tmpdir(), 'wardpost-no-file-'))
    const a = openTestAudit(t, path)
    await a.checkpoints.start()
    await t.db.commit(testActor('ten_1'), { writes: [], audit: { action: 'domains.create' } })
    expect(await failureOf(a.checkpoints.round())).toBeInstanceOf(Error)
    await a.checkpoints.round().catch(() => {})
    expect((await a.checkpoints.list('ten_1', { before: null, limit: 10 }))[0]).toMatchObject({
      seq: 1,
      outside: false,
    })
    rmSync(path, { recursive: true })
    await a.checkpoints.round()
    expect((await a.checkpoints.list('ten_1', { before: null, limit: 10 }))[0]).toMatchObject({
      outside: true,
    })
    expect(existsSync(path)).toBe(true)
    rmSync(path)
    await t.close()
  })
})

test('a restored backup begins a life of its own: what was lost is named, what is left is whole', async () => {
  const t = await openTestDb()
  const outside = join(mkdtempSync(join(tmpdir(), 'wardpost-outside-')), 'checkpoints.log')
  const act = async (db: typeof t.db, count: number) => {
    for (let i = 0; i < count; i++) {
      t.clock.advance(1000)
      await db.commit(testActor('ten_1'), { writes: [], audit: { action: 'domains.create' } })
    }
  }
  const a = openTestAudit(t, outside)
  await a.checkpoints.start()
  await act(t.db, 5)
  await a.checkpoints.round()
  const worker = [process.execPath, join(import.meta.dir, '../support/backup-worker.ts')]
  const backup = await createBackups({ data_dir: t.data_dir, clock: t.clock, worker_command: worker }).create(
    'manual',
  )
  await act(t.db, 4)
  await a.checkpoints.round()

  const data_dir = join(tempDir(), 'restored')
  await restoreBackup({ from: backup.path, data_dir, clock: t.clock })
  const db = openDb({ data_dir, clock: t.clock, reserve_bytes: 0 })
  const b = openTestAudit({ db, clock: t.clock, data_dir }, outside)
  await b.checkpoints.start()
  await act(db, 10)
  await b.checkpoints.round()
  const result = await b.audit.verify(testActor('ten_1'), null)
  expect(result).toMatchObject({
    ok: true,
    checked: 15,
    verdicts: { integrity: 'ok', completeness: 'restored', anchoring: 'full' },
    restored: [
      { name: 'restored', incarnation: 2, backup: backup.name, seq: 5, lost: { from_seq: 6, to_seq: 9 } },
    ],
  })
  // The key was left out of the backup: the new one vouches for the former.
  expect(b.signer.fingerprint).not.toBe(a.signer.fingerprint)
  expect((await b.audit.verify(testActor(), null)).ok).toBe(true)
  // And once more it begins nothing.
  await b.checkpoints.start()
  expect(await b.store.incarnations('ten_1')).toHaveLength(1)
  await db.close()
  await t.close()
  rmSync(data_dir, { recursive: true, force: true })
})

test('a backup with its keys is restored with the key that signed before', async () => {
  const t = await openTestDb()
  const a = openTestAudit(t)
  await a.checkpoints.start()
  writeFileSync(join(t.data_dir, 'instance.key'), new Uint8Array(32))
  await t.db.commit(testActor('ten_1'), { writes: [], audit: { action: 'domains.create' } })
  await a.checkpoints.round()
  const worker = [process.execPath, join(import.meta.dir, '../support/backup-worker.ts')]
  const backups = createBackups({ data_dir: t.data_dir, clock: t.clock, worker_command: worker })
  const backup = await backups.create('manual', { with_key: true })
  const data_dir = join(tempDir(), 'restored')
  await restoreBackup({ from: backup.path, data_dir, clock: t.clock })
  const db = openDb({ data_dir, clock: t.clock, reserve_bytes: 0 })
  const b = openTestAudit({ db, clock: t.clock, data_dir })
  await b.checkpoints.start()
  await b.checkpoints.round()
  expect(b.signer.fingerprint).toBe(a.signer.fingerprint)
  const result = await b.audit.verify(testActor('ten_1'), null)
  expect(result).toMatchObject({ ok: true, verdicts: { anchoring: 'full', completeness: 'ok' } })
  expect(result.restored).toMatchObject([{ name: 'restored', lost: null }])
  await db.close()
  await t.close()
  rmSync(data_dir, { recursive: true, force: true })
})
