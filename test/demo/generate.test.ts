import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  createDemoResolver,
  DEMO_EMAIL,
  DEMO_PASSWORD,
  demoFiles,
  seedDemo,
} from '../../src/demo/generate.ts'
import { createChance } from '../../src/demo/random.ts'
import { openTestApp, type TestApp } from '../support/app.ts'
import { recount, rollupRows } from '../support/recount.ts'

let at: TestApp
let api_key: string

beforeAll(async () => {
  const tokens = new Map<string, string>()
  at = await openTestApp({ resolver: createDemoResolver(tokens) })
  const made = await seedDemo(at.app.services, { clock: at.clock, tokens, days: 45 })
  api_key = made.api_key
}, 30_000)
afterAll(() => at.close())

describe('the demo', () => {
  test('is the same for the same seed', () => {
    const once = demoFiles(20_000, 12, createChance(7))
    const twice = demoFiles(20_000, 12, createChance(7))
    expect(twice).toEqual(once)
    expect(demoFiles(20_000, 12, createChance(8))).not.toEqual(once)
  })

  test('lets its owner sign in', async () => {
    const body = { email: DEMO_EMAIL, password: DEMO_PASSWORD }
    const headers = { 'sec-fetch-site': 'same-origin' }
    expect((await at.call('POST', '/auth/login', { body, headers })).status).toBe(200)
  })

  test('has domains in every state', async () => {
    const { body } = await at.call('GET', '/v1/domains', { key: api_key })
    expect(body.items).toHaveLength(10)
    const states = body.items.map((item: { policy: { state: string } }) => item.policy.state)
    expect(new Set(states)).toEqual(new Set(['ok', 'missing', 'invalid']))
    const names = body.items.map((item: { unicode_name: string }) => item.unicode_name)
    expect(names).toContain('nordlicht-büro.example')
    expect(body.items.filter((item: { status: string }) => item.status === 'verified')).toHaveLength(6)
  })

  test('has alerts that the rules raised, one of them taken up', async () => {
    const { body } = await at.call('GET', '/v1/alerts?kind=compliance_low&sort=severity', { key: api_key })
    const states = body.items.map((item: { status: string }) => item.status)
    expect(new Set(states)).toEqual(new Set(['acknowledged', 'open']))
    expect(body.items[0]).toMatchObject({ status: 'acknowledged', assigned_to: { name: expect.any(String) } })
    const events = await at.db.query(`SELECT 1 FROM events WHERE type = 'DMARC_THRESHOLD_REACHED'`)
    expect(events).toHaveLength(body.items.length)
  })

  test('has reports of every kind, and what goes wrong with them', async () => {
    for (const [path, min] of [
      ['reports', 50],
      ['reports?unassigned=true', 1],
      ['reports?status=superseded', 3],
      ['reports/tls', 10],
      ['reports/failures', 4],
      ['reports/rejected', 4],
      ['reports/reporters', 8],
    ] as const) {
      const { body } = await at.call('GET', `/v1/${path}`, { key: api_key })
      expect({ path, enough: body.items.length >= min }).toEqual({ path, enough: true })
    }
    const repaired = await at.db.query(`SELECT 1 FROM reports WHERE repairs_json LIKE '%record_skipped%'`)
    expect(repaired).toEqual([])
    expect(await rollupRows(at.db)).toEqual(await recount(at.db))
  })
})
