import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { EVENT_KINDS, EVENT_TYPES } from '../../src/lib/event-kinds.ts'
import { type Receiver, startReceiver } from '../support/receivers.ts'
import { type HookApp, openHookApp, settle } from '../support/webhooks.ts'

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

const URL_OK = 'https://hooks.test/x'
const post = (path: string, body?: object, key = t.key) =>
  t.call('POST', `/v1/webhooks${path}`, { key, ...(body === undefined ? {} : { body }) })
const get = (path: string, key = t.key) => t.call('GET', `/v1/webhooks${path}`, { key })

describe('creating a webhook', () => {
  const scenarios: [string, () => Promise<{ status: number; body: { code?: string } }>, number, string?][] = [
    ['by nobody', () => t.call('POST', '/v1/webhooks', { body: {} }), 401, 'unauthenticated'],
    [
      'with a key that may only read',
      async () => post('', { url: URL_OK, events: ['RBL_LISTED'] }, await t.tenantKey(['webhooks:read'])),
      403,
      'insufficient_scope',
    ],
    ['without events', () => post('', { url: URL_OK, events: [] }), 422, 'validation_failed'],
    ['without a URL', () => post('', { events: ['RBL_LISTED'] }), 422, 'validation_failed'],
    ['for an unknown event', () => post('', { url: URL_OK, events: ['LUNCH'] }), 422, 'validation_failed'],
    [
      'with an unknown member',
      () => post('', { url: URL_OK, events: ['RBL_LISTED'], headers: {} }),
      422,
      'validation_failed',
    ],
    [
      'with a secret that is too short',
      () => post('', { url: URL_OK, events: ['RBL_LISTED'], secret: 'x'.repeat(15) }),
      422,
      'validation_failed',
    ],
    [
      'with a secret that is too long',
      () => post('', { url: URL_OK, events: ['RBL_LISTED'], secret: 'x'.repeat(257) }),
      422,
      'validation_failed',
    ],
    [
      'with a secret that nobody can print',
      () => post('', { url: URL_OK, events: ['RBL_LISTED'], secret: `${'x'.repeat(20)}\n` }),
      422,
      'validation_failed',
    ],
    [
      'over plain http',
      () => post('', { url: 'http://hooks.test/', events: ['RBL_LISTED'] }),
      422,
      'webhook_url_blocked',
    ],
    [
      'to a private address',
      () => post('', { url: 'https://10.0.0.1/', events: ['RBL_LISTED'] }),
      422,
      'webhook_url_blocked',
    ],
    [
      'to the port of another service',
      () => post('', { url: 'https://hooks.test:22/', events: ['RBL_LISTED'] }),
      422,
      'webhook_url_blocked',
    ],
    ['rightly', () => post('', { url: URL_OK, events: ['RBL_LISTED'] }), 201],
    ['for all kinds', () => post('', { url: URL_OK, events: EVENT_TYPES }), 201],
  ]
  for (const [name, run, status, code] of scenarios) {
    test(`${name}: ${status}`, async () => {
      const answer = await run()
      expect([answer.status, answer.body.code]).toEqual([status, code])
    })
  }

  test('shows the secret once, and keeps it sealed', async () => {
    const made = await post('', { url: URL_OK, events: ['RBL_LISTED'] })
    const { id, secret } = made.body
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(made.body.secret_last4).toBe(secret.slice(-4))
    expect((await get(`/${id}`)).text).not.toContain(secret.slice(6, 30))
    expect((await get('')).text).not.toContain(secret.slice(6, 30))
    const everything = JSON.stringify([
      await t.db.query('SELECT * FROM webhooks'),
      await t.db.query('SELECT * FROM audit_entries'),
      await t.db.query('SELECT * FROM idempotency'),
    ])
    expect(everything).not.toContain(secret.slice(6, 30))
  })

  test('with an Idempotency-Key makes one, and answers the same twice', async () => {
    const headers = { 'idempotency-key': 'k1' }
    const body = { url: URL_OK, events: ['RBL_LISTED'] }
    const first = await t.call('POST', '/v1/webhooks', { key: t.key, body, headers })
    const second = await t.call('POST', '/v1/webhooks', { key: t.key, body, headers })
    expect(second.body).toEqual(first.body)
    expect((await get('')).body.items.length).toBe(1)
  })

  test('takes the secret that is given', async () => {
    const secret = 'my own secret!'.replaceAll(' ', '-').padEnd(20, '0')
    const made = await post('', { url: URL_OK, events: ['RBL_LISTED'], secret })
    expect(made.body.secret).toBe(secret)
  })

  test('names the setting of the operator when an address is refused, and the attempt is in the log', async () => {
    const refused = await post('', { url: 'https://192.168.1.1/', events: ['RBL_LISTED'] })
    expect(refused.body.detail).toContain('WARDPOST_EGRESS_ALLOW')
    expect(refused.body.errors).toEqual([expect.objectContaining({ pointer: '/url', code: 'url_address' })])
    await t.app.denials.flush({ all: true })
    const rows = await t.db.query<{ entry: string }>(
      `SELECT entry FROM audit_entries WHERE action = 'webhooks.blocked_count' AND tenant_id = ?`,
      [t.tenant_id],
    )
    expect(rows.map((row) => JSON.parse(row.entry).detail.count)).toEqual([1])
  })

  test('ends at twenty', async () => {
    for (let i = 0; i < 20; i++) {
      expect((await post('', { url: `${URL_OK}${i}`, events: ['RBL_LISTED'] })).status).toBe(201)
    }
    expect((await post('', { url: URL_OK, events: ['RBL_LISTED'] })).body.code).toBe('conflict')
    const [first] = (await get('?limit=1')).body.items
    await t.call('DELETE', `/v1/webhooks/${first.id}`, { key: t.key })
    expect((await post('', { url: URL_OK, events: ['RBL_LISTED'] })).status).toBe(201)
  })
})

