import { afterEach, beforeEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { type Change, type CommitNotice, Conflict } from '../../src/db/types.ts'
import { failureOf, openTestDb, testActor, type TestDb } from '../support/db.ts'

const meta = sqliteTable('meta', { key: text('key').primaryKey(), value: text('value').notNull() })

let t: TestDb
beforeEach(async () => {
  t = await openTestDb()
})
afterEach(() => t.close())

const put = (key: string, value = 'v') => ({
  sql: 'INSERT INTO meta (key, value) VALUES (?, ?)',
  params: [key, value],
})
const change = (...writes: Change['writes'][number][]): Change => ({ writes, audit: { none: 'boot' } })
const commit = (...writes: Change['writes'][number][]) => t.db.commit(testActor(), change(...writes))
const keys = async () =>
  (await t.db.query<{ key: string }>(`SELECT key FROM meta WHERE key LIKE 'k%' ORDER BY key`)).map(
    (row) => row.key,
  )

/** What each of these changes, committed at the same moment, came to: 'ok', or the label or message of its failure. */
async function outcomes(changes: Change[]): Promise<string[]> {
  const settled = await Promise.allSettled(changes.map((each) => t.db.commit(testActor(), each)))
  return settled.map((one) => {
    if (one.status === 'fulfilled') return 'ok'
    const reason: unknown = one.reason
    return reason instanceof Conflict ? reason.label : String(reason)
  })
}

test('a commit that has resolved is seen by reads, by drizzle and by plain SQL', async () => {
  await t.db.commit(testActor(), { writes: [put('k1')], audit: { action: 'instance.start' } })
  expect(await keys()).toEqual(['k1'])
  expect(await t.db.read.select().from(meta).where(eq(meta.key, 'k1')).get()).toEqual({
    key: 'k1',
    value: 'v',
  })
})

test('drizzle answers undefined for a row that is not there', async () => {
  expect(await t.db.read.select().from(meta).where(eq(meta.key, 'k1')).get()).toBeUndefined()
})

test('builders of drizzle are writes', async () => {
  const returned = await commit(
    t.db.read.insert(meta).values({ key: 'k1', value: 'a' }),
    t.db.read.update(meta).set({ value: 'b' }).where(eq(meta.key, 'k1')).returning({ value: meta.value }),
  )
  expect(returned).toEqual([[], [['b']]])
})

test('bulk rows run one statement per row', async () => {
  const rows = Array.from({ length: 1000 }, (_, i) => [`k${i}`, String(i)])
  await commit({ sql: 'INSERT INTO meta (key, value) VALUES (?, ?)', rows })
  expect(await keys()).toHaveLength(1000)
  const sql = 'UPDATE meta SET value = ? WHERE key = ? RETURNING key'
  expect(
    await commit({
      sql,
      rows: [
        ['a', 'k1'],
        ['b', 'none'],
        ['c', 'k2'],
      ],
    }),
  ).toEqual([[['k1'], ['k2']]])
})

test('of two conflicting changes in one group one fails alone', async () => {
  expect(await outcomes(['k1', 'k1', 'k2'].map((key) => change(put(key))))).toEqual([
    'ok',
    'unique:meta.key',
    'ok',
  ])
  expect(await keys()).toEqual(['k1', 'k2'])
})

test('a change that throws between two good ones leaves nothing and takes nobody with it', async () => {
  const broken = change(put('k2'), { sql: 'INSERT INTO nowhere VALUES (1)' })
  const [first, second, third] = await outcomes([change(put('k1')), broken, change(put('k3'))])
  expect([first, third]).toEqual(['ok', 'ok'])
  expect(second).toContain('no such table: nowhere')
  expect(await keys()).toEqual(['k1', 'k3'])
})

test('a change whose audit entry cannot be written does not happen', async () => {
  const audited: Change = { writes: [put('k1')], audit: { action: 'x.y', detail: { ratio: 0.5 } } }
  expect((await outcomes([audited]))[0]).toContain('not a safe integer')
  expect((await outcomes([audited, change(put('k2'))]))[1]).toBe('ok')
  expect(await keys()).toEqual(['k2'])
})

test('must fails the whole change when no row, or more than one, was changed', async () => {
  await commit(put('k1'), put('k2'))
  const update = (where: string) => ({
    must: { sql: `UPDATE meta SET value = 'new' WHERE key ${where}` },
    label: 'version',
  })
  expect(
    await outcomes([
      change(put('k3'), update(`= 'k9'`)),
      change(put('k4'), update(`LIKE 'k%'`)),
      change(put('k5'), update(`= 'k1'`)),
    ]),
  ).toEqual(['version', 'version', 'ok'])
  expect(await keys()).toEqual(['k1', 'k2', 'k5'])
})

test('must counts the rows of a statement that returns rows', async () => {
  const insert = { sql: `INSERT INTO meta VALUES ('k1', 'v') RETURNING key` }
  expect(await commit({ must: insert, label: 'x' })).toEqual([[['k1']]])
})

test('foreign keys and checks are conflicts that name what refused', async () => {
  const orphan = { sql: `INSERT INTO memberships VALUES ('ten_none', 'usr_none', 'owner', 0)` }
  const strange = {
    sql: `INSERT INTO tenants (id, name, plan, created_at, updated_at) VALUES ('t', 't', 'gold', 0, 0)`,
  }
  const [fk, check] = await outcomes([change(orphan), change(strange)])
  expect(fk).toBe('foreign_key')
  expect(check).toStartWith('check:plan IN')
})

test('a missing value is a bug of ours, not a conflict', async () => {
  const [outcome] = await outcomes([change({ sql: `INSERT INTO meta (key, value) VALUES ('k1', NULL)` })])
  expect(outcome).toContain('NOT NULL constraint failed')
})

test('an insert through read fails, and so does one through query', async () => {
  const insert = t.db.read.insert(meta).values({ key: 'k1', value: 'v' })
  const { cause } = (await failureOf(insert.run())) as Error
  expect(String(cause)).toContain('readonly')
  expect(String(await failureOf(t.db.query(`INSERT INTO meta VALUES ('k1', 'v') RETURNING key`)))).toContain(
    'readonly',
  )
  expect(await keys()).toEqual([])
})

test('a large group is applied in order, each change once', async () => {
  const order: number[] = []
  t.db.onCommit((done) => order.push(done.audit[0]!.seq))
  await Promise.all(
    Array.from({ length: 500 }, () =>
      t.db.commit(testActor(), { writes: [], audit: { action: 'instance.start' } }),
    ),
  )
  expect(order).toEqual(Array.from({ length: 500 }, (_, i) => i + 1))
})

test('listeners hear of what was done, and not of what failed', async () => {
  const heard: CommitNotice[] = []
  const stop = t.db.onCommit((done) => heard.push(done))
  const target = { type: 'meta', id: 'k1' }
  const audited: Change = { writes: [put('k1')], audit: { action: 'settings.update', target } }
  expect(await outcomes([audited, audited])).toEqual(['ok', 'unique:meta.key'])
  expect(heard).toEqual([
    { tenant_id: '_system', audit: [{ seq: 1, action: 'settings.update', target }], webhooks: [] },
  ])
  stop()
  await commit(put('k2'))
  expect(heard).toHaveLength(1)
})

test('an event is stored as the exact envelope of the contract', async () => {
  const event = {
    id: 'evt_1',
    type: 'RBL_LISTED',
    created_at: Date.UTC(2026, 0, 1),
    data: { ip: '192.0.2.1' },
  }
  await t.db.commit(testActor('ten_1'), { ...change(), events: [event] })
  const [row] = await t.db.query<{ body: string }>('SELECT body FROM events')
  expect(row!.body).toBe(
    '{"id":"evt_1","type":"RBL_LISTED","created_at":"2026-01-01T00:00:00.000Z","tenant_id":"ten_1","data":{"ip":"192.0.2.1"}}',
  )
})

test('an idempotency key is taken once per tenant until it expires', async () => {
  const once = (tenant: string, key: string) => {
    const idempotency = {
      tenant_id: tenant,
      key: 'abc',
      route: 'POST /v1/domains',
      fingerprint: 'f',
      status: 201,
      body: '{}',
      expires_at: t.clock.now() + 1000,
    }
    return t.db.commit(testActor(tenant), { ...change(put(key)), idempotency })
  }
  await once('ten_1', 'k1')
  expect(String(await failureOf(once('ten_1', 'k2')))).toContain('idempotency')
  await once('ten_2', 'k3')
  t.clock.advance(1000)
  await once('ten_1', 'k4')
  expect(await keys()).toEqual(['k1', 'k3', 'k4'])
})

test('after close nothing is taken, and what was taken before is kept', async () => {
  const last = commit(put('k1'))
  await t.db.close()
  await last
  expect(String(await failureOf(commit(put('k2'))))).toContain('shutting_down')
})
