import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openTestApp, type TestApp } from '../support/app.ts'

let t: TestApp
let key: string
let tenant_id: string

beforeEach(async () => {
  t = await openTestApp()
  const made = await t.tenant('Acme')
  key = made.key
  tenant_id = made.tenant_id
})
afterEach(() => t.close())

const create = (body: object, as = key) => t.call('POST', '/v1/settings/keys', { key: as, body })

describe('creating a key', () => {
  const scenarios: [
    string,
    () => Promise<{ status: number; body: { code?: string } }>,
    number,
    string | undefined,
  ][] = [
    ['by nobody', () => t.call('POST', '/v1/settings/keys', { body: {} }), 401, 'unauthenticated'],
    [
      'with a key that may only read settings',
      async () => create({ name: 'a', scopes: ['domains:read'] }, await t.key(tenant_id, ['settings:read'])),
      403,
      'insufficient_scope',
    ],
    [
      'with more than its maker has',
      async () =>
        create({ name: 'a', scopes: ['*'] }, await t.key(tenant_id, ['settings:write', 'domains:read'])),
      403,
      'insufficient_scope',
    ],
    [
      'with a scope of the installation',
      () => create({ name: 'a', scopes: ['instance:*'] }),
      422,
      'validation_failed',
    ],
    ['with an unknown scope', () => create({ name: 'a', scopes: ['domains:eat'] }), 422, 'validation_failed'],
    ['without scopes', () => create({ name: 'a', scopes: [] }), 422, 'validation_failed'],
    [
      'that is over already',
      () => create({ name: 'a', scopes: ['*'], expires_at: '2020-01-01' }),
      422,
      'validation_failed',
    ],
    [
      'for a network that is none',
      () => create({ name: 'a', scopes: ['*'], allowed_cidrs: ['300.0.0.0/8'] }),
      422,
      'validation_failed',
    ],
    ['rightly', () => create({ name: 'a', scopes: ['domains:read'] }), 201, undefined],
  ]
  for (const [name, run, status, code] of scenarios) {
    test(`${name}: ${status}`, async () => {
      const answer = await run()
      expect([answer.status, answer.body.code]).toEqual([status, code])
    })
  }

  test('shows it once and keeps only its hash', async () => {
    const made = await create({ name: 'a', scopes: ['domains:read'] })
    const text = made.body.api_key as string
    const read = await t.call('GET', `/v1/settings/keys/${made.body.id}`, { key })
    expect(read.text).not.toContain(text.slice(20))
    const rows = await t.db.query('SELECT * FROM api_keys')
    expect(JSON.stringify(rows)).not.toContain(text.slice(14, 40))
    expect((await t.call('GET', '/v1/me', { key: text })).body.scopes).toEqual(['domains:read'])
  })
})

describe('a key', () => {
  test('ends when revoked, at once; and cannot revoke itself', async () => {
    const made = await create({ name: 'a', scopes: ['settings:write', 'settings:read'] })
    const own = await t.call('DELETE', `/v1/settings/keys/${made.body.id}`, { key: made.body.api_key })
    expect(own.body.code).toBe('own_credential')
    expect((await t.call('DELETE', `/v1/settings/keys/${made.body.id}`, { key })).status).toBe(204)
    expect((await t.call('GET', '/v1/me', { key: made.body.api_key })).body.code).toBe('key_revoked')
  })

  test('expires to the millisecond', async () => {
    const expires_at = new Date(t.clock.now() + 1000).toISOString()
    const made = await create({ name: 'a', scopes: ['domains:read'], expires_at })
    t.clock.advance(999)
    expect((await t.call('GET', '/v1/me', { key: made.body.api_key })).status).toBe(200)
    t.clock.advance(1)
    expect((await t.call('GET', '/v1/me', { key: made.body.api_key })).body.code).toBe('key_expired')
  })

  test('bound to networks works from nowhere else', async () => {
    const made = await create({ name: 'a', scopes: ['domains:read'], allowed_cidrs: ['192.0.2.7/24'] })
    expect(made.body.allowed_cidrs).toEqual(['192.0.2.0/24'])
    expect((await t.call('GET', '/v1/me', { key: made.body.api_key })).body.code).toBe('ip_not_allowed')
  })

  test('rolls into a successor with the same rights, and goes on for the overlap', async () => {
    const made = await create({ name: 'a', scopes: ['domains:read'] })
    const rolled = await t.call('POST', `/v1/settings/keys/${made.body.id}/roll`, {
      key,
      body: { overlap_hours: 2 },
    })
    expect(rolled.body).toMatchObject({ name: 'a', scopes: ['domains:read'], status: 'active' })
    const again = await t.call('POST', `/v1/settings/keys/${made.body.id}/roll`, {
      key,
      body: { overlap_hours: 2 },
    })
    expect(again.status).toBe(409)
    t.clock.advance(2 * 3_600_000 - 1)
    expect((await t.call('GET', '/v1/me', { key: made.body.api_key })).status).toBe(200)
    t.clock.advance(1)
    expect((await t.call('GET', '/v1/me', { key: made.body.api_key })).body.code).toBe('key_expired')
    expect((await t.call('GET', '/v1/me', { key: rolled.body.api_key })).status).toBe(200)
  })

  test('shows its last use once that was written', async () => {
    await t.app.services.keys.flushUses()
    const { items } = (await t.call('GET', '/v1/settings/keys', { key })).body
    expect(items[0].last_used_at).toBeNull()
    await t.app.services.keys.flushUses()
    const later = (await t.call('GET', '/v1/settings/keys', { key })).body.items[0]
    expect(later.last_used_at).toBe(new Date(t.clock.now()).toISOString())
  })

  test('is listed by status, name and page, each exactly once', async () => {
    for (let i = 0; i < 7; i++) await create({ name: `key ${i}`, scopes: ['domains:read'] })
    const seen: string[] = []
    let cursor = ''
    do {
      const page = await t.call('GET', `/v1/settings/keys?limit=3${cursor}`, { key })
      seen.push(...page.body.items.map((item: { name: string }) => item.name))
      cursor = page.body.next_cursor === undefined ? '' : `&cursor=${page.body.next_cursor}`
    } while (cursor !== '')
    expect(seen).toEqual(['key 6', 'key 5', 'key 4', 'key 3', 'key 2', 'key 1', 'key 0', 'test'])
    expect((await t.call('GET', '/v1/settings/keys?q=KEY%203', { key })).body.items.length).toBe(1)
    expect((await t.call('GET', '/v1/settings/keys?status=revoked', { key })).body.items).toEqual([])
    expect((await t.call('GET', '/v1/settings/keys?status=dead', { key })).status).toBe(422)
  })

  test('made on the command line may carry rights over the installation', async () => {
    const operator = await t.key(tenant_id, ['instance:*'])
    expect((await t.call('GET', '/v1/instance/tenants', { key: operator })).body.items.length).toBe(1)
    expect((await t.call('GET', '/v1/instance/tenants', { key })).body.required_scope).toBe('instance:read')
  })
})
