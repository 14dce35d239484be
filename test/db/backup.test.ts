import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS } from '../../migrations/index.ts'
import { type Backups, createBackups, pastKeeping } from '../../src/db/backup.ts'
import type { BackupInfo } from '../../src/db/backup-files.ts'
import { openIntelDb } from '../../src/db/intel.ts'
import { openDb } from '../../src/db/open.ts'
import { restoreBackup, RestoreRefused } from '../../src/db/restore.ts'
import { DAY_MS, fakeClock } from '../../src/lib/clock.ts'
import { failureOf, openTestDb, tempDir, testActor, type TestDb } from '../support/db.ts'

const WORKER = [process.execPath, join(import.meta.dir, '../support/backup-worker.ts')]
const ORIGINAL = 'the original of a report'
const SHA256 = new Bun.SHA256().update(ORIGINAL).digest('hex')

let t: TestDb
let backups: Backups
beforeEach(async () => {
  t = await openTestDb()
  backups = createBackups({ data_dir: t.data_dir, clock: t.clock, worker_command: WORKER })
  mkdirSync(join(t.data_dir, 'blobs/ten_1'), { recursive: true })
  writeFileSync(join(t.data_dir, 'blobs/ten_1', SHA256), ORIGINAL)
  writeFileSync(join(t.data_dir, 'instance.key'), 'k'.repeat(32), { mode: 0o600 })
  await put('before')
})
afterEach(() => t.close())

const put = (key: string) =>
  t.db.commit(testActor('ten_1'), {
    writes: [{ sql: `INSERT INTO meta VALUES (?, 'v')`, params: [key] }],
    audit: { action: 'settings.update' },
  })
/** Writes one after the other until `work` is done. */
async function whileWriting<T>(work: Promise<T>) {
  const state = { running: true, written: 0, slowest_ms: 0 }
  const done = work.finally(() => {
    state.running = false
  })
  while (state.running) {
    const started = performance.now()
    await put(`during${state.written++}`)
    state.slowest_ms = Math.max(state.slowest_ms, performance.now() - started)
  }
  return { ...state, result: await done }
}
const keysIn = (path: string) => {
  const db = new Database(path, { readonly: true })
  const rows = db.query<{ key: string }, []>('SELECT key FROM meta').all()
  db.close()
  return rows.map((row) => row.key)
}
/** A folder to restore into; it does not exist yet. */
const target = () => join(t.data_dir, 'restored')
const restore = (from: string) => restoreBackup({ from, data_dir: target(), clock: fakeClock() })

test('a backup made while writes go on is whole, verified and of one moment', async () => {
  openIntelDb({ data_dir: t.data_dir, clock: t.clock }).close()
  const { result: backup, written } = await whileWriting(backups.create('manual'))

  expect(backup).toMatchObject({
    kind: 'manual',
    verified: true,
    warnings: [],
    name: '2026-01-15T12-00-00Z-manual',
  })
  expect(backups.list()).toEqual([backup])
  expect(readdirSync(backup.path).sort()).toEqual(['blobs', 'intel.db', 'manifest.json', 'wardpost.db'])
  const copied = keysIn(join(backup.path, 'wardpost.db')).filter((key) => key.startsWith('during')).length
  expect(copied).toBeLessThanOrEqual(written)
  const manifest = JSON.parse(readFileSync(join(backup.path, 'manifest.json'), 'utf8')) as {
    audit_heads: { seq: number }[]
  }
  expect(manifest.audit_heads).toMatchObject([{ tenant_id: 'ten_1', seq: copied + 1 }])
})

test('writes are answered while a backup runs', async () => {
  const rows = Array.from({ length: 60_000 }, (_, i) => [`bulk${i}`, 'x'.repeat(500)])
  await t.db.commit(testActor(), {
    writes: [{ sql: 'INSERT INTO meta VALUES (?, ?)', rows }],
    audit: { none: 'boot' },
  })
  const { written, slowest_ms } = await whileWriting(backups.create('manual'))
  expect(written).toBeGreaterThan(10)
  expect(slowest_ms).toBeLessThan(500)
})

