import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { DnsAnswer, DnsResolver } from '../../src/net/dns.ts'
import type { Principal } from '../../src/lib/principal.ts'
import { aggregate } from '../support/aggregate.ts'
import { openTestApp, type TestApp } from '../support/app.ts'
import { testActor } from '../support/db.ts'

let app: TestApp
let mine: string
let reader: string
let stranger: string
let domain: string
let tenant_id: string

/** A zone that tests write into; what is not in it does not exist. */
const zone = new Map<string, DnsAnswer<string>>()
const resolver: DnsResolver = {
  mode: 'servers',
  detail: 'test',
  txt: async (name) => zone.get(name) ?? { state: 'missing' },
}

const call: TestApp['call'] = (...request) => {
  app.clock.advance(1000)
  return app.call(...request)
}
const create = (key: string, name: string, more: Record<string, unknown> = {}) =>
  call('POST', '/v1/domains', { key, body: { name, ...more } })

beforeAll(async () => {
  app = await openTestApp({ resolver })
  const tenant = await app.tenant('Mine')
  mine = tenant.key
  tenant_id = tenant.tenant_id
  reader = await app.key(tenant.tenant_id, ['reports:read'])
  stranger = (await app.tenant('Other')).key
  domain = (await create(mine, 'example.com')).body.id
})
afterAll(() => app.close())
beforeEach(() => zone.clear())

describe('who may', () => {
  const routes: [string, string, unknown?][] = [
    ['GET', ''],
    ['POST', '', { name: 'x.example' }],
    ['POST', '/bulk', { ids: ['dom_00000000000000000000000000'], action: 'check' }],
    ['GET', '/ID'],
    ['PATCH', '/ID', { tags: ['x'] }],
    ['DELETE', '/ID'],
    ['POST', '/ID/verify', {}],
    ['POST', '/ID/check'],
    ['GET', '/ID/timeline'],
    ['GET', '/ID/sources'],
  ]
  for (const [method, tail, body] of routes) {
    test(`${method} /v1/domains${tail}`, async () => {
      const path = `/v1/domains${tail.replace('ID', domain)}`
      const options = body === undefined ? {} : { body }
      expect((await call(method, path, options)).status).toBe(401)
      expect((await call(method, path, { ...options, key: reader })).status).toBe(403)
      if (tail.includes('ID')) {
        expect((await call(method, path, { ...options, key: stranger })).status).toBe(404)
      }
      expect((await call('GET', `/v1/domains/${domain}`, { key: mine })).status).toBe(200)
    })
  }
})

describe('adding a domain', () => {
  const accepted: [string, string, string][] = [
    ['Bücher.example', 'xn--bcher-kva.example', 'bücher.example'],
    ['  UPPER.Example. ', 'upper.example', 'upper.example'],
    ['sub.mail.example', 'sub.mail.example', 'sub.mail.example'],
    ['shop.example.co.uk', 'shop.example.co.uk', 'shop.example.co.uk'],
  ]
  for (const [given, name, unicode_name] of accepted) {
    test(`"${given}" is ${name}`, async () => {
      const answer = await create(mine, given)
      expect(answer.status).toBe(201)
      expect(answer.headers.get('etag')).toBe('"v1"')
      expect(answer.body).toMatchObject({ name, unicode_name, status: 'pending', compliance_threshold: 95 })
    })
  }
  const refused: [string, number, string][] = [
    ['co.uk', 422, 'public_suffix'],
    ['com', 422, 'invalid_domain'],
    ['192.0.2.1', 422, 'invalid_domain'],
    ['not a name', 422, 'invalid_domain'],
    ['http://example.com', 422, 'invalid_domain'],
    ['example.com', 409, 'already_exists'],
    ['EXAMPLE.COM.', 409, 'already_exists'],
  ]
  for (const [name, status, code] of refused) {
    test(`"${name}" is refused: ${code}`, async () => {
      const { status: got, body } = await create(mine, name)
      expect(got).toBe(status)
      expect(body.errors?.[0]?.code ?? body.code).toBe(code)
    })
  }
  for (const bad of [
    { outbound_ips: ['nope'] },
    { dkim_selectors: ['no selector'] },
    { compliance_threshold: 101 },
    { profile: 'other' },
    { unknown: 1 },
  ]) {
    test(`${JSON.stringify(bad)} is refused`, async () => {
      expect((await create(mine, 'bad.example', bad)).status).toBe(422)
    })
  }

  test('the free plan has one domain, also when two are added at once', async () => {
    const { key } = await app.tenant('Free', ['*'], 'free')
    const both = await Promise.all([create(key, 'one.example'), create(key, 'two.example')])
    expect(both.map((answer) => answer.status).sort()).toEqual([201, 403])
    const refusal = both.find((answer) => answer.status === 403)!
    expect(refusal.body.code).toBe('plan_limit')
  })

  test('is done once for one idempotency key, with the same answer', async () => {
    const headers = { 'idempotency-key': 'create-1' }
    const body = { name: 'once.example' }
    const first = await call('POST', '/v1/domains', { key: mine, body, headers })
    const second = await call('POST', '/v1/domains', { key: mine, body, headers })
    expect(second.status).toBe(201)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body).toEqual(first.body)
  })
})