describe('a webhook', () => {
  test('is changed by whoever read its last version', async () => {
    const hook = await t.webhook(URL_OK)
    const patch = (body: object, etag?: string) =>
      t.call('PATCH', `/v1/webhooks/${hook.id}`, {
        key: t.key,
        body,
        ...(etag === undefined ? {} : { headers: { 'if-match': etag } }),
      })
    const changed = await patch({ description: 'new', events: ['TAKEDOWN_RESOLVED'] }, '"v1"')
    expect(changed.body).toMatchObject({ description: 'new', events: ['TAKEDOWN_RESOLVED'], version: 2 })
    expect(changed.headers.get('etag')).toBe('"v2"')
    expect((await patch({ description: 'late' }, '"v1"')).status).toBe(412)
    expect((await patch({ url: 'https://127.0.0.1:6379/' })).body.code).toBe('webhook_url_blocked')
    expect((await patch({ events: ['x'] })).status).toBe(422)
    expect((await patch({})).status).toBe(422)
    expect((await get(`/${hook.id}`)).body.description).toBe('new')
  })

  test('gets the kinds it asked for and no others', async () => {
    const one = await t.webhook(receiver.url, { events: ['RBL_LISTED'] })
    const two = await t.webhook(receiver.url, { events: ['TAKEDOWN_RESOLVED', 'RBL_LISTED'] })
    await t.emit(t.tenant_id, 'TAKEDOWN_RESOLVED')
    await t.emit(t.tenant_id, 'PHISHING_REPORTED')
    await receiver.until(1)
    await settle(t)
    expect(receiver.got.length).toBe(1)
    expect((await get(`/${one.id}/deliveries`)).body.items).toEqual([])
    expect((await get(`/${two.id}/deliveries?type=TAKEDOWN_RESOLVED`)).body.items.length).toBe(1)
    expect((await get(`/${two.id}/deliveries?type=RBL_LISTED`)).body.items.length).toBe(0)
    expect((await get(`/${two.id}/deliveries?type=LUNCH`)).status).toBe(422)
    expect((await get(`/${two.id}/deliveries?status=eaten`)).status).toBe(422)
  })

  test('that is paused keeps what happens as skipped, to be sent later', async () => {
    const hook = await t.webhook(receiver.url)
    expect((await post(`/${hook.id}/pause`)).body.status).toBe('paused')
    expect((await post(`/${hook.id}/pause`)).status).toBe(409)
    await t.emit()
    await settle(t)
    const [skipped] = (await get(`/${hook.id}/deliveries?status=skipped`)).body.items
    expect([skipped.status, skipped.attempts]).toEqual(['skipped', 0])
    expect((await post(`/${hook.id}/redeliver/${skipped.id}`)).body.code).toBe('conflict')
    expect((await get('/undelivered')).body.items.map((each: { id: string }) => each.id)).toEqual([
      skipped.id,
    ])
    expect((await post(`/${hook.id}/resume`)).body.status).toBe('active')
    await settle(t)
    expect(receiver.got).toEqual([])
    expect((await post(`/${hook.id}/redeliver/${skipped.id}`)).status).toBe(202)
    await receiver.until(1)
    await settle(t)
    expect((await get('/undelivered')).body.items).toEqual([])
  })

  test('that is paused while it retries puts the retry aside', async () => {
    await receiver.stop()
    const hook = await t.webhook(receiver.url)
    await t.emit()
    await settle(t)
    expect((await get(`/${hook.id}/deliveries`)).body.items[0].status).toBe('retrying')
    await post(`/${hook.id}/pause`)
    expect((await get(`/${hook.id}/deliveries`)).body.items[0]).toMatchObject({
      status: 'skipped',
      next_attempt_at: null,
      attempts: 1,
    })
  })

  test('is deleted with what is theirs, at once for the API and in steps for the rows', async () => {
    const hook = await t.webhook(receiver.url)
    await t.emit()
    await receiver.until(1)
    await settle(t)
    expect((await t.call('DELETE', `/v1/webhooks/${hook.id}`, { key: t.key })).status).toBe(204)
    expect((await get(`/${hook.id}`)).status).toBe(404)
    expect((await get(`/${hook.id}/deliveries`)).status).toBe(404)
    await t.emit()
    await settle(t)
    expect(receiver.got.length).toBe(1)
    await t.hooks.sweeper.retain(new AbortController().signal)
    for (const table of ['webhooks', 'deliveries', 'delivery_attempts']) {
      expect([table, await t.db.query(`SELECT * FROM ${table}`)]).toEqual([table, []])
    }
  })

  test('is tested with a signed example, and answers what the receiver said', async () => {
    const hook = await t.webhook(receiver.url)
    const done = await post(`/${hook.id}/test`, { type: 'SSPM_NEW_INBOX_RULE' })
    expect(done.body).toMatchObject({
      ok: true,
      status_code: 200,
      error: null,
      address: '127.0.0.1',
      response_body: 'ok',
    })
    const [got] = receiver.got
    expect(JSON.parse(got!.body).data).toEqual(EVENT_KINDS.SSPM_NEW_INBOX_RULE.example)
    expect(got!.headers['x-service-signature']).toBe(done.body.request_headers['X-Service-Signature'])
    expect((await get(`/${hook.id}/deliveries`)).body.items).toEqual([])
    expect((await post(`/${hook.id}/test`, { type: 'x' })).status).toBe(422)
    await receiver.stop()
    const failed = await post(`/${hook.id}/test`, { type: 'RBL_LISTED' })
    expect(failed.body).toMatchObject({ ok: false, status_code: null, error_class: 'connect' })
  })

  test('lists its deliveries page by page, each once', async () => {
    const hook = await t.webhook(receiver.url)
    const ids: string[] = []
    for (let i = 0; i < 7; i++) ids.unshift(await t.emit())
    await receiver.until(7)
    await settle(t)
    const seen: string[] = []
    let cursor = ''
    do {
      const page = (await get(`/${hook.id}/deliveries?limit=3${cursor}`)).body
      seen.push(...page.items.map((each: { event_id: string }) => each.event_id))
      cursor = page.next_cursor === undefined ? '' : `&cursor=${page.next_cursor}`
    } while (cursor !== '')
    expect(seen).toEqual(ids)
    for (const status of ['pending', 'sending', 'retrying', 'failed', 'skipped', 'cancelled']) {
      expect([status, (await get(`/${hook.id}/deliveries?status=${status}`)).body.items]).toEqual([
        status,
        [],
      ])
    }
    expect((await get(`/${hook.id}/deliveries?status=succeeded`)).body.items.length).toBe(7)
    const some = (await get(`/${hook.id}/deliveries?limit=1&fields=status`)).body.items
    expect(Object.keys(some[0])).toEqual(['id', 'status'])
  })
})

