/** A full disk, as SQLite sees it: `max_page_count` makes it refuse to grow. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Database } from 'bun:sqlite'
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS } from '../../migrations/index.ts'
import { openWriter } from '../../src/db/connection.ts'
import { createEmbeddedDb } from '../../src/db/drivers/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createReader } from '../../src/db/read.ts'
import { createReserve } from '../../src/db/reserve.ts'
import type { Change, Db } from '../../src/db/types.ts'
import { fakeClock } from '../../src/lib/clock.ts'
import { Problem } from '../../src/lib/errors.ts'
import { failureOf, tempDir, testActor } from '../support/db.ts'

let dir: string
let writer: Database
let db: Db
let path: string
beforeEach(() => {
  dir = tempDir()
  path = join(dir, 'wardpost.db')
  writer = openWriter(path)
  migrate(writer, { migrations: MIGRATIONS, now_ms: 0 })
  db = createEmbeddedDb({
    writer,
    reader: createReader(path),
    clock: fakeClock(),
    instance_id: 'i',
    reserve: null,
  })
})
afterEach(async () => {
  await db.close()
  rmSync(dir, { recursive: true })
})

const pages = () => writer.query<{ n: number }, []>('SELECT page_count AS n FROM pragma_page_count').get()!.n
const leave = (free: number) => writer.run(`PRAGMA max_page_count = ${pages() + free}`)
const put = (key: string, bytes: number): Change => ({
  writes: [{ sql: 'INSERT INTO meta (key, value) VALUES (?, ?)', params: [key, 'x'.repeat(bytes)] }],
  audit: { action: 'settings.update' },
})

async function state() {
  const [rows] = await db.query<{ keys: string | null }>(
    'SELECT group_concat(key) AS keys FROM (SELECT key FROM meta ORDER BY key)',
  )
  const [audit] = await db.query<{ n: number }>('SELECT count(*) AS n FROM audit_entries')
  const [check] = await db.query<{ integrity_check: string }>('PRAGMA integrity_check')
  return { keys: rows!.keys, audited: audit!.n, integrity: check!.integrity_check }
}

test('a change for which there is no room is refused whole, and goes through when there is room again', async () => {
  leave(2)
  const error = await failureOf(db.commit(testActor(), put('big', 100_000)))
  expect(error).toBeInstanceOf(Problem)
  expect((error as Problem).code).toBe('storage_full')
  expect(await state()).toEqual({ keys: null, audited: 0, integrity: 'ok' })

  leave(1000)
  await db.commit(testActor(), put('big', 100_000))
  expect(await state()).toEqual({ keys: 'big', audited: 1, integrity: 'ok' })
})

test('in a group only the changes without room fail', async () => {
  leave(4)
  const settled = await Promise.allSettled(
    [put('a', 10), put('b', 100_000), put('c', 10)].map((change) => db.commit(testActor(), change)),
  )
  expect(settled.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await state()).toEqual({ keys: 'a,c', audited: 2, integrity: 'ok' })
})

test('wherever in a change the room runs out, nothing of it is left', async () => {
  for (let free = 0; free < 8; free++) {
    const before = await state()
    leave(free)
    const many: Change = {
      ...put(`key${free}`, 5000),
      events: [{ id: `evt_${free}`, type: 'RBL_LISTED', created_at: 0, data: 'y'.repeat(5000) }],
    }
    const done = await db.commit(testActor(), many).then(
      () => true,
      () => false,
    )
    const after = await state()
    expect(after.integrity).toBe('ok')
    expect(after.audited).toBe(before.audited + (done ? 1 : 0))
    const [events] = await db.query<{ n: number }>('SELECT count(*) AS n FROM events')
    expect(events!.n).toBe(after.audited)
  }
})

test('a full disk makes small changes use the reserve, and large ones are refused until there is room', async () => {
  let in_use = false
  const reserve = {
    inUse: () => in_use,
    release() {
      if (in_use) return false
      in_use = true
      leave(200)
      return true
    },
  }
  await db.close()
  writer = openWriter(path)
  db = createEmbeddedDb({ writer, reader: createReader(path), clock: fakeClock(), instance_id: 'i', reserve })
  leave(0)
  const settled = await Promise.allSettled(
    [put('a', 5000), put('big', 100_000), put('b', 5000)].map((change) => db.commit(testActor(), change)),
  )
  expect(settled.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(in_use).toBe(true)
  expect(String(await failureOf(db.commit(testActor(), put('big', 100_000))))).toContain('storage_full')
  in_use = false
  await db.commit(testActor(), put('big', 100_000))
  expect(await state()).toEqual({ keys: 'a,b,big', audited: 3, integrity: 'ok' })
})

test('the reserve is room that is really taken, given back once, and put by again when there is room', () => {
  const clock = fakeClock()
  const file = join(dir, 'reserve')
  const reserve = createReserve(file, clock, 3_000_000)
  expect(statSync(file).blocks * 512).toBeGreaterThanOrEqual(3_000_000)
  expect([reserve.inUse(), reserve.release(), reserve.release()]).toEqual([false, true, false])
  expect([existsSync(file), reserve.inUse()]).toEqual([false, true])
  clock.advance(5000)
  expect(reserve.inUse()).toBe(false)
  expect(statSync(file).size).toBe(3_000_000)
})

test('without room for it there is no reserve, and everything else works', () => {
  const reserve = createReserve(join(dir, 'reserve'), fakeClock(), Number.MAX_SAFE_INTEGER)
  expect([reserve.inUse(), existsSync(join(dir, 'reserve'))]).toEqual([true, false])
})
