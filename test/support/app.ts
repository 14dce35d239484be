/** The whole application over a real database in a folder of its own, without a socket, with the clock in hand. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createApp, type AppPorts } from '../../src/app.ts'
import { problem } from '../../src/lib/errors.ts'
import { cliActor } from '../../src/lib/actors.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createResolver } from '../../src/net/dns.ts'
import { createMailer } from '../../src/net/mail-out.ts'
import { createEgressPolicy } from '../../src/net/egress-policy.ts'
import { createEgress } from '../../src/net/http.ts'
import { createLookup } from '../../src/net/lookup.ts'
import { createSandboxPool } from '../../src/sandbox/pool.ts'
import type { Plan } from '../../src/lib/principal.ts'
import { createContract } from './contract.ts'
import { openTestDb } from './db.ts'

/** Children start when a test uploads something, not before. */
const SANDBOX = [process.execPath, join(import.meta.dir, 'sandbox-child.ts')]

export interface Answer {
  status: number
  headers: Headers
  /** The parsed JSON body; null when there is none. */
  body: any // oxlint-disable-line typescript/no-explicit-any
  text: string
}

export type TestApp = Awaited<ReturnType<typeof openTestApp>>

export async function openTestApp(over: Partial<AppPorts> = {}) {
  const { db, clock, data_dir, close } = await openTestDb()
  const pool = createSandboxPool({ command: SANDBOX, size: 1, clock: systemClock })
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
    instance_key: randomBytes(32),
    version: '0.0.0-test',
    baseUrl: () => 'http://localhost',
    base_origin: null,
    trusted_proxies: [],
    tls: false,
    settings: [],
    keepSetupLink() {},
    loadAssets: async () => [],
    instance: {
      show: () => Promise.reject(new Error('not in tests')),
      backups: { list: async () => [], create: () => Promise.reject(new Error('not in tests')) },
      jobs: {
        list: async () => [],
        run: () => Promise.reject(problem('not_found')),
        runs: () => Promise.reject(problem('not_found')),
      },
    },
    ...over,
  })

  const contract = createContract(app.http.routes)

  /** One request, as a client makes it. Throws when the answer is not what the API reference promises. `key` is sent as Bearer. */
  async function call(
    method: string,
    path: string,
    options: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const headers = new Headers(options.headers)
    if (options.key !== undefined) headers.set('authorization', `Bearer ${options.key}`)
    let body: BodyInit | undefined
    if (
      options.body instanceof FormData ||
      options.body instanceof Uint8Array ||
      typeof options.body === 'string'
    ) {
      body = options.body as BodyInit
    } else if (options.body !== undefined) {
      body = JSON.stringify(options.body)
      headers.set('content-type', 'application/json')
    }
    const response = await app.http.handle(
      new Request(`http://localhost${path}`, { method, headers, ...(body === undefined ? {} : { body }) }),
    )
    const text = await response.text()
    const type = response.headers.get('content-type') ?? ''
    const json = /^application\/(problem\+)?json/.test(type) && text !== '' ? JSON.parse(text) : null
    contract.check(method, path, response.status, json)
    return { status: response.status, headers: response.headers, body: json, text }
  }

  /** A tenant with its owner and a key of the given scopes, as the command line makes them. */
  async function tenant(name: string, scopes: string[] = ['*'], plan: Plan = 'pro') {
    const email = `owner@${name.toLowerCase().replace(/\W+/g, '-')}.example`
    const made = await app.services.setup.createHeadless(cliActor(), { name, email, plan, limits: {} })
    return { ...made, email, key: await key(made.tenant_id, scopes) }
  }

  async function key(tenant_id: string, scopes: string[]): Promise<string> {
    const made = await app.services.keys.issue(cliActor(tenant_id), tenant_id, 'test', scopes)
    return made.api_key
  }

  return {
    app,
    db,
    clock,
    data_dir,
    call,
    tenant,
    key,
    async close() {
      await pool.close()
      await app.close()
      await close()
    },
  }
}