test('a restored backup is the data as it was, with its originals, and says that it was restored', async () => {
  const backup = await backups.create('manual', { with_key: true })
  await put('after')
  const restored = await restore(backup.path)
  expect(restored).toMatchObject({ backup: backup.name, blobs: 1, sealed: [], warnings: [] })
  expect(readFileSync(join(target(), 'blobs/ten_1', SHA256), 'utf8')).toBe(ORIGINAL)
  expect(statSync(join(target(), 'instance.key')).mode & 0o777).toBe(0o600)

  const db = openDb({ data_dir: target(), clock: fakeClock(), reserve_bytes: 0 })
  const keys = await db.query<{ key: string }>(`SELECT key FROM meta WHERE key IN ('before', 'after')`)
  expect(keys).toEqual([{ key: 'before' }])
  expect(db.instance_id).toBe(t.db.instance_id)
  const [entry] = await db.query<{ action: string }>(
    `SELECT action FROM audit_entries WHERE tenant_id = '_system'`,
  )
  expect(entry?.action).toBe('instance.restore')
  await db.close()
})

test('the key stays out unless it is asked for, and restore names what cannot be opened without it', async () => {
  await t.db.commit(testActor(), {
    writes: [
      {
        sql: `INSERT INTO users (id, email, name, totp_secret, created_at, updated_at)
              VALUES ('usr_1', 'a@a.test', 'Ada', 'sealed', 0, 0)`,
      },
    ],
    audit: { none: 'boot' },
  })
  const backup = await backups.create('manual')
  expect(existsSync(join(backup.path, 'instance.key'))).toBe(false)
  expect((await restore(backup.path)).sealed).toEqual([{ what: 'second factors of users', count: 1 }])
})

test('a backup elsewhere is not in the list of the folder', async () => {
  const into = tempDir()
  const backup = await backups.create('manual', { into, without_intel: true })
  expect(backup.path).toBe(join(into, backup.name))
  expect(backups.list()).toEqual([])
  rmSync(into, { recursive: true })
})

test('two calls at once make one backup', async () => {
  const [first, second] = await Promise.all([backups.create('manual'), backups.create('manual')])
  expect(first).toEqual(second)
  expect(backups.list()).toHaveLength(1)
})

test('a backup that cannot be made says why and leaves nothing', async () => {
  rmSync(join(t.data_dir, 'instance.key'))
  const error = await failureOf(backups.create('manual', { with_key: true }))
  expect(String(error)).toContain('backup failed: ENOENT')
  expect(readdirSync(join(t.data_dir, 'backups'))).toEqual([])
})

test('what a cut-off backup left is removed at the next start', async () => {
  mkdirSync(join(t.data_dir, 'backups/.partial-x'), { recursive: true })
  await t.db.close()
  const db = openDb({ data_dir: t.data_dir, clock: t.clock, reserve_bytes: 0 })
  expect(readdirSync(join(t.data_dir, 'backups'))).toEqual([])
  await db.close()
})

test('missing originals make a backup that warns, not none', async () => {
  const intruder = new Database(join(t.data_dir, 'wardpost.db'))
  intruder.run('CREATE TABLE mail (tenant_id TEXT, blob_sha256 TEXT) STRICT')
  intruder.run(`INSERT INTO mail VALUES ('ten_1', 'gone'), ('ten_1', '${SHA256}')`)
  intruder.close()
  const backup = await backups.create('manual')
  expect(backup.verified).toBe(false)
  expect(backup.warnings).toEqual(['1 originals that reports refer to are not there'])
})

