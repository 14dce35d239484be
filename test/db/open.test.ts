import { expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DataFolderLocked } from '../../src/db/lock.ts'
import { openDb } from '../../src/db/open.ts'
import { fakeClock } from '../../src/lib/clock.ts'
import { openTestDb, tempDir } from '../support/db.ts'

test('a second process is told that the folder is in use', async () => {
  const t = await openTestDb()
  const source = `
    import { openDb } from '${join(import.meta.dir, '../../src/db/open.ts')}'
    import { systemClock } from '${join(import.meta.dir, '../../src/lib/clock.ts')}'
    try { openDb({ data_dir: process.argv[1], clock: systemClock, reserve_bytes: 0 }); console.log('opened') }
    catch (error) { console.log(error.name) }`
  const run = () => Bun.spawnSync([process.execPath, '-e', source, t.data_dir]).stdout.toString().trim()
  expect(run()).toBe('DataFolderLocked')
  await t.db.close()
  expect(run()).toBe('opened')
  rmSync(t.data_dir, { recursive: true })
})

test('the folder cannot be opened twice in one process either', async () => {
  const t = await openTestDb()
  expect(() => openDb({ data_dir: t.data_dir, clock: fakeClock(), reserve_bytes: 0 })).toThrow(
    DataFolderLocked,
  )
  await t.close()
})

test('the identity is made once and stays', async () => {
  const data_dir = tempDir()
  const first = openDb({ data_dir, clock: fakeClock(), reserve_bytes: 0 })
  await first.close()
  const second = openDb({ data_dir, clock: fakeClock(), reserve_bytes: 0 })
  expect(second.instance_id).toBe(first.instance_id)
  expect(second.instance_id).toMatch(/^[0-9a-f]{32}$/)
  await second.close()
  rmSync(data_dir, { recursive: true })
})

test('the file is in WAL mode after the first start', async () => {
  const t = await openTestDb()
  await t.db.close()
  const db = new Database(join(t.data_dir, 'wardpost.db'), { readonly: true })
  expect(db.query('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  expect(db.query('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 2 })
  db.close()
  rmSync(t.data_dir, { recursive: true })
})

test('a folder that cannot be opened is let go of', async () => {
  const data_dir = tempDir()
  mkdirSync(join(data_dir, 'wardpost.db'))
  expect(() => openDb({ data_dir, clock: fakeClock(), reserve_bytes: 0 })).toThrow('unable to open')
  rmSync(join(data_dir, 'wardpost.db'), { recursive: true })
  const db = openDb({ data_dir, clock: fakeClock(), reserve_bytes: 0 })
  await db.close()
  rmSync(data_dir, { recursive: true })
})
