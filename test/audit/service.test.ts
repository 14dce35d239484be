import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { AuditService } from '../../src/audit/service.ts'
import { AUDIT_ACTIONS, expandActions } from '../../src/audit/actions.ts'
import type { AuditDraft } from '../../src/db/types.ts'
import { DAY_MS } from '../../src/lib/clock.ts'
import { openTestAudit } from '../support/audit.ts'
import { failureOf, openTestDb, testActor, type TestDb } from '../support/db.ts'

const TENANT = 'ten_1'
const ada = testActor(TENANT, {
  type: 'user',
  id: 'usr_ada',
  name: 'Ada',
  ip: '192.0.2.1',
  request_id: 'req_1',
})
const key = testActor(TENANT, { type: 'key', id: 'key_1', key_id: 'key_1', name: 'SIEM' })

let t: TestDb
let audit: AuditService
beforeEach(async () => {
  t = await openTestDb()
  audit = openTestAudit(t).audit
})
afterEach(() => t.close())

const record = (actor: typeof ada, draft: AuditDraft) => t.db.commit(actor, { writes: [], audit: draft })
const seqs = async (query: Parameters<AuditService['query']>[1], limit = 50, before: number | null = null) =>
  (await audit.query(TENANT, query, { before, limit })).map((entry) => entry.seq)

test('an entry is told as it was recorded, personal values included', async () => {
  await record(ada, {
    action: 'domains.create',
    target: { type: 'domain', id: 'dom_1' },
    detail: { name: 'a.test' },
  })
  await record(ada, {
    action: 'auth.login_failed',
    outcome: 'failure',
    personal: { email: 'ada@a.test' },
  })
  const [second, first] = await audit.query(TENANT, {}, { before: null, limit: 10 })
  expect(first).toEqual({
    seq: 1,
    ts: '2026-01-15T12:00:00.000Z',
    actor: { type: 'user', id: 'usr_ada', name: 'Ada', key_id: null, ip: '192.0.2.1' },
    action: 'domains.create',
    target: { type: 'domain', id: 'dom_1' },
    outcome: 'success',
    request_id: 'req_1',
    detail: { name: 'a.test' },
    personal: null,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    prev_hash: null,
  })
  expect(second).toMatchObject({
    seq: 2,
    outcome: 'failure',
    personal: { email: 'ada@a.test' },
    prev_hash: first!.hash,
  })
})

test('a tenant sees its own entries only', async () => {
  await record({ ...ada, tenant_id: 'ten_2' }, { action: 'domains.create' })
  expect(await seqs({})).toEqual([])
  expect(String(await failureOf(audit.entry(TENANT, 1)))).toContain('not_found')
})

test('every filter finds what it says, newest first, in pages', async () => {
  await record(ada, { action: 'domains.create', target: { type: 'domain', id: 'dom_1' } })
  await record(key, { action: 'reports.upload', detail: { file: '100%_real.xml' } })
  t.clock.advance(DAY_MS)
  await record(ada, { action: 'domains.delete', target: { type: 'domain', id: 'dom_1' } })
  await record(key, { action: 'auth.denied', outcome: 'denied' })

  expect(await seqs({})).toEqual([4, 3, 2, 1])
  expect(await seqs({ actions: ['domains.create', 'domains.delete'] })).toEqual([3, 1])
  expect(await seqs({ actor: 'usr_ada' })).toEqual([3, 1])
  expect(await seqs({ actor: 'key_1' })).toEqual([4, 2])
  expect(await seqs({ target: 'dom_1' })).toEqual([3, 1])
  expect(await seqs({ outcome: 'denied' })).toEqual([4])
  expect(await seqs({ q: 'ADA' })).toEqual([3, 1])
  expect(await seqs({ q: '%_r' })).toEqual([2])
  expect(await seqs({ q: '_upload' })).toEqual([])
  expect(await seqs({ to: t.clock.now() })).toEqual([2, 1])
  expect(await seqs({ from: t.clock.now() })).toEqual([4, 3])
  expect(await seqs({ from: t.clock.now(), actor: 'usr_ada' })).toEqual([3])
  expect(await seqs({ from: t.clock.now() + 1 })).toEqual([])
  expect(await seqs({}, 2)).toEqual([4, 3])
  expect(await seqs({}, 2, 3)).toEqual([2, 1])
})

