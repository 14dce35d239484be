import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { AlertDraft, AlertStatus } from '../../src/alerts/types.ts'
import { systemActor } from '../../src/lib/actors.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/clock.ts'
import { openTestApp, type TestApp } from '../support/app.ts'

let t: TestApp
let key: string
let tenant_id: string
let user_id: string

beforeEach(async () => {
  t = await openTestApp()
  const made = await t.tenant('Acme', ['*'], 'enterprise')
  key = made.key
  tenant_id = made.tenant_id
  user_id = made.user_id
})
afterEach(() => t.close())

const draft = (over: Partial<AlertDraft> = {}): AlertDraft => ({
  kind: 'import_failures',
  severity: 'medium',
  title: 'Twelve files could not be read',
  summary: 'Since this morning twelve uploaded files could not be read.',
  subject: { type: 'tenant', id: tenant_id },
  evidence: { files: 12 },
  dedupe_key: 'import_failures',
  ...over,
})
const raise = async (over: Partial<AlertDraft> = {}, tenant = tenant_id): Promise<string> =>
  (await t.app.services.raiser.raiseNow(systemActor(tenant), draft(over))).id
const call = (method: string, path: string, options: Parameters<TestApp['call']>[2] = {}) => {
  t.clock.advance(700)
  return t.call(method, path, { key, ...options })
}
const post = (id: string, what: string, body?: unknown) =>
  call('POST', `/v1/alerts/${id}/${what}`, body === undefined ? {} : { body })
const get = async (id: string) => (await call('GET', `/v1/alerts/${id}`)).body

describe('who may', () => {
  const routes: [string, string, unknown?][] = [
    ['GET', ''],
    ['GET', '/summary'],
    ['GET', '/kinds'],
    ['POST', '/bulk', { ids: ['alr_00000000000000000000000000'], action: 'ack' }],
    ['GET', '/ID'],
    ['POST', '/ID/ack'],
    ['POST', '/ID/resolve'],
    ['POST', '/ID/silence?duration=1h'],
    ['POST', '/ID/assign', { user_id: null }],
    ['POST', '/ID/note', { text: 'hello' }],
  ]
  for (const [method, tail, body] of routes) {
    test(`${method} /v1/alerts${tail}: nobody 401, wrong scope 403, wrong tenant 404`, async () => {
      const id = await raise()
      const path = `/v1/alerts${tail.replace('ID', id)}`
      const options = body === undefined ? {} : { body }
      expect((await t.call(method, path, options)).status).toBe(401)
      const wrong = method === 'GET' ? ['reports:read', 'alerts:write'] : ['alerts:read']
      const scopeless = await call(method, path, { ...options, key: await t.key(tenant_id, wrong) })
      expect([scopeless.status, scopeless.body.required_scope]).toEqual([
        403,
        method === 'GET' ? 'alerts:read' : 'alerts:write',
      ])
      const other = await t.tenant('Other')
      const foreign = await call(method, path, { ...options, key: other.key })
      if (tail.includes('ID')) expect(foreign.status).toBe(404)
      else expect(foreign.text).not.toContain(id)
      expect(await get(id)).toMatchObject({ status: 'open', history: [{ action: 'raised' }] })
    })
  }

  test('does nothing to the alerts of another tenant by bulk', async () => {
    const id = await raise()
    const other = await t.tenant('Other')
    const answer = await call('POST', '/v1/alerts/bulk', {
      key: other.key,
      body: { ids: [id], action: 'resolve' },
    })
    expect(answer.body.results).toEqual([{ id, status: 'failed', code: 'not_found' }])
    expect((await get(id)).status).toBe('open')
  })
})

