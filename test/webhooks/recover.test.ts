/** What is left when the process ends in the middle, and when a write fails. */
import { afterEach, describe, expect, test } from 'bun:test'
import type { Db } from '../../src/db/types.ts'
import { createKeyring, type Keyring } from '../../src/lib/crypto.ts'
import { DELIVERY_LEASE_MS } from '../../src/lib/limits.ts'
import { problem } from '../../src/lib/errors.ts'
import type { Egress } from '../../src/net/http.ts'
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

/** The parts of the product over this database, as another process would run them. */
async function anotherArea(over: { db?: Db; keyring?: Keyring; egress?: Egress } = {}) {
  return createWebhookArea({
    db: t.db,
    clock: t.clock,
    log: silentLog,
    keyring: createKeyring(t.instance_key),
    egress: await loopbackEgress(),
    alerts: t.app.services.raiser,
    denials: t.app.denials,
    ...over,
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
    const area = await anotherArea()
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

  test('when its webhook was paused is not tried again, but put aside', async () => {
    t = await openHookApp()
    let answer = (): void => {}
    const asked = new Promise<void>((resolve) => (answer = resolve))
    receiver = await startReceiver(async () => {
      await asked
      return new Response('', { status: 503 })
    })
    const hook = await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    await t.call('POST', `/v1/webhooks/${hook.id}/pause`, { key: t.key })
    answer()
    await t.hooks.dispatcher.idle()
    const [row] = await t.db.query<object>('SELECT status, attempts, next_attempt_at FROM deliveries')
    expect(row).toEqual({ status: 'skipped', attempts: 1, next_attempt_at: null })
  })
})

describe('a result that cannot be written', () => {
  test('is kept until it can, and nothing goes out twice', async () => {
    t = await openHookApp()
    receiver = await startReceiver()
    await t.hooks.close()
    await t.webhook(receiver.url)
    let failing = 0
    const db: Db = {
      ...t.db,
      commit(actor, change) {
        const results = change.writes.some((write) => 'rows' in write && (write.rows?.length ?? 0) > 0)
        const delivery = 'none' in change.audit && change.audit.none === 'delivery'
        // The claim gets through, and the first try to write the result does not.
        if (delivery && results && receiver.got.length === 1 && failing++ === 0) {
          return Promise.reject(problem('storage_full'))
        }
        return t.db.commit(actor, change)
      },
    }
    const area = await anotherArea({ db })
    await area.start()
    await t.emit()
    await receiver.until(1)
    await area.dispatcher.idle()
    expect(failing).toBeGreaterThan(1)
    expect(receiver.got.length).toBe(1)
    expect((await rows())[0]).toMatchObject({ status: 'succeeded', attempts: 1 })
    await area.close()
  })
})

describe('an attempt that cannot be made', () => {
  const attempts = () =>
    t.db.query<{ error_class: string; address: string | null }>(
      'SELECT error_class, address FROM delivery_attempts',
    )

  test('because the secret was sealed elsewhere says so', async () => {
    t = await openHookApp()
    receiver = await startReceiver()
    await t.hooks.close()
    const hook = await t.webhook(receiver.url)
    const area = await anotherArea({ keyring: createKeyring(new Uint8Array(32)) })
    await area.start()
    await t.emit()
    await area.dispatcher.idle()
    expect(await attempts()).toEqual([{ error_class: 'secret', address: null }])
    expect((await rows())[0]!.status).toBe('retrying')
    expect(receiver.got).toEqual([])
    expect(await area.webhooks.signing(t.tenant_id, hook.id)).toBeNull()
    await area.close()
  })

  test('because the name leads to a private address by now is blocked, counted as failed, and in the log', async () => {
    let address = '127.0.0.1'
    t = await openHookApp({ egress: await loopbackEgress(async () => [address], '127.0.0.1/32') })
    receiver = await startReceiver()
    await t.webhook(receiver.url)
    address = '10.1.2.3'
    await t.emit()
    await t.hooks.dispatcher.idle()
    expect(await attempts()).toEqual([{ error_class: 'blocked', address: null }])
    expect(receiver.got).toEqual([])
    await t.app.denials.flush({ all: true })
    const [entry] = await t.db.query<{ entry: string }>(
      `SELECT entry FROM audit_entries WHERE action = 'webhooks.blocked_count' AND tenant_id = ?`,
      [t.tenant_id],
    )
    expect(JSON.parse(entry!.entry)).toMatchObject({ outcome: 'denied', detail: { count: 1 } })
    expect(JSON.stringify(await rows())).not.toContain('10.1.2.3')
  })
})

describe('stopping', () => {
  test('waits for what is under way, three seconds at most, and what was cut off goes out after the next start', async () => {
    t = await openHookApp()
    let answer = (): void => {}
    const asked = new Promise<void>((resolve) => (answer = resolve))
    receiver = await startReceiver(async (_, got) => {
      if (got.length === 1) await asked
      return new Response('ok')
    })
    await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    const began = performance.now()
    await t.hooks.close()
    expect(performance.now() - began).toBeLessThan(3500)
    expect((await rows())[0]).toMatchObject({ status: 'sending', attempts: 0 })
    answer()
    await Bun.sleep(20)
    expect((await rows())[0]).toMatchObject({ status: 'sending', attempts: 0 })
    const area = await anotherArea()
    await area.start()
    await receiver.until(2)
    await area.dispatcher.idle()
    expect((await rows())[0]).toMatchObject({ status: 'succeeded', attempts: 1 })
    await area.close()
  })

  test('writes the result of what ends in time', async () => {
    t = await openHookApp()
    receiver = await startReceiver(async () => {
      await Bun.sleep(200)
      return new Response('ok')
    })
    await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    await t.hooks.close()
    expect((await rows())[0]).toMatchObject({ status: 'succeeded', attempts: 1 })
  })
})
