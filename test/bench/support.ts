/** The application on a disk of the machine, as `serve` composes it, without a socket. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AppPorts, createApp } from '../../src/app.ts'
import { openDb } from '../../src/db/open.ts'
import { cliActor } from '../../src/lib/actors.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createKeyring } from '../../src/lib/crypto.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createResolver } from '../../src/net/dns.ts'
import { createEgressPolicy } from '../../src/net/egress-policy.ts'
import { createEgress } from '../../src/net/http.ts'
import { createMailer } from '../../src/net/mail-out.ts'
import { createLookup } from '../../src/net/lookup.ts'
import { createSandboxPool } from '../../src/sandbox/pool.ts'

const SANDBOX = [process.execPath, join(import.meta.dir, '../support/sandbox-child.ts')]

export type BenchApp = Awaited<ReturnType<typeof openBenchApp>>

/** `WARDPOST_BENCH_DIR` says on which disk; the system's temporary folder otherwise. */
export async function openBenchApp(over: Partial<AppPorts> = {}) {
  const data_dir = mkdtempSync(join(process.env['WARDPOST_BENCH_DIR'] ?? tmpdir(), 'wardpost-bench-'))
  const clock = systemClock
  const instance_key = randomBytes(32)
  const db = openDb({ data_dir, clock })
  const pool = createSandboxPool({ command: SANDBOX, size: 1, clock })
  const app = await createApp({
    clock,
    log: silentLog,
    db,
    data_dir,
    pool,
    resolver: createResolver({ servers: 'none', timeout_ms: 1000 }),
    mailer: createMailer({ ca: null }),
    egress: createEgress({
      policy: createEgressPolicy({ allow: [], ports: null }),
      lookup: createLookup({ servers: 'none', timeout_ms: 1000 }),
      clock: systemClock,
      authorities: null,
    }),
    networks: null,
    instance_key,
    version: '0.0.0-bench',
    baseUrl: () => 'http://localhost',
    base_origin: null,
    trusted_proxies: [],
    tls: false,
    settings: [],
    keepSetupLink() {},
    loadAssets: async () => [],
    instance: {
      show: () => Promise.reject(new Error('not in benches')),
      backups: { list: async () => [], create: () => Promise.reject(new Error('not in benches')) },
      jobs: {
        list: async () => [],
        run: () => Promise.reject(new Error('not in benches')),
        runs: () => Promise.reject(new Error('not in benches')),
      },
    },
    ...over,
  })
  const limits = { key_per_minute: 10_000_000, tenant_per_minute: 10_000_000 }
  const owner = { name: 'Bench', email: 'bench@bench.example', plan: 'enterprise' as const, limits }
  const { tenant_id } = await app.services.setup.createHeadless(cliActor(), owner)
  const { api_key } = await app.services.keys.issue(cliActor(tenant_id), tenant_id, 'bench', ['*'])

  return {
    app,
    db,
    pool,
    data_dir,
    tenant_id,
    keyring: createKeyring(instance_key),
    actor: cliActor(tenant_id),
    /** The whole request, from arrival to the last byte, in milliseconds. */
    async get(path: string): Promise<number> {
      const started = performance.now()
      const request = new Request(`http://localhost${path}`, {
        headers: { authorization: `Bearer ${api_key}` },
      })
      const response = await app.http.handle(request)
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
      return performance.now() - started
    },
    async post(path: string, body: unknown): Promise<{ id: string }> {
      const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
      const request = new Request(`http://localhost${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      return (await (await app.http.handle(request)).json()) as { id: string }
    },
    async close() {
      await pool.close()
      await app.close()
      await db.close()
      rmSync(data_dir, { recursive: true, force: true })
    },
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Number((sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(1))
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)
