import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createDenials, type Denials } from '../../src/audit/denials.ts'
import { MINUTE_MS } from '../../src/lib/clock.ts'
import { AUDIT_COUNTERS_MAX } from '../../src/lib/limits.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'

let t: TestDb
let denials: Denials
beforeEach(async () => {
  t = await openTestDb()
  denials = createDenials({ db: t.db, clock: t.clock })
})
afterEach(() => t.close())

const key = testActor('ten_1', {
  type: 'key',
  id: 'key_1',
  key_id: 'key_1',
  ip: '192.0.2.1',
  request_id: 'req_1',
})
const refused = { action: 'POST /v1/domains', code: 'insufficient_scope', required_scope: 'domains:write' }

interface Row {
  action: string
  tenant_id: string
  detail: { count?: number }
  ip: string | null
}

async function entries(): Promise<Row[]> {
  const rows = await t.db.query<{ tenant_id: string; entry: string; body: string | null }>(
    `SELECT e.tenant_id, e.entry, p.body FROM audit_entries e LEFT JOIN audit_personal p USING (tenant_id, seq)
      ORDER BY e.tenant_id, e.seq`,
  )
  return rows.map((row) => {
    const { action, detail } = JSON.parse(row.entry) as Row
    const { ip } = JSON.parse(row.body ?? '{"ip":null}') as { ip: string | null }
    return { action, tenant_id: row.tenant_id, detail, ip }
  })
}

test('ten refusals a minute are entries, the rest of the minute is one counter', async () => {
  for (let i = 0; i < 25; i++) await denials.record403(key, refused)
  await denials.record403({ ...key, key_id: 'key_2', id: 'key_2' }, refused)
  expect(await entries()).toHaveLength(11)
  await denials.flush()
  expect(await entries()).toHaveLength(11)

  t.clock.advance(MINUTE_MS)
  await denials.flush()
  const rows = await entries()
  expect(rows).toHaveLength(12)
  expect(rows.at(-1)).toMatchObject({ action: 'auth.denied_count', detail: { ...refused, count: 15 } })

  await denials.record403(key, refused)
  expect(await entries()).toHaveLength(13)
})

test('requests without a credential are one entry per address and minute, in the system chain', async () => {
  for (let i = 0; i < 50; i++) denials.record401(i % 2 === 0 ? '192.0.2.1' : '192.0.2.2')
  expect(await entries()).toEqual([])
  await denials.flush({ all: true })
  const counted = { action: 'auth.unauthenticated_count', tenant_id: '_system' }
  expect(await entries()).toMatchObject([
    { ...counted, ip: '192.0.2.1', detail: { count: 25 } },
    { ...counted, ip: '192.0.2.2', detail: { count: 25 } },
  ])
})

test('requests over a limit are one counter per credential and limit', async () => {
  for (let i = 0; i < 7; i++) denials.record429(key, { scope: 'key', action: 'GET /v1/domains' })
  t.clock.advance(MINUTE_MS)
  denials.record429(key, { scope: 'key', action: 'GET /v1/domains' })
  await denials.flush()
  expect(await entries()).toMatchObject([
    { action: 'auth.rate_limited_count', tenant_id: 'ten_1', detail: { count: 7, scope: 'key' } },
  ])
})

test('a flood from many addresses takes a bounded number of counters, and every request is counted', async () => {
  const flood = AUDIT_COUNTERS_MAX + 500
  for (let i = 0; i < flood; i++) denials.record401(`2001:db8::${i.toString(16)}`)
  await denials.flush({ all: true })
  const rows = await entries()
  expect(rows).toHaveLength(AUDIT_COUNTERS_MAX + 1)
  expect(rows.reduce((sum, row) => sum + row.detail.count!, 0)).toBe(flood)
  expect(rows.at(-1)).toMatchObject({ ip: null, detail: { count: 500 } })
})
