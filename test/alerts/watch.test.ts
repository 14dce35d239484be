import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createScheduler, type Scheduler } from '../../src/jobs/scheduler.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { DISK_CRITICAL_BYTES, DISK_LOW_BYTES } from '../../src/lib/limits.ts'
import { aggregate } from '../support/aggregate.ts'
import { openTestApp, type TestApp } from '../support/app.ts'

const TODAY = Date.UTC(2026, 0, 15)

let t: TestApp
let key: string
let domain_id: string
let tenants = 0

beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())
beforeEach(async () => {
  t.clock.set(TODAY + 12 * HOUR_MS)
  const made = await t.tenant(`Acme ${++tenants}`, ['*'], 'enterprise')
  key = made.key
  domain_id = (await t.call('POST', '/v1/domains', { key, body: { name: 'example.com' } })).body.id
})

const call: TestApp['call'] = (...request) => {
  t.clock.advance(700)
  return t.call(...request)
}
const alerts = async () => (await call('GET', '/v1/alerts?sort=first_at', { key })).body.items
const watch = () => t.app.services.watch
const upload = (files: [string, string][]) => {
  const form = new FormData()
  for (const [name, text] of files) form.append('file', new File([text], name))
  return call('POST', '/v1/reports/upload', { key, body: form })
}
/** A report for each of the days, counted back from yesterday. */
const reportsFor = (days: number[]) =>
  upload(
    days.map((ago) => {
      const begin = (TODAY - (ago + 1) * DAY_MS) / SECOND_MS
      return [`r${ago}.xml`, aggregate({ id: `r${tenants}-${ago}`, begin, count: 3 })]
    }),
  )
const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)

describe('reports that stopped', () => {
  test('raise one alert for a domain that had them regularly, and end it when they come again', async () => {
    await reportsFor(range(0, 20))
    t.clock.advance(3 * DAY_MS)
    await watch().reportsStopped()
    expect(await alerts()).toEqual([])
    t.clock.advance(DAY_MS)
    expect([await watch().reportsStopped(), await watch().reportsStopped()]).toEqual([1, 0])
    const [alert] = await alerts()
    expect(alert).toMatchObject({
      kind: 'reports_stopped',
      title: 'example.com: no reports for 4 days',
      subject: { type: 'domain', id: domain_id },
      count: 1,
    })
    await reportsFor([-4])
    await watch().reportsStopped()
    expect((await alerts())[0]).toMatchObject({
      status: 'resolved',
      history: [{ action: 'raised' }, { action: 'resolved', note: 'Reports arrive again.' }],
    })
  })

  test('are told of once: who resolves the alert by hand is not asked again', async () => {
    await reportsFor(range(0, 12))
    t.clock.advance(5 * DAY_MS)
    await watch().reportsStopped()
    await call('POST', `/v1/alerts/${(await alerts())[0].id}/resolve`, { key })
    t.clock.advance(5 * DAY_MS)
    await watch().reportsStopped()
    expect((await alerts()).length).toBe(1)
  })

  test('are no news where they came now and then, or stopped long ago', async () => {
    await reportsFor([0, 3, 6, 9, 12, 15, 18, 21, 24])
    t.clock.advance(6 * DAY_MS)
    await watch().reportsStopped()
    expect(await alerts()).toEqual([])
    t.clock.set(TODAY + 12 * HOUR_MS)
    await reportsFor(range(0, 25))
    t.clock.advance(31 * DAY_MS)
    await watch().reportsStopped()
    expect(await alerts()).toEqual([])
  })
})

describe('files that cannot be read', () => {
  const broken = (count: number, name = 'bad') =>
    upload(range(0, count).map((i) => [`${name}${i}.xml`, `${name} ${i} ${tenants} is no report`]))

  test('raise an alert from ten in a day on, which ends when a day goes by without any', async () => {
    await broken(9)
    expect([await watch().importFailures(), (await alerts()).length]).toEqual([0, 0])
    await broken(1, 'worse')
    expect([await watch().importFailures(), await watch().importFailures()]).toEqual([1, 0])
    const [alert] = await alerts()
    expect(alert).toMatchObject({ kind: 'import_failures', evidence: { files: 10 }, count: 1 })
    expect(alert.evidence.codes[0]).toMatchObject({ files: 10, example: expect.stringContaining('.xml') })
    await broken(1, 'third')
    await watch().importFailures()
    expect((await alerts())[0]).toMatchObject({ count: 2, evidence: { files: 11 } })
    t.clock.advance(DAY_MS)
    await watch().importFailures()
    expect((await alerts())[0].status).toBe('resolved')
  })
})

describe('jobs', () => {
  let scheduler: Scheduler
  let broken: boolean
  beforeEach(() => {
    scheduler = createScheduler({ clock: t.clock, db: t.db, log: silentLog, holder: 'test' })
    broken = true
    for (const name of ['backup', 'tidy']) {
      scheduler.register({
        name,
        schedule: '0 3 * * *',
        run: async () => {
          if (broken) throw new Error('no room')
        },
      })
    }
  })
  const run = async (name: string) => {
    t.clock.advance(HOUR_MS)
    await scheduler.runNow(name)
    await watch().jobs()
    await watch().jobs()
  }
  const told = async () => {
    const rows = await t.db.query<{ kind: string; status: string; count: number; summary: string }>(
      `SELECT kind, status, count, summary FROM alerts WHERE kind IN ('job_failed', 'backup_failed') ORDER BY id`,
    )
    return rows.map(({ kind, status, count }) => `${kind} ${status} ${count}`)
  }

  test('raise an alert when they fail twice in a row, a backup at once, until a run succeeds', async () => {
    await run('tidy')
    expect(await told()).toEqual([])
    await run('tidy')
    expect(await told()).toEqual(['job_failed open 1'])
    await run('tidy')
    expect(await told()).toEqual(['job_failed open 2'])
    await run('backup')
    expect(await told()).toEqual(['job_failed open 2', 'backup_failed open 1'])
    broken = false
    await run('tidy')
    await run('backup')
    expect(await told()).toEqual(['job_failed resolved 2', 'backup_failed resolved 1'])
    await scheduler.close()
  })
})

describe('the disk', () => {
  const told = () =>
    t.db.query<{ status: string; severity: string; count: number }>(
      `SELECT status, severity, count FROM alerts WHERE kind = 'disk_low' ORDER BY id`,
    )

  test('raises an alert when it is nearly full, a worse one when it is, until there is room', async () => {
    await watch().disk(null)
    await watch().disk(DISK_LOW_BYTES)
    expect(await told()).toEqual([])
    for (let i = 0; i < 3; i++) await watch().disk(DISK_LOW_BYTES - 1)
    expect(await told()).toEqual([{ status: 'open', severity: 'high', count: 1 }])
    await watch().disk(DISK_CRITICAL_BYTES - 1)
    expect(await told()).toEqual([{ status: 'open', severity: 'critical', count: 2 }])
    await watch().disk(DISK_LOW_BYTES * 1.1)
    expect((await told())[0]!.status).toBe('open')
    await watch().disk(DISK_LOW_BYTES * 1.2)
    expect(await told()).toEqual([{ status: 'resolved', severity: 'critical', count: 2 }])
  })
})
