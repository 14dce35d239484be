import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Secret, TOTP } from 'otpauth'
import { type Answer, openTestApp, type TestApp } from '../support/app.ts'

let t: TestApp
let links: (string | null)[]

beforeEach(async () => {
  links = []
  t = await openTestApp({ keepSetupLink: (link) => void links.push(link) })
})
afterEach(() => t.close())

const PASSWORD = 'correct horse battery'
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' }

const cookieOf = (answer: Answer): string => answer.headers.get('set-cookie')?.split(';')[0] ?? ''
const post = (path: string, body: unknown, cookie = '', headers: Record<string, string> = OWN_PAGE) =>
  t.call('POST', path, { body, headers: { ...headers, cookie } })
const get = (path: string, cookie: string) => t.call('GET', path, { headers: { cookie } })

/** Goes through the first run; gives the owner's cookie. */
async function firstRun(): Promise<string> {
  const token = t.app.services.setup.renewLink()!.split('#')[1]!
  const answer = await post('/setup', {
    token,
    name: 'Mara',
    email: 'Mara@Acme.example',
    password: PASSWORD,
    organisation: 'Acme',
  })
  expect(answer.status).toBe(201)
  return cookieOf(answer)
}

describe('the first run', () => {
  test('makes the owner, who is signed in and operator, and ends the link', async () => {
    const cookie = await firstRun()
    const me = await get('/v1/me', cookie)
    expect(me.body).toMatchObject({
      user: { email: 'mara@acme.example', is_operator: true },
      tenant: { name: 'Acme', plan: 'pro' },
      role: 'owner',
    })
    expect(links.at(-1)).toBeNull()
    expect(t.app.services.setup.renewLink()).toBeNull()
    const body = {
      token: 'x'.repeat(43),
      name: 'E',
      email: 'e@e.example',
      password: PASSWORD,
      organisation: 'E',
    }
    expect((await post('/setup', body)).body.code).toBe('gone')
  })

  test('takes neither a wrong, an old nor a renewed token', async () => {
    const form = { name: 'M', email: 'm@acme.example', password: PASSWORD, organisation: 'A' }
    const first = t.app.services.setup.renewLink()!.split('#')[1]!
    const second = t.app.services.setup.renewLink()!.split('#')[1]!
    expect((await post('/setup', { ...form, token: first })).body.code).toBe('invalid_credentials')
    t.clock.advance(3_600_001)
    expect((await post('/setup', { ...form, token: second })).body.code).toBe('invalid_credentials')
  })

  test('asked twice at once makes one owner', async () => {
    const token = t.app.services.setup.renewLink()!.split('#')[1]!
    const form = (email: string) => ({ token, name: 'M', email, password: PASSWORD, organisation: 'A' })
    const answers = await Promise.all([
      post('/setup', form('a@a.example')),
      post('/setup', form('b@b.example')),
    ])
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 410])
    const [row] = await t.db.query<{ n: number }>('SELECT count(*) AS n FROM tenants')
    expect(row!.n).toBe(1)
  })

  test('wants a password that is not among the first guesses', async () => {
    const token = t.app.services.setup.renewLink()!.split('#')[1]!
    const form = { token, name: 'M', email: 'lindqvist@acme.example', organisation: 'A' }
    const bad = ['short', 'password1234', 'aaaaaaaaaaaaaa', '123456789012', 'Lindqvist2026!', 'x'.repeat(129)]
    for (const password of bad) {
      const answer = await post('/setup', { ...form, password })
      expect([password, answer.status, answer.body.errors?.[0].pointer]).toEqual([password, 422, '/password'])
    }
  })
})

describe('signing in', () => {
  const login = (password: string, email = 'mara@acme.example') => post('/auth/login', { email, password })
  beforeEach(async () => void (await firstRun()))

  test('answers a wrong password and an unknown address alike', async () => {
    const wrong = await login('not the password')
    const unknown = await login(PASSWORD, 'nobody@acme.example')
    expect([wrong.status, wrong.body.code, wrong.body.detail]).toEqual([
      unknown.status,
      unknown.body.code,
      unknown.body.detail,
    ])
    expect(wrong.headers.get('set-cookie')).toBeNull()
  })

  test('is stopped after ten failures of an address, for a minute', async () => {
    for (let i = 0; i < 10; i++) await login('wrong wrong wrong')
    expect((await login(PASSWORD)).body.code).toBe('login_throttled')
    t.clock.advance(60_001)
    expect((await login(PASSWORD)).status).toBe(200)
  })

  test('sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const header = (await login(PASSWORD)).headers.get('set-cookie')!
    for (const part of ['HttpOnly', 'SameSite=Lax', 'Path=/']) expect(header).toContain(part)
  })

  test('ends with logging out, after 12 idle hours and after ten days', async () => {
    const cookie = cookieOf(await login(PASSWORD))
    expect((await get('/v1/me', cookie)).status).toBe(200)
    await post('/auth/logout', undefined, cookie)
    expect((await get('/v1/me', cookie)).status).toBe(401)

    const idle = cookieOf(await login(PASSWORD))
    t.clock.advance(12 * 3_600_000 + 1)
    expect((await get('/v1/me', idle)).status).toBe(401)

    const busy = cookieOf(await login(PASSWORD))
    for (let hours = 0; hours < 240; hours += 8) {
      expect((await get('/v1/me', busy)).status).toBe(200)
      t.clock.advance(8 * 3_600_000)
    }
    expect((await get('/v1/me', busy)).status).toBe(401)
  })

  test('counts the session to the tenant, not to a key', async () => {
    const cookie = cookieOf(await login(PASSWORD))
    expect((await get('/v1/me', cookie)).headers.get('x-ratelimit-limit')).toBe('1000')
  })
})

