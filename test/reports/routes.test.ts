import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openTestApp, type TestApp } from '../support/app.ts'
import { aggregate } from '../support/aggregate.ts'

let app: TestApp
let mine: string
let reader: string
let stranger: string
let report: string

/** A second between requests keeps the rate limit out of the way. */
const call: TestApp['call'] = (...request) => {
  app.clock.advance(1000)
  return app.call(...request)
}

const upload = (key: string, body: FormData | Uint8Array | string, headers: Record<string, string> = {}) =>
  call('POST', '/v1/reports/upload', { key, body, headers })

const form = (...files: [string, string | Uint8Array][]): FormData => {
  const data = new FormData()
  for (const [name, content] of files) data.append('file', new Blob([content as BlobPart]), name)
  return data
}

beforeAll(async () => {
  app = await openTestApp()
  const tenant = await app.tenant('Mine')
  mine = tenant.key
  reader = await app.key(tenant.tenant_id, ['domains:read'])
  stranger = (await app.tenant('Other')).key
  await call('POST', '/v1/domains', { key: mine, body: { name: 'example.com' } })
  const first = await upload(mine, form(['a.xml', aggregate({ id: 'a', count: 7 })]))
  expect(first.status).toBe(201)
  report = first.body.results[0].reports[0].id
})
afterAll(() => app.close())

const READS = [
  '/v1/reports',
  '/v1/reports/export',
  '/v1/reports/timeline',
  '/v1/reports/sources',
  '/v1/reports/summary',
  '/v1/reports/reporters',
  '/v1/reports/tls',
  '/v1/reports/failures',
  '/v1/reports/rejected',
]

describe('who may', () => {
  for (const path of READS) {
    test(`${path}: nobody unknown, nobody without the scope, nobody else's reports`, async () => {
      expect((await call('GET', path)).status).toBe(401)
      expect((await call('GET', path, { key: reader })).status).toBe(403)
      const other = await call('GET', path, { key: stranger })
      expect(other.status).toBe(200)
      expect(other.text).not.toContain('Receiver One')
    })
  }
  for (const tail of ['', '/records', '/raw']) {
    test(`/v1/reports/{id}${tail}: another tenant's is not found`, async () => {
      expect((await call('GET', `/v1/reports/${report}${tail}`)).status).toBe(401)
      expect((await call('GET', `/v1/reports/${report}${tail}`, { key: reader })).status).toBe(403)
      expect((await call('GET', `/v1/reports/${report}${tail}`, { key: stranger })).status).toBe(404)
      expect((await call('GET', `/v1/reports/${report}${tail}`, { key: mine })).status).toBe(200)
    })
  }
  test('an upload needs the scope before its body is read', async () => {
    expect((await call('POST', '/v1/reports/upload', { body: 'x' })).status).toBe(401)
    expect((await upload(reader, 'x')).status).toBe(403)
  })
})

describe('an upload', () => {
  test('raw, without a form, is a file', async () => {
    const answer = await upload(mine, aggregate({ id: 'raw' }), { 'content-type': 'application/xml' })
    expect(answer.status).toBe(201)
    expect(answer.body.results[0].reports[0]).toMatchObject({
      status: 'created',
      kind: 'dmarc',
      assigned: true,
    })
  })
  test('of what is there already answers 200', async () => {
    const answer = await upload(mine, form(['a.xml', aggregate({ id: 'a', count: 7 })]))
    expect(answer.status).toBe(200)
    expect(answer.body.results[0].reports[0]).toMatchObject({ status: 'duplicate', id: report })
  })
  test('of many files has a result for each', async () => {
    const answer = await upload(
      mine,
      form(
        ['b.xml', aggregate({ id: 'b' })],
        ['c.gz', Bun.gzipSync(Buffer.from(aggregate({ id: 'c' })))],
        ['d', 'no'],
      ),
    )
    expect(answer.status).toBe(201)
    const statuses = answer.body.results.map(
      (file: { reports: { status: string }[] }) => file.reports[0]!.status,
    )
    expect(statuses).toEqual(['created', 'created', 'rejected'])
  })
  test('of which nothing is a report answers 422 with the results and keeps the file', async () => {
    const answer = await upload(mine, form(['x.pdf', '%PDF-1.7 nothing']))
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ code: 'upload_rejected' })
    expect(answer.body.results[0].reports[0].code).toBe('not_a_report')
    const kept = await call('GET', '/v1/reports/rejected?q=x.pdf', { key: mine })
    expect(kept.body.items).toMatchObject([{ file: 'x.pdf', code: 'not_a_report' }])
    const raw = await call('GET', `/v1/reports/rejected/${kept.body.items[0].id}/raw`, { key: mine })
    expect(raw.text).toBe('%PDF-1.7 nothing')
  })
  const refused: [string, () => FormData | string, Record<string, string>, number, string][] = [
    ['a form without a file', () => new FormData(), {}, 422, 'validation_failed'],
    ['a file over the limit', () => form(['big', new Uint8Array(27_000_000)]), {}, 413, 'payload_too_large'],
    [
      'a form that is cut off',
      () => '--x\r\nnope',
      { 'content-type': 'multipart/form-data; boundary=x' },
      400,
      'invalid_request',
    ],
  ]
  for (const [name, body, headers, status, code] of refused) {
    test(`${name} is refused with ${status}`, async () => {
      const answer = await upload(mine, body(), headers)
      expect(answer.status).toBe(status)
      expect(answer.body.code).toBe(code)
    })
  }
})

