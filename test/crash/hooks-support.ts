/** What sender and judge of the crash test for deliveries share: the parts of the product, without HTTP before them. */
import { createRaiser } from '../../src/alerts/raise.ts'
import { createAlertStore } from '../../src/alerts/store.ts'
import { openDb } from '../../src/db/open.ts'
import { createKeyring } from '../../src/lib/crypto.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { parseCidr } from '../../src/lib/ip.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createEgressPolicy } from '../../src/net/egress-policy.ts'
import { createEgress } from '../../src/net/http.ts'
import { createWebhookArea } from '../../src/webhooks/assembly.ts'

export const TENANTS = ['ten_a', 'ten_b']
/** The same in every process, as the file in the data folder would be. */
const INSTANCE_KEY = new Uint8Array(32).fill(9)
export const keyring = createKeyring(INSTANCE_KEY)

export function openHooks(data_dir: string, authority: string) {
  const clock = systemClock
  const db = openDb({ data_dir, clock, reserve_bytes: 0 })
  const area = createWebhookArea({
    db,
    clock,
    log: silentLog,
    keyring,
    egress: createEgress({
      policy: createEgressPolicy({ allow: [parseCidr('127.0.0.0/8')!], ports: null }),
      lookup: async () => ['127.0.0.1'],
      clock,
      authorities: [authority],
    }),
    alerts: createRaiser({ db, store: createAlertStore(db), clock }),
    denials: { recordEgress() {} },
  })
  return { db, area }
}
