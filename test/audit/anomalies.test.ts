import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { networkOf } from '../../src/audit/rules/anomalies.ts'
import type { Actor, AuditDraft } from '../../src/db/types.ts'
import { EVENT_KINDS } from '../../src/lib/event-kinds.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/clock.ts'
import { openTestApp, type TestApp } from '../support/app.ts'

let t: TestApp
let key: string
let tenant_id: string

beforeEach(async () => {
  t = await openTestApp()
  const made = await t.tenant('Acme')
  key = made.key
  tenant_id = made.tenant_id
  await t.app.services.anomalies.run()
})
afterEach(() => t.close())

const ada = (ip: string): Actor => ({
  tenant_id,
  type: 'user',
  id: 'usr_ada',
  name: 'Ada',
  key_id: null,
  ip,
  request_id: null,
})
const robot = (ip: string): Actor => ({
  tenant_id,
  type: 'key',
  id: 'key_1',
  name: 'robot',
  key_id: 'key_1',
  ip,
  request_id: null,
})

async function act(actor: Actor, draft: AuditDraft | string, times = 1): Promise<void> {
  const audit = typeof draft === 'string' ? { action: draft } : draft
  await t.db.commit(actor, { writes: [], audit: Array.from({ length: times }, () => audit) })
}
const watch = async () => (await t.app.services.anomalies.run()).found
const told = async () => {
  const rows = await t.db.query<{ body: string }>('SELECT body FROM events WHERE tenant_id = ? ORDER BY id', [
    tenant_id,
  ])
  return rows.map((row) => JSON.parse(row.body) as { type: string; data: Record<string, unknown> })
}
const kinds = async () => (await told()).map((event) => event.data['kind'])

describe('a sign-in', () => {
  test('from the first network is none, from another one it is, from a known one it is not', async () => {
    await act(ada('192.0.2.1'), 'auth.login')
    expect(await watch()).toBe(0)
    await act(ada('203.0.113.9'), 'auth.login')
    expect(await watch()).toBe(1)
    await act(ada('203.0.200.1'), 'auth.login')
    await act(ada('192.0.77.1'), 'auth.login')
    expect(await watch()).toBe(0)
    expect(await kinds()).toEqual(['new_network'])
  })

  test('tells by event, alert and entry, in one change', async () => {
    await act(ada('192.0.2.1'), 'auth.login')
    await act(ada('203.0.113.9'), 'auth.login')
    await watch()
    const [event] = await told()
    expect(event).toMatchObject({
      type: 'AUDIT_LOG_ANOMALY',
      data: {
        kind: 'new_network',
        actor: { type: 'user', id: 'usr_ada', name: 'Ada' },
        evidence: { network: '203.0.0.0/16', known_networks: 1 },
      },
    })
    expect(Object.keys(event!.data).sort()).toEqual(EVENT_KINDS.AUDIT_LOG_ANOMALY.schema.required.toSorted())
    const [alert] = (await t.call('GET', '/v1/alerts', { key })).body.items
    expect(alert).toMatchObject({ kind: 'audit_anomaly', subject: { type: 'user', id: 'usr_ada' }, count: 1 })
    const [entry] = (await t.call('GET', '/v1/audit/query?action=audit.anomaly', { key })).body.items
    expect(entry).toMatchObject({
      target: { type: 'user', id: 'usr_ada' },
      detail: { audit_seq: event!.data['audit_seq'] },
    })
    expect((await t.call('GET', '/v1/audit/verify', { key })).body.ok).toBe(true)
  })

  test('of somebody who roams is not told for ever', async () => {
    for (let i = 1; i <= 40; i++) {
      await act(ada(`10.${i}.0.1`), 'auth.login')
      t.clock.advance(2 * HOUR_MS)
      await watch()
    }
    expect((await kinds()).length).toBe(20)
  })

  test('that lies back longer than a day is learned and not told', async () => {
    await act(ada('192.0.2.1'), 'auth.login')
    await act(ada('203.0.113.9'), 'auth.login')
    t.clock.advance(2 * DAY_MS)
    expect(await watch()).toBe(0)
    await act(ada('203.0.113.9'), 'auth.login')
    expect(await watch()).toBe(0)
  })

  test('names the network by the operator’s table when there is one', () => {
    expect(networkOf('192.0.2.1', () => 'AS64500 Example')).toBe('AS64500 Example')
    expect(networkOf('192.0.2.1', () => null)).toBe('192.0.0.0/16')
    expect(networkOf('2001:db8:1:2::1', null)).toBe('2001:db8::/32')
    expect(networkOf('here', null)).toBeNull()
  })
})