test('the kinds are described, and every example is of its kind', async () => {
  const { items } = (await get('/events')).body
  expect(items.map((each: { type: string }) => each.type)).toEqual(EVENT_TYPES)
  for (const { type, schema, example } of items) {
    expect(Object.keys(example)).toEqual(['id', 'type', 'created_at', 'tenant_id', 'data'])
    expect([type, Object.keys(example.data).sort()]).toEqual([type, [...schema.required].sort()])
  }
})

test('tenants see and send nothing of each other', async () => {
  const other = await t.tenant('Other')
  const hook = await t.webhook(receiver.url)
  await t.emit()
  await receiver.until(1)
  await settle(t)
  const [delivery] = (await get(`/${hook.id}/deliveries`)).body.items
  await t.emit(other.tenant_id)
  await settle(t)
  expect(receiver.got.length).toBe(1)
  expect((await get('', other.key)).body.items).toEqual([])
  expect((await get('/undelivered', other.key)).body.items).toEqual([])
  const foreign: [string, string, object?][] = [
    ['GET', `/${hook.id}`],
    ['PATCH', `/${hook.id}`, { description: 'mine' }],
    ['DELETE', `/${hook.id}`],
    ['POST', `/${hook.id}/pause`],
    ['POST', `/${hook.id}/resume`],
    ['POST', `/${hook.id}/secret/rotate`],
    ['POST', `/${hook.id}/secret/promote`],
    ['POST', `/${hook.id}/test`, { type: 'RBL_LISTED' }],
    ['POST', `/${hook.id}/check-signature`, { headers: {}, body: '' }],
    ['GET', `/${hook.id}/deliveries`],
    ['GET', `/${hook.id}/deliveries/${delivery.id}`],
    ['POST', `/${hook.id}/redeliver/${delivery.id}`],
    ['POST', `/${hook.id}/redeliver`, { since: '2026-01-01' }],
    ['GET', `/${hook.id}/redeliver-jobs/job_00000000000000000000000000`],
  ]
  for (const [method, path, body] of foreign) {
    const answer = await t.call(method, `/v1/webhooks${path}`, {
      key: other.key,
      ...(body === undefined ? {} : { body }),
    })
    expect([method, path, answer.status]).toEqual([method, path, 404])
  }
  const own = await t.webhook(receiver.url, {}, other.key)
  const crossed = await t.call('GET', `/v1/webhooks/${own.id}/deliveries/${delivery.id}`, { key: other.key })
  expect(crossed.status).toBe(404)
  expect((await get(`/${hook.id}`)).body.status).toBe('active')
})
