import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createAnchors } from '../../src/audit/anchors.ts'
import { readStatement } from '../../src/lib/audit-statement.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/clock.ts'
import type { EgressAnswer } from '../../src/net/http.ts'
import type { Principal } from '../../src/lib/principal.ts'
import { type Answer, openTestApp, type TestApp } from '../support/app.ts'
import { openTestAudit, type TestAudit } from '../support/audit.ts'
import { failureOf, openTestDb, testActor, type TestDb } from '../support/db.ts'

const SYSLOG = { host: 'siem.example.com', port: 514, protocol: 'tcp' } as const
const EMPTY = { mail_to: [], syslog: null, webhook_url: null }

describe('over HTTP', () => {
  let t: TestApp
  let key: string
  let operator: string

  beforeEach(async () => {
    t = await openTestApp()
    const made = await t.tenant('Acme')
    key = made.key
    operator = await t.key(made.tenant_id, ['instance:*'])
  })
  afterEach(() => t.close())

  const put = (body: object, as?: string) =>
    t.call('PUT', '/v1/instance/anchors', { body, ...(as === undefined ? {} : { key: as }) })

  const scenarios: [string, () => Promise<Answer>, number, string | undefined][] = [
    ['by nobody', () => put(EMPTY), 401, 'unauthenticated'],
    ['with a key of a tenant', () => put(EMPTY, key), 403, 'insufficient_scope'],
    [
      'with an address that is none',
      () => put({ ...EMPTY, mail_to: ['nobody'] }, operator),
      422,
      'validation_failed',
    ],
    ['with half of it', () => put({ mail_to: [] }, operator), 422, 'validation_failed'],
    [
      'with an unknown protocol',
      () => put({ ...EMPTY, syslog: { ...SYSLOG, protocol: 'sctp' } }, operator),
      422,
      'validation_failed',
    ],
    [
      'to an address inside',
      () => put({ ...EMPTY, webhook_url: 'https://127.0.0.1/x' }, operator),
      422,
      'webhook_url_blocked',
    ],
    [
      'rightly',
      () => put({ ...EMPTY, mail_to: ['a@example.com'], syslog: SYSLOG }, operator),
      200,
      undefined,
    ],
  ]
  for (const [name, run, status, code] of scenarios) {
    test(`${name}: ${status}`, async () => {
      const answer = await run()
      expect([answer.status, answer.body.code]).toEqual([status, code])
    })
  }

  test('shows what is set, and the newest line to keep by hand', async () => {
    await t.app.services.checkpoints.round()
    await put({ ...EMPTY, syslog: SYSLOG }, operator)
    const { body } = await t.call('GET', '/v1/instance/anchors', { key: operator })
    expect(body).toMatchObject({
      mail_to: [],
      syslog: SYSLOG,
      webhook_url: null,
      targets: [{ kind: 'syslog', sent_n: 0, error: null }],
    })
    expect(readStatement(body.latest.line)?.statement).toMatchObject({
      tenant_id: '_system',
      n: body.latest.n,
    })
    expect((await put(EMPTY, operator)).body.targets).toEqual([])
  })
})

describe('sending', () => {
  let t: TestDb
  let a: TestAudit
  let got: { syslog: string[]; webhook: string[]; mail: string[] }
  let broken: Set<string>
  let anchors: ReturnType<typeof createAnchors>

  beforeEach(async () => {
    t = await openTestDb()
    a = openTestAudit(t)
    await a.checkpoints.start()
    got = { syslog: [], webhook: [], mail: [] }
    broken = new Set()
    const answer = (status: number): EgressAnswer => ({
      status,
      location: null,
      body: new Uint8Array(),
      truncated: false,
      address: '192.0.2.1',
      ms: 1,
      error: null,
    })
    anchors = createAnchors({
      db: t.db,
      store: a.store,
      clock: t.clock,
      baseUrl: () => 'https://wardpost.example',
      instance_id: t.db.instance_id,
      fingerprint: a.signer.fingerprint,
      egress: {
        refuses: async () => null,
        async send({ body }) {
          if (broken.has('webhook')) return answer(500)
          got.webhook.push(
            ...(JSON.parse(Buffer.from(body!).toString('utf8')) as { checkpoints: string[] }).checkpoints,
          )
          return answer(204)
        },
      },
      syslog: {
        async send(_, messages) {
          if (broken.has('syslog')) throw new Error('connection refused')
          got.syslog.push(...messages.map(({ text }) => text))
        },
      },
      async mail({ text }) {
        if (broken.has('mail')) return { ok: false, error: 'mailbox full' }
        got.mail.push(text)
        return { ok: true }
      },
    })
    await anchors.put({ actor: testActor() } as Principal, {
      mail_to: ['a@example.com'],
      syslog: SYSLOG,
      webhook_url: 'https://hooks.example.com/',
    })
  })
  afterEach(() => t.close())

  async function round(): Promise<void> {
    t.clock.advance(MINUTE_MS)
    await t.db.commit(testActor('ten_1'), { writes: [], audit: { action: 'domains.create' } })
    await a.checkpoints.round()
  }

  test('syslog and webhook get every checkpoint once, mail one a day', async () => {
    for (let i = 0; i < 3; i++) {
      await round()
      await anchors.run()
    }
    expect(await anchors.run()).toBe(0)
    const lines = (await a.store.recentSystemLines(10)).reverse()
    expect(got.syslog).toEqual(lines)
    expect(got.webhook).toEqual(lines)
    expect(got.mail).toHaveLength(1)
    t.clock.advance(DAY_MS)
    await round()
    await anchors.run()
    expect(got.mail).toHaveLength(2)
  })

  test('what is sent finds a chain that was cut off, everything here replaced', async () => {
    await round()
    await anchors.run()
    const kept = got.mail[0]!.split('\n').find((line) => line.startsWith('{'))!
    async function* given() {
      yield kept
    }
    expect((await a.audit.verify(testActor('ten_1'), null, given())).ok).toBe(true)
    expect(readStatement(kept)?.statement).toMatchObject({ chains: [{ tenant_id: 'ten_1', seq: 1 }] })
  })

  test('what does not arrive holds up nothing else, is told, and comes later, in order', async () => {
    broken.add('syslog').add('mail')
    await round()
    expect(String(await failureOf(anchors.run()))).toContain('syslog: connection refused')
    await anchors.run().catch(() => {})
    expect(got.webhook).toHaveLength(1)
    const { targets } = await anchors.show()
    expect(targets.map(({ kind, error }) => [kind, error])).toEqual([
      ['mail', 'mailbox full'],
      ['syslog', 'connection refused'],
      ['webhook', null],
    ])
    broken.clear()
    await round()
    await anchors.run()
    expect(got.syslog).toHaveLength(0)
    t.clock.advance(HOUR_MS)
    await anchors.run()
    expect(got.syslog.map((line) => (readStatement(line)!.statement as { n: number }).n)).toEqual([1, 2])
    expect(got.mail).toHaveLength(1)
  })
})
