import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/lib/clock.ts'
import { changeOf, healthOf, shouldDisable } from '../../src/webhooks/rules/health.ts'
import { type Receiver, startReceiver } from '../support/receivers.ts'
import { type HookApp, openHookApp, settle } from '../support/webhooks.ts'

let t: HookApp
let receiver: Receiver
let status = 500

beforeEach(async () => {
  status = 500
  t = await openHookApp()
  receiver = await startReceiver(() => new Response('', { status }))
})
afterEach(async () => {
  await t.close()
  await receiver.stop()
})

const hookOf = async (id: string) => (await t.call('GET', `/v1/webhooks/${id}`, { key: t.key })).body
const deliveries = async (id: string, query = '') =>
  (await t.call('GET', `/v1/webhooks/${id}/deliveries${query}`, { key: t.key })).body.items
const post = (path: string, body?: object) =>
  t.call('POST', `/v1/webhooks${path}`, { key: t.key, ...(body === undefined ? {} : { body }) })
const alertsOf = async () =>
  (await t.call('GET', '/v1/alerts?kind=webhook_disabled', { key: t.key })).body.items

/** An event, and everything that is due just now. */
async function emitAndSettle(): Promise<void> {
  await t.emit()
  await settle(t)
}

describe('the rules', () => {
  test('a success wipes out what was before it, in the order in which attempts ended', () => {
    const fail = (ended_at: number) => ({ ok: false, ended_at })
    expect(changeOf([fail(1), fail(2)])).toEqual({
      succeeded_at: null,
      failures: 2,
      first_failure_at: 1,
      last_attempt_at: 2,
    })
    expect(changeOf([fail(1), { ok: true, ended_at: 2 }, fail(3)])).toEqual({
      succeeded_at: 2,
      failures: 1,
      first_failure_at: 3,
      last_attempt_at: 3,
    })
  })

  test.each([
    [0, null, 0, 'healthy'],
    [2, 0, DAY_MS, 'healthy'],
    [3, 0, 0, 'degraded'],
    [10, 0, HOUR_MS - 1, 'degraded'],
    [10, 0, HOUR_MS, 'failing'],
  ] as const)('%i failures since %p, after %i ms: %s', (failures, failing_since, now, health) => {
    expect(healthOf({ failures, failing_since }, now)).toBe(health)
  })

  test('disabling takes both, twenty failures and five days', () => {
    expect(shouldDisable({ failures: 20, failing_since: 0 }, 5 * DAY_MS)).toBe(true)
    expect(shouldDisable({ failures: 19, failing_since: 0 }, 50 * DAY_MS)).toBe(false)
    expect(shouldDisable({ failures: 900, failing_since: 0 }, 5 * DAY_MS - 1)).toBe(false)
    expect(shouldDisable({ failures: 0, failing_since: null }, 50 * DAY_MS)).toBe(false)
  })
})

