import { afterEach, beforeEach, expect, test } from 'bun:test'
import { wakeOnCommit } from '../../src/jobs/wake.ts'
import { systemActor } from '../../src/lib/actors.ts'
import { silentLog } from '../../src/lib/log.ts'
import { openTestDb, type TestDb } from '../support/db.ts'

let t: TestDb
beforeEach(async () => {
  t = await openTestDb()
})
afterEach(() => t.close())

const commit = (action: string) => t.db.commit(systemActor(), { writes: [], audit: { action } })

test('many changes make one run, and one that comes later makes another', async () => {
  let runs = 0
  const stop = wakeOnCommit(t.db, silentLog, [
    { name: 'x', actions: ['reports.upload'], every_ms: 5, run: async () => ++runs },
  ])
  await Promise.all(Array.from({ length: 20 }, () => commit('reports.upload')))
  await commit('keys.create')
  await Bun.sleep(30)
  expect(runs).toBe(1)
  await commit('reports.upload')
  await Bun.sleep(30)
  expect(runs).toBe(2)
  await stop()
  await commit('reports.upload')
  await Bun.sleep(20)
  expect(runs).toBe(2)
})

test('a run that fails does not end it, and stopping waits for the one at hand', async () => {
  let runs = 0
  let ended = false
  const stop = wakeOnCommit(t.db, silentLog, [
    {
      name: 'x',
      actions: ['reports.upload'],
      every_ms: 1,
      async run() {
        if (++runs === 1) throw new Error('once')
        await Bun.sleep(30)
        ended = true
      },
    },
  ])
  await commit('reports.upload')
  await Bun.sleep(20)
  await commit('reports.upload')
  await Bun.sleep(10)
  await stop()
  expect([runs, ended]).toEqual([2, true])
})