describe('changing a domain', () => {
  test('makes a new version, and If-Match keeps two from overwriting each other', async () => {
    const { body } = await create(mine, 'etag.example')
    const path = `/v1/domains/${body.id}`
    const change = (version: string, tags: string[]) =>
      call('PATCH', path, { key: mine, body: { tags }, headers: { 'if-match': version } })
    const done = await change('"v1"', ['a'])
    expect(done.headers.get('etag')).toBe('"v2"')
    expect(done.body.tags).toEqual(['a'])
    expect((await change('"v1"', ['b'])).status).toBe(412)
    expect((await call('GET', path, { key: mine })).body.tags).toEqual(['a'])
  })

  test('keeps addresses in one form', async () => {
    const outbound_ips = ['2001:DB8:0::1', '192.0.2.9/24']
    const { body } = await call('PATCH', `/v1/domains/${domain}`, { key: mine, body: { outbound_ips } })
    expect(body.outbound_ips).toEqual(['2001:db8::1', '192.0.2.0/24'])
  })
})

describe('verification', () => {
  const verify = (id: string, key = mine, body: unknown = {}) =>
    call('POST', `/v1/domains/${id}/verify`, { key, body })
  const say = (name: string, value: string): void => {
    zone.set(name, { state: 'found', values: ['unrelated', value] })
  }

  test('fails while the record is not there, or nobody can say', async () => {
    const { body } = await create(mine, 'proof.example')
    const missing = await verify(body.id)
    expect(missing.body).toMatchObject({ status: 'pending' })
    expect(missing.body.verification.detail).toContain('no TXT record')
    zone.set(body.verification.record_name, { state: 'unknown', detail: 'the name server failed (SERVFAIL)' })
    expect((await verify(body.id)).body.verification.detail).toBe(
      'unverified: the name server failed (SERVFAIL)',
    )
    say(body.verification.record_name, 'wardpost-verification=other')
    expect((await verify(body.id)).body.status).toBe('pending')
    say(body.verification.record_name, body.verification.record_value)
    const proven = await verify(body.id)
    expect(proven.body).toMatchObject({ status: 'verified', verification: { detail: null } })
  })

  test('two may claim a name, one can prove it', async () => {
    const a = (await create(mine, 'contested.example')).body
    const b = (await create(stranger, 'contested.example')).body
    say(a.verification.record_name, a.verification.record_value)
    expect((await verify(a.id)).body.status).toBe('verified')
    say(b.verification.record_name, b.verification.record_value)
    expect((await verify(b.id, stranger)).status).toBe(409)
  })

  test('by hand is for operators, and on the record', async () => {
    expect((await verify(domain, mine, { by_hand: true })).body.code).toBe('operator_only')
    const actor = testActor(tenant_id, { type: 'operator', id: 'usr_1' })
    const operator = { is_operator: true, tenant_id, actor } as unknown as Principal
    const done = await app.app.services.domains.verify(operator, domain, true)
    expect(done.status).toBe('verified')
    const { body } = await call('GET', '/v1/audit/query?action=domains.verify_by_hand', { key: mine })
    expect(body.items[0]).toMatchObject({ outcome: 'success', target: { type: 'domain', id: domain } })
  })
})

describe('the policy record', () => {
  const cases: [string, DnsAnswer<string> | null, Record<string, unknown>][] = [
    [
      'is read',
      found('v=DMARC1; p=reject; sp=none; rua=mailto:a@x.example!10m'),
      { state: 'ok', p: 'reject', sp: 'none', rua: ['mailto:a@x.example'] },
    ],
    ['may be missing', null, { state: 'missing', p: null, record: null }],
    ['may be there twice', found('v=DMARC1; p=none', 'v=DMARC1; p=reject'), { state: 'multiple', p: null }],
    ['may be wrong', found('v=DMARC1; p=monitor'), { state: 'invalid' }],
    [
      'p=none counts where p is wrong but reports are wanted',
      found('v=DMARC1; p=x; rua=mailto:a@x.example'),
      { state: 'ok', p: 'none' },
    ],
    ['other TXT records do not count', found('v=spf1 -all', 'hello'), { state: 'missing' }],
    [
      'a failing server is not a missing record',
      { state: 'unknown', detail: 'no answer in time' },
      { state: 'unknown', detail: 'no answer in time' },
    ],
  ]
  for (const [name, answer, policy] of cases) {
    test(name, async () => {
      if (answer !== null) zone.set('_dmarc.example.com', answer)
      const { body } = await call('POST', `/v1/domains/${domain}/check`, { key: mine })
      expect(body.policy).toMatchObject(policy)
      expect(body.dns.dmarc.state).toBe(policy['state'])
    })
  }

  test('of a subdomain is found above it', async () => {
    const { body } = await create(mine, 'a.b.walk.example')
    zone.set('_dmarc.walk.example', found('v=DMARC1; p=reject; sp=quarantine'))
    const checked = await call('POST', `/v1/domains/${body.id}/check`, { key: mine })
    expect(checked.body.dns.dmarc).toMatchObject({ state: 'ok', found_at: 'walk.example' })
  })

  function found(...values: string[]): DnsAnswer<string> {
    return { state: 'found', values }
  }
})

