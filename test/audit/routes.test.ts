import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { auditRoutes } from '../../src/audit/routes.ts'
import { createGuard } from '../../src/http/guard.ts'
import { createPager } from '../../src/http/pagination.ts'
import { setState } from '../../src/http/request.ts'
import { createCursors } from '../../src/lib/cursor.ts'
import { Problem } from '../../src/lib/errors.ts'
import type { Principal } from '../../src/lib/principal.ts'
import { openTestAudit } from '../support/audit.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'

let t: TestDb
let get: (path: string) => Promise<Response>

beforeEach(async () => {
  t = await openTestDb()
  const actor = testActor('ten_1', { type: 'user', id: 'usr_1', name: '=Ada' })
  const principal = { tenant_id: 'ten_1', actor, scopes: new Set(['audit:read']) } as unknown as Principal
  const idempotency = {
    begin: () => Promise.resolve(undefined),
    finish: () => Promise.resolve(),
    release() {},
  }
  const guard = createGuard({ idempotency, async denied() {} })
  const pager = createPager(createCursors(new Uint8Array(32)))
  const { audit } = openTestAudit(t)
  const app = new Elysia()
    .onError({ as: 'global' }, ({ error }) =>
      error instanceof Problem ? new Response(error.code, { status: error.status }) : undefined,
    )
    .onRequest(({ request }) =>
      setState(request, { id: 'req_1', started: 0, path: '', principal, ip: null, secure: false }),
    )
    .use(auditRoutes({ guard, audit, pager }))
  get = (path) => app.handle(new Request(`http://localhost/v1/audit${path}`))
  for (const action of ['keys.create', 'keys.revoke', 'domains.create']) {
    await t.db.commit(actor, { writes: [], audit: { action } })
  }
})
afterEach(() => t.close())

const json = async (path: string) => (await get(path)).json() as Promise<Record<string, unknown>>

test('the log is paged, newest first, and filtered by area', async () => {
  const first = await json('/query?limit=2&fields=action')
  expect(first['items']).toEqual([
    { seq: 3, action: 'domains.create' },
    { seq: 2, action: 'keys.revoke' },
  ])
  const cursor = String(first['next_cursor'])
  const second = await json(`/query?limit=2&fields=action&cursor=${cursor}`)
  expect(second).toEqual({ items: [{ seq: 1, action: 'keys.create' }] })
  expect((await json('/query?action=keys.*'))['items']).toHaveLength(2)
  expect((await get(`/query?limit=2&action=keys.*&cursor=${cursor}`)).status).toBe(400)
})

test('nonsense is refused', async () => {
  for (const query of [
    'action=nothing',
    'outcome=maybe',
    'from=yesterday',
    'limit=0',
    'fields=nothing',
    'from=2026-02-01&to=2026-01-01',
  ]) {
    expect([query, (await get(`/query?${query}`)).status]).toEqual([query, 422])
  }
  for (const query of ['from_seq=0', 'from_seq=2&to_seq=1', 'from_seq=1&from=2026-01-01', 'to_seq=1.5']) {
    expect([query, (await get(`/verify?${query}`)).status]).toEqual([query, 422])
  }
  expect((await get('/export?format=xml')).status).toBe(422)
  for (const seq of ['0', '99', 'x', '1e3']) expect((await get(`/entries/${seq}`)).status).toBe(404)
})

test('an entry shows its canonical text', async () => {
  const entry = await json('/entries/1')
  expect(entry).toMatchObject({ seq: 1, action: 'keys.create', prev_hash: null })
  expect(entry['canonical']).toStartWith('{"action":"keys.create"')
})

test('exports stream in three forms', async () => {
  const ndjson = await get('/export')
  expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson')
  expect(ndjson.headers.get('content-disposition')).toBe('attachment; filename="audit.ndjson"')
  const lines = (await ndjson.text()).trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([1, 2, 3])

  expect((await json('/export?format=json'))['items']).toHaveLength(4)
  expect((await json('/export?format=json&to=2000-01-01'))['items']).toEqual([])

  const csv = await (await get('/export?format=csv&action=keys.*')).text()
  const [head, row, ...rest] = csv.trimEnd().split('\r\n')
  expect(head).toStartWith('seq,ts,actor_type')
  // A name that a spreadsheet would run is made harmless.
  expect(row).toStartWith(`1,2026-01-15T12:00:00.000Z,user,usr_1,'=Ada,,,keys.create`)
  expect(rest).toHaveLength(1)
})

test('verification answers whole and by range', async () => {
  expect(await json('/verify')).toMatchObject({ ok: true, from_seq: 1, to_seq: 3 })
  expect(await json('/verify?from_seq=2&to_seq=3')).toMatchObject({ ok: true, checked: 2 })
  expect(await json('/verify?from=2027-01-01')).toMatchObject({ ok: true, checked: 0, from_seq: null })
})

test('the catalogue is listed', async () => {
  expect((await json('/actions'))['items']).toContainEqual({
    action: 'keys.revoke',
    title: 'Revoked an API key',
  })
})
