/** The parts of this area, put together. */
import type { AlertRaiser } from '../alerts/types.ts'
import type { Denials } from '../audit/denials.ts'
import type { Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Keyring } from '../lib/crypto.ts'
import type { Log } from '../lib/log.ts'
import type { Egress } from '../net/http.ts'
import { createDispatcher } from './dispatcher.ts'
import { createRedelivery } from './redelivery.ts'
import { createSecretBox } from './secrets.ts'
import { createSender, type SenderPorts } from './sender.ts'
import { createDeliveries } from './service.deliveries.ts'
import { createWebhooks } from './service.ts'
import { createDeliveryStore } from './store.deliveries.ts'
import { createQueueStore } from './store.queue.ts'
import { createWebhookStore } from './store.ts'
import { createSweeper } from './sweeper.ts'

export interface WebhookPorts {
  db: Db
  clock: Clock
  log: Log
  keyring: Keyring
  egress: Egress
  alerts: Pick<AlertRaiser, 'raise' | 'settle'>
  denials: Pick<Denials, 'recordEgress'>
  ended?: SenderPorts['ended']
  /** For one attempt; other than the contract says only in tests. */
  timeout_ms?: number
}

export type WebhookArea = ReturnType<typeof createWebhookArea>

export function createWebhookArea(ports: WebhookPorts) {
  const { db, clock, log, egress, denials } = ports
  const store = createWebhookStore(db)
  const delivery_store = createDeliveryStore(db)
  const queue = createQueueStore(db)
  const secrets = createSecretBox(ports.keyring)
  const sender = createSender({
    egress,
    clock,
    secrets,
    blocked: (tenant_id, webhook_id) => denials.recordEgress(systemActor(tenant_id), { webhook_id }),
    ...(ports.ended === undefined ? {} : { ended: ports.ended }),
    ...(ports.timeout_ms === undefined ? {} : { timeout_ms: ports.timeout_ms }),
  })
  const judge = (failed: Parameters<typeof webhooks.judge>[0]): void => {
    webhooks.judge(failed).catch((error: unknown) => log.error('a webhook could not be disabled', { error }))
  }
  const dispatcher = createDispatcher({ db, store: queue, sender, clock, log, failed: judge })
  const sweeper = createSweeper({ db, store: queue, clock })
  const redelivery = createRedelivery({ db, store: delivery_store, clock, log, wake: dispatcher.wake })
  const webhooks = createWebhooks({
    db,
    store,
    clock,
    egress,
    secrets,
    sender,
    sweeper,
    dispatcher,
    alerts: ports.alerts,
    blocked: (actor, webhook_id) => denials.recordEgress(actor, { webhook_id }),
  })
  const deliveries = createDeliveries({
    db,
    store: delivery_store,
    webhooks: store,
    clock,
    dispatcher,
    redelivery,
  })

  return {
    webhooks,
    deliveries,
    dispatcher,
    sweeper,
    redelivery,
    /** Begins to send, and goes on with what a former process left undone. */
    async start(): Promise<void> {
      await sweeper.finish()
      await dispatcher.start()
      await redelivery.resume()
    },
    /** Lets what is under way end, within seconds. */
    async close(): Promise<void> {
      await redelivery.close()
      await dispatcher.close()
    },
  }
}
