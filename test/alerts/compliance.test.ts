import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { clearMarks, marksOf } from '../../src/domains/compliance.store.ts'
import { probableCause, type SenderFigures } from '../../src/domains/rules/cause.ts'
import { judge, percent, windowOf } from '../../src/domains/rules/threshold.ts'
import { systemActor } from '../../src/lib/actors.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/lib/clock.ts'
import { EVENT_KINDS } from '../../src/lib/event-kinds.ts'
import { aggregate } from '../support/aggregate.ts'
import { openTestApp, type TestApp } from '../support/app.ts'

/** The clock of the tests stands at noon of this day. */
const TODAY = Date.UTC(2026, 0, 15)

let t: TestApp
let key: string
let tenant_id: string
let domain_id: string
let tenants = 0
let reports = 0

beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())
beforeEach(async () => {
  t.clock.set(TODAY + 12 * HOUR_MS)
  const made = await t.tenant(`Acme ${++tenants}`, ['*'], 'enterprise')
  key = made.key
  tenant_id = made.tenant_id
  domain_id = (await t.call('POST', '/v1/domains', { key, body: { name: 'example.com' } })).body.id
})

const call: TestApp['call'] = (...request) => {
  t.clock.advance(700)
  return t.call(...request)
}

interface Mail {
  pass?: number
  fail?: number
  domain?: string
  ip?: string
  org?: string
}

/** Reports about the whole day that ended `ago` days before today began. */
async function arrive(
  ago: number,
  { pass = 0, fail = 0, domain = 'example.com', ip, org }: Mail,
): Promise<void> {
  const begin = (TODAY - (ago + 1) * DAY_MS) / SECOND_MS
  for (const [count, dkim] of [
    [pass, 'pass'],
    [fail, 'fail'],
  ] as const) {
    if (count === 0) continue
    const xml = aggregate({
      id: `r${++reports}`,
      domain,
      begin,
      count,
      dkim,
      ...(org === undefined ? {} : { org }),
      ...(ip === undefined ? {} : { ip }),
    })
    expect((await call('POST', '/v1/reports/upload', { key, body: xml })).status).toBe(201)
  }
}
const evaluate = () => t.app.services.compliance.evaluate()
const events = async () => {
  const rows = await t.db.query<{ body: string }>(
    'SELECT body FROM events WHERE tenant_id = ? ORDER BY created_at, id',
    [tenant_id],
  )
  return rows.map((row) => {
    const { type, tenant_id: whose, data } = JSON.parse(row.body)
    expect([type, whose]).toEqual(['DMARC_THRESHOLD_REACHED', tenant_id])
    expect(Object.keys(data)).toEqual(EVENT_KINDS.DMARC_THRESHOLD_REACHED.schema.required)
    return data
  })
}
const fired = async () => (await events()).length
const alerts = async () => (await call('GET', '/v1/alerts?sort=first_at', { key })).body.items

describe('a domain below its threshold', () => {
  test('fires once, with what a person needs to act on', async () => {
    await arrive(9, { pass: 990, fail: 10 })
    await arrive(2, { pass: 100, ip: '192.0.2.1' })
    await arrive(1, { fail: 60, ip: '198.51.100.9' })
    expect(await evaluate()).toBe(1)
    const [data] = await events()
    expect(data).toEqual({
      domain_id,
      domain: 'example.com',
      threshold: 95,
      compliance: 62.5,
      previous_compliance: 99,
      window_from: '2026-01-07T00:00:00.000Z',
      window_to: '2026-01-14T00:00:00.000Z',
      messages: 160,
      top_failing_sources: [{ source: '198.51.100.0/24', messages: 60, failing: 60 }],
      probable_cause: expect.stringContaining('198.51.100.0/24 is new'),
    })
    const [alert] = await alerts()
    expect(alert).toMatchObject({
      kind: 'compliance_low',
      severity: 'high',
      status: 'open',
      subject: { type: 'domain', id: domain_id },
      evidence: { compliance: 62.5, messages: 160 },
    })
  })

  test('does not fire again, however often and by however many it is looked at', async () => {
    await arrive(1, { pass: 50, fail: 50 })
    await Promise.all(Array.from({ length: 8 }, evaluate))
    await evaluate()
    for (let i = 0; i < 3; i++) {
      await arrive(1, { fail: 20 })
      await evaluate()
    }
    expect([await fired(), (await alerts()).length, (await alerts())[0].count]).toEqual([1, 1, 1])
  })

  test('looks at nothing when nothing arrived', async () => {
    await arrive(1, { pass: 50, fail: 50 })
    expect([await evaluate(), await evaluate()]).toEqual([1, 0])
  })

  test('says what fell through the audit log', async () => {
    await arrive(1, { pass: 50, fail: 50 })
    await evaluate()
    const { items } = (await call('GET', '/v1/audit/query?action=domains.*,alerts.*', { key })).body
    expect(items.slice(0, 2)).toMatchObject([
      { action: 'alerts.raise' },
      { action: 'domains.compliance_low', target: { id: domain_id }, detail: { compliance: '50' } },
    ])
  })
})

