import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/lib/clock.ts'
import { type Receiver, startReceiver } from '../support/receivers.ts'
import { type HookApp, openHookApp, settle } from '../support/webhooks.ts'

/** The contract's numbers, written out once more. */
const DELAYS = [0, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS]

let t: HookApp
let receiver: Receiver
let status = 500

beforeEach(async () => {
  status = 500
  t = await openHookApp()
  receiver = await startReceiver(() => new Response(`says ${status}`, { status }))
})
afterEach(async () => {
  await t.close()
  await receiver.stop()
})

interface Row {
  id: string
  status: string
  attempts: number
  round_attempts: number
  next_attempt_at: number | null
  completed_at: number | null
}

async function onlyRow(): Promise<Row> {
  const rows = await t.db.query<Row>('SELECT * FROM deliveries')
  expect(rows.length).toBe(1)
  return rows[0]!
}

/** Fails one attempt after the other until the round is over; answers when each was made. */
async function failRound(): Promise<number[]> {
  const made: number[] = []
  for (let attempt = 1; attempt <= DELAYS.length; attempt++) {
    const before = receiver.got.length
    // A millisecond early nothing happens.
    if (attempt > 1) {
      t.clock.advance(DELAYS[attempt - 1]! - 1)
      await settle(t)
      expect(receiver.got.length).toBe(before)
      t.clock.advance(1)
    }
    await settle(t)
    expect([attempt, receiver.got.length]).toEqual([attempt, before + 1])
    made.push(t.clock.now())
    const row = await onlyRow()
    const next = DELAYS[attempt] === undefined ? null : t.clock.now() + DELAYS[attempt]!
    expect([row.round_attempts, row.next_attempt_at]).toEqual([attempt, next])
  }
  return made
}

const read = (hook: string, id: string) =>
  t.call('GET', `/v1/webhooks/${hook}/deliveries/${id}`, { key: t.key })
const again = (hook: string, id: string) =>
  t.call('POST', `/v1/webhooks/${hook}/redeliver/${id}`, { key: t.key })

describe('the schedule', () => {
  test('is 0, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h after each failure, to the millisecond; then it has failed', async () => {
    const hook = await t.webhook(receiver.url)
    const began = t.clock.now()
    const event_id = await t.emit()
    await receiver.until(1)
    await t.hooks.dispatcher.idle()
    const first = await onlyRow()
    expect([first.status, first.attempts]).toEqual(['retrying', 1])
    const made = [began]
    for (let attempt = 2; attempt <= 7; attempt++) {
      t.clock.advance(DELAYS[attempt - 1]! - 1)
      await settle(t)
      expect([attempt, receiver.got.length]).toEqual([attempt, attempt - 1])
      t.clock.advance(1)
      await settle(t)
      expect(receiver.got.length).toBe(attempt)
      made.push(t.clock.now())
    }
    expect(made.map((at, i) => at - (made[i - 1] ?? began))).toEqual(DELAYS)
    const row = await onlyRow()
    expect([row.status, row.attempts, row.next_attempt_at, row.completed_at]).toEqual([
      'failed',
      7,
      null,
      t.clock.now(),
    ])
    t.clock.advance(48 * HOUR_MS)
    await settle(t)
    expect(receiver.got.length).toBe(7)
    const detail = (await read(hook.id, row.id)).body
    expect(detail.attempts.map((each: { started_at: string }) => Date.parse(each.started_at))).toEqual(made)
    expect(detail.attempts[6]).toMatchObject({
      number: 7,
      status_code: 500,
      error_class: 'http_status',
      address: '127.0.0.1',
      response_body: 'says 500',
    })
    expect(JSON.parse(detail.body).id).toBe(event_id)
    expect(new Set(receiver.got.map((each) => each.headers['webhook-id']))).toEqual(new Set([event_id]))
  })

  test('begins anew when the delivery is sent again, with the same ids', async () => {
    const hook = await t.webhook(receiver.url)
    const event_id = await t.emit()
    await t.hooks.dispatcher.idle()
    for (let attempt = 2; attempt <= 7; attempt++) {
      t.clock.advance(DELAYS[attempt - 1]!)
      await settle(t)
    }
    const failed = await onlyRow()
    expect(failed.status).toBe('failed')
    const answer = await again(hook.id, failed.id)
    expect([answer.status, answer.body.id, answer.body.event_id]).toEqual([202, failed.id, event_id])
    expect(await failRound()).toHaveLength(7)
    expect((await onlyRow()).attempts).toBe(14)
    status = 200
    expect((await again(hook.id, failed.id)).status).toBe(202)
    await settle(t)
    expect((await onlyRow()).status).toBe('succeeded')
    expect((await again(hook.id, failed.id)).body.code).toBe('conflict')
    const numbers = (await read(hook.id, failed.id)).body.attempts.map(
      (each: { number: number }) => each.number,
    )
    expect(numbers).toEqual(Array.from({ length: 15 }, (_, i) => i + 1))
  })

  test('ends with the first success', async () => {
    await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    await t.hooks.dispatcher.idle()
    status = 204
    t.clock.advance(30 * SECOND_MS)
    await settle(t)
    const row = await onlyRow()
    expect([row.status, row.attempts, row.next_attempt_at]).toEqual(['succeeded', 2, null])
  })

  test('does not care what the receiver asks for', async () => {
    await receiver.stop()
    receiver = await startReceiver(
      () => new Response('', { status: 429, headers: { 'retry-after': '86400' } }),
    )
    await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    await t.hooks.dispatcher.idle()
    expect((await onlyRow()).next_attempt_at).toBe(t.clock.now() + 30 * SECOND_MS)
  })

  test('survives a clock that is set back: nothing waits longer than its delay', async () => {
    await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    await t.hooks.dispatcher.idle()
    t.clock.set(t.clock.now() - 365 * DAY_MS)
    await settle(t)
    expect((await onlyRow()).next_attempt_at).toBe(t.clock.now() + 30 * SECOND_MS)
    t.clock.advance(30 * SECOND_MS)
    await settle(t)
    expect(receiver.got.length).toBe(2)
  })

  test('survives a clock that leaps ahead: each waiting attempt is made once, not its whole round', async () => {
    await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    await t.hooks.dispatcher.idle()
    t.clock.set(t.clock.now() + 365 * DAY_MS)
    await settle(t)
    await settle(t)
    const row = await onlyRow()
    expect([row.attempts, row.next_attempt_at]).toEqual([2, t.clock.now() + 2 * MINUTE_MS])
  })
})