describe('the states', () => {
  const into: Record<AlertStatus, (id: string) => Promise<unknown>> = {
    open: async () => {},
    acknowledged: (id) => post(id, 'ack'),
    silenced: (id) => post(id, 'silence?duration=2h'),
    resolved: (id) => post(id, 'resolve'),
  }
  const matrix: [AlertStatus, string, AlertStatus | 409][] = [
    ['open', 'ack', 'acknowledged'],
    ['open', 'resolve', 'resolved'],
    ['open', 'silence?duration=1h', 'silenced'],
    ['acknowledged', 'ack', 409],
    ['acknowledged', 'resolve', 'resolved'],
    ['acknowledged', 'silence?duration=1h', 'silenced'],
    ['silenced', 'ack', 'acknowledged'],
    ['silenced', 'resolve', 'resolved'],
    ['silenced', 'silence?duration=1h', 409],
    ['resolved', 'ack', 409],
    ['resolved', 'resolve', 409],
    ['resolved', 'silence?duration=1h', 409],
  ]
  for (const [from, action, to] of matrix) {
    test(`${from} and ${action}: ${to}`, async () => {
      const id = await raise()
      await into[from](id)
      const before = await get(id)
      expect(before.status).toBe(from)
      const answer = await post(id, action)
      if (to === 409) {
        expect([answer.status, answer.body.code]).toEqual([409, 'conflict'])
        expect(await get(id)).toEqual(before)
      } else {
        expect([answer.status, answer.body.status]).toEqual([200, to])
        expect(await get(id)).toEqual(answer.body)
        expect(answer.body.history.length).toBe(before.history.length + 1)
      }
    })
  }

  test('change once when ten ask at the same time', async () => {
    const id = await raise()
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(id, 'ack')))
    expect(answers.map((each) => each.status).sort()).toEqual([200, ...Array<number>(9).fill(409)])
    expect((await get(id)).history.length).toBe(2)
  })

  test('leave an audit entry each, with the alert as target', async () => {
    const id = await raise()
    for (const what of ['ack', 'silence?duration=1h', 'resolve']) await post(id, what)
    await post(id, 'note', { text: 'done' })
    const { items } = (await call('GET', `/v1/audit/query?target=${id}`)).body
    expect(items.map((entry: { action: string }) => entry.action)).toEqual([
      'alerts.note',
      'alerts.resolve',
      'alerts.silence',
      'alerts.acknowledge',
      'alerts.raise',
    ])
  })

  test('answer a repeated request with the first answer', async () => {
    const id = await raise()
    const headers = { 'idempotency-key': 'once' }
    const first = await call('POST', `/v1/alerts/${id}/ack`, { headers })
    const second = await call('POST', `/v1/alerts/${id}/ack`, { headers })
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
    expect(second.body).toEqual(first.body)
  })
})

describe('silence', () => {
  const durations: [string, number | null][] = [
    ['1m', MINUTE_MS],
    ['90m', 90 * MINUTE_MS],
    ['4h', 4 * HOUR_MS],
    ['90d', 90 * DAY_MS],
    ['2160h', 90 * DAY_MS],
    ['12w', 84 * DAY_MS],
    ['0m', null],
    ['91d', null],
    ['13w', null],
    ['2161h', null],
    ['1s', null],
    ['1', null],
    ['h', null],
    ['-1h', null],
    ['1.5h', null],
    ['1h30m', null],
    [' 1h', null],
    ['', null],
  ]
  for (const [text, ms] of durations) {
    test(`of "${text}": ${ms === null ? 'refused' : `${ms} ms`}`, async () => {
      const id = await raise()
      const answer = await post(id, `silence?duration=${encodeURIComponent(text)}`)
      if (ms === null) expect([answer.status, (await get(id)).status]).toEqual([422, 'open'])
      else expect(Date.parse(answer.body.silenced_until) - t.clock.now()).toBe(ms)
    })
  }

  test('needs a duration', async () => {
    expect((await post(await raise(), 'silence')).status).toBe(422)
  })

  test('is over to the millisecond, before any job has run', async () => {
    const id = await raise()
    await t.call('POST', `/v1/alerts/${id}/silence?duration=1m`, { key })
    const until = t.clock.now() + MINUTE_MS
    const silenced = async () =>
      (await t.call('GET', '/v1/alerts?status=silenced', { key })).body.items.length
    const open = async () => (await t.call('GET', '/v1/alerts?status=open', { key })).body.items.length
    t.clock.set(until - 1)
    expect([await silenced(), await open()]).toEqual([1, 0])
    t.clock.set(until)
    expect([await silenced(), await open()]).toEqual([0, 1])
    const read = (await t.call('GET', `/v1/alerts/${id}`, { key })).body
    expect(read).toMatchObject({ status: 'open', silenced_until: null })
    expect(read.history.at(-1)).toMatchObject({ action: 'reopened', at: new Date(until).toISOString() })
    const { body } = await t.call('GET', '/v1/alerts/summary', { key })
    expect(body).toMatchObject({ open: 1, silenced: 0, by_severity: { medium: 1 } })
    // The job writes down what was shown, and no more than that.
    expect([await t.app.services.alerts.endSilences(), await t.app.services.alerts.endSilences()]).toEqual([
      1, 0,
    ])
    expect((await t.call('GET', `/v1/alerts/${id}`, { key })).body).toEqual(read)
  })

  test('that is over lets the alert be silenced again, and the history tells both', async () => {
    const id = await raise()
    await post(id, 'silence?duration=1m')
    t.clock.advance(MINUTE_MS)
    expect((await post(id, 'silence?duration=1h')).status).toBe(200)
    expect((await get(id)).history.map((entry: { action: string }) => entry.action)).toEqual([
      'raised',
      'silenced',
      'reopened',
      'silenced',
    ])
  })
})

