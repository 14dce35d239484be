import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHmac, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { HOUR_MS } from '../../src/lib/clock.ts'
import { checkSignature } from '../../src/webhooks/rules/signature-check.ts'
import { signatureHeaders, standardKey } from '../../src/webhooks/rules/signature.ts'
import { type Delivered, type Receiver, startReceiver } from '../support/receivers.ts'
import { type HookApp, openHookApp, settle } from '../support/webhooks.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const NEXT = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const BODY = '{"id":"evt_1","type":"RBL_LISTED","data":{"reason":"été ✓"}}'

/** The contract's scheme, independently of the product. */
const byHand = (secret: string, seconds: number | string, body: string): string =>
  createHmac('sha256', secret).update(`${seconds}.${body}`, 'utf8').digest('hex')

const seconds = (): number => Math.floor(Date.now() / 1000)

describe('the signatures', () => {
  const keys: [name: string, secret: string, verifier: Webhook][] = [
    ['a generated secret', SECRET, new Webhook(SECRET)],
    [
      'a secret of 24 bytes in base64',
      `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
      new Webhook(`whsec_${Buffer.alloc(24, 1).toString('base64')}`),
    ],
    [
      'a secret of one’s own',
      'correct-horse-battery',
      new Webhook('correct-horse-battery', { format: 'raw' }),
    ],
    ['whsec_ and too few bytes', 'whsec_c2hvcnQgb25l', new Webhook('whsec_c2hvcnQgb25l', { format: 'raw' })],
  ]
  test.each(keys)('of %s verify with the standardwebhooks package and by hand', (_, secret, verifier) => {
    const at = seconds()
    const headers = signatureHeaders({ current: secret, next: null }, 'evt_1', at, Buffer.from(BODY))
    expect(verifier.verify(BODY, headers)).toEqual(JSON.parse(BODY))
    expect(() => verifier.verify(`${BODY} `, headers)).toThrow()
    expect(headers['X-Service-Signature']).toBe(byHand(secret, at, BODY))
    expect(headers['X-Service-Signature-Timestamp']).toBe(String(at))
  })

  test('of a rotation verify with the old and the new secret', () => {
    const both = { current: SECRET, next: NEXT }
    const at = seconds()
    const headers = signatureHeaders(both, 'evt_1', at, Buffer.from(BODY))
    for (const secret of [SECRET, NEXT]) {
      expect(new Webhook(secret).verify(BODY, headers)).toBeTruthy()
    }
    expect(headers['X-Service-Signature']).toBe(byHand(SECRET, at, BODY))
  })

  test('use a key of 24 to 64 bytes, and the text otherwise', () => {
    for (const bytes of [23, 24, 64, 65]) {
      const key = randomBytes(bytes)
      const secret = `whsec_${key.toString('base64')}`
      const decoded = bytes >= 24 && bytes <= 64
      expect(Buffer.from(standardKey(secret)).equals(decoded ? key : Buffer.from(secret))).toBe(true)
    }
    expect(Buffer.from(standardKey(`whsec_${'*'.repeat(44)}`)).toString()).toBe(`whsec_${'*'.repeat(44)}`)
  })
})

describe('rotating', () => {
  let t: HookApp
  let receiver: Receiver

  beforeEach(async () => {
    t = await openHookApp()
    receiver = await startReceiver()
  })
  afterEach(async () => {
    await t.close()
    await receiver.stop()
  })

  async function next(): Promise<Delivered> {
    const count = receiver.got.length + 1
    await t.emit()
    await receiver.until(count)
    await settle(t)
    return receiver.got[count - 1]!
  }
  /** Which secret made the contract's header, and which the standard one. */
  function signers(got: Delivered, secrets: Record<string, string>) {
    const at = got.headers['x-service-signature-timestamp']!
    const service = Object.keys(secrets).filter(
      (name) => got.headers['x-service-signature'] === byHand(secrets[name]!, at, got.body),
    )
    const standard = Object.keys(secrets).filter((name) => {
      const key = Buffer.from(secrets[name]!.slice(6), 'base64')
      const text = `${got.headers['webhook-id']}.${at}.${got.body}`
      const expected = `v1,${createHmac('sha256', key).update(text, 'utf8').digest('base64')}`
      return got.headers['webhook-signature']!.split(' ').includes(expected)
    })
    return { service, standard }
  }
  const rotate = async (id: string, query = '') =>
    (await t.call('POST', `/v1/webhooks/${id}/secret/rotate${query}`, { key: t.key })).body
  const promote = (id: string) => t.call('POST', `/v1/webhooks/${id}/secret/promote`, { key: t.key })

  test('signs with both until the new one is promoted', async () => {
    const hook = await t.webhook(receiver.url)
    const made = await rotate(hook.id)
    const secrets = { old: hook.secret, new: made.secret }
    expect(made.secret).not.toBe(hook.secret)
    expect(made.rotation).toEqual({
      next_secret_last4: made.secret.slice(-4),
      promote_at: new Date(t.clock.now() + 24 * HOUR_MS).toISOString(),
    })
    expect(signers(await next(), secrets)).toEqual({ service: ['old'], standard: ['old', 'new'] })
    const promoted = await promote(hook.id)
    expect(promoted.body).toMatchObject({ rotation: null, secret_last4: made.secret.slice(-4) })
    expect(signers(await next(), secrets)).toEqual({ service: ['new'], standard: ['new'] })
    expect((await promote(hook.id)).status).toBe(409)
  })

  test('promotes by itself after 24 hours, to the millisecond', async () => {
    const hook = await t.webhook(receiver.url)
    const secrets = { old: hook.secret, new: (await rotate(hook.id)).secret }
    t.clock.advance(24 * HOUR_MS - 1)
    expect(signers(await next(), secrets)).toEqual({ service: ['old'], standard: ['old', 'new'] })
    t.clock.advance(1)
    expect(signers(await next(), secrets)).toEqual({ service: ['new'], standard: ['new'] })
    const shown = (await t.call('GET', `/v1/webhooks/${hook.id}`, { key: t.key })).body
    expect(shown).toMatchObject({ rotation: null, secret_last4: secrets.new.slice(-4) })
    expect(await t.hooks.webhooks.promoteDue()).toBe(1)
    expect(signers(await next(), secrets)).toEqual({ service: ['new'], standard: ['new'] })
  })

  test('at once after a leak: the old one signs nothing any more', async () => {
    const hook = await t.webhook(receiver.url)
    const made = await rotate(hook.id, '?immediate=true')
    expect(made.rotation).toBeNull()
    const got = signers(await next(), { old: hook.secret, new: made.secret })
    expect(got).toEqual({ service: ['new'], standard: ['new'] })
  })

  test('a signature that arrived is found to be right, and a wrong one explained', async () => {
    const hook = await t.webhook(receiver.url)
    const { headers, body } = await next()
    const check = async (over: object) =>
      (
        await t.call('POST', `/v1/webhooks/${hook.id}/check-signature`, {
          key: t.key,
          body: { headers, body, ...over },
        })
      ).body
    const right = await check({})
    expect([right.ok, right.findings.every((each: { ok: boolean }) => each.ok)]).toEqual([true, true])
    const pretty = await check({ body: JSON.stringify(JSON.parse(body), null, 2) })
    expect(pretty.ok).toBe(false)
    expect(JSON.stringify(pretty.findings)).toContain('serialised again')
    t.clock.advance(HOUR_MS)
    expect((await check({})).ok).toBe(false)
  })
})

describe('the checker', () => {
  const at = 1_790_000_000
  const secrets = { current: SECRET, next: null as string | null }
  const good = () =>
    new Map(
      Object.entries(signatureHeaders(secrets, 'evt_1', at, Buffer.from(BODY))).map(([name, value]) => [
        name.toLowerCase(),
        value,
      ]),
    )
  const run = (change: (headers: Map<string, string>) => void, body = BODY, now = at, keys = secrets) => {
    const headers = good()
    change(headers)
    const { ok, findings } = checkSignature({ headers, body }, keys, now)
    return {
      ok,
      text: findings
        .filter((each) => !each.ok)
        .map((each) => each.detail)
        .join('\n'),
    }
  }
  const service = (value: string) => (headers: Map<string, string>) => {
    headers.set('x-service-signature', value)
    for (const name of ['webhook-id', 'webhook-signature', 'webhook-timestamp']) headers.delete(name)
  }
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text, 'utf8')

  const mistakes: [
    name: string,
    change: (headers: Map<string, string>) => void,
    says: string,
    body?: string,
  ][] = [
    ['no headers at all', (headers) => headers.clear(), 'not among the headers'],
    ['upper case', service(byHand(SECRET, at, BODY).toUpperCase()), 'upper case'],
    ['base64 for hex', service(hmac(SECRET, `${at}.${BODY}`).digest('base64')), 'in base64'],
    ['the decoded key', service(hmac(Buffer.alloc(32, 7), `${at}.${BODY}`).digest('hex')), 'decoded secret'],
    ['the body alone', service(hmac(SECRET, BODY).digest('hex')), 'body alone'],
    ['another secret', service(byHand('x'.repeat(20), at, BODY)), 'another secret'],
    ['a line feed at the end', service(byHand(SECRET, at, BODY)), 'white space', `${BODY}\n`],
    ['a cut body', service(byHand(SECRET, at, BODY)), 'cut off', BODY.slice(0, 20)],
    [
      'the text as key of the standard signature',
      (headers) =>
        headers
          .set('webhook-signature', `v1,${hmac(SECRET, `evt_1.${at}.${BODY}`).digest('base64')}`)
          .delete('x-service-signature'),
      'decoded from base64',
    ],
    [
      'the id of another event',
      (headers) => headers.set('webhook-id', 'evt_2').delete('x-service-signature'),
      'the body is the event evt_1',
    ],
  ]
  for (const [name, change, says, body] of mistakes) {
    test(`names ${name}`, () => {
      const found = run(change, body)
      expect([found.ok, found.text.includes(says) ? says : found.text]).toEqual([false, says])
    })
  }

  test('accepts 300 seconds of difference and no more', () => {
    expect(run(() => {}, BODY, at + 300).ok).toBe(true)
    expect(run(() => {}, BODY, at + 301).ok).toBe(false)
    expect(run(() => {}, BODY, at - 301).ok).toBe(false)
  })

  test('is content with one of the two', () => {
    expect(run((headers) => headers.delete('webhook-signature')).ok).toBe(true)
    expect(run((headers) => headers.delete('x-service-signature')).ok).toBe(true)
  })

  test('tells of the new secret before it is promoted', () => {
    const found = run(service(byHand(NEXT, at, BODY)), BODY, at, { current: SECRET, next: NEXT })
    expect(found.text).toContain('new secret')
  })
})