describe('a webhook whose receiver fails', () => {
  test('is degraded, then failing, and healthy again with one success', async () => {
    const hook = await t.webhook(receiver.url)
    expect((await hookOf(hook.id)).health).toBe('healthy')
    for (let i = 0; i < 3; i++) await emitAndSettle()
    expect(await hookOf(hook.id)).toMatchObject({ health: 'degraded', failures: 3, status: 'active' })
    for (let i = 0; i < 7; i++) await emitAndSettle()
    t.clock.advance(HOUR_MS)
    expect((await hookOf(hook.id)).health).toBe('failing')
    status = 200
    await emitAndSettle()
    expect(await hookOf(hook.id)).toMatchObject({
      health: 'healthy',
      failures: 0,
      failing_since: null,
      last_success_at: new Date(t.clock.now()).toISOString(),
    })
  })

  /** Two days apart and more than twenty failures, but the fifth day is not over. */
  async function failForDays(days: number): Promise<void> {
    for (let day = 0; day < days; day++) {
      for (let i = 0; i < 5; i++) await emitAndSettle()
      t.clock.advance(DAY_MS)
      await settle(t)
    }
  }

  test('is disabled after five days of nothing else, with an alert; what happens then is skipped', async () => {
    const hook = await t.webhook(receiver.url)
    await emitAndSettle()
    const since = t.clock.now()
    await failForDays(4)
    t.clock.set(since + 5 * DAY_MS - 1)
    await emitAndSettle()
    expect((await hookOf(hook.id)).status).toBe('active')
    t.clock.set(since + 5 * DAY_MS)
    await emitAndSettle()
    await untilTrue(async () => (await deliveries(hook.id, '?status=retrying')).length === 0)
    expect((await hookOf(hook.id)).status).toBe('disabled')
    const [alert] = await alertsOf()
    expect(alert).toMatchObject({
      severity: 'high',
      status: 'open',
      subject: { type: 'webhook', id: hook.id },
    })
    const before = receiver.got.length
    await emitAndSettle()
    t.clock.advance(2 * DAY_MS)
    await settle(t)
    expect(receiver.got.length).toBe(before)
    expect((await deliveries(hook.id, '?status=skipped')).length).toBeGreaterThan(0)
    const audited = await t.db.query(`SELECT seq FROM audit_entries WHERE action = 'webhooks.disable'`)
    expect(audited.length).toBe(1)
  })

  test('is resumed with a clean record, which settles the alert', async () => {
    const hook = await t.webhook(receiver.url)
    await failForDays(6)
    await untilTrue(async () => (await hookOf(hook.id)).status === 'disabled')
    status = 200
    expect((await post(`/${hook.id}/resume`)).body).toMatchObject({ status: 'active', failures: 0 })
    expect((await alertsOf())[0].status).toBe('resolved')
    await emitAndSettle()
    expect((await hookOf(hook.id)).health).toBe('healthy')
  })

  test('and works now and then is never disabled', async () => {
    const hook = await t.webhook(receiver.url)
    for (let day = 0; day < 8; day++) {
      status = 500
      for (let i = 0; i < 5; i++) await emitAndSettle()
      if (day % 4 === 3) {
        status = 200
        await emitAndSettle()
      }
      t.clock.advance(DAY_MS)
    }
    expect((await hookOf(hook.id)).status).toBe('active')
  })

  test('with another URL begins anew', async () => {
    const hook = await t.webhook(receiver.url)
    for (let i = 0; i < 4; i++) await emitAndSettle()
    const changed = await t.call('PATCH', `/v1/webhooks/${hook.id}`, {
      key: t.key,
      body: { url: `${receiver.url}/new` },
    })
    expect(changed.body).toMatchObject({ health: 'healthy', failures: 0 })
    status = 200
    t.clock.advance(30 * SECOND_MS)
    await settle(t)
    expect(new Set(receiver.got.slice(-4).map((each) => each.path))).toEqual(new Set(['/hook/new']))
  })
})

describe('sending again what was not delivered', () => {
  test('counts first, then does it as a job that tells how far it is', async () => {
    const hook = await t.webhook(receiver.url)
    await post(`/${hook.id}/pause`)
    for (let i = 0; i < 620; i++) await t.emit()
    const since = new Date(t.clock.now() + 1000).toISOString()
    t.clock.advance(1000)
    for (let i = 0; i < 3; i++) await t.emit()
    await post(`/${hook.id}/resume`)
    status = 200
    const ask = (body: object) => post(`/${hook.id}/redeliver`, body)
    expect((await ask({ since: '2026-01-01', dry_run: true })).body).toEqual({ count: 0 })
    const skipped = { statuses: ['skipped'] }
    expect((await ask({ since, ...skipped, dry_run: true })).body).toEqual({ count: 3 })
    const dry = await ask({ since: '2026-01-01', ...skipped, dry_run: true })
    expect([dry.status, dry.body]).toEqual([200, { count: 623 }])
    expect(receiver.got).toEqual([])
    const started = await ask({ since: '2026-01-01', ...skipped })
    expect([started.status, started.body.count]).toEqual([202, 623])
    await t.hooks.redelivery.idle()
    await untilTrue(async () => {
      await settle(t)
      return receiver.got.length === 623
    })
    const job = (
      await t.call('GET', `/v1/webhooks/${hook.id}/redeliver-jobs/${started.body.job_id}`, { key: t.key })
    ).body
    expect(job).toMatchObject({ status: 'done', total: 623, done: 623 })
    expect(new Set(receiver.got.map((each) => each.headers['webhook-id'])).size).toBe(623)
    expect(await deliveries(hook.id, '?status=skipped')).toEqual([])
  }, 30_000)

  test('refuses nonsense', async () => {
    const hook = await t.webhook(receiver.url)
    expect((await post(`/${hook.id}/redeliver`, { since: 'yesterday' })).status).toBe(422)
    expect(
      (await post(`/${hook.id}/redeliver`, { since: '2026-01-01', statuses: ['succeeded'] })).status,
    ).toBe(422)
    expect((await post(`/${hook.id}/redeliver`, {})).status).toBe(422)
    await post(`/${hook.id}/pause`)
    expect((await post(`/${hook.id}/redeliver`, { since: '2026-01-01' })).status).toBe(409)
  })
})

async function untilTrue(check: () => Promise<boolean>, timeout_ms = 10_000): Promise<void> {
  const end = performance.now() + timeout_ms
  while (!(await check())) {
    if (performance.now() > end) throw new Error('it did not happen')
    await Bun.sleep(5)
  }
}