describe('silent are', () => {
  const cases: [string, () => Promise<void>, number][] = [
    ['99 messages', () => arrive(1, { pass: 40, fail: 59 }), 0],
    ['100 messages', () => arrive(1, { pass: 40, fail: 60 }), 1],
    ['exactly the threshold', () => arrive(1, { pass: 95, fail: 5 }), 0],
    ['just below the threshold', () => arrive(1, { pass: 9499, fail: 501 }), 1],
    ['reports that ended over 7 days ago', () => arrive(8, { pass: 10, fail: 900 }), 0],
    ['reports that ended 7 days and twelve hours ago', () => arrive(7, { pass: 10, fail: 900 }), 0],
    ['not those that ended 6 days and twelve hours ago', () => arrive(6, { pass: 10, fail: 900 }), 1],
    ['messages before the window', () => arrive(1, { pass: 99 }).then(() => arrive(8, { fail: 900 })), 0],
    ['domains that the tenant does not have', () => arrive(1, { fail: 900, domain: 'else.example' }), 0],
    ['not subdomains of one it has', () => arrive(1, { fail: 900, domain: 'news.example.com' }), 1],
  ]
  for (const [name, run, expected] of cases) {
    test(name, async () => {
      await run()
      await evaluate()
      expect(await fired()).toBe(expected)
      const marks = await t.db.query('SELECT 1 FROM compliance_marks')
      expect(marks).toEqual([])
    })
  }

  test('history loaded beside news, and news beside history', async () => {
    await arrive(1, { pass: 200 })
    await evaluate()
    await arrive(30, { fail: 5000 })
    await evaluate()
    expect(await fired()).toBe(0)
    await arrive(40, { fail: 5000 })
    await arrive(1, { fail: 200 })
    await evaluate()
    expect(await fired()).toBe(1)
  })

  test('history that reaches into a window that ended days ago', async () => {
    await arrive(6, { pass: 200 })
    await evaluate()
    await arrive(8, { fail: 900 })
    await evaluate()
    expect(await fired()).toBe(0)
    await arrive(6, { pass: 1 })
    await evaluate()
    expect(await fired()).toBe(1)
  })

  test('a window that ended over 7 days ago, though half a day of news follows it', async () => {
    const begin = (TODAY - 7 * DAY_MS) / SECOND_MS
    await arrive(7, { fail: 900 })
    const body = aggregate({ id: 'half', begin, end: begin + 18 * 3600, count: 500, dkim: 'fail' })
    await call('POST', '/v1/reports/upload', { key, body })
    await evaluate()
    expect(await fired()).toBe(0)
  })

  test('the day that is not over yet', async () => {
    // Up to now: noon. The newest day that is covered to its end is yesterday, and that has too little mail.
    const begin = TODAY / SECOND_MS
    const body = aggregate({ id: 'half', begin, end: begin + 11 * 3600, count: 500, dkim: 'fail' })
    await call('POST', '/v1/reports/upload', { key, body })
    await arrive(0, { pass: 50, fail: 40 })
    await evaluate()
    expect(await fired()).toBe(0)
  })
})

test('what arrives during a look is looked at by the next one', async () => {
  await arrive(1, { pass: 50 })
  const seen = await marksOf(t.db, 100)
  await arrive(1, { fail: 60 })
  await t.db.commit(systemActor(tenant_id), { writes: [clearMarks(seen)], audit: { none: 'rollup' } })
  expect([await evaluate(), await fired()]).toEqual([1, 1])
  const left = await marksOf(t.db, 100)
  await t.db.commit(systemActor(tenant_id), { writes: [clearMarks(left)], audit: { none: 'rollup' } })
  expect(await evaluate()).toBe(0)
})

