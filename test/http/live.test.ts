import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createLive, type Live } from '../../src/http/live.ts'
import { LIVE_STREAMS_PER_TENANT_MAX } from '../../src/lib/limits.ts'
import { createLiveness } from '../../src/users/liveness.ts'
import { openTestApp, type TestApp } from '../support/app.ts'
import { failureOf } from '../support/db.ts'

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

const follow = (as: string, headers: Record<string, string> = {}) =>
  t.app.http.handle(
    new Request('http://localhost/v1/live', { headers: { authorization: `Bearer ${as}`, ...headers } }),
  )

/** Reads messages as a browser does. */
function reader(response: Response) {
  const stream = response.body!.getReader()
  const utf8 = new TextDecoder()
  let text = ''
  return {
    async until(done: (text: string) => boolean): Promise<string> {
      while (!done(text)) {
        const piece = await stream.read()
        if (piece.done) break
        text += utf8.decode(piece.value)
      }
      return text
    },
    stop: () => stream.cancel(),
  }
}
const messages = (text: string) =>
  text
    .split('\n\n')
    .flatMap((each) => /^data: (\{"seq".*)$/m.exec(each)?.[1] ?? [])
    .map((each) => JSON.parse(each) as { seq: number; topic: string; id: string | null })
const add = (name: string) => t.call('POST', '/v1/domains', { key, body: { name } })

describe('who may follow', () => {
  test('nobody without a credential', async () => {
    expect((await t.call('GET', '/v1/live')).status).toBe(401)
  })

  test('a key without the scope of a topic hears nothing of it', async () => {
    const poor = await t.key(tenant_id, ['reports:read', 'settings:read'])
    const live = reader(await follow(poor))
    await live.until((text) => text.includes('id:'))
    await add('acme.example')
    await t.call('POST', '/v1/settings/keys', { key, body: { name: 'k', scopes: ['reports:read'] } })
    const heard = messages(await live.until((text) => text.includes('"keys"')))
    expect(heard.map((each) => each.topic)).toEqual(['keys'])
    await live.stop()
  })

  test('another tenant hears nothing', async () => {
    const other = await t.tenant('Other')
    const live = reader(await follow(other.key))
    await live.until((text) => text.includes('id:'))
    await add('acme.example')
    await t.call('POST', '/v1/domains', { key: other.key, body: { name: 'other.example' } })
    const heard = messages(await live.until((text) => messages(text).length > 0))
    expect(heard).toHaveLength(1)
    await live.stop()
  })

  test('a revoked key is cut off with the next change', async () => {
    const short = await t.key(tenant_id, ['*'])
    const { items } = (await t.call('GET', '/v1/settings/keys', { key })).body
    const live = reader(await follow(short))
    await live.until((text) => text.includes('id:'))
    expect((await t.call('DELETE', `/v1/settings/keys/${items[0].id}`, { key })).status).toBe(204)
    expect(messages(await live.until(() => false))).toEqual([])
  })
})

describe('a stream', () => {
  test('tells of every change with its number, topic and target', async () => {
    const live = reader(await follow(key))
    const made = await add('acme.example')
    const text = await live.until((text) => messages(text).length > 0)
    expect(messages(text)).toEqual([{ seq: expect.any(Number), topic: 'domains', id: made.body.id }])
    expect(text).toStartWith('retry: 2000\nid: ')
    await live.stop()
  })

  test('resumes after the last number without a gap, however much came meanwhile', async () => {
    const first = reader(await follow(key))
    await add('a0.example')
    const { seq } = messages(await first.until((text) => messages(text).length > 0))[0]!
    await first.stop()
    for (let i = 1; i <= 250; i++) {
      t.clock.advance(1000)
      await add(`a${i}.example`)
    }
    const again = reader(await follow(key, { 'last-event-id': String(seq) }))
    const heard = messages(await again.until((text) => messages(text).length >= 250))
    expect(heard.map((each) => each.seq)).toEqual(Array.from({ length: 250 }, (_, i) => seq + 1 + i))
    await again.stop()
  })

  test('says that everything must be read anew when the number is not of this log', async () => {
    const live = reader(await follow(key, { 'last-event-id': '999999' }))
    expect(await live.until((text) => text.includes('\n\n'))).toContain('event: reset\n')
    await live.stop()
  })

  test('ends when the server drains', async () => {
    const live = reader(await follow(key))
    await live.until((text) => text.includes('id:'))
    t.app.drain()
    expect(messages(await live.until(() => false))).toEqual([])
  })

  test('counts once to the limits', async () => {
    const response = await follow(key)
    expect(response.headers.get('x-ratelimit-remaining')).toBe('99')
    await response.body!.cancel()
  })
})

describe('a quiet stream', () => {
  let live: Live
  const principal = async () => {
    const found = await t.app.services.keys.authenticate(key, { ip: null, id: 'req_1' })
    if (!('scopes' in found)) throw new Error('the key is not known')
    return found
  }

  beforeEach(() => {
    live = createLive({
      onCommit: t.db.onCommit,
      head: async () => 0,
      changes: async () => [],
      alive: createLiveness({ db: t.db, clock: t.clock }),
      heartbeat_ms: 20,
    })
  })
  afterEach(() => live.close())

  test('shows signs of life', async () => {
    const heard = reader(new Response(await live.open(await principal(), null)))
    expect(await heard.until((text) => text.split(': still here').length > 2)).toContain(': still here\n\n')
    await heard.stop()
  })

  test('is one of a bounded number, and makes room when it ends', async () => {
    const who = await principal()
    const streams: ReadableStream[] = []
    for (let i = 0; i < LIVE_STREAMS_PER_TENANT_MAX; i++) streams.push(await live.open(who, null))
    expect(await failureOf(live.open(who, null))).toMatchObject({ code: 'rate_limited' })
    await streams[0]!.cancel()
    streams.push(await live.open(who, null))
    live.close()
    expect(await failureOf(live.open(who, null))).toMatchObject({ code: 'shutting_down' })
  })
})
