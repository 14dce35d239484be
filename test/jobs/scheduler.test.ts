import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createScheduler, type Scheduler } from '../../src/jobs/scheduler.ts'
import { createJobStore } from '../../src/jobs/store.ts'
import { silentLog } from '../../src/lib/log.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'
import { DAY_MS } from '../../src/lib/clock.ts'

let test_db: TestDb
let scheduler: Scheduler

const makeScheduler = (holder = 'a'): Scheduler =>
  createScheduler({ clock: test_db.clock, db: test_db.db, log: silentLog, holder })

beforeEach(async () => {
  test_db = await openTestDb()
  scheduler = makeScheduler()
})
afterEach(async () => {
  await scheduler.close()
  await test_db.close()
})

describe('scheduler', () => {
  test('a run is recorded with its outcome, its time and its words', async () => {
    scheduler.register({
      name: 'sweep',
      schedule: '0 3 * * *',
      run: async () => {
        test_db.clock.advance(250)
        return '3 files'
      },
    })
    expect(await scheduler.runNow('sweep')).toBe(true)
    expect(await scheduler.list()).toEqual([
      {
        name: 'sweep',
        schedule: '0 3 * * *',
        last_run_at: '2026-01-15T12:00:00.000Z',
        last_status: 'ok',
        last_detail: '3 files',
        last_ms: 250,
        next_run_at: null,
        running: false,
      },
    ])
  })

  test('a job that throws is failed, says why, and can run again', async () => {
    let runs = 0
    scheduler.register({
      name: 'flaky',
      schedule: '0 3 * * *',
      run: async () => {
        runs++
        if (runs === 1) throw new Error('disk on fire')
      },
    })
    await scheduler.runNow('flaky')
    expect((await scheduler.list())[0]).toMatchObject({ last_status: 'failed', last_detail: 'disk on fire' })
    test_db.clock.advance(1)
    await scheduler.runNow('flaky')
    expect((await scheduler.list())[0]).toMatchObject({ last_status: 'ok', last_detail: null })
  })

  test('a job never overlaps with itself', async () => {
    let inside = 0
    let most = 0
    const gate = Promise.withResolvers<void>()
    scheduler.register({
      name: 'slow',
      schedule: '0 3 * * *',
      run: async () => {
        most = Math.max(most, ++inside)
        await gate.promise
        inside--
      },
    })
    const first = scheduler.runNow('slow')
    expect(await scheduler.runNow('slow')).toBe(false)
    gate.resolve()
    expect(await first).toBe(true)
    expect(most).toBe(1)
  })

  test('another process that holds the lease keeps the job to itself', async () => {
    const store = createJobStore(test_db.db)
    const now = test_db.clock.now()
    expect(await store.begin({ id: 'job_x', name: 'sweep', holder: 'b', now, until: now + 1000 })).toBe(1)
    let runs = 0
    scheduler.register({ name: 'sweep', schedule: '0 3 * * *', run: async () => void runs++ })
    expect(await scheduler.runNow('sweep')).toBe(false)
    test_db.clock.advance(1000)
    expect(await scheduler.runNow('sweep')).toBe(true)
    expect(runs).toBe(1)
    expect(await store.leases()).toEqual([{ name: 'sweep', holder: 'a', epoch: 2, until: 0 }])
  })

  test('runs of a process that died are marked and do not block', async () => {
    const store = createJobStore(test_db.db)
    const now = test_db.clock.now()
    await store.begin({ id: 'job_x', name: 'sweep', holder: 'dead', now, until: now + 9_000_000 })
    scheduler.register({ name: 'sweep', schedule: '0 3 * * *', run: async () => 'done' })
    await scheduler.start()
    expect((await scheduler.list())[0]).toMatchObject({ last_status: 'interrupted', running: false })
    test_db.clock.advance(1)
    expect(await scheduler.runNow('sweep')).toBe(true)
  })

  test('the clock starts jobs, and closing waits for the one that runs', async () => {
    const started = Promise.withResolvers<void>()
    let finished = false
    scheduler.register({
      name: 'tick',
      schedule: '* * * * * *',
      run: async ({ signal }) => {
        started.resolve()
        await Bun.sleep(50)
        expect(signal.aborted).toBe(true)
        finished = true
      },
    })
    await scheduler.start()
    expect((await scheduler.list())[0]!.next_run_at).not.toBeNull()
    await started.promise
    await scheduler.close()
    expect(finished).toBe(true)
    expect(await scheduler.runNow('tick')).toBe(false)
  })

  test('old runs are forgotten, and of any number only the last thousand are kept', async () => {
    const count = async () =>
      (await test_db.db.query<{ runs: number }>('SELECT count(*) AS runs FROM job_runs'))[0]!.runs
    scheduler.register({ name: 'often', schedule: '0 3 * * *', run: async () => {} })
    const started_at = test_db.clock.now()
    await test_db.db.commit(testActor(), {
      writes: [
        {
          sql: `INSERT INTO job_runs (id, name, epoch, status, started_at, ended_at) VALUES (?, 'often', 1, 'ok', ?, 0)`,
          rows: Array.from({ length: 1200 }, (_, i) => [
            `job_${String(i).padStart(26, '0')}`,
            started_at + i,
          ]),
        },
      ],
      audit: { none: 'job' },
    })
    test_db.clock.advance(2000)
    await scheduler.runNow('often')
    expect(await count()).toBe(1000)
    test_db.clock.advance(90 * DAY_MS)
    await scheduler.runNow('often')
    expect(await count()).toBe(1)
  })
})
