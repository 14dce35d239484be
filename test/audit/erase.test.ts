import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Answer, openTestApp, type TestApp } from '../support/app.ts'

let t: TestApp
let key: string
let tenant_id: string
let user_id: string
let email: string

beforeEach(async () => {
  t = await openTestApp()
  const made = await t.tenant('Acme')
  ;({ key, tenant_id, user_id, email } = made)
  for (let i = 0; i < 4; i++) {
    await t.db.commit(
      {
        tenant_id,
        type: 'user',
        id: user_id,
        name: 'Ada Lovelace',
        key_id: null,
        ip: `192.0.2.${i % 2}`,
        request_id: null,
      },
      { writes: [], audit: { action: 'auth.login', personal: { email } } },
    )
  }
})
afterEach(() => t.close())

const erase = (subject: object, as: string | null = key) =>
  t.call('POST', '/v1/audit/erase', { body: { subject }, ...(as === null ? {} : { key: as }) })
const verify = async () => (await t.call('GET', '/v1/audit/verify', { key })).body
const kept = async () =>
  JSON.stringify(await t.db.query('SELECT body FROM audit_personal WHERE tenant_id = ?', [tenant_id]))

describe('erasing', () => {
  const scenarios: [string, () => Promise<Answer>, number, string | undefined][] = [
    ['by nobody', () => erase({ user_id }, null), 401, 'unauthenticated'],
    [
      'by who may only read',
      async () => erase({ user_id }, await t.key(tenant_id, ['audit:read', 'settings:read'])),
      403,
      'insufficient_scope',
    ],
    ['nobody in particular', () => erase({}), 422, 'validation_failed'],
    ['two at once', () => erase({ user_id, ip: '192.0.2.1' }), 422, 'validation_failed'],
    ['an address that is none', () => erase({ ip: 'here' }), 422, 'validation_failed'],
    ['rightly', () => erase({ user_id }), 200, undefined],
  ]
  for (const [name, run, status, code] of scenarios) {
    test(`${name}: ${status}`, async () => {
      const answer = await run()
      expect([answer.status, answer.body.code]).toEqual([status, code])
    })
  }

  test('another tenant finds nothing here', async () => {
    const other = await t.tenant('Other')
    expect((await erase({ user_id }, other.key)).body).toEqual({ erased: 0 })
    expect(await kept()).toContain('Ada Lovelace')
  })

  test('a user: every name and address is gone, the chain is whole and says how many', async () => {
    expect((await verify()).redacted).toBe(0)
    const { erased } = (await erase({ user_id })).body
    expect(erased).toBeGreaterThanOrEqual(4)
    expect(await kept()).not.toContain('Ada Lovelace')
    expect(await verify()).toMatchObject({
      ok: true,
      redacted: erased,
      verdicts: { integrity: 'ok', redaction: 'redacted' },
    })
  })

  test('an e-mail address: also what its account did, and the entry of it does not bring it back', async () => {
    expect((await erase({ email: email.toUpperCase() })).body.erased).toBeGreaterThanOrEqual(4)
    expect(await kept()).not.toContain(email)
    const [entry] = (await t.call('GET', '/v1/audit/query?action=audit.erase', { key })).body.items
    expect(entry).toMatchObject({ target: null, detail: { by: 'email' } })
    expect(JSON.stringify(entry)).not.toContain(email)
  })

  test('an address of a machine: those entries and no others', async () => {
    expect((await erase({ ip: '192.0.2.1' })).body).toEqual({ erased: 2 })
    expect(await kept()).toContain('192.0.2.0')
    expect(await kept()).not.toContain('192.0.2.1"')
  })

  test('more than fit into one change', async () => {
    const audit = Array.from({ length: 1300 }, () => ({ action: 'auth.login' }))
    const actor = {
      tenant_id,
      type: 'user',
      id: user_id,
      name: 'Ada',
      key_id: null,
      ip: '198.51.100.9',
      request_id: null,
    } as const
    await t.db.commit(actor, { writes: [], audit })
    expect((await erase({ ip: '198.51.100.9' })).body).toEqual({ erased: 1300 })
    expect(await kept()).not.toContain('198.51.100.9')
  })
})