describe('the same problem again', () => {
  for (const [status, step] of [
    ['open', null],
    ['acknowledged', 'ack'],
    ['silenced', 'silence?duration=1d'],
  ] as const) {
    test(`adds to the ${status} alert`, async () => {
      const id = await raise()
      if (step !== null) await post(id, step)
      t.clock.advance(HOUR_MS)
      expect(await raise({ title: 'Thirteen files', evidence: { files: 13 } })).toBe(id)
      const alert = await get(id)
      expect(alert).toMatchObject({ status, count: 2, title: 'Thirteen files', evidence: { files: 13 } })
      expect(Date.parse(alert.last_at) - Date.parse(alert.first_at)).toBeGreaterThanOrEqual(HOUR_MS)
    })
  }

  test('opens a new alert once the last one is resolved', async () => {
    const first = await raise()
    await post(first, 'resolve')
    const second = await raise()
    expect(second).not.toBe(first)
    expect((await get(first)).count).toBe(1)
    expect((await call('GET', '/v1/alerts')).body.items.length).toBe(2)
  })

  test('raises the severity and never lowers it', async () => {
    const id = await raise({ severity: 'medium' })
    await raise({ severity: 'critical' })
    await raise({ severity: 'low' })
    expect(await get(id)).toMatchObject({ severity: 'critical', count: 3 })
  })

  test('makes one alert of many that see it at once, and counts them all', async () => {
    const raised = await Promise.all(Array.from({ length: 40 }, () => raise()))
    expect(new Set(raised).size).toBe(1)
    expect(await get(raised[0]!)).toMatchObject({ count: 40, history: [{ action: 'raised' }] })
  })

  test('is found within the tenant only', async () => {
    const other = await t.tenant('Other')
    expect(await raise()).not.toBe(await raise({}, other.tenant_id))
  })

  test('lands with the change that found it, or not at all', async () => {
    const pieces = t.app.services.raiser.raise(tenant_id, draft())
    const ok = { action: 'reports.upload', detail: {} }
    await t.db.commit(systemActor(tenant_id), { writes: pieces.writes, audit: [ok, pieces.audit] })
    const again = t.app.services.raiser.raise(tenant_id, draft())
    await t.db.commit(systemActor(tenant_id), { writes: again.writes, audit: [ok, again.audit] })
    const broken = t.db.commit(systemActor(tenant_id), {
      writes: [...pieces.writes, { must: { sql: 'UPDATE tenants SET name = name WHERE 0' }, label: 'no' }],
      audit: ok,
    })
    expect(broken).rejects.toThrow('no')
    await broken.catch(() => {})
    const { items } = (await call('GET', '/v1/alerts')).body
    expect(items).toMatchObject([{ count: 2, history: [{ action: 'raised' }] }])
  })
})

