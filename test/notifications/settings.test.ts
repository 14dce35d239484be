import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openTestApp, type TestApp } from '../support/app.ts'
import { openSmtp } from '../support/smtp.ts'

let t: TestApp
let key: string
let operator: string
let tenant_id: string
let user_id: string
let owner: string

beforeEach(async () => {
  t = await openTestApp()
  const made = await t.tenant('Acme')
  ;({ key, tenant_id, user_id } = made)
  owner = made.email
  operator = await t.key(tenant_id, ['instance:*'])
})
afterEach(() => t.close())

const URL = '/v1/settings/notifications'
const patch = (body: object, headers = {}) => t.call('PATCH', URL, { key, body, headers })
const put = (body: object, headers = {}) =>
  t.call('PUT', '/v1/instance/mail', { key: operator, body, headers })
const SERVER = { host: 'localhost', port: 587, security: 'starttls', from_address: 'wardpost@example.com' }

describe('who may', () => {
  const routes: [string, string, string, unknown?][] = [
    ['GET', URL, 'settings:read'],
    ['PATCH', URL, 'settings:write', { email_enabled: false }],
    ['POST', `${URL}/test`, 'settings:write'],
    ['GET', '/v1/instance/mail', 'instance:read'],
    ['PUT', '/v1/instance/mail', 'instance:write', SERVER],
    ['DELETE', '/v1/instance/mail', 'instance:write'],
    ['POST', '/v1/instance/mail/test', 'instance:write', { to: 'a@b.example' }],
  ]
  for (const [method, path, scope, body] of routes) {
    test(`${method} ${path}: nobody 401, without ${scope} 403`, async () => {
      const options = body === undefined ? {} : { body }
      expect((await t.call(method, path, options)).status).toBe(401)
      const wrong = scope.startsWith('instance') ? ['*'] : ['alerts:read', 'alerts:write']
      const answer = await t.call(method, path, { ...options, key: await t.key(tenant_id, wrong) })
      expect([answer.status, answer.body.required_scope]).toEqual([403, scope])
    })
  }

  test('the settings of a tenant are its own', async () => {
    const other = await t.tenant('Other')
    await patch({ recipients: ['soc@acme.example'] })
    expect((await t.call('GET', URL, { key: other.key })).body.recipients).toEqual([])
    const answer = await t.call('PATCH', URL, { key: other.key, body: { recipients: [user_id] } })
    expect(answer.body.errors[0]).toMatchObject({ pointer: '/recipients/0', code: 'unknown_user' })
  })
})

