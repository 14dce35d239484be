/** Sources over any range: months and days together are what the days alone say. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createChance } from '../../src/demo/random.ts'
import { createBlobs } from '../../src/reports/blobs.ts'
import { dayRange, sourcesOf, timelineOf } from '../../src/reports/figures.ts'
import { createIngest } from '../../src/reports/ingest.ts'
import { sourcePosition } from '../../src/reports/sorts.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'
import { addTenant, DAY, specFile, specPool } from '../support/reports.ts'

const FIRST = Date.UTC(2025, 9, 20)
const DAYS = 100
let at: TestDb
let pids: number[]

beforeAll(async () => {
  at = await openTestDb()
  await addTenant(at.db, 'ten_a')
  const chance = createChance(9)
  const blobs = createBlobs(at.data_dir, at.clock)
  const ingest = createIngest({ db: at.db, clock: at.clock, pool: specPool(), blobs, networks: null })
  const run = ingest.run(testActor('ten_a'), 'upload', 'reports.import', () => {})
  for (let i = 0; i < 250; i++) {
    const rows = Array.from({ length: chance.between(1, 6) }, () => ({
      ip: `192.0.${chance.between(1, 9)}.${chance.between(1, 9)}`,
      count: chance.between(1, 50),
      dkim: chance.hit(0.5),
      dkim_domain: `m${chance.between(1, 4)}.example.com`,
    }))
    const begin = FIRST + chance.between(0, DAYS - 1) * DAY
    const domain = chance.pick(['example.com', 'a.example.com', 'example.net'])
    await run.add({ name: `${i}`, content: specFile({ id: `${i}`, begin, domain, rows }) })
  }
  await run.finish()
  const found = await at.db.query<{ id: number }>(
    `SELECT id FROM policy_domains WHERE name LIKE '%example.com'`,
  )
  pids = found.map(({ id }) => id)
})
afterAll(() => at.close())

test('any range, any page size, one domain or all', async () => {
  const chance = createChance(4)
  for (let round = 0; round < 120; round++) {
    const from = FIRST + chance.between(-10, DAYS) * DAY
    const range = dayRange(from, from + chance.between(1, 120) * DAY, 0)
    const scope = chance.hit(0.5) ? pids : null
    const sort = chance.pick(['-fail', '-messages'] as const)
    const limit = chance.between(1, 20)
    const seen: Record<string, [number, number]> = {}
    let after: (string | number)[] | null = null
    let last = Number.POSITIVE_INFINITY
    for (;;) {
      const page = await sourcesOf(at.db, 'ten_a', scope, range, { sort, after, limit })
      for (const item of page) {
        const value = sort === '-fail' ? item.fail : item.messages
        expect(value).toBeLessThanOrEqual(last)
        last = value
        const key = `${item.kind} ${item.sender}`
        expect(seen[key]).toBeUndefined()
        seen[key] = [item.messages, item.fail]
      }
      if (page.length < limit) break
      after = sourcePosition(page.at(-1)!, sort)
    }
    const days = await at.db.query<{ key: string; messages: number; fail: number }>(
      `SELECT kind || ' ' || sender AS key, sum(messages) AS messages,
sum(messages - pass_both - pass_dkim - pass_spf) AS fail FROM source_days
WHERE day BETWEEN ? AND ? AND policy_domain_id IN (
  SELECT id FROM policy_domains WHERE ${scope === null ? `name <> '*'` : `name LIKE '%example.com'`})
GROUP BY kind, sender`,
      [range.first, range.last],
    )
    expect(seen).toEqual(Object.fromEntries(days.map(({ key, messages, fail }) => [key, [messages, fail]])))
    const timeline = await timelineOf(at.db, 'ten_a', scope, range)
    const total = timeline.reduce((sum, day) => sum + day.messages, 0)
    expect(total).toBe(days.reduce((sum, day) => sum + day.messages, 0))
  }
})
