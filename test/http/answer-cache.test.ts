import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { openTestApp, type TestApp } from '../support/app.ts'

let t: TestApp
let key: string

beforeEach(async () => {
  t = await openTestApp()
  key = (await t.tenant('Acme')).key
})
afterEach(() => t.close())

const names = async (as = key, query = ''): Promise<string[]> =>
  (await t.call('GET', `/v1/domains${query}`, { key: as })).body.items.map(
    (item: { name: string }) => item.name,
  )
const add = (name: string, as = key) => t.call('POST', '/v1/domains', { key: as, body: { name } })

describe('a kept list', () => {
  test('is never older than the last acknowledged change, however many ask at once', async () => {
    for (let i = 0; i < 20; i++) {
      await names()
      const [added] = await Promise.all([add(`d${i}.example`), names(), names()])
      expect(added.status).toBe(201)
      expect((await names()).length).toBe(i + 1)
      t.clock.advance(5000)
    }
    const first = (await t.call('GET', '/v1/domains?limit=1', { key })).body.items[0]
    await t.call('PATCH', `/v1/domains/${first.id}`, { key, body: { tags: ['new'] } })
    expect((await t.call('GET', '/v1/domains?limit=1', { key })).body.items[0].tags).toEqual(['new'])
    await t.call('DELETE', `/v1/domains/${first.id}`, { key })
    expect((await names()).length).toBe(19)
  })

  test('belongs to one tenant and one query', async () => {
    const other = await t.tenant('Other')
    await add('a.example')
    await add('b.example')
    await add('o.example', other.key)
    for (let round = 0; round < 2; round++) {
      expect(await names()).toEqual(['a.example', 'b.example'])
      expect(await names(other.key)).toEqual(['o.example'])
      expect(await names(key, '?q=b')).toEqual(['b.example'])
    }
  })

  test('still needs the scope and counts to the limit', async () => {
    await names()
    const me = await t.call('GET', '/v1/me', { key })
    const weak = await t.key(me.body.tenant.id, ['reports:read'])
    expect((await t.call('GET', '/v1/domains', { key: weak })).status).toBe(403)
    const before = Number((await t.call('GET', '/v1/domains', { key })).headers.get('x-ratelimit-remaining'))
    const after = Number((await t.call('GET', '/v1/domains', { key })).headers.get('x-ratelimit-remaining'))
    expect(after).toBe(before - 1)
  })

  test('moves with the day', async () => {
    await add('a.example')
    const dates = async (): Promise<string> =>
      (await t.call('GET', '/v1/domains', { key })).body.items[0].compliance.trend.at(-1).date
    expect(await dates()).toBe('2026-01-15')
    t.clock.advance(24 * 3_600_000)
    expect(await dates()).toBe('2026-01-16')
  })

  test('that was a refusal is not kept', async () => {
    expect((await t.call('GET', '/v1/domains?sort=nothing', { key })).status).toBe(422)
    expect((await t.call('GET', '/v1/domains?sort=nothing', { key })).status).toBe(422)
  })
})
