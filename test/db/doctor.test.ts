import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeBackup } from '../../src/db/backup-write.ts'
import { runDoctor } from '../../src/db/doctor.ts'
import { DAY_MS } from '../../src/lib/clock.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'

let t: TestDb
beforeEach(async () => {
  t = await openTestDb()
  await t.db.commit(testActor(), { writes: [], audit: { action: 'instance.start' } })
})
afterEach(() => t.close())

const doctor = (over: Partial<Parameters<typeof runDoctor>[0]> = {}) =>
  runDoctor({ data_dir: t.data_dir, now_ms: t.clock.now(), settings: t.db.settings(), ...over })
const found = (name: string, over: Partial<Parameters<typeof runDoctor>[0]> = {}) =>
  doctor(over).find((check) => check.name === name)

test('a sound installation passes every check, and synchronous is FULL', () => {
  writeBackup({ data_dir: t.data_dir, kind: 'nightly', now_ms: t.clock.now() })
  const checks = doctor().filter((check) => check.name !== 'disk')
  expect(checks.filter((check) => check.status !== 'ok')).toEqual([])
  expect(found('synchronous')?.detail).toStartWith('FULL')
  expect(found('journal_mode')?.detail).toStartWith('wal')
})

test('without a server it looks at the settings itself; beside one it needs to be told', async () => {
  const { settings: _, ...alone } = { data_dir: t.data_dir, now_ms: t.clock.now(), settings: null }
  expect(runDoctor(alone).find((check) => check.name === 'synchronous')?.status).toBe('warning')
  await t.db.close()
  expect(runDoctor(alone).find((check) => check.name === 'synchronous')).toMatchObject({ status: 'ok' })
})

test('what is wrong is named', () => {
  const intruder = new Database(join(t.data_dir, 'wardpost.db'))
  intruder.run('DELETE FROM audit_entries')
  intruder.run('PRAGMA foreign_keys = OFF')
  intruder.run(`INSERT INTO memberships VALUES ('ten_x', 'usr_x', 'owner', 0)`)
  intruder.run('CREATE TABLE mail (tenant_id TEXT, blob_sha256 TEXT) STRICT')
  intruder.run(`INSERT INTO mail VALUES ('ten_1', 'gone')`)
  intruder.run(`UPDATE migrations SET sha256 = 'edited' WHERE version = 1`)
  intruder.close()
  expect(found('audit_heads')).toMatchObject({ status: 'failed', detail: 'the chains of _system do not' })
  expect(found('foreign_keys')).toMatchObject({ status: 'failed' })
  expect(found('originals')).toMatchObject({ status: 'failed', detail: '1 of 1 are not there' })
  expect(found('migrations')).toMatchObject({ status: 'failed' })
})

test('leftovers, open files and old backups are warnings', () => {
  expect(found('backups')).toMatchObject({ status: 'warning', detail: 'there is none yet' })
  writeBackup({ data_dir: t.data_dir, kind: 'nightly', now_ms: t.clock.now() })
  expect(found('backups', { now_ms: t.clock.now() + 3 * DAY_MS })).toMatchObject({ status: 'warning' })

  mkdirSync(join(t.data_dir, 'tmp'))
  writeFileSync(join(t.data_dir, 'tmp/x'), '')
  mkdirSync(join(t.data_dir, 'backups/.partial-x'))
  expect(found('leftovers')?.detail).toStartWith('1 unfinished backups, 1 temporary files')

  writeFileSync(join(t.data_dir, 'instance.key'), '')
  chmodSync(join(t.data_dir, 'instance.key'), 0o644)
  expect(found('permissions')).toMatchObject({ status: 'warning' })
})

test('a wrong setting fails', () => {
  const settings = { ...t.db.settings(), synchronous: 'NORMAL' }
  expect(found('synchronous', { settings })).toMatchObject({ status: 'failed' })
})