describe('a report', () => {
  test('comes back with its records and its original', async () => {
    const { body } = await call('GET', `/v1/reports/${report}`, { key: mine })
    expect(body).toMatchObject({
      domain: 'example.com',
      org_name: 'Receiver One',
      status: 'current',
      totals: { messages: 7, pass: 7, fail: 0 },
      source: 'api',
    })
    expect(body.records.items).toHaveLength(1)
    expect(body.records.items[0]).toMatchObject({
      source_ip: '192.0.2.1',
      count: 7,
      result: 'pass',
      sender: 'example.com',
    })
    const raw = await call('GET', `/v1/reports/${report}/raw`, { key: mine })
    expect(raw.text).toBe(aggregate({ id: 'a', count: 7 }))
    expect(raw.headers.get('content-disposition')).toStartWith('attachment')
  })
  test('shows only the fields that are asked for', async () => {
    const { body } = await call('GET', `/v1/reports/${report}?fields=org_name,totals.pass`, { key: mine })
    expect(body).toEqual({ id: report, org_name: 'Receiver One', totals: { pass: 7 } })
    expect((await call('GET', `/v1/reports/${report}?fields=nope`, { key: mine })).status).toBe(422)
  })
})

describe('a list', () => {
  test('pages through everything once, in every order', async () => {
    for (const sort of [
      '-date_end',
      'date_end',
      '-created_at',
      'created_at',
      '-messages',
      'messages',
      '-fail',
    ]) {
      for (const narrow of ['', '&domain=example.com', '&org=Receiver+One', '&q=one', '&unassigned=false']) {
        const whole = await call('GET', `/v1/reports?sort=${sort}${narrow}`, { key: mine })
        const seen: string[] = []
        let cursor = ''
        do {
          const page = await call('GET', `/v1/reports?limit=1&sort=${sort}${narrow}${cursor}`, { key: mine })
          seen.push(...page.body.items.map((item: { id: string }) => item.id))
          cursor = page.body.next_cursor === undefined ? '' : `&cursor=${page.body.next_cursor}`
        } while (cursor !== '')
        expect(seen).toEqual(whole.body.items.map((item: { id: string }) => item.id))
        expect(new Set(seen).size).toBe(4)
      }
    }
  })
  const filters: [string, number][] = [
    ['domain=example.com', 4],
    ['domain=EXAMPLE.com', 4],
    ['domain=nobody.example', 0],
    ['domain=', 0],
    ['org=Receiver+One', 4],
    ['org=receiver', 0],
    ['q=rece', 4],
    ['q=%25', 0],
    ['unassigned=true', 0],
    ['status=superseded', 0],
    ['from=2026-01-10&to=2026-01-11', 4],
    ['from=2026-01-11', 0],
    ['to=2026-01-10', 0],
  ]
  for (const [filter, count] of filters) {
    test(`${filter}: ${count}`, async () => {
      const { body } = await call('GET', `/v1/reports?${filter}`, { key: mine })
      expect(body.items).toHaveLength(count)
    })
  }
  for (const bad of [
    'sort=nope',
    'limit=0',
    'limit=501',
    'from=x',
    'from=2026-02-01&to=2026-01-01',
    'unassigned=1',
    'fields=x',
  ]) {
    test(`${bad}: 422`, async () => {
      expect((await call('GET', `/v1/reports?${bad}`, { key: mine })).status).toBe(422)
    })
  }
  test('as csv is a table', async () => {
    const { text, headers } = await call('GET', '/v1/reports?format=csv', { key: mine })
    expect(headers.get('content-type')).toStartWith('text/csv')
    expect(text.trimEnd().split('\r\n')).toHaveLength(5)
  })
})

describe('an export', () => {
  test('as json is whole and says so', async () => {
    const { text } = await call('GET', '/v1/reports/export?format=json', { key: mine })
    const { items, _meta } = JSON.parse(text)
    const lines = items.map((item: unknown) => `${JSON.stringify(item)}\n`).join('')
    expect(_meta).toEqual({
      rows: 4,
      complete: true,
      sha256: new Bun.CryptoHasher('sha256').update(lines).digest('hex'),
    })
  })
  test('as ndjson has the same items and digest', async () => {
    const { text } = await call('GET', '/v1/reports/export?format=ndjson', { key: mine })
    const lines = text.trimEnd().split('\n')
    const items = lines.slice(0, -1).map((line) => `${line}\n`)
    const digest = new Bun.CryptoHasher('sha256').update(items.join('')).digest('hex')
    expect(JSON.parse(lines.at(-1)!)._meta).toEqual({ rows: 4, complete: true, sha256: digest })
  })
  test('as csv runs no formula', async () => {
    const key = (await app.tenant('Formula')).key
    await upload(key, aggregate({ org: '=HYPERLINK("http://x")' }))
    const { text } = await call('GET', '/v1/reports/export?format=csv', { key })
    expect(text).toContain(`"'=HYPERLINK(""http://x"")"`)
  })
  test('is in the audit log', async () => {
    const { body } = await call('GET', '/v1/audit/query?action=reports.export', { key: mine })
    expect(body.items[0].detail).toEqual({ format: 'ndjson' })
  })
})