describe('notification settings', () => {
  test('begin sensibly and change member by member', async () => {
    const first = await t.call('GET', URL, { key })
    expect(first.body).toMatchObject({
      email_enabled: true,
      recipients: [],
      immediate: ['critical', 'high'],
      digest: { enabled: true, at: '07:00' },
      quiet_hours: { enabled: false },
      mail_configured: false,
      version: 0,
    })
    const changed = await patch({
      recipients: [user_id, 'soc@acme.example', 'soc@acme.example'],
      digest: { at: '06:30' },
      quiet_hours: { enabled: true, timezone: 'Europe/Berlin' },
    })
    expect(changed.body).toMatchObject({
      recipients: [user_id, 'soc@acme.example'],
      digest: { enabled: true, at: '06:30', severities: ['medium', 'low'] },
      quiet_hours: { enabled: true, from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
      version: 1,
    })
    expect((await t.call('GET', URL, { key })).body).toEqual(changed.body)
  })

  test('hold against a change in between', async () => {
    await patch({ email_enabled: false }, { 'if-match': '"v0"' })
    expect((await patch({ email_enabled: true }, { 'if-match': '"v0"' })).status).toBe(412)
    const both = await Promise.all([patch({ immediate: [] }), patch({ immediate: ['info'] })])
    expect(both.map((each) => each.status).sort()).toEqual([200, 412])
  })

  const bad: [string, object][] = [
    ['an address that is none', { recipients: ['a@'] }],
    ['a header in an address', { recipients: ['a@b.example\r\nBcc: c@d.example'] }],
    ['an unknown user', { recipients: ['usr_00000000000000000000000000'] }],
    ['an unknown severity', { immediate: ['awful'] }],
    ['an unknown time zone', { quiet_hours: { timezone: 'Mars/Olympus' } }],
    ['a time that is none', { digest: { at: '25:00' } }],
    ['quiet hours without an end', { quiet_hours: { enabled: true, from: '07:00' } }],
    ['an unknown member', { telegram: true }],
    ['an unknown member inside', { digest: { weekly: true } }],
    ['nothing', {}],
    ['too many', { recipients: Array.from({ length: 51 }, (_, i) => `a${i}@b.example`) }],
  ]
  for (const [name, body] of bad) {
    test(`refuse ${name}`, async () => {
      expect((await patch(body)).status).toBe(422)
      expect((await t.call('GET', URL, { key })).body.version).toBe(0)
    })
  }
})

describe('the mail server', () => {
  test('is set, and its password is sealed and never shown', async () => {
    const empty = await t.call('GET', '/v1/instance/mail', { key: operator })
    expect(empty.body).toMatchObject({ configured: false, host: null, has_password: false, version: 0 })
    const set = await put({ ...SERVER, username: 'wardpost', password: 'correct horse' })
    expect(set.body).toMatchObject({ configured: true, ...SERVER, username: 'wardpost', has_password: true })
    const rows = JSON.stringify(await t.db.query('SELECT * FROM mail_settings'))
    const audit = JSON.stringify(await t.db.query('SELECT entry FROM audit_entries'))
    for (const text of [set.text, rows, audit]) expect(text).not.toContain('correct horse')
    expect((await t.call('GET', URL, { key })).body.mail_configured).toBe(true)
  })

  test('keeps the password that is not named, loses the one that is null', async () => {
    await put({ ...SERVER, username: 'wardpost', password: 'correct horse' })
    expect((await put({ ...SERVER, username: 'wardpost', port: 25 })).body.has_password).toBe(true)
    expect((await put({ ...SERVER, username: 'wardpost', password: null })).body.has_password).toBe(false)
    expect((await t.call('DELETE', '/v1/instance/mail', { key: operator })).status).toBe(204)
    expect((await t.call('GET', '/v1/instance/mail', { key: operator })).body.configured).toBe(false)
  })

  test('changes are in the chain of the installation', async () => {
    await put(SERVER)
    const [entry] = await t.db.query<{ tenant_id: string; actor: string }>(
      `SELECT tenant_id, json_extract(entry, '$.actor.type') AS actor FROM audit_entries WHERE action = 'mail.update'`,
    )
    expect(entry).toEqual({ tenant_id: '_system', actor: 'operator' })
  })

  test('holds against a change in between', async () => {
    await put(SERVER, { 'if-match': '"v0"' })
    expect((await put({ ...SERVER, port: 25 }, { 'if-match': '"v0"' })).status).toBe(412)
  })

  const bad: [string, object][] = [
    ['a host that is none', { host: 'smtp example' }],
    ['a host with a path', { host: 'smtp.example.com/x' }],
    ['port 0', { port: 0 }],
    ['an unknown kind of security', { security: 'ssl' }],
    ['a sender that is none', { from_address: 'wardpost' }],
    ['an answer address that is none', { reply_to: 'nobody@' }],
    ['a password without a name', { password: 'x' }],
    ['an unknown member', { cc: 'a@b.example' }],
  ]
  for (const [name, over] of bad) {
    test(`refuses ${name}`, async () => expect((await put({ ...SERVER, ...over })).status).toBe(422))
  }

  test('is tested with the words of both sides', async () => {
    const smtp = await openSmtp({ login: { user: 'wardpost', password: 'correct horse' } })
    const plain = { ...SERVER, port: smtp.port, security: 'none', username: 'wardpost' }
    const send = () =>
      t.call('POST', '/v1/instance/mail/test', { key: operator, body: { to: 'mara@northlight.example' } })
    expect((await send()).body.code).toBe('mail_not_configured')
    await put({ ...plain, password: 'correct horse' })
    const good = (await send()).body
    expect(good).toMatchObject({ ok: true, response: expect.stringContaining('250'), error: null })
    expect(good.dialogue.join('\n')).not.toContain('correct horse')
    expect(smtp.received[0]).toMatchObject({ to: 'mara@northlight.example', user: 'wardpost' })
    await put({ ...plain, password: 'wrong' })
    const failed = (await send()).body
    expect(failed).toMatchObject({
      ok: false,
      error: 'AUTH PLAIN: 535 5.7.8 Authentication credentials invalid',
    })
    expect(failed.dialogue.at(-1)).toContain('535')
    await smtp.close()
    expect((await send()).body.error).toContain('ECONNREFUSED')
  })
})

describe('a test to everybody who would be told', () => {
  test('goes to them, and says who was not reached', async () => {
    const smtp = await openSmtp()
    expect((await t.call('POST', `${URL}/test`, { key })).body.code).toBe('mail_not_configured')
    await put({ ...SERVER, port: smtp.port, security: 'none' })
    const all = await t.call('POST', `${URL}/test`, { key })
    expect(all.body.results).toEqual([{ to: owner, ok: true, error: null }])
    smtp.answers.rcpt = '550 5.1.1 No such mailbox'
    await patch({ recipients: ['soc@acme.example', user_id] })
    const refused = await t.call('POST', `${URL}/test`, { key })
    expect(refused.body.results).toMatchObject([
      { to: 'soc@acme.example', ok: false, error: expect.stringContaining('No such mailbox') },
      { to: owner, ok: false },
    ])
    await smtp.close()
  })
})