describe('a cause that is gone', () => {
  test('resolves the alert, says why in its history, and does so once', async () => {
    const id = await raise()
    await post(id, 'silence?duration=1d')
    const { raiser } = t.app.services
    expect(await raiser.settleNow(tenant_id, 'import_failures', 'No file was refused for a day.')).toBe(true)
    expect(await raiser.settleNow(tenant_id, 'import_failures', 'No file was refused for a day.')).toBe(false)
    const alert = await get(id)
    expect([alert.status, alert.silenced_until]).toEqual(['resolved', null])
    expect(alert.history.at(-1)).toMatchObject({
      action: 'resolved',
      actor: { type: 'system', name: 'Wardpost' },
      note: 'No file was refused for a day.',
    })
  })

  test('of the installation is told to the tenants of operators, else to the oldest', async () => {
    const other = await t.tenant('Other')
    await t.db.commit(systemActor(), {
      writes: [{ sql: 'UPDATE users SET is_operator = (id = ?)', params: [other.user_id] }],
      audit: { none: 'staging' },
    })
    const { raiser } = t.app.services
    await raiser.raiseForOperators(draft({ kind: 'disk_low', dedupe_key: 'disk_low' }))
    const seen = async (as: string) =>
      (await call('GET', '/v1/alerts?status=open', { key: as })).body.items.length
    expect([await seen(key), await seen(other.key)]).toEqual([0, 1])
    await t.db.commit(systemActor(), {
      writes: [{ sql: 'UPDATE users SET is_operator = 0', params: [] }],
      audit: { none: 'staging' },
    })
    await raiser.raiseForOperators(draft({ kind: 'disk_low', dedupe_key: 'disk_low' }))
    expect([await seen(key), await seen(other.key)]).toEqual([1, 1])
    await raiser.settleForOperators('disk_low', 'There is room again.')
    expect([await seen(key), await seen(other.key)]).toEqual([0, 0])
  })
})

describe('work on an alert', () => {
  test('is assigned to a user of the tenant, found by it, and taken back', async () => {
    const id = await raise()
    const stranger = await t.tenant('Other')
    expect((await post(id, 'assign', { user_id: stranger.user_id })).status).toBe(422)
    expect((await post(id, 'assign', { user_id })).body.assigned_to.id).toBe(user_id)
    const found = async (who: string) =>
      (await call('GET', `/v1/alerts?assigned_to=${who}`)).body.items.length
    expect([await found(user_id), await found('none'), await found('usr_x')]).toEqual([1, 0, 0])
    expect((await call('GET', '/v1/alerts?assigned_to=me')).status).toBe(422)
    expect((await post(id, 'assign', { user_id: null })).body.assigned_to).toBeNull()
    await post(id, 'resolve')
    expect((await post(id, 'assign', { user_id })).status).toBe(409)
    const actions = (await get(id)).history.map((entry: { action: string }) => entry.action)
    expect(actions).toEqual(['raised', 'assigned', 'unassigned', 'resolved'])
  })

  test('can be explained in notes, in any state', async () => {
    const id = await raise()
    await post(id, 'resolve')
    const { history } = (await post(id, 'note', { text: ' It was the old mailer. ' })).body
    expect(history.at(-1)).toMatchObject({
      action: 'note',
      note: 'It was the old mailer.',
      actor: { type: 'key' },
    })
    expect((await post(id, 'note', { text: '  ' })).status).toBe(422)
    expect((await post(id, 'note', { text: 'x'.repeat(2001) })).status).toBe(422)
  })

  test('by bulk has a result for each', async () => {
    const [a, b, c] = [await raise(), await raise({ dedupe_key: 'b' }), await raise({ dedupe_key: 'c' })]
    await post(b, 'resolve')
    const ids = [a, b, 'alr_00000000000000000000000000', c, a]
    const answer = await call('POST', '/v1/alerts/bulk', { body: { ids, action: 'silence', duration: '1h' } })
    expect(answer.body.results).toEqual([
      { id: a, status: 'ok' },
      { id: b, status: 'failed', code: 'conflict' },
      { id: 'alr_00000000000000000000000000', status: 'failed', code: 'not_found' },
      { id: c, status: 'ok' },
    ])
    expect((await get(c)).status).toBe('silenced')
    for (const body of [
      { ids: [a], action: 'silence' },
      { ids: [a], action: 'silence', duration: '1y' },
      { ids: [a], action: 'delete' },
      { ids: [], action: 'ack' },
      { ids: Array.from({ length: 501 }, () => a), action: 'ack' },
    ]) {
      expect((await call('POST', '/v1/alerts/bulk', { body })).status).toBe(422)
    }
  })
})

