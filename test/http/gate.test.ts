import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openTestApp, type TestApp } from '../support/app.ts'

let t: TestApp
let key: string
let tenant_id: string

beforeEach(async () => {
  t = await openTestApp()
})
afterEach(() => t.close())

const setUp = async (): Promise<void> => {
  const made = await t.tenant('Acme')
  key = made.key
  tenant_id = made.tenant_id
}

describe('before set-up', () => {
  test('the API answers 503, the rest answers', async () => {
    expect((await t.call('GET', '/v1/me')).body.code).toBe('setup_required')
    expect((await t.call('GET', '/v1/me', { key: 'wdp_x' })).status).toBe(503)
    expect((await t.call('GET', '/healthz')).status).toBe(200)
    expect((await t.call('GET', '/docs/json')).body.openapi).toBe('3.1.0')
    expect((await t.call('GET', '/auth/state')).body).toMatchObject({
      setup_required: true,
      authenticated: false,
    })
  })
})

describe('a request', () => {
  beforeEach(setUp)

  test('gets a request id and safe headers, whatever becomes of it', async () => {
    for (const path of ['/v1/me', '/v1/nothing', '/healthz', '/nothing', '/v1/settings/keys?limit=x']) {
      const answer = await t.call('GET', path, { key })
      expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
    expect((await t.call('GET', '/v1/me', { key })).headers.get('cache-control')).toBe('no-store')
  })

  test('to an unknown path is 404, with an unknown method 405 and Allow', async () => {
    expect((await t.call('GET', '/v1/nothing', { key })).body.code).toBe('not_found')
    const put = await t.call('PUT', '/v1/settings/keys', { key })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST'])
    const deleted = await t.call('DELETE', '/auth/state')
    expect([deleted.status, deleted.headers.get('allow')]).toEqual([405, 'GET'])
  })

  test('with a broken body is 400, an unexpected member or type 422, another media type 415', async () => {
    const json = { 'content-type': 'application/json' }
    const post = (body: unknown, headers: Record<string, string> = json) =>
      t.call('POST', '/v1/settings/keys', { key, body, headers })
    expect((await post('{"name":')).body.code).toBe('invalid_json')
    const more = await post('{"name":"a","scopes":["*"],"surprise":1}')
    expect(more.body.errors).toEqual([
      { pointer: '/surprise', code: 'invalid_value', detail: "Property 'surprise' should not be provided" },
    ])
    expect((await post('{"name":7,"scopes":["*"]}')).body.errors[0].pointer).toBe('/name')
    expect((await post('null')).status).toBe(422)
    expect((await post('a=b', { 'content-type': 'text/plain' })).body.code).toBe('unsupported_media_type')
  })

  test('that announces too large a body is refused before it is read', async () => {
    const answer = await t.call('POST', '/v1/settings/keys', {
      key,
      body: 'x'.repeat(1_000_001),
      headers: { 'content-length': '1000001' },
    })
    expect(answer.status).toBe(413)
    expect(answer.body.limit_bytes).toBe(1_000_000)
  })

  test('counts to its key: exactly 100 pass, with true headers, then again when the first leaves', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 130; i++) {
      const answer = await t.call('GET', '/v1/settings/scopes', { key })
      statuses.push(answer.status)
      expect(answer.headers.get('x-ratelimit-limit')).toBe('100')
      expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(Math.max(0, 99 - i)))
      t.clock.advance(10)
    }
    expect(statuses.filter((status) => status === 200).length).toBe(100)
    const refused = await t.call('GET', '/v1/settings/scopes', { key })
    expect(refused.body).toMatchObject({ code: 'rate_limited', retry_after: 59, scope: 'key' })
    expect(refused.headers.get('retry-after')).toBe('59')
    expect(refused.headers.get('x-ratelimit-scope')).toBe('key')
    t.clock.advance(59_000)
    expect((await t.call('GET', '/v1/settings/scopes', { key })).status).toBe(200)
  })

  test('counts to its tenant over all keys: exactly 1000 pass', async () => {
    const keys = await Promise.all(Array.from({ length: 12 }, () => t.key(tenant_id, ['settings:read'])))
    let passed = 0
    for (let i = 0; i < 1200; i++) {
      const answer = await t.call('GET', '/v1/settings/scopes', { key: keys[i % 12]! })
      if (answer.status === 200) passed++
      else expect(answer.headers.get('x-ratelimit-scope')).toMatch(/key|tenant/)
    }
    expect(passed).toBe(1000)
  })

  test('with an unknown key is 401, after ten of them 429, while a valid key goes on', async () => {
    const { makeKey } = await import('../../src/keys/format.ts')
    for (let i = 0; i < 10; i++)
      expect((await t.call('GET', '/v1/me', { key: makeKey().text })).status).toBe(401)
    const eleventh = await t.call('GET', '/v1/me', { key: makeKey().text })
    expect([eleventh.status, eleventh.body.code]).toEqual([429, 'login_throttled'])
    expect((await t.call('GET', '/v1/me', { key })).status).toBe(200)
  })

  test('that is refused leaves a trace in the audit log, a flood of them only a counter', async () => {
    const weak = await t.key(tenant_id, ['domains:read'])
    for (let i = 0; i < 30; i++) await t.call('GET', '/v1/settings/keys', { key: weak })
    t.clock.advance(120_000)
    await t.app.denials.flush()
    const log = await t.call('GET', '/v1/audit/query?action=auth.*', { key })
    const actions = log.body.items.map((entry: { action: string }) => entry.action)
    expect(actions.filter((action: string) => action === 'auth.denied').length).toBe(10)
    expect(actions.filter((action: string) => action === 'auth.denied_count').length).toBe(1)
  })
})

