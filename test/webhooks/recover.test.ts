/** What is left when the process ends in the middle, and when a write fails. */
import { afterEach, describe, expect, test } from 'bun:test'
import { createKeyring } from '../../src/lib/crypto.ts'
import { DELIVERY_LEASE_MS } from '../../src/lib/limits.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createWebhookArea } from '../../src/webhooks/assembly.ts'
import { testActor } from '../support/db.ts'
import { loopbackEgress, type Receiver, startReceiver } from '../support/receivers.ts'
import { type HookApp, openHookApp, settle } from '../support/webhooks.ts'

let t: HookApp
let receiver: Receiver
afterEach(async () => {
  await t.close()
  await receiver.stop()
})

const rows = () =>
  t.db.query<{ id: string; status: string; attempts: number; claim: string | null }>(
    'SELECT id, status, attempts, claim FROM deliveries ORDER BY id',
  )

/** As a crashed process leaves it: claimed by somebody who is gone. */
async function claimedByTheDead(): Promise<void> {
  const sql = `UPDATE deliveries SET status = 'sending', claim = 'dead.1', lease_until = ?`
  await t.db.commit(testActor(), {
    writes: [{ sql, params: [t.clock.now() + DELIVERY_LEASE_MS] }],
    audit: { none: 'delivery' },
  })
}

describe('a delivery that was being sent', () => {
  test('when the process died goes out after the start, and no attempt was burned', async () => {
    t = await openHookApp()
    receiver = await startReceiver()
    await t.hooks.close()
    await t.webhook(receiver.url)
    await t.emit()
    await claimedByTheDead()
    expect((await rows())[0]).toMatchObject({ status: 'sending', attempts: 0 })
    const area = createWebhookArea({
      db: t.db,
      clock: t.clock,
      log: silentLog,
      keyring: createKeyring(t.instance_key),
      egress: await loopbackEgress(),
      alerts: t.app.services.raiser,
      denials: t.app.denials,
    })
    await area.start()
    await receiver.until(1)
    await area.dispatcher.idle()
    expect((await rows())[0]).toMatchObject({ status: 'succeeded', attempts: 1 })
    await area.close()
  })

  test('whose claim outlived its lease is given back while running', async () => {
    t = await openHookApp()
    receiver = await startReceiver(() => new Response('', { status: 500 }))
    await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    await settle(t)
    await claimedByTheDead()
    t.clock.advance(DELIVERY_LEASE_MS)
    await settle(t)
    expect((await rows())[0]!.status).toBe('sending')
    t.clock.advance(1)
    await settle(t)
    expect((await rows())[0]).toMatchObject({ attempts: 2, claim: null })
  })

  test('by a claim that was taken away leaves no result', async () => {
    t = await openHookApp()
    let answer = (): void => {}
    const asked = new Promise<void>((resolve) => (answer = resolve))
    receiver = await startReceiver(async () => {
      await asked
      return new Response('ok')
    })
    await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    await claimedByTheDead()
    answer()
    await t.hooks.dispatcher.idle()
    expect((await rows())[0]).toMatchObject({ status: 'sending', attempts: 0, claim: 'dead.1' })
    expect(await t.db.query('SELECT * FROM delivery_attempts')).toEqual([])
  })
})
