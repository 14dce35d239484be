/**
 * Deliveries a second, sustained, to receivers on loopback TLS that share the cores with the sender, with everything
 * durable (synchronous FULL); where the time goes; and what 100,000 waiting deliveries do to API writes.
 * `bun test/bench/webhooks.ts [SECONDS]`
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SqlValue } from '../../src/db/types.ts'
import { systemActor } from '../../src/lib/actors.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { EVENT_KINDS } from '../../src/lib/event-kinds.ts'
import { newId } from '../../src/lib/ids.ts'
import { parseCidr } from '../../src/lib/ip.ts'
import { createEgressPolicy } from '../../src/net/egress-policy.ts'
import { createEgress, type Egress } from '../../src/net/http.ts'
import { type BenchApp, openBenchApp, percentile } from './support.ts'

const SECONDS = Number(process.argv[2] ?? 10)
const TENANTS = 32
const HOOKS_PER_TENANT = 4
/** Deliveries that wait at any time: enough that nobody runs dry. */
const BACKLOG = 2000
const WAITING = 100_000
const API_WRITES = 500

interface ReceiverProcess {
  port: number
  authority: string
  usage(): Promise<{ count: number; cpu_s: number }>
  stop(): void
}

async function startReceiver(): Promise<ReceiverProcess> {
  let told: (message: unknown) => void = () => {}
  const next = <T>(): Promise<T> => new Promise((resolve) => (told = (message) => resolve(message as T)))
  const ready = next<{ port: number; authority: string }>()
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'webhooks-receiver.ts')], {
    ipc: (message: unknown) => told(message),
    stdout: 'inherit',
    stderr: 'inherit',
  })
  return {
    ...(await ready),
    usage() {
      const answer = next<{ count: number; cpu_s: number }>()
      child.send('usage')
      return answer
    },
    stop: () => child.kill(),
  }
}

/** Attempts that have ended. */
let arrived = 0

const egressTo = (authority: string): Egress =>
  createEgress({
    policy: createEgressPolicy({ allow: [parseCidr('127.0.0.0/8')!], ports: null }),
    lookup: async () => ['127.0.0.1'],
    clock: systemClock,
    authorities: [authority],
  })

/** Every delivery arrives, and nothing goes over a wire: what is left is the database and our own work. */
const nowhere = (egress: Egress): Egress => ({
  ...egress,
  send: async () => ({
    status: 200,
    location: null,
    body: new Uint8Array(2),
    truncated: false,
    address: '127.0.0.1',
    ms: 0,
    error: null,
  }),
})

/** Processor seconds of the threads of this process: the one that runs the program, the one of HTTP and TLS, others. */
function threadSeconds(): { main: number; http: number; others: number } {
  const out = { main: 0, http: 0, others: 0 }
  for (const task of readdirSync('/proc/self/task')) {
    const text = readFileSync(`/proc/self/task/${task}/stat`, 'utf8')
    const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const seconds = (Number(fields[11]) + Number(fields[12])) / 100
    const part = Number(task) === process.pid ? 'main' : /http/i.test(name) ? 'http' : 'others'
    out[part] += seconds
  }
  return out
}

async function addHooks(t: BenchApp, urlOf: (tenant: number, hook: number) => string): Promise<string[]> {
  const ids: string[] = []
  for (let tenant = 0; tenant < TENANTS; tenant++) {
    const id = newId('ten', Date.now())
    ids.push(id)
    const keyring = t.keyring
    await t.db.commit(systemActor(id), {
      writes: [
        {
          sql: `INSERT INTO tenants (id, name, plan, created_at, updated_at) VALUES (?, ?, 'pro', 0, 0)`,
          params: [id, id],
        },
        {
          sql: `INSERT INTO webhooks (id, tenant_id, url, description, events, status, secret, secret_last4,
                  created_at, updated_at) VALUES (?, ?, ?, '', '["RBL_LISTED"]', 'active', ?, '', 0, 0)`,
          rows: Array.from({ length: HOOKS_PER_TENANT }, (_, hook): SqlValue[] => [
            newId('wh', Date.now()),
            id,
            urlOf(tenant, hook),
            keyring.seal('a secret of the bench'),
          ]),
        },
      ],
      audit: { none: 'staging' },
    })
  }
  return ids
}

const draft = () => ({
  id: newId('evt', Date.now()),
  type: 'RBL_LISTED',
  created_at: Date.now(),
  data: EVENT_KINDS.RBL_LISTED.example,
})

