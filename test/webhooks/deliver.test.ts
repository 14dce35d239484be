import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type HookApp, openHookApp, settle } from '../support/webhooks.ts'
import { type Receiver, startReceiver } from '../support/receivers.ts'

let t: HookApp
let receiver: Receiver

beforeEach(async () => {
  t = await openHookApp()
  receiver = await startReceiver()
})
afterEach(async () => {
  await t.close()
  await receiver.stop()
})

const deliveries = async (id: string, query = '') =>
  (await t.call('GET', `/v1/webhooks/${id}/deliveries${query}`, { key: t.key })).body.items

describe('an event', () => {
  test('arrives once, signed, with the bytes that are stored', async () => {
    const hook = await t.webhook(receiver.url)
    const event_id = await t.emit()
    const [got] = await receiver.until(1)
    await t.hooks.dispatcher.idle()
    const [row] = await t.db.query<{ body: string }>('SELECT body FROM events')
    expect(got!.body).toBe(row!.body)
    const seconds = got!.headers['x-service-signature-timestamp']!
    expect(Number(seconds)).toBe(Math.floor(t.clock.now() / 1000))
    // Independently of the product: the contract's scheme, by hand.
    const hmac = createHmac('sha256', hook.secret).update(`${seconds}.${got!.body}`).digest('hex')
    expect(got!.headers['x-service-signature']).toBe(hmac)
    const key = Buffer.from(hook.secret.slice('whsec_'.length), 'base64')
    const standard = createHmac('sha256', key).update(`${event_id}.${seconds}.${got!.body}`).digest('base64')
    expect(got!.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': event_id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${standard}`,
    })
    const items = await deliveries(hook.id)
    expect(items).toEqual([
      expect.objectContaining({ event_id, status: 'succeeded', attempts: 1, last_status_code: 200 }),
    ])
    await settle(t)
    expect(receiver.got.length).toBe(1)
  })
})