test('timeline and sources agree with the reports, for the domain and the tenant', async () => {
  const [domain] = (await call('GET', '/v1/domains', { key: mine })).body.items
  const range = 'from=2026-01-01&to=2026-02-01'
  for (const base of [`/v1/domains/${domain.id}`, '/v1/reports']) {
    const timeline = (await call('GET', `${base}/timeline?${range}`, { key: mine })).body
    expect(timeline.items).toHaveLength(31)
    const day = timeline.items.find((item: { date: string }) => item.date === '2026-01-10')
    expect(day).toMatchObject({ messages: 10, pass: 10, fail: 0, both: 0, dkim_only: 10, reports: 4 })
    const sources = (await call('GET', `${base}/sources?${range}`, { key: mine })).body
    expect(sources.items).toMatchObject([
      { sender: 'example.com', kind: 'dkim', messages: 10, pass_rate: 100, sample_ips: ['192.0.2.1'] },
    ])
  }
  const summary = (await call('GET', `/v1/reports/summary?${range}`, { key: mine })).body
  expect(summary).toMatchObject({ messages: 10, reports: 4, reporters: 1, domains: 1, rejected_files: 2 })
})

describe('reports of other kinds', () => {
  const tls = JSON.stringify({
    'organization-name': 'Mailhub',
    'date-range': { 'start-datetime': '2026-01-10T00:00:00Z', 'end-datetime': '2026-01-10T23:59:59Z' },
    'contact-info': 'tls@mailhub.example',
    'report-id': 'tls-1',
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-string': ['version: STSv1'], 'policy-domain': 'example.com' },
        summary: { 'total-successful-session-count': 90, 'total-failure-session-count': 2 },
        'failure-details': [{ 'result-type': 'certificate-expired', 'failed-session-count': 2 }],
      },
    ],
  })
  const failure = [
    'From: ruf@mailhub.example',
    'To: ruf@example.com',
    'Subject: failure',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary=b',
    '',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: auth-failure',
    'Reported-Domain: example.com',
    'Source-IP: 198.18.1.2',
    'Auth-Failure: dmarc',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    'From: ceo@example.com',
    'Subject: pay this',
    '--b--',
    '',
  ].join('\r\n')

  const kinds: [string, string, string, Record<string, unknown>, Record<string, unknown>][] = [
    [
      'tls',
      tls,
      'application/json',
      { org_name: 'Mailhub', domains: ['example.com'], successful_sessions: 90, failed_sessions: 2 },
      { policies: [{ policy_domain: 'example.com', failures: [{ result_type: 'certificate-expired' }] }] },
    ],
    [
      'failures',
      failure,
      'message/rfc822',
      { reported_domain: 'example.com', source_ip: '198.18.1.2', auth_failure: 'dmarc' },
      { detail: { subject: 'pay this' } },
    ],
  ]
  for (const [path, file, type, shown, detail] of kinds) {
    test(`${path}: stored once, listed, read, given back as sent, and nobody else's`, async () => {
      const first = await upload(mine, file, { 'content-type': type })
      expect(first.status).toBe(201)
      const { id, status } = first.body.results[0].reports[0]
      expect(status).toBe('created')
      expect((await upload(mine, file, { 'content-type': type })).status).toBe(200)
      const list = await call('GET', `/v1/reports/${path}`, { key: mine })
      expect(list.body.items).toMatchObject([{ id, ...shown }])
      const read = await call('GET', `/v1/reports/${path}/${id}`, { key: mine })
      expect(read.body).toMatchObject({ ...shown, ...detail })
      expect((await call('GET', `/v1/reports/${path}/${id}/raw`, { key: mine })).text).toBe(file)
      for (const tail of ['', '/raw']) {
        expect((await call('GET', `/v1/reports/${path}/${id}${tail}`, { key: stranger })).status).toBe(404)
        expect((await call('GET', `/v1/reports/${path}/${id}${tail}`, { key: reader })).status).toBe(403)
      }
      expect((await call('GET', `/v1/reports/${path}?q=nothing`, { key: mine })).body.items).toEqual([])
      expect((await call('GET', `/v1/reports/${path}?from=2030-01-01`, { key: mine })).body.items).toEqual([])
    })
  }
})

test('the original of a report is read on the record', async () => {
  const { body } = await call('GET', '/v1/audit/query?action=reports.raw', { key: mine })
  expect(body.items.map((item: { target: { type: string } }) => item.target.type)).toContain('failure_report')
})