describe('signing in', () => {
  test('works for a program, and for no page of another site', async () => {
    await firstRun()
    const form = { email: 'mara@acme.example', password: PASSWORD }
    expect((await post('/auth/login', form, '', {})).status).toBe(200)
    expect((await post('/auth/login', form, '', { origin: 'https://evil.example' })).body.code).toBe(
      'csrf_rejected',
    )
    expect((await post('/auth/login', form, '', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })
})

describe('a change with the cookie', () => {
  const create = (cookie: string, headers: Record<string, string>) =>
    t.call('PATCH', '/v1/me', { body: { name: 'Eve' }, headers: { cookie, ...headers } })

  test('is refused unless it comes from our own pages', async () => {
    const cookie = await firstRun()
    const rejected = [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]
    for (const headers of rejected) {
      expect((await create(cookie, headers as Record<string, string>)).body.code).toBe('csrf_rejected')
    }
    expect((await create(cookie, OWN_PAGE)).status).toBe(200)
    expect((await create(cookie, { origin: 'http://localhost', host: 'localhost' })).status).toBe(200)
  })
})

describe('the second factor', () => {
  const code = (secret: string, at: number): string =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at })

  async function enrol(cookie: string): Promise<{ secret: string; codes: string[] }> {
    const begun = await post('/v1/me/totp', { password: PASSWORD }, cookie)
    expect(begun.body.otpauth_url).toContain('issuer=Wardpost')
    const confirmed = await post(
      '/v1/me/totp/confirm',
      { code: code(begun.body.secret, t.clock.now()) },
      cookie,
    )
    expect(confirmed.body.recovery_codes.length).toBe(10)
    return { secret: begun.body.secret, codes: confirmed.body.recovery_codes }
  }
  const ticket = async (): Promise<string> => {
    const answer = await post('/auth/login', { email: 'mara@acme.example', password: PASSWORD })
    expect(answer.body.status).toBe('totp_required')
    expect(answer.headers.get('set-cookie')).toBeNull()
    return answer.body.ticket
  }

  test('is asked for once it is on, takes each code once, and neighbours of one step', async () => {
    const { secret } = await enrol(await firstRun())
    t.clock.advance(60_000)
    const right = code(secret, t.clock.now() - 30_000)
    const first = await post('/auth/totp', { ticket: await ticket(), code: right })
    expect([first.status, cookieOf(first).startsWith('sid=ses_')]).toEqual([200, true])
    expect((await post('/auth/totp', { ticket: await ticket(), code: right })).status).toBe(401)
    expect(
      (await post('/auth/totp', { ticket: await ticket(), code: code(secret, t.clock.now()) })).status,
    ).toBe(200)
    expect(
      (await post('/auth/totp', { ticket: await ticket(), code: code(secret, t.clock.now() - 90_000) }))
        .status,
    ).toBe(401)
  })

  test('can be replaced by a recovery code, each once', async () => {
    const { codes } = await enrol(await firstRun())
    expect((await post('/auth/totp', { ticket: await ticket(), code: codes[3] })).status).toBe(200)
    expect((await post('/auth/totp', { ticket: await ticket(), code: codes[3] })).status).toBe(401)
    expect(
      (await post('/auth/totp', { ticket: await ticket(), code: codes[4]!.replace('-', ' ') })).status,
    ).toBe(200)
  })

  test('needs a ticket that is ours and at most five minutes old', async () => {
    const { secret } = await enrol(await firstRun())
    t.clock.advance(60_000)
    const old = await ticket()
    const forged = old.replace(/usr_\w+/, 'usr_00000000000000000000000000')
    expect((await post('/auth/totp', { ticket: forged, code: code(secret, t.clock.now()) })).status).toBe(401)
    t.clock.advance(300_001)
    expect((await post('/auth/totp', { ticket: old, code: code(secret, t.clock.now()) })).status).toBe(401)
  })

  test('and the password are never readable in the database', async () => {
    const { secret, codes } = await enrol(await firstRun())
    const rows = JSON.stringify([
      await t.db.query('SELECT * FROM users'),
      await t.db.query('SELECT hex(code_hash) FROM recovery_codes'),
    ])
    for (const text of [secret, PASSWORD, codes[0]!.replace('-', '')]) expect(rows).not.toContain(text)
    expect(rows).toContain('$argon2id$')
  })
})

describe('people of a tenant', () => {
  const tokenOf = (link: string): string => link.split('#')[1]!

  test('join by an invitation, once, with the role it names', async () => {
    const owner = await firstRun()
    const invite = await post('/v1/settings/invites', { email: 'jonas@acme.example', role: 'analyst' }, owner)
    expect(invite.body.link).toStartWith('http://localhost/accept#')
    const token = tokenOf(invite.body.link)
    expect((await post('/auth/link', { token })).body).toMatchObject({
      kind: 'invite',
      organisation: 'Acme',
      role: 'analyst',
    })
    const joined = await post('/auth/accept', { token, name: 'Jonas', password: 'another good phrase' })
    const me = await get('/v1/me', cookieOf(joined))
    expect(me.body).toMatchObject({ role: 'analyst', user: { name: 'Jonas', is_operator: false } })
    expect(me.body.scopes).not.toContain('settings:read')
    expect(
      (await post('/auth/accept', { token, name: 'J', password: 'another good phrase' })).body.code,
    ).toBe('gone')
    expect((await get('/v1/instance/tenants', cookieOf(joined))).body.code).toBe('insufficient_scope')
  })

  test('keep an owner: the last one can be neither demoted nor removed', async () => {
    const owner = await firstRun()
    const { id } = (await get('/v1/settings/users', owner)).body.items[0]
    const demoted = await t.call('PATCH', `/v1/settings/users/${id}`, {
      body: { role: 'admin' },
      headers: { ...OWN_PAGE, cookie: owner },
    })
    expect(demoted.body.code).toBe('last_owner')
    const removed = await t.call('DELETE', `/v1/settings/users/${id}`, {
      headers: { ...OWN_PAGE, cookie: owner },
    })
    expect(removed.body.code).toBe('last_owner')
  })

  test('set a new password by a reset link, which ends their sessions and itself', async () => {
    const owner = await firstRun()
    const { id } = (await get('/v1/settings/users', owner)).body.items[0]
    const made = await post(`/v1/settings/users/${id}/reset-link`, undefined, owner)
    expect(made.body.link).toStartWith('http://localhost/reset#')
    const token = tokenOf(made.body.link)
    const done = await post('/auth/reset', { token, password: 'a wholly new phrase' })
    expect(done.status).toBe(200)
    expect((await get('/v1/me', owner)).status).toBe(401)
    expect((await post('/auth/reset', { token, password: 'a wholly new phrase' })).body.code).toBe('gone')
    expect((await post('/auth/login', { email: 'mara@acme.example', password: PASSWORD })).status).toBe(401)
  })

  test('are managed by admins, but owners only by owners', async () => {
    const owner = await firstRun()
    const invite = await post('/v1/settings/invites', { email: 'ad@acme.example', role: 'admin' }, owner)
    const admin = cookieOf(
      await post('/auth/accept', {
        token: tokenOf(invite.body.link),
        name: 'Ad',
        password: 'another good phrase',
      }),
    )
    expect(
      (await post('/v1/settings/invites', { email: 'x@acme.example', role: 'owner' }, admin)).body.code,
    ).toBe('insufficient_role')
    const users = (await get('/v1/settings/users', owner)).body.items as { id: string; role: string }[]
    const first = users.find((user) => user.role === 'owner')!
    expect((await post(`/v1/settings/users/${first.id}/reset-link`, undefined, admin)).body.code).toBe(
      'insufficient_role',
    )
  })

  test('see and end their sessions', async () => {
    const first = await firstRun()
    const second = cookieOf(await post('/auth/login', { email: 'mara@acme.example', password: PASSWORD }))
    const listed = (await get('/v1/me/sessions', second)).body.items as { id: string; current: boolean }[]
    expect(listed.map((each) => each.current)).toEqual([true, false])
    const ended = await t.call('DELETE', '/v1/me/sessions', { headers: { ...OWN_PAGE, cookie: second } })
    expect(ended.status).toBe(204)
    expect((await get('/v1/me', first)).status).toBe(401)
    expect((await get('/v1/me', second)).status).toBe(200)
  })
})
