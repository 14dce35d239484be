import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { verifyBundle } from '../../src/audit/bundle/read.ts'
import { DAY_MS, HOUR_MS } from '../../src/lib/clock.ts'
import { idFloor } from '../../src/lib/ids.ts'
import { type Answer, openTestApp, type TestApp } from '../support/app.ts'
import { openIntruder } from '../support/audit.ts'
import { failureOf, testActor } from '../support/db.ts'
import { recount, rollupRows } from '../support/recount.ts'
import { BEGIN, DAY, type ReportSpec, specFile, specPool } from '../support/reports.ts'

let t: TestApp
let key: string
let tenant_id: string

beforeEach(async () => {
  t = await openTestApp({ pool: specPool() })
  const made = await t.tenant('Acme')
  key = made.key
  tenant_id = made.tenant_id
})
afterEach(() => t.close())

const patch = (retention: object, as: string | null = key) =>
  t.call('PATCH', '/v1/settings', { body: { retention }, ...(as === null ? {} : { key: as }) })
const upload = (spec: ReportSpec | string) =>
  t.call('POST', '/v1/reports/upload', { key, body: specFile(spec) })
const run = () => t.app.services.retention.run(new AbortController().signal)
const count = async (table: string) =>
  (await t.db.query<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE tenant_id = ?`, [tenant_id]))[0]!
    .n
const verify = async () => (await t.call('GET', '/v1/audit/verify', { key })).body

describe('the setting', () => {
  const scenarios: [string, () => Promise<Answer>, number][] = [
    ['by nobody', () => patch({ alerts_days: 60 }, null), 401],
    [
      'by who may only read',
      async () => patch({ alerts_days: 60 }, await t.key(tenant_id, ['settings:read'])),
      403,
    ],
    ['reports below the floor', () => patch({ reports_days: 89 }), 422],
    ['refused files beyond their end', () => patch({ rejected_days: 31 }), 422],
    ['deliveries below what is promised', () => patch({ deliveries_days: 89 }), 422],
    ['the log below a year', () => patch({ audit_days: 364 }), 422],
    ['reports for ever', () => patch({ reports_days: null }), 422],
    ['what there is not', () => patch({ threats_days: 100 }), 422],
    ['nothing', () => patch({}), 422],
    ['rightly', () => patch({ reports_days: 90, audit_days: 365 }), 200],
  ]
  for (const [name, run, status] of scenarios) {
    test(`${name}: ${status}`, async () => expect((await run()).status).toBe(status))
  }

  test('holds what was chosen and defaults for the rest, in this tenant alone', async () => {
    const defaults = {
      reports_days: 1095,
      rejected_days: 30,
      alerts_days: 365,
      deliveries_days: 180,
      audit_days: null,
    }
    expect((await t.call('GET', '/v1/settings', { key })).body.retention).toEqual(defaults)
    await patch({ audit_days: 400 })
    expect((await patch({ alerts_days: 60 })).body.retention).toEqual({
      ...defaults,
      audit_days: 400,
      alerts_days: 60,
    })
    expect((await patch({ audit_days: null })).body.retention.audit_days).toBeNull()
    const other = await t.tenant('Other')
    expect((await t.call('GET', '/v1/settings', { key: other.key })).body.retention).toEqual(defaults)
  })
})

describe('reports', () => {
  const at = (day: number, over: ReportSpec = {}): ReportSpec => ({
    id: `r${day}`,
    begin: BEGIN + day * DAY,
    end: BEGIN + (day + 1) * DAY - 1000,
    rows: [{ count: 10 + day }, { ip: '198.51.100.7', count: 3, dkim: false }],
    ...over,
  })

  test('past keeping go with their records and what they added; the others stay as they were', async () => {
    t.clock.set(BEGIN + 60 * DAY_MS)
    for (const day of [0, 1, 2, 40, 41]) await upload(at(day))
    await upload(at(1, { rows: [{ count: 50 }, { ip: '198.51.100.7', count: 3, dkim: false }] }))
    const before = await count('reports')
    await patch({ reports_days: 90 })
    expect(await run()).toBe(0)
    t.clock.set(BEGIN + (90 + 10) * DAY_MS)
    expect(await run()).toBe(before - 2)
    const { items } = (await t.call('GET', '/v1/reports', { key })).body
    expect(items).toHaveLength(2)
    expect(await rollupRows(t.db)).toEqual(await recount(t.db))
    expect(await count('report_loads')).toBe(0)
    expect(await count('report_chunks')).toBe(2)
    const [entry] = (await t.call('GET', '/v1/audit/query?action=retention.apply', { key })).body.items
    expect(entry.detail).toEqual({ reports: before - 2, rejected: 0, alerts: 0, deliveries: 0 })
    expect(await run()).toBe(0)
  })

  test('leave no original behind once the sweep has passed', async () => {
    t.clock.set(BEGIN + 2 * DAY_MS)
    await upload(at(0))
    const [row] = await t.db.query<{ sha: string }>('SELECT blob_sha256 AS sha FROM reports')
    const path = join(t.data_dir, 'blobs', tenant_id, row!.sha)
    expect(existsSync(path)).toBe(true)
    t.clock.set(BEGIN + 1200 * DAY_MS)
    await run()
    const old = new Date(t.clock.now() - 2 * HOUR_MS)
    utimesSync(path, old, old)
    await t.app.services.maintenance.run()
    expect(existsSync(path)).toBe(false)
  })

  test('of another tenant that keeps them longer stay', async () => {
    t.clock.set(BEGIN + 2 * DAY_MS)
    const other = await t.tenant('Other')
    for (const as of [key, other.key])
      await t.call('POST', '/v1/reports/upload', { key: as, body: specFile(at(0)) })
    await patch({ reports_days: 90 })
    t.clock.set(BEGIN + 200 * DAY_MS)
    expect(await run()).toBe(1)
    expect((await t.call('GET', '/v1/reports', { key: other.key })).body.items).toHaveLength(1)
  })
})

test('refused files go after the days the tenant chose', async () => {
  await upload('this is no report')
  await patch({ rejected_days: 7 })
  t.clock.advance(7 * DAY_MS)
  expect(await run()).toBe(0)
  t.clock.advance(1)
  expect(await run()).toBe(1)
  expect(await count('rejected_files')).toBe(0)
})

test('alerts go when they are resolved, with their history; open ones stay', async () => {
  await patch({ alerts_days: 30 })
  const draft = (id: string) => ({
    kind: 'job_failed' as const,
    severity: 'low' as const,
    title: 'A job',
    summary: 'It failed.',
    subject: { type: 'job', id },
    evidence: {},
    dedupe_key: id,
  })
  for (const id of ['a', 'b']) {
    const pieces = t.app.services.raiser.raise(tenant_id, draft(id))
    await t.db.commit(testActor(tenant_id), pieces)
  }
  const { items } = (await t.call('GET', '/v1/alerts', { key })).body
  expect((await t.call('POST', `/v1/alerts/${items[0].id}/resolve`, { key })).status).toBe(200)
  t.clock.advance(31 * DAY_MS)
  expect(await run()).toBe(1)
  expect(await count('alerts')).toBe(1)
  expect(await count('alert_history')).toBe(1)
})

test('the history of deliveries goes in chunks, and what is still to be sent stays', async () => {
  const now = t.clock.now()
  const rows = Array.from({ length: 1201 }, (_, i) => `dlv_${idFloor(now + i)}`)
  await t.db.commit(testActor(tenant_id), {
    writes: [
      {
        sql: `INSERT INTO webhooks (id, tenant_id, url, description, events, status, secret, secret_last4, created_at, updated_at)
              VALUES ('wh_1', ?, 'https://example.com', '', '[]', 'paused', 'x', 'x', 0, 0)`,
        params: [tenant_id],
      },
      {
        sql: `INSERT INTO deliveries (id, tenant_id, webhook_id, event_id, event_type, status, created_at, completed_at)
              VALUES (?, ?, 'wh_1', 'evt_1', 'RBL_LISTED', 'succeeded', ?, ?)`,
        rows: rows.map((id) => [id, tenant_id, now, now]),
      },
      {
        sql: `INSERT INTO delivery_attempts (tenant_id, delivery_id, n, started_at, ms, response) VALUES (?, ?, 1, 0, 1, '')`,
        rows: rows.map((id) => [tenant_id, id]),
      },
      {
        sql: `INSERT INTO deliveries (id, tenant_id, webhook_id, event_id, event_type, status, next_attempt_at, created_at)
              VALUES (?, ?, 'wh_1', 'evt_1', 'RBL_LISTED', 'retrying', ?, ?)`,
        params: [`dlv_${idFloor(now + 5000)}`, tenant_id, now, now],
      },
    ],
    audit: { none: 'delivery' },
  })
  await patch({ deliveries_days: 90 })
  t.clock.advance(89 * DAY_MS)
  expect(await run()).toBe(0)
  t.clock.advance(2 * DAY_MS)
  expect(await run()).toBe(1201)
  expect([await count('deliveries'), await count('delivery_attempts')]).toEqual([1, 0])
})

describe('the audit log', () => {
  async function fill(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      const audit = Array.from({ length: 600 }, () => ({ action: 'domains.update' }))
      await t.db.commit(testActor(tenant_id, { name: 'Ada', ip: '192.0.2.1' }), { writes: [], audit })
      await t.app.services.checkpoints.round()
      t.clock.advance(DAY_MS)
    }
  }

  test('is kept for ever unless the tenant says otherwise', async () => {
    await fill()
    t.clock.advance(3000 * DAY_MS)
    await run()
    expect(await verify()).toMatchObject({ ok: true, from_seq: 1, starts_after: null })
  })

  test('loses its oldest entries, and starts at a signed statement', async () => {
    await fill()
    await patch({ audit_days: 365 })
    await t.app.services.checkpoints.round()
    t.clock.advance(363 * DAY_MS)
    expect(await run()).toBeGreaterThan(600)
    const result = await verify()
    expect(result).toMatchObject({ ok: true, verdicts: { integrity: 'ok', completeness: 'ok' } })
    expect(result.from_seq).toBe(result.starts_after + 1)
    expect(result.starts_after).toBeGreaterThanOrEqual(600)
    const [oldest] = await t.db.query<{ seq: number }>(
      'SELECT min(seq) AS seq FROM audit_personal WHERE tenant_id = ?',
      [tenant_id],
    )
    expect(oldest!.seq).toBe(result.from_seq)
    const [entry] = (await t.call('GET', '/v1/audit/query?action=audit.prune', { key })).body.items
    expect(entry.detail).toMatchObject({ from_seq: 1, to_seq: result.starts_after })
    const headers = { authorization: `Bearer ${key}` }
    const bundle = await t.app.http.handle(new Request('http://localhost/v1/audit/bundle', { headers }))
    expect(await verifyBundle(new Uint8Array(await bundle.arrayBuffer()))).toMatchObject({
      ok: true,
      from_seq: result.from_seq,
    })
    expect(await run()).toBe(0)
  })

  test('cut off at its beginning by anybody else is found', async () => {
    await fill()
    const intruder = openIntruder(t.data_dir)
    intruder.run(`DELETE FROM audit_entries WHERE tenant_id = '${tenant_id}' AND seq <= 10`)
    intruder.close()
    expect((await verify()).first_bad).toMatchObject({ seq: 1, kind: 'missing' })
  })

  test('that is not whole loses nothing', async () => {
    await fill()
    await patch({ audit_days: 365 })
    await t.app.services.checkpoints.round()
    const intruder = openIntruder(t.data_dir)
    intruder.run(
      `UPDATE audit_entries SET entry = replace(entry, 'update', 'upgrad') WHERE tenant_id = '${tenant_id}' AND seq = 10`,
    )
    intruder.close()
    t.clock.advance(400 * DAY_MS)
    const before = await count('audit_entries')
    expect(String(await failureOf(run()))).toContain('entry 10 is altered')
    await run().catch(() => {})
    expect(await count('audit_entries')).toBe(before)
  })
})