test('a key used from a new network is told', async () => {
  await act(robot('192.0.2.1'), 'reports.upload')
  await act(robot('192.0.2.2'), 'reports.upload')
  expect(await watch()).toBe(0)
  await act(robot('198.51.100.1'), 'reports.upload')
  expect(await watch()).toBe(1)
  expect(await kinds()).toEqual(['key_new_network'])
})

describe('a burst of refusals', () => {
  const refused = { action: 'auth.denied', outcome: 'denied' } as const

  test('is told once, not refusal by refusal', async () => {
    await act(ada('192.0.2.1'), refused, 19)
    expect(await watch()).toBe(0)
    await act(ada('192.0.2.1'), refused, 30)
    expect(await watch()).toBe(1)
    t.clock.advance(10 * MINUTE_MS)
    await act(ada('192.0.2.1'), refused, 30)
    expect(await watch()).toBe(0)
    t.clock.advance(HOUR_MS)
    await act(ada('192.0.2.1'), refused, 30)
    expect(await watch()).toBe(1)
  })

  test('counts what a counter entry stands for', async () => {
    await act(ada('192.0.2.1'), { action: 'auth.denied_count', outcome: 'denied', detail: { count: 25 } })
    expect(await watch()).toBe(1)
  })

  test('is of one subject within five minutes', async () => {
    await act(ada('192.0.2.1'), refused, 15)
    await act(robot('192.0.2.1'), refused, 15)
    t.clock.advance(6 * MINUTE_MS)
    await act(ada('192.0.2.1'), refused, 15)
    expect(await watch()).toBe(0)
  })

  test('of sign-ins by nobody known is about their address, which stays erasable', async () => {
    const nobody: Actor = { ...ada('203.0.113.66'), type: 'anonymous', id: null, name: null }
    await act(nobody, { action: 'auth.login_failed', outcome: 'failure' }, 25)
    expect(await watch()).toBe(1)
    const entries = await t.db.query<{ entry: string }>('SELECT entry FROM audit_entries')
    expect(entries.some(({ entry }) => entry.includes('203.0.113.66'))).toBe(false)
  })
})

test('mass export is told', async () => {
  await act(ada('192.0.2.1'), 'reports.export', 5)
  expect(await watch()).toBe(0)
  await act(ada('192.0.2.1'), 'reports.raw', 10)
  expect(await watch()).toBe(1)
  expect(await kinds()).toEqual(['mass_export'])
})

describe('an administrative change at an hour when nobody works', () => {
  /** Four weeks of work, 8 to 17 UTC. */
  async function work(): Promise<void> {
    const start = Math.ceil(t.clock.now() / DAY_MS) * DAY_MS
    for (let day = 0; day < 28; day++) {
      for (const hour of [8, 11, 14, 17]) {
        t.clock.set(start + day * DAY_MS + hour * HOUR_MS)
        await act(ada('192.0.2.1'), 'domains.update', 3)
      }
      await watch()
    }
  }

  test('is told once the habits are known', async () => {
    await work()
    t.clock.advance(10 * HOUR_MS)
    await act(ada('192.0.2.1'), 'keys.create')
    expect(await watch()).toBe(1)
    expect(await kinds()).toEqual(['out_of_hours'])
  })

  test('is none at a usual hour, for other changes, or while habits are not known', async () => {
    await act(ada('192.0.2.1'), 'keys.create')
    expect(await watch()).toBe(0)
    await work()
    await act(ada('192.0.2.1'), 'keys.create')
    t.clock.advance(10 * HOUR_MS)
    await act(ada('192.0.2.1'), 'domains.update')
    expect(await watch()).toBe(0)
  })
})

test('every entry is looked at once, also when two look at the same time', async () => {
  await act(ada('192.0.2.1'), 'auth.login')
  await act(ada('203.0.113.9'), 'auth.login')
  const found = await Promise.all([watch(), watch()])
  expect(found.reduce((sum, each) => sum + each)).toBe(1)
  expect(await watch()).toBe(0)
})
