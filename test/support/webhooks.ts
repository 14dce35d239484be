/** The application with webhooks that reach loopback, and events to send. */
import { randomBytes } from 'node:crypto'
import { systemActor } from '../../src/lib/actors.ts'
import { EVENT_KINDS, type EventType } from '../../src/lib/event-kinds.ts'
import { newId } from '../../src/lib/ids.ts'
import type { AppPorts } from '../../src/app.ts'
import { openTestApp } from './app.ts'
import { loopbackEgress } from './receivers.ts'

export type HookApp = Awaited<ReturnType<typeof openHookApp>>

export async function openHookApp(over: Partial<AppPorts> = {}) {
  const instance_key = randomBytes(32)
  const t = await openTestApp({ egress: await loopbackEgress(), instance_key, ...over })
  const { hooks } = t.app.services
  const first = await t.tenant('Acme', ['*'], 'enterprise')
  await hooks.start()

  /** Commits an event as an area does; answers its id once that is durable. */
  async function emit(tenant_id = first.tenant_id, type: EventType = 'RBL_LISTED'): Promise<string> {
    const now = t.clock.now()
    const id = newId('evt', now)
    await t.db.commit(systemActor(tenant_id), {
      writes: [],
      audit: { none: 'rollup' },
      events: [{ id, type, created_at: now, data: EVENT_KINDS[type].example }],
    })
    return id
  }

  /** A webhook, made over the API. */
  async function webhook(url: string, over_body: object = {}, key = first.key) {
    const body = { url, events: ['RBL_LISTED'], ...over_body }
    const made = await t.call('POST', '/v1/webhooks', { key, body })
    if (made.status !== 201) throw new Error(`webhook: ${made.status} ${made.text}`)
    return made.body as { id: string; secret: string; version: number }
  }

  const tenantKey = (scopes: string[]) => t.key(first.tenant_id, scopes)

  return { ...t, tenant_id: first.tenant_id, key: first.key, tenantKey, instance_key, hooks, emit, webhook }
}

/** Everything that is due is sent and its result written. */
export async function settle(t: HookApp): Promise<void> {
  await t.hooks.dispatcher.poll()
  await t.hooks.dispatcher.idle()
}