describe('whose reports', () => {
  test('the nearest domain has them, and they move when domains come and go', async () => {
    const { key } = await app.tenant('Adoption')
    const send = (name: string) =>
      call('POST', '/v1/reports/upload', { key, body: aggregate({ domain: name, id: name, count: 4 }) })
    await send('mail.shop.example')
    await send('shop.example')
    await send('other.example')
    const owners = async (): Promise<Record<string, string | null>> => {
      const { body } = await call('GET', '/v1/reports', { key })
      const domains = (await call('GET', '/v1/domains', { key })).body.items
      const name = (id: string | null) => domains.find((each: { id: string }) => each.id === id)?.name ?? null
      return Object.fromEntries(
        body.items.map((item: { domain: string; domain_id: string | null }) => [
          item.domain,
          name(item.domain_id),
        ]),
      )
    }
    expect(await owners()).toEqual({ 'mail.shop.example': null, 'shop.example': null, 'other.example': null })
    const top = (await create(key, 'shop.example')).body
    expect(top).toMatchObject({ reports: 2, compliance: { messages: 8, pass: 8, rate: 100 } })
    expect(await owners()).toMatchObject({
      'mail.shop.example': 'shop.example',
      'shop.example': 'shop.example',
    })
    const sub = (await create(key, 'mail.shop.example')).body
    expect(await owners()).toMatchObject({
      'mail.shop.example': 'mail.shop.example',
      'shop.example': 'shop.example',
    })
    await call('DELETE', `/v1/domains/${sub.id}`, { key })
    expect(await owners()).toMatchObject({ 'mail.shop.example': 'shop.example' })
    await call('DELETE', `/v1/domains/${top.id}`, { key })
    expect(await owners()).toEqual({ 'mail.shop.example': null, 'shop.example': null, 'other.example': null })
    const { body } = await call('GET', '/v1/reports?unassigned=true', { key })
    expect(body.items).toHaveLength(3)
  })

  test('a similar name is not a parent', async () => {
    const { key } = await app.tenant('Similar')
    await create(key, 'shop.example')
    const answer = await call('POST', '/v1/reports/upload', {
      key,
      body: aggregate({ domain: 'myshop.example' }),
    })
    expect(answer.body.results[0].reports[0].assigned).toBe(false)
  })
})

describe('the list', () => {
  test('pages through all, in every order', async () => {
    for (const sort of [
      'name',
      '-name',
      'compliance',
      '-compliance',
      'messages',
      '-messages',
      'created_at',
      '-created_at',
    ]) {
      const whole = await call('GET', `/v1/domains?sort=${sort}`, { key: mine })
      const seen: string[] = []
      let cursor = ''
      do {
        const { body } = await call('GET', `/v1/domains?limit=3&sort=${sort}${cursor}`, { key: mine })
        seen.push(...body.items.map((item: { id: string }) => item.id))
        cursor = body.next_cursor === undefined ? '' : `&cursor=${body.next_cursor}`
      } while (cursor !== '')
      expect(seen).toEqual(whole.body.items.map((item: { id: string }) => item.id))
    }
  })

  test('is filtered by name, state, profile and tag', async () => {
    await create(mine, 'filtered.example', { profile: 'parked', tags: ['x'] })
    for (const filter of ['q=FILTER', 'profile=parked', 'tag=x']) {
      const { body } = await call('GET', `/v1/domains?${filter}&fields=name`, { key: mine })
      expect(body.items.map((item: { name: string }) => item.name)).toEqual(['filtered.example'])
    }
    for (const bad of ['status=x', 'profile=x', 'sort=x', 'fields=nope', 'limit=0']) {
      expect((await call('GET', `/v1/domains?${bad}`, { key: mine })).status).toBe(422)
    }
  })
})

test('bulk gives a result for each id', async () => {
  const ids = [(await create(mine, 'bulk1.example')).body.id, 'dom_00000000000000000000000000']
  const act = (action: string, more: Record<string, unknown> = {}) =>
    call('POST', '/v1/domains/bulk', { key: mine, body: { ids, action, ...more } })
  expect((await act('tag')).status).toBe(422)
  const tagged = await act('tag', { tag: 'bulk' })
  expect(tagged.body.results).toEqual([
    { id: ids[0], status: 'ok' },
    { id: ids[1], status: 'failed', code: 'not_found' },
  ])
  expect((await call('GET', `/v1/domains/${ids[0]}`, { key: mine })).body.tags).toEqual(['bulk'])
  await act('delete')
  expect((await call('GET', `/v1/domains/${ids[0]}`, { key: mine })).status).toBe(404)
})
