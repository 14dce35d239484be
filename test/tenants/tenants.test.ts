import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openTestApp, type TestApp } from '../support/app.ts'

let t: TestApp
let key: string
let operator: string
let tenant_id: string

beforeEach(async () => {
  t = await openTestApp()
  const made = await t.tenant('Acme')
  key = made.key
  tenant_id = made.tenant_id
  operator = await t.key(tenant_id, ['*', 'instance:*'])
})
afterEach(() => t.close())

describe('settings', () => {
  const patch = (body: object, headers: Record<string, string> = {}) =>
    t.call('PATCH', '/v1/settings', { key, body, headers })

  test('carry a version; a change made on an old one is refused', async () => {
    const first = await t.call('GET', '/v1/settings', { key })
    expect(first.headers.get('etag')).toBe('"v1"')
    expect((await patch({ name: 'Acme GmbH' }, { 'if-match': '"v1"' })).headers.get('etag')).toBe('"v2"')
    expect((await patch({ name: 'Other' }, { 'if-match': '"v1"' })).body.code).toBe('version_conflict')
    expect((await patch({ name: 'Other' }, { 'if-match': '"junk"' })).status).toBe(412)
    expect((await patch({ default_compliance_threshold: 101 })).status).toBe(422)
    expect((await patch({ plan: 'enterprise' })).status).toBe(422)
    expect((await patch({})).status).toBe(422)
    expect((await t.call('GET', '/v1/settings', { key })).body.name).toBe('Acme GmbH')
  })
})

describe('tenants', () => {
  const create = (body: object) => t.call('POST', '/v1/instance/tenants', { key: operator, body })

  test('are made by operators, with an invitation for their owner', async () => {
    expect(
      (await t.call('POST', '/v1/instance/tenants', { key, body: { name: 'B', plan: 'pro' } })).status,
    ).toBe(403)
    const made = await create({ name: 'Beta', plan: 'free', owner_email: 'o@beta.example' })
    expect(made.status).toBe(201)
    expect(made.body.limits.domains).toBe(1)
    const token = made.body.invite_link.split('#')[1]
    const joined = await t.call('POST', '/auth/accept', {
      body: { token, name: 'O', password: 'a decent long phrase' },
      headers: { 'sec-fetch-site': 'same-origin' },
    })
    const me = await t.call('GET', '/v1/me', {
      headers: { cookie: joined.headers.get('set-cookie')!.split(';')[0]! },
    })
    expect(me.body).toMatchObject({
      role: 'owner',
      tenant: { name: 'Beta', plan: 'free' },
      user: { is_operator: false },
    })
  })

  test('have limits of their own on the enterprise plan only, and they hold at once', async () => {
    expect((await create({ name: 'C', plan: 'pro', limits: { key_per_minute: 5 } })).status).toBe(422)
    const made = await create({ name: 'C', plan: 'enterprise', limits: { key_per_minute: 3 } })
    const own = await t.key(made.body.id, ['settings:read'])
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await t.call('GET', '/v1/settings', { key: own })).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    await t.call('PATCH', `/v1/instance/tenants/${made.body.id}`, {
      key: operator,
      body: { limits: { key_per_minute: 4 } },
    })
    expect((await t.call('GET', '/v1/settings', { key: own })).status).toBe(200)
    expect((await t.call('GET', '/v1/settings', { key: own })).status).toBe(429)
  })

  test('that are suspended are locked out until they are not', async () => {
    const made = await create({ name: 'D', plan: 'pro' })
    const own = await t.key(made.body.id, ['settings:read'])
    const status = (value: string) =>
      t.call('PATCH', `/v1/instance/tenants/${made.body.id}`, { key: operator, body: { status: value } })
    await status('suspended')
    expect((await t.call('GET', '/v1/settings', { key: own })).status).toBe(401)
    await status('active')
    expect((await t.call('GET', '/v1/settings', { key: own })).status).toBe(200)
  })

  test("leave the operator's changes in the chain of the installation", async () => {
    await create({ name: 'E', plan: 'pro' })
    const rows = await t.db.query<{ tenant_id: string }>(
      "SELECT tenant_id FROM audit_entries WHERE action = 'tenants.create' ORDER BY ts, seq",
    )
    expect(rows.map((row) => row.tenant_id === '_system')).toContain(true)
  })
})
