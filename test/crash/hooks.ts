/**
 * Kills a sender again and again while it commits and delivers, and holds it to this: every acknowledged event
 * arrives at each webhook that wants it; what arrives twice was in flight at a kill; no attempt is counted that was
 * cut off; the audit chains are whole.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuditStore } from '../../src/audit/store.ts'
import { verifyChain } from '../../src/audit/verify.ts'
import { newId } from '../../src/lib/ids.ts'
import { createWebhookStore } from '../../src/webhooks/store.ts'
import { tempDir, testActor } from '../support/db.ts'
import { ca, startReceiver } from '../support/receivers.ts'
import { keyring, openHooks, TENANTS } from './hooks-support.ts'

export interface HooksCrashResult {
  kills: number
  acknowledged: number
  delivered: number
  /** Acknowledged, but never arrived: must be empty. */
  lost: string[]
  /** Arrived twice and were not in flight at a kill: must be empty. */
  doubled: string[]
  in_flight: number
  /** Deliveries that did not end as one counted attempt that succeeded: must be empty. */
  odd: string[]
}

const HOOKS_PER_TENANT = 2

export async function crashHooks(
  kills: number,
  random: () => number = Math.random,
): Promise<HooksCrashResult> {
  const data_dir = tempDir()
  const authority = join(data_dir, 'authority.pem')
  const receiver = await startReceiver()
  try {
    const { cert } = await ca()
    await prepare(data_dir, cert, receiver.url)
    writeFileSync(authority, cert)
    const acknowledged = new Set<string>()
    const in_flight = new Set<string>()
    for (let kill = 0; kill < kills; kill++) {
      for (const id of await sendUntilKilled(
        [data_dir, authority, String(1 + Math.floor(random() * 8))],
        random,
      )) {
        acknowledged.add(id)
      }
      for (const id of await cutOff(data_dir, cert)) in_flight.add(id)
    }
    const odd = await finish(data_dir, cert)
    const times = Map.groupBy(receiver.got, ({ path, headers }) => `${path} ${headers['webhook-id']}`)
    const arrived = (id: string): number =>
      new Set(receiver.got.filter(({ headers }) => headers['webhook-id'] === id).map(({ path }) => path)).size
    return {
      kills,
      acknowledged: acknowledged.size,
      delivered: receiver.got.length,
      lost: [...acknowledged].filter((id) => arrived(id) < HOOKS_PER_TENANT),
      doubled: [...times]
        .filter(([key, got]) => got.length > 1 && !in_flight.has(key))
        .map(([key, got]) => `${key} came ${got.length} times`),
      in_flight: in_flight.size,
      odd,
    }
  } finally {
    await receiver.stop()
    rmSync(data_dir, { recursive: true, force: true })
  }
}

async function prepare(data_dir: string, cert: string, url: string): Promise<void> {
  const { db } = openHooks(data_dir, cert)
  const store = createWebhookStore(db)
  for (const tenant_id of TENANTS) {
    await db.commit(testActor(tenant_id), {
      writes: [
        {
          sql: `INSERT INTO tenants (id, name, plan, created_at, updated_at) VALUES (?, ?, 'pro', 0, 0)`,
          params: [tenant_id, tenant_id],
        },
        ...Array.from({ length: HOOKS_PER_TENANT }, (_, n) =>
          store.insert(
            tenant_id,
            {
              id: newId('wh', Date.now()),
              url: `${url}/${tenant_id}/${n}`,
              description: '',
              events: '["RBL_LISTED"]',
              secret: keyring.seal('a secret of the crash test'),
              secret_last4: 'test',
              now: Date.now(),
            },
            20,
          ),
        ),
      ],
      audit: { none: 'staging' },
    })
  }
  await db.close()
}

/** Starts a sender, kills it after a while, and tells which events it had acknowledged. */
async function sendUntilKilled(args: string[], random: () => number): Promise<string[]> {
  const sender = Bun.spawn([process.execPath, join(import.meta.dir, 'hooks-writer.ts'), ...args], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let text = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  const decoder = new TextDecoder()
  for await (const chunk of sender.stdout) {
    text += decoder.decode(chunk, { stream: true })
    timer ??= setTimeout(() => sender.kill('SIGKILL'), 5 + random() * 300)
  }
  await sender.exited
  if (sender.signalCode !== 'SIGKILL') throw new Error(`the sender ended by itself: ${sender.exitCode}`)
  return text
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== 'ready')
}

/** What was in flight when the sender died, as the receiver would see it twice. */
async function cutOff(data_dir: string, cert: string): Promise<string[]> {
  const { db } = openHooks(data_dir, cert)
  const rows = await db.query<{ event_id: string; url: string }>(
    `SELECT d.event_id, w.url FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.status = 'sending'`,
  )
  const [check] = await db.query<{ integrity_check: string }>('PRAGMA integrity_check')
  if (check?.integrity_check !== 'ok') throw new Error(`the file is broken: ${check?.integrity_check}`)
  await db.close()
  return rows.map(({ event_id, url }) => `${new URL(url).pathname} ${event_id}`)
}

/** Sends what is left; answers deliveries that ended otherwise than they must. Throws when a chain is broken. */
async function finish(data_dir: string, cert: string): Promise<string[]> {
  const { db, area } = openHooks(data_dir, cert)
  await area.start()
  const open = `SELECT id FROM deliveries WHERE status NOT IN ('succeeded', 'failed') LIMIT 1`
  const end = performance.now() + 60_000
  while ((await db.query(open)).length > 0 && performance.now() < end) await Bun.sleep(10)
  await area.close()
  for (const tenant_id of TENANTS) {
    const chain = { instance_id: db.instance_id, tenant_id }
    const result = await verifyChain(createAuditStore(db), chain, null)
    if (!result.ok) throw new Error(`the audit chain of ${tenant_id} is broken`)
  }
  const odd = await db.query<{ id: string; status: string; attempts: number }>(
    `SELECT id, status, attempts FROM deliveries WHERE status <> 'succeeded' OR attempts <> 1`,
  )
  await db.close()
  return odd.map((row) => `${row.id}: ${row.status}, ${row.attempts} attempts`)
}