describe('keeping', () => {
  async function failedDelivery() {
    const hook = await t.webhook(receiver.url)
    await t.emit()
    await t.hooks.dispatcher.idle()
    for (let attempt = 2; attempt <= 7; attempt++) {
      t.clock.advance(DELAYS[attempt - 1]!)
      await settle(t)
    }
    const [row] = await t.db.query<{ id: string; created_at: number }>(
      'SELECT id, created_at FROM deliveries',
    )
    return { hook: hook.id, ...row! }
  }
  const retain = () => t.hooks.sweeper.retain(new AbortController().signal)
  const counts = async () => {
    const [row] = await t.db.query<object>(
      `SELECT (SELECT count(*) FROM deliveries) AS deliveries, (SELECT count(*) FROM events) AS events,
         (SELECT count(*) FROM delivery_attempts) AS attempts`,
    )
    return row
  }

  test('ends after 90 days for bodies and attempts (410) and after 180 for the row (404)', async () => {
    const { hook, id, created_at } = await failedDelivery()
    t.clock.set(created_at + 90 * DAY_MS - 1)
    expect((await read(hook, id)).status).toBe(200)
    await retain()
    expect(await counts()).toEqual({ deliveries: 1, events: 1, attempts: 7 })
    t.clock.advance(1)
    expect([(await read(hook, id)).status, (await again(hook, id)).status]).toEqual([410, 410])
    await retain()
    expect(await counts()).toEqual({ deliveries: 1, events: 0, attempts: 0 })
    expect((await read(hook, id)).body.code).toBe('gone')
    t.clock.set(created_at + 180 * DAY_MS)
    expect([(await read(hook, id)).status, (await again(hook, id)).status]).toEqual([404, 404])
    await retain()
    expect(await counts()).toEqual({ deliveries: 0, events: 0, attempts: 0 })
  })

  test('a delivery can be sent again on its last day', async () => {
    const { hook, id, created_at } = await failedDelivery()
    t.clock.set(created_at + 90 * DAY_MS - 1000)
    status = 200
    expect((await again(hook, id)).status).toBe(202)
    await settle(t)
    expect((await onlyRow()).status).toBe('succeeded')
  })

  test('a delivery whose body has gone while it was tried again has failed', async () => {
    const { hook, id, created_at } = await failedDelivery()
    t.clock.set(created_at + 90 * DAY_MS - 1000)
    await again(hook, id)
    await settle(t)
    expect((await onlyRow()).status).toBe('retrying')
    t.clock.advance(30 * SECOND_MS)
    await retain()
    const before = receiver.got.length
    await settle(t)
    expect((await onlyRow()).status).toBe('failed')
    expect(receiver.got.length).toBe(before)
  })
})
