import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Conflict } from '../../src/db/types.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'

let t: TestDb
beforeEach(async () => {
  t = await openTestDb()
})
afterEach(() => t.close())

const put = (key: string, value = 'v') => ({
  sql: 'INSERT INTO meta (key, value) VALUES (?, ?)',
  params: [key, value],
})
const none = { none: 'boot' } as const
const keys = async () =>
  (await t.db.query<{ key: string }>(`SELECT key FROM meta WHERE key LIKE 'k%' ORDER BY key`)).map(
    (row) => row.key,
  )

test('a commit that has resolved is seen by reads', async () => {
  await t.db.commit(testActor(), { writes: [put('k1')], audit: { action: 'instance.start' } })
  expect(await keys()).toEqual(['k1'])
})

test('of two conflicting changes in one group one fails alone', async () => {
  const results = await Promise.allSettled(
    ['k1', 'k1', 'k2'].map((key) => t.db.commit(testActor(), { writes: [put(key)], audit: none })),
  )
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  const reason: unknown = (results[1] as PromiseRejectedResult).reason
  expect(reason).toBeInstanceOf(Conflict)
  expect((reason as Conflict).label).toBe('unique:meta.key')
  expect(await keys()).toEqual(['k1', 'k2'])
})