describe('after it fired', () => {
  beforeEach(async () => {
    await arrive(1, { pass: 900, fail: 100 })
    await evaluate()
    expect(await fired()).toBe(1)
  })
  /** A day goes by, and what came before leaves the window after a week. */
  const aWeekLater = () => t.clock.advance(7 * DAY_MS)

  test('recovery by less than two points keeps it quiet', async () => {
    aWeekLater()
    await arrive(-6, { pass: 969, fail: 31 })
    await evaluate()
    expect((await alerts())[0].status).toBe('open')
    await arrive(-6, { fail: 200 })
    await evaluate()
    expect(await fired()).toBe(1)
  })

  test('recovery by two points resolves the alert and arms it again', async () => {
    aWeekLater()
    await arrive(-6, { pass: 970, fail: 30 })
    await evaluate()
    const [alert] = await alerts()
    expect(alert.status).toBe('resolved')
    expect(alert.history.at(-1)).toMatchObject({
      actor: { type: 'system' },
      note: 'Compliance is back at 97 %.',
    })
    await arrive(-6, { fail: 100 })
    await Promise.all([evaluate(), evaluate()])
    const told = await events()
    expect(told.length).toBe(2)
    expect(told[1].previous_compliance).toBe(97)
    expect((await alerts()).map((each: { status: string }) => each.status)).toEqual(['resolved', 'open'])
  })

  test('a lower threshold counts as recovery, a higher one can be fallen below', async () => {
    const ask = (compliance_threshold: number) =>
      call('PATCH', `/v1/domains/${domain_id}`, { key, body: { compliance_threshold } })
    await ask(88)
    await evaluate()
    expect((await alerts())[0].status).toBe('resolved')
    await ask(91)
    await evaluate()
    expect(
      (await events()).map((data) => [data.threshold, data.compliance, data.previous_compliance]),
    ).toEqual([
      [95, 90, null],
      [91, 90, 90],
    ])
  })

  test('a threshold near 100 can be recovered from', async () => {
    await call('PATCH', `/v1/domains/${domain_id}`, { key, body: { compliance_threshold: 99.5 } })
    aWeekLater()
    await arrive(-6, { pass: 1000 })
    await evaluate()
    expect((await alerts())[0].status).toBe('resolved')
  })

  test('deleting the domain resolves its alert, and nothing is left to fail', async () => {
    expect((await call('DELETE', `/v1/domains/${domain_id}`, { key })).status).toBe(204)
    expect((await alerts())[0]).toMatchObject({ status: 'resolved' })
    await arrive(1, { fail: 900 })
    expect(await evaluate()).toBe(0)
    // Who takes the name up again takes over its reports.
    await call('POST', '/v1/domains', { key, body: { name: 'example.com' } })
    await evaluate()
    expect(await fired()).toBe(2)
  })
})

describe('the rules', () => {
  const verdicts: [string, Parameters<typeof judge>, ReturnType<typeof judge>][] = [
    ['first look, below', [null, { compliance: 80, threshold: 95 }], 'fire'],
    ['first look, above', [null, { compliance: 95, threshold: 95 }], 'note'],
    [
      'armed, below',
      [
        { armed: true, compliance: 99 },
        { compliance: 94.999, threshold: 95 },
      ],
      'fire',
    ],
    [
      'fired, still below',
      [
        { armed: false, compliance: 80 },
        { compliance: 70, threshold: 95 },
      ],
      'note',
    ],
    [
      'fired, nearly recovered',
      [
        { armed: false, compliance: 80 },
        { compliance: 96.99, threshold: 95 },
      ],
      'note',
    ],
    [
      'fired, recovered',
      [
        { armed: false, compliance: 80 },
        { compliance: 97, threshold: 95 },
      ],
      'rearm',
    ],
    [
      'fired, all passes',
      [
        { armed: false, compliance: 80 },
        { compliance: 100, threshold: 99 },
      ],
      'rearm',
    ],
  ]
  for (const [name, args, verdict] of verdicts) {
    test(`${name}: ${verdict}`, () => expect(judge(...args)).toBe(verdict))
  }

  test('the window ends with the newest day that is covered to its end', () => {
    const day = TODAY / DAY_MS
    const now = TODAY + 12 * HOUR_MS
    for (const [end, last] of [
      [TODAY - SECOND_MS, day - 1],
      [TODAY, day - 1],
      [TODAY - DAY_MS - SECOND_MS, day - 2],
      [TODAY + 6 * HOUR_MS, day - 1],
      [TODAY + 400 * DAY_MS, day - 1],
    ] as const) {
      expect(windowOf(end, now)).toEqual({ first: last - 6, last })
    }
  })

  test('no percentage is rounded up over a threshold', () => {
    expect([percent(94_999, 100_000), percent(1, 3), percent(7, 7)]).toEqual([94.99, 33.33, 100])
  })

  const sender = (name: string, over: Partial<SenderFigures>): SenderFigures => ({
    name,
    kind: 'dkim',
    messages: 100,
    failing: 0,
    messages_before: 100,
    failing_before: 0,
    ...over,
  })
  const causes: [string, SenderFigures[], string][] = [
    ['nobody', [], 'No single cause'],
    ['one that is new', [sender('a', { failing: 90, messages_before: 0 })], 'a is new'],
    ['one that broke', [sender('a', { failing: 90 })], 'a passed before and now fails in 90 of 100'],
    [
      'one that sends more',
      [sender('a', { messages: 300, failing: 290, failing_before: 95 })],
      'a failed before as well, but sends more',
    ],
    ['one that fails as ever', [sender('a', { failing: 95, failing_before: 95 })], 'a fails in 95 of 100'],
    [
      'several that broke together',
      ['a', 'b', 'c'].map((name) => sender(name, { failing: 90 })),
      '3 senders that passed before fail now',
    ],
    [
      'many networks',
      ['a', 'b', 'c', 'd'].map((name) => sender(name, { kind: 'prefix', failing: 90, failing_before: 90 })),
      '4 networks send unauthenticated mail',
    ],
    [
      'many known senders',
      ['a', 'b', 'c'].map((name) => sender(name, { failing: 90, failing_before: 90 })),
      'Many senders fail; a has most of it',
    ],
  ]
  for (const [name, senders, text] of causes) {
    test(`the cause is ${name}`, () => expect(probableCause(senders)).toStartWith(text))
  }
})