test('restore refuses what is not whole, and leaves the folder as it was', async () => {
  const backup = await backups.create('manual')
  const refused = async () => {
    const error = await failureOf(restore(backup.path))
    expect(error).toBeInstanceOf(RestoreRefused)
    if (existsSync(target())) expect(readdirSync(target())).toEqual([])
    return String(error)
  }
  const blob = join(backup.path, 'blobs/ten_1', SHA256)
  rmSync(blob)
  expect(await refused()).toContain('lacks some of its originals')
  writeFileSync(blob, 'something else')
  expect(await refused()).toContain('is not what was backed up')
  writeFileSync(blob, ORIGINAL)
  const manifest = readFileSync(join(backup.path, 'manifest.json'))
  rmSync(join(backup.path, 'manifest.json'))
  expect(await refused()).toContain('is not a backup')
  writeFileSync(join(backup.path, 'manifest.json'), manifest)
  appendFileSync(join(backup.path, 'wardpost.db'), 'x')
  expect(await refused()).toContain('is not what was backed up')
})

test('restore refuses a folder with something in it, and data of a newer version', async () => {
  const backup = await backups.create('manual')
  const full = await failureOf(restoreBackup({ from: backup.path, data_dir: t.data_dir, clock: t.clock }))
  expect(String(full)).toContain('is not empty')
  const older = { from: backup.path, data_dir: target(), clock: t.clock, migrations: MIGRATIONS.slice(0, -1) }
  expect(String(await failureOf(restoreBackup(older)))).toContain('newer version of Wardpost')
})

test('a folder in which a restore was cut off is not started', () => {
  const data_dir = tempDir()
  writeFileSync(join(data_dir, 'RESTORING'), '')
  expect(() => openDb({ data_dir, clock: fakeClock(), reserve_bytes: 0 })).toThrow('was cut off')
  rmSync(data_dir, { recursive: true })
})

test('a migration of data that exists is preceded by a backup', async () => {
  await t.db.close()
  const version = MIGRATIONS.length + 1
  const more = { version, name: 'more', sql: 'CREATE TABLE more (a TEXT) STRICT' }
  const db = openDb({
    data_dir: t.data_dir,
    clock: t.clock,
    reserve_bytes: 0,
    migrations: [...MIGRATIONS, more],
  })
  expect(db.schema_version).toBe(version)
  expect(backups.list()).toMatchObject([{ kind: 'migration', verified: true }])
  await db.close()
})

test('seven days, four weeks and three migrations are kept, and everything that was asked for', () => {
  const start = Date.UTC(2026, 0, 1, 2)
  const info = (day: number, kind: BackupInfo['kind']): BackupInfo => {
    const created_at = new Date(start + day * DAY_MS).toISOString()
    const name = `${created_at.slice(0, 10)}-${kind}`
    return { name, path: '', kind, created_at, bytes: 0, sha256: '', verified: true, warnings: [] }
  }
  const days = Array.from({ length: 60 }, (_, i) => 59 - i)
  const all = [
    ...days.map((day) => info(day, 'nightly')),
    ...[5, 4, 3, 2, 1].map((day) => info(day, 'migration')),
    info(0, 'manual'),
  ]
  const gone = new Set(pastKeeping(all))
  // 1 March 2026 is a Sunday: the seven days are the last week, and three more Sundays stand before it.
  expect(all.filter((backup) => !gone.has(backup)).map((backup) => backup.name)).toEqual([
    '2026-03-01-nightly',
    '2026-02-28-nightly',
    '2026-02-27-nightly',
    '2026-02-26-nightly',
    '2026-02-25-nightly',
    '2026-02-24-nightly',
    '2026-02-23-nightly',
    '2026-02-22-nightly',
    '2026-02-15-nightly',
    '2026-02-08-nightly',
    '2026-01-06-migration',
    '2026-01-05-migration',
    '2026-01-04-migration',
    '2026-01-01-manual',
  ])
})

test('rotation removes the folders', async () => {
  for (let day = 0; day < 9; day++) {
    await backups.create('nightly')
    t.clock.advance(DAY_MS)
  }
  const gone = backups.rotate()
  expect(backups.list()).toHaveLength(9 - gone.length)
  expect(gone.length).toBeGreaterThan(0)
  for (const name of gone) expect(existsSync(join(t.data_dir, 'backups', name))).toBe(false)
})