describe('Idempotency-Key', () => {
  beforeEach(setUp)
  const post = (idempotency: string, name: string) =>
    t.call('POST', '/v1/settings/keys', {
      key,
      body: { name, scopes: ['domains:read'] },
      headers: { 'idempotency-key': idempotency },
    })
  const count = async (): Promise<number> =>
    (await t.call('GET', '/v1/settings/keys', { key })).body.items.length

  test('replays the same request, secret and all, and does it once', async () => {
    const first = await post('abc', 'one')
    const second = await post('abc', 'one')
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await count()).toBe(2)
    const [row] = await t.db.query<{ body: string }>('SELECT body FROM idempotency')
    expect(row!.body).not.toContain(first.body.api_key)
  })

  test('refuses another request under the same key', async () => {
    await post('abc', 'one')
    expect((await post('abc', 'two')).body.code).toBe('idempotency_key_reused')
  })

  test('lets one of ninety at once through', async () => {
    const answers = await Promise.all(Array.from({ length: 90 }, () => post('race', 'one')))
    expect(
      answers.filter((answer) => answer.status === 201 && !answer.headers.has('idempotency-replayed')).length,
    ).toBe(1)
    for (const answer of answers) expect([201, 409]).toContain(answer.status)
    t.clock.advance(61_000)
    expect(await count()).toBe(2)
  })

  test('is forgotten after a day, and belongs to one tenant', async () => {
    await post('abc', 'one')
    const other = await t.tenant('Other')
    const elsewhere = await t.call('POST', '/v1/settings/keys', {
      key: other.key,
      body: { name: 'x', scopes: ['*'] },
      headers: { 'idempotency-key': 'abc' },
    })
    expect(elsewhere.status).toBe(201)
    t.clock.advance(24 * 3_600_000 + 1)
    expect((await post('abc', 'two')).status).toBe(201)
  })
})

describe('the page of a setup link', () => {
  test('needs no credential', async () => {
    const page = new Response('page')
    const other = await openTestApp({
      loadAssets: async () => [
        {
          path: '/index.html',
          type: 'text/html',
          immutable: false,
          etag: '"x"',
          load: async () => new Uint8Array(await page.arrayBuffer()),
        },
      ],
    })
    expect((await other.call('GET', '/setup')).text).toBe('page')
    await other.close()
  })
})