const count = async (t: BenchApp, status: string): Promise<number> => {
  const [row] = await t.db.query<{ n: number }>('SELECT count(*) AS n FROM deliveries WHERE status = ?', [
    status,
  ])
  return row!.n
}

const counted = (egress: Egress): Egress => ({
  ...egress,
  async send(request) {
    const answer = await egress.send(request)
    arrived++
    return answer
  },
})

/** Keeps the queue filled for a while, and says what was done and what it took. */
async function sustained(t: BenchApp, tenants: readonly string[], receiver: ReceiverProcess) {
  let committed = arrived
  const emitter = async (stop: () => boolean): Promise<void> => {
    let turn = 0
    while (!stop()) {
      if (committed - arrived > BACKLOG) {
        await Bun.sleep(2)
        continue
      }
      const batch = Array.from({ length: 16 }, () => tenants[turn++ % tenants.length]!)
      await Promise.all(
        batch.map((tenant_id) =>
          t.db.commit(systemActor(tenant_id), { writes: [], audit: { none: 'rollup' }, events: [draft()] }),
        ),
      )
      committed += batch.length * HOOKS_PER_TENANT
    }
  }
  const warm = performance.now() + 1500
  await emitter(() => performance.now() > warm)
  const before = {
    at: performance.now(),
    cpu: threadSeconds(),
    receiver: await receiver.usage(),
    n: arrived,
  }
  const end = performance.now() + SECONDS * 1000
  await emitter(() => performance.now() > end)
  const after = {
    at: performance.now(),
    cpu: threadSeconds(),
    receiver: await receiver.usage(),
    n: arrived,
  }
  const n = after.n - before.n
  const each = (from: number, to: number): number => Number((((to - from) * 1e6) / n).toFixed(0))
  return {
    'deliveries/s': Math.round(n / ((after.at - before.at) / 1000)),
    'main us': each(before.cpu.main, after.cpu.main),
    'http+tls us': each(before.cpu.http, after.cpu.http),
    'other threads us': each(before.cpu.others, after.cpu.others),
    'receiver us': each(before.receiver.cpu_s, after.receiver.cpu_s),
  }
}

/** 100,000 deliveries due, spread over all webhooks. */
async function pileUp(t: BenchApp, tenants: readonly string[]): Promise<void> {
  const events = WAITING / HOOKS_PER_TENANT
  for (let i = 0; i < events; i += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, j) =>
        t.db.commit(systemActor(tenants[(i + j) % tenants.length]), {
          writes: [],
          audit: { none: 'rollup' },
          events: [draft()],
        }),
      ),
    )
  }
}

/** What a client waits for a write, 100 a second. */
async function apiWrites(t: BenchApp, name: string) {
  const took: number[] = []
  for (let i = 0; i < API_WRITES; i++) {
    const started = performance.now()
    await t.post('/v1/domains', { name: `${name}-${i}.example` })
    took.push(performance.now() - started)
    await Bun.sleep(10)
  }
  return { 'p50 ms': percentile(took, 0.5), 'p99 ms': percentile(took, 0.99), 'max ms': percentile(took, 1) }
}

const receiver = await startReceiver()
const egress = egressTo(receiver.authority)
const urlOf = (tenant: number, hook: number) => `https://hooks.test:${receiver.port}/${tenant}/${hook}`

const rows: object[] = []
for (const [name, way] of [
  ['whole', egress],
  ['no network', nowhere(egress)],
] as const) {
  const t = await openBenchApp({ egress: counted(way) })
  const tenants = await addHooks(t, urlOf)
  await t.app.start()
  rows.push({ run: name, ...(await sustained(t, tenants, receiver)) })
  await t.close()
}
console.log('Processor time per delivery, by thread; the bench makes the events on the main thread too.')
console.table(rows)

const writes: object[] = []
for (const [name, url] of [
  ['nothing waits', null],
  ['100,000 wait for receivers that hang', `https://hooks.test:${receiver.port}/hang`],
  ['100,000 being sent at full speed', ''],
] as const) {
  const t = await openBenchApp({ egress })
  if (url !== null) {
    const tenants = await addHooks(t, url === '' ? urlOf : () => url)
    await pileUp(t, tenants)
  }
  await t.app.start()
  await apiWrites(t, 'warm')
  const waiting = await count(t, 'pending')
  writes.push({ while: name, waiting, ...(await apiWrites(t, 'bench')), left: await count(t, 'pending') })
  await t.close()
}
console.log('API writes (POST /v1/domains), 100 a second.')
console.table(writes)
receiver.stop()
process.exit(0)