describe('the list', () => {
  beforeEach(async () => {
    for (let i = 0; i < 7; i++) {
      t.clock.advance(MINUTE_MS)
      await raise({
        dedupe_key: `k${i}`,
        title: `Problem ${i}`,
        severity: (['low', 'critical', 'medium'] as const)[i % 3]!,
        kind: i % 2 === 0 ? 'import_failures' : 'reports_stopped',
      })
    }
  })
  const titles = (body: { items: { title: string }[] }) =>
    body.items.map((item) => item.title.slice(-1)).join('')

  for (const [sort, expected] of [
    ['-last_at', '6543210'],
    ['last_at', '0123456'],
    ['-first_at', '6543210'],
    ['-severity', '4152630'],
    ['severity', '0362514'],
  ] as const) {
    test(`by ${sort} gives each once, page after page`, async () => {
      let seen = ''
      let cursor = ''
      do {
        const { body } = await call('GET', `/v1/alerts?limit=3&sort=${sort}${cursor}`)
        seen += titles(body)
        cursor = body.next_cursor === undefined ? '' : `&cursor=${body.next_cursor}`
      } while (cursor !== '')
      expect(seen).toBe(expected)
    })
  }

  test('narrows by status, severity, kind and words', async () => {
    const at = async (query: string) => titles((await call('GET', `/v1/alerts?${query}`)).body)
    const { items } = (await call('GET', '/v1/alerts?sort=first_at')).body
    await post(items[0].id, 'ack')
    expect(await at('status=acknowledged')).toBe('0')
    expect(await at('status=open')).toBe('654321')
    expect(await at('severity=critical')).toBe('41')
    expect(await at('kind=reports_stopped')).toBe('531')
    expect(await at('kind=reports_stopped&severity=critical')).toBe('1')
    expect(await at('severity=critical,low')).toBe('64310')
    expect(await at('status=open,acknowledged')).toBe('6543210')
    await post(items[1].id, 'silence?duration=1h')
    expect(await at('status=open,acknowledged')).toBe('654320')
    expect(await at('status=silenced,acknowledged')).toBe('10')
    expect(await at('status=open,silenced')).toBe('654321')
    t.clock.advance(HOUR_MS)
    expect(await at('status=open,acknowledged')).toBe('6543210')
    expect(await at('status=silenced,acknowledged')).toBe('0')
    expect(await at('q=PROBLEM%203')).toBe('3')
    for (const bad of [
      'status=dead',
      'status=open,',

      'severity=bad',
      'kind=x',
      'sort=title',
      'limit=0',
      'fields=nope',
      'format=xml',
    ]) {
      expect([bad, (await call('GET', `/v1/alerts?${bad}`)).status]).toEqual([bad, 422])
    }
  })

  test('gives the fields that were asked for', async () => {
    const { body } = await call('GET', '/v1/alerts?limit=1&fields=title,subject.type,history.action')
    expect(body.items[0]).toEqual({
      id: expect.any(String),
      title: 'Problem 6',
      subject: { type: 'tenant' },
      history: [{ action: 'raised' }],
    })
  })

  test('is a table on request, in which no cell is a formula', async () => {
    await raise({ dedupe_key: 'evil', title: '=cmd|calc', summary: 'a, "b"' })
    const answer = await call('GET', '/v1/alerts?format=csv&limit=1')
    expect(answer.headers.get('content-type')).toContain('text/csv')
    const [head, row] = answer.text.split('\r\n')
    expect(head).toStartWith('id,kind,severity,status,title,summary')
    expect(row).toContain(`,'=cmd|calc,"a, ""b""",`)
  })

  test('counts what is to be done', async () => {
    const { items } = (await call('GET', '/v1/alerts?sort=first_at')).body
    await post(items[0].id, 'ack')
    await post(items[1].id, 'silence?duration=1h')
    await post(items[2].id, 'resolve')
    expect((await call('GET', '/v1/alerts/summary')).body).toEqual({
      open: 4,
      acknowledged: 1,
      silenced: 1,
      by_severity: { critical: 1, high: 0, medium: 1, low: 2, info: 0 },
    })
  })
})
