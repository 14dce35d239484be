import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createJobPort } from '../../src/cli/instance.ts'
import type { InstancePorts } from '../../src/instance/routes.ts'
import { createScheduler, type Scheduler } from '../../src/jobs/scheduler.ts'
import { silentLog } from '../../src/lib/log.ts'
import { type Answer, openTestApp, type TestApp } from '../support/app.ts'

let t: TestApp
let scheduler: Scheduler
let key: string
let operator: string
let hold: PromiseWithResolvers<void>

beforeEach(async () => {
  let jobs: InstancePorts['jobs']
  t = await openTestApp({
    instance: {
      show: () => Promise.reject(new Error('not in this test')),
      backups: { list: async () => [], create: () => Promise.reject(new Error('not in this test')) },
      jobs: {
        list: () => jobs.list(),
        run: (...args) => jobs.run(...args),
        runs: (...args) => jobs.runs(...args),
      },
    },
  })
  scheduler = createScheduler({ clock: t.clock, db: t.db, log: silentLog, holder: 'a' })
  jobs = createJobPort({ scheduler, db: t.db })
  hold = Promise.withResolvers()
  scheduler.register({ name: 'sweep', schedule: '0 3 * * *', run: async () => '3 files' })
  scheduler.register({ name: 'slow', schedule: '0 3 * * *', run: () => hold.promise })
  const made = await t.tenant('Acme')
  key = made.key
  operator = await t.key(made.tenant_id, ['instance:*'])
})
afterEach(async () => {
  hold.resolve()
  await scheduler.close()
  await t.close()
})

const post = (name: string, as?: string) =>
  t.call('POST', `/v1/instance/jobs/${name}/run`, as === undefined ? {} : { key: as })
const runs = (query = '') => t.call('GET', `/v1/instance/jobs/sweep/runs${query}`, { key: operator })

describe('starting a job', () => {
  const scenarios: [string, () => Promise<Answer>, number, string | undefined][] = [
    ['by nobody', () => post('sweep'), 401, 'unauthenticated'],
    ['with a key of a tenant', () => post('sweep', key), 403, 'insufficient_scope'],
    ['that there is not', () => post('dance', operator), 404, 'not_found'],
    ['rightly', () => post('sweep', operator), 202, undefined],
  ]
  for (const [name, run, status, code] of scenarios) {
    test(`${name}: ${status}`, async () => {
      const answer = await run()
      expect([answer.status, answer.body.code]).toEqual([status, code])
    })
  }

  test('that runs: 409, and the first goes on', async () => {
    expect((await post('slow', operator)).body).toEqual({ name: 'slow', status: 'started' })
    expect((await post('slow', operator)).body.code).toBe('conflict')
  })

  test('is an entry of the log of the installation', async () => {
    await post('sweep', operator)
    const [entry] = await t.db.query<{ action: string; target_id: string }>(
      `SELECT action, target_id FROM audit_entries WHERE tenant_id = '_system' ORDER BY seq DESC LIMIT 1`,
    )
    expect(entry).toEqual({ action: 'jobs.run', target_id: 'sweep' })
  })
})

describe('the runs of a job', () => {
  test('come newest first, in pages, each once', async () => {
    for (let i = 0; i < 5; i++) {
      t.clock.advance(1000)
      await scheduler.runNow('sweep')
    }
    const first = (await runs('?limit=3')).body
    const second = (await runs(`?limit=3&cursor=${first.next_cursor}`)).body
    const all = [...first.items, ...second.items]
    expect(all).toHaveLength(5)
    expect(all[0]).toMatchObject({ status: 'ok', detail: '3 files', ms: 0 })
    expect(all.map((each) => each.started_at)).toEqual(
      all
        .map((each) => each.started_at)
        .toSorted()
        .toReversed(),
    )
    expect(second.next_cursor).toBeUndefined()
  })

  test('of a job that there is not: 404', async () => {
    const answer = await t.call('GET', '/v1/instance/jobs/dance/runs', { key: operator })
    expect(answer.status).toBe(404)
  })
})
