/** From a report file to the people and programs that must know: once each, and in time. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS, SECOND_MS } from '../../src/lib/clock.ts'
import { aggregate } from '../support/aggregate.ts'
import { type Receiver, startReceiver } from '../support/receivers.ts'
import { openSmtp } from '../support/smtp.ts'
import { type HookApp, openHookApp } from '../support/webhooks.ts'

let t: HookApp
let receiver: Receiver
let smtp: Awaited<ReturnType<typeof openSmtp>>

beforeEach(async () => {
  t = await openHookApp()
  receiver = await startReceiver()
  smtp = await openSmtp()
})
afterEach(async () => {
  await t.close()
  await receiver.stop()
  await smtp.close()
})

test('a domain falls below its threshold: one alert, one signed event, one mail', async () => {
  const { key } = t
  const operator = await t.tenantKey(['instance:*'])
  const mail = { host: '127.0.0.1', port: smtp.port, security: 'none', from_address: 'wardpost@example.com' }
  await t.call('PUT', '/v1/instance/mail', { key: operator, body: mail })
  await t.webhook(receiver.url, { events: ['DMARC_THRESHOLD_REACHED'] })
  await t.call('POST', '/v1/domains', { key, body: { name: 'example.com' } })
  const begin = (Math.floor(t.clock.now() / DAY_MS) - 1) * (DAY_MS / SECOND_MS)
  for (const [id, dkim, count] of [
    ['good', 'pass', 150],
    ['bad', 'fail', 50],
  ] as const) {
    const body = aggregate({ id, begin, count, dkim })
    expect((await t.call('POST', '/v1/reports/upload', { key, body })).status).toBe(201)
  }
  const { compliance, notifier } = t.app.services
  for (let i = 0; i < 3; i++) {
    await compliance.evaluate()
    await notifier.run()
  }
  const [got] = await receiver.until(1)
  await t.hooks.dispatcher.idle()
  const { items } = (await t.call('GET', '/v1/alerts', { key })).body
  expect([receiver.got.length, smtp.received.length, items.length]).toEqual([1, 1, 1])
  const event = JSON.parse(got!.body)
  expect(event).toMatchObject({ type: 'DMARC_THRESHOLD_REACHED', data: { compliance: 75, messages: 200 } })
  expect(items[0].evidence).toMatchObject(event.data)
  expect((await smtp.received[0]!.mail()).text).toContain(items[0].id)
})