test('a rare entry deep in a long chain is found', async () => {
  await record(ada, { action: 'domains.create' })
  for (let i = 0; i < 3; i++) {
    const bulk = Array.from({ length: 8000 }, () => ({ action: 'reports.upload' }))
    await t.db.commit(key, { writes: [], audit: bulk })
  }
  expect(await seqs({ actor: 'usr_ada' })).toEqual([1])
  expect(await seqs({ q: 'domains.create' })).toEqual([1])
})

test('one entry shows the text that was hashed', async () => {
  await record(ada, { action: 'domains.create' })
  const entry = await audit.entry(TENANT, 1)
  expect(JSON.parse(entry.canonical)).toMatchObject({ v: 1, seq: 1, tenant_id: TENANT })
  expect(entry.entry_hash).toBe(new Bun.SHA256().update(entry.canonical).digest('hex'))
})

test('an export has every entry once, oldest first, and is itself recorded', async () => {
  const bulk = Array.from({ length: 1203 }, (_, i) => ({
    action: i % 2 === 0 ? 'reports.upload' : 'reports.import',
  }))
  await t.db.commit(key, { writes: [], audit: bulk })
  const numbers = async (query: Parameters<AuditService['query']>[1]) => {
    const out: number[] = []
    for await (const rows of await audit.export(ada, query, 'ndjson')) out.push(...rows.map((row) => row.seq))
    return out
  }
  expect(await numbers({})).toEqual(Array.from({ length: 1203 }, (_, i) => i + 1))
  expect(await numbers({ actions: ['reports.upload'] })).toHaveLength(602)
  expect(await seqs({ actions: ['audit.export'] })).toEqual([1205, 1204])
})

test('verification by time covers exactly the entries of that time, and is recorded with its result', async () => {
  const noon = t.clock.now()
  await record(ada, { action: 'domains.create' })
  t.clock.advance(DAY_MS)
  await record(ada, { action: 'domains.create' })
  await record(ada, { action: 'domains.create' })
  t.clock.advance(DAY_MS)
  await record(ada, { action: 'domains.create' })
  const range = { from: noon + DAY_MS, to: noon + 2 * DAY_MS }
  expect(await audit.verify(ada, range)).toMatchObject({ ok: true, from_seq: 2, to_seq: 3, checked: 2 })
  expect(await audit.verify(ada, { from_seq: 4, to_seq: 4 })).toMatchObject({ ok: true, checked: 1 })
  expect(await audit.verify(ada, null)).toMatchObject({ ok: true, checked: 6 })
  const [entry] = await audit.query(TENANT, { actions: ['audit.verify'] }, { before: null, limit: 1 })
  expect(entry).toMatchObject({ outcome: 'success', detail: { from_seq: 1, to_seq: 6 } })
})

test('action lists are expanded, and unknown ones refused', () => {
  expect(expandActions('keys.*')).toEqual(['keys.create', 'keys.update', 'keys.roll', 'keys.revoke'])
  expect(expandActions('keys.roll, auth.login')).toEqual(['keys.roll', 'auth.login'])
  expect(expandActions('nothing.*')).toBeNull()
  expect(expandActions('keys.roll,keys.rol')).toBeNull()
})

test('every action that the code records is in the catalogue, and the other way round', async () => {
  for (const action of Object.keys(AUDIT_ACTIONS)) expect(action).toMatch(/^[a-z]+\.[a-z0-9_]+$/)
  const recorded = new Set<string>()
  const named = new Set<string>()
  for await (const file of new Bun.Glob('src/**/*.ts').scan('.')) {
    if (file === 'src/audit/actions.ts') continue
    const text = await Bun.file(file).text()
    for (const [, action] of text.matchAll(/\baction: '([a-z]+\.[a-z0-9_.]+)'/g)) recorded.add(action!)
    for (const [, name] of text.matchAll(/'([a-z]+\.[a-z0-9_]+)'/g)) named.add(name!)
  }
  expect([...recorded].filter((action) => !(action in AUDIT_ACTIONS))).toEqual([])
  expect(Object.keys(AUDIT_ACTIONS).filter((action) => !named.has(action))).toEqual([])
})
