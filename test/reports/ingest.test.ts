import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { createBlobs } from '../../src/reports/blobs.ts'
import { createIngest, type Ingest } from '../../src/reports/ingest.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'
import {
  addTenant,
  BEGIN,
  DAY,
  type ReportSpec,
  type RowSpec,
  specFile,
  specPool,
} from '../support/reports.ts'
import { rollupRows, recount } from '../support/recount.ts'

let at: TestDb
let ingest: Ingest
const actor = testActor('ten_a')

beforeEach(async () => {
  at = await openTestDb()
  await addTenant(at.db, 'ten_a')
  await addTenant(at.db, 'ten_b')
  ingest = makeIngest()
})
afterEach(() => at.close())

function makeIngest(): Ingest {
  const blobs = createBlobs(at.data_dir, at.clock)
  return createIngest({ db: at.db, clock: at.clock, pool: specPool(), blobs, networks: null })
}

/** Without the row that stands for all. */
const OF_DOMAINS = `WHERE policy_domain_id IN (SELECT id FROM policy_domains WHERE name <> '*')`

async function send(spec: ReportSpec | ReportSpec[] | string, who = actor) {
  const [outcome] = await ingest.upload(who, 'upload', [{ name: 'a.xml', content: specFile(spec) }])
  return outcome!.reports
}

const count = async (sql: string): Promise<number> =>
  (await at.db.query<{ n: number }>(`SELECT count(*) AS n FROM ${sql}`))[0]!.n

const records = async (): Promise<number> => {
  const sql = 'SELECT coalesce(sum(json_array_length(records)), 0) AS n FROM report_chunks'
  return (await at.db.query<{ n: number }>(sql))[0]!.n
}

async function expectRollupsTrue(): Promise<void> {
  expect(await rollupRows(at.db)).toEqual(await recount(at.db))
}

describe('a report that arrives', () => {
  test('is stored with its records, its original, its roll-ups and one audit entry', async () => {
    const [outcome] = await send({
      rows: [
        { count: 3, dkim: true },
        { ip: '198.51.100.7', count: 2 },
      ],
    })
    expect(outcome).toMatchObject({ status: 'created', domain: 'example.com', messages: 5, assigned: false })
    expect(await count('reports')).toBe(1)
    expect(await records()).toBe(2)
    expect(readdirSync(`${at.data_dir}/blobs/ten_a`)).toHaveLength(1)
    const audited = await at.db.query<{ entry: string }>(
      `SELECT entry FROM audit_entries WHERE tenant_id = 'ten_a'`,
    )
    expect(audited).toHaveLength(1)
    expect(JSON.parse(audited[0]!.entry)).toMatchObject({ action: 'reports.upload', detail: { created: 1 } })
    await expectRollupsTrue()
  })

  test('without records is stored and counted as a report of its day', async () => {
    expect(await send({ rows: [] })).toMatchObject([{ status: 'created', messages: 0 }])
    await expectRollupsTrue()
  })

  test('of several days is spread over them and keeps its total', async () => {
    await send({ begin: BEGIN, end: BEGIN + 24 * DAY, rows: [{ count: 1000 }] })
    const [days] = await at.db.query<{ n: number; messages: number }>(
      `SELECT count(*) AS n, sum(messages) AS messages FROM report_days ${OF_DOMAINS}`,
    )
    expect(days).toEqual({ n: 24, messages: 1000 })
    await expectRollupsTrue()
  })

  test('of another tenant is another report', async () => {
    await send({})
    expect(await send({}, testActor('ten_b'))).toMatchObject([{ status: 'created' }])
    expect(readdirSync(`${at.data_dir}/blobs/ten_b`)).toHaveLength(1)
    await expectRollupsTrue()
  })
})

describe('a report that was there before', () => {
  const first: RowSpec[] = [
    { count: 3, dkim: true },
    { ip: '198.51.100.7', count: 2 },
  ]
  const cases: [string, ReportSpec, string, number, number][] = [
    ['the same file is a duplicate', { rows: first }, 'duplicate', 1, 5],
    [
      'the same records in other white space are a duplicate',
      { rows: first, padding: ' ' },
      'duplicate',
      1,
      5,
    ],
    ['<id> and id are the same report', { rows: first, id: ' <r1> ' }, 'duplicate', 1, 5],
    ['more records replace it', { rows: [...first, { ip: '203.0.113.9' }] }, 'revision', 2, 6],
    ['a higher count replaces it', { rows: [{ count: 4, dkim: true }, first[1]!] }, 'revision', 2, 6],
    ['fewer records do not replace it', { rows: [first[0]!] }, 'revision', 2, 5],
    [
      'other records with more messages replace it',
      { rows: [{ ip: '203.0.113.9', count: 9 }] },
      'revision',
      2,
      9,
    ],
    [
      'other records with fewer messages do not',
      { rows: [{ ip: '203.0.113.9', count: 1 }] },
      'revision',
      2,
      5,
    ],
    ['the same records under another policy replace it', { rows: first, p: 'reject' }, 'revision', 2, 5],
    ['another period is another report', { rows: first, begin: BEGIN + DAY }, 'created', 2, 10],
    ['another policy domain is another report', { rows: first, domain: 'example.net' }, 'created', 2, 10],
    ['another reporter is another report', { rows: first, org: 'Receiver Two' }, 'created', 2, 10],
  ]
  for (const [name, second, status, stored, messages] of cases) {
    test(name, async () => {
      const [before] = await send({ rows: first })
      const [outcome] = await send(second)
      expect(outcome!.status).toBe(status as 'created')
      if (status === 'revision') expect(outcome!.revision_of).toBe(before!.id)
      if (status === 'duplicate') expect(outcome!.id).toBe(before!.id)
      expect(await count('reports')).toBe(stored)
      const [sum] = await at.db.query<{ m: number }>(
        `SELECT sum(messages) AS m FROM report_days ${OF_DOMAINS}`,
      )
      expect(sum!.m).toBe(messages)
      await expectRollupsTrue()
      // Whatever was decided, sending either again changes nothing.
      expect((await send(second))[0]!.status).toBe('duplicate')
      expect((await send({ rows: first }))[0]!.status).toBe('duplicate')
      await expectRollupsTrue()
    })
  }

  test('twice in one request is stored once', async () => {
    const file = { name: 'a.xml', content: specFile({ rows: first }) }
    const outcomes = await ingest.upload(actor, 'upload', [file, { ...file, name: 'b.xml' }])
    expect(outcomes.map((each) => each.reports[0]!.status)).toEqual(['created', 'duplicate'])
  })

  test('sent by many at the same moment is stored once', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => send({ rows: first })))
    expect(all.filter(([outcome]) => outcome!.status === 'created')).toHaveLength(1)
    await expectRollupsTrue()
  })
})

describe('a report that breaks', () => {
  test('leaves nothing but the refusal, and a later whole copy is accepted', async () => {
    expect(await send({ breaks: true })).toMatchObject([{ status: 'rejected', code: 'truncated' }])
    expect(await count('reports')).toBe(0)
    expect(await count('rejected_files')).toBe(1)
    expect(await send({})).toMatchObject([{ status: 'created' }])
  })

  test('does not stop the others of its file', async () => {
    const outcome = await send([{}, { id: 'r2', breaks: true }, { id: 'r3' }])
    expect(outcome.map((each) => each.status)).toEqual(['created', 'rejected', 'created'])
  })

  test('something that is no report is kept with its reason', async () => {
    expect(await send('hello')).toMatchObject([{ status: 'rejected', code: 'not_a_report' }])
    await send('hello')
    expect(await count('rejected_files')).toBe(1)
    expect(readdirSync(`${at.data_dir}/blobs/ten_a`)).toHaveLength(1)
  })
})

describe('a large report', () => {
  const rows: RowSpec[] = Array.from({ length: 1730 }, (_, i) => ({
    ip: `198.51.${100 + (i % 100)}.${i % 250}`,
    count: 1 + (i % 7),
    dkim: i % 3 === 0,
    dkim_domain: `m${i % 9}.example.com`,
    spf: i % 5 === 0,
  }))

  for (const late_meta of [false, true]) {
    test(`is written in pieces and becomes visible whole${late_meta ? ', dates unknown until its end' : ''}`, async () => {
      const spec: ReportSpec = { rows, ...(late_meta ? { late_meta } : {}) }
      expect(await send(spec)).toMatchObject([{ status: 'created' }])
      expect(await records()).toBe(1730)
      expect(await count('report_loads')).toBe(0)
      await expectRollupsTrue()
      expect(await send({ ...spec, padding: ' ' })).toMatchObject([{ status: 'duplicate' }])
      expect(await records()).toBe(1730)
    })
  }

  test('that breaks leaves no rows', async () => {
    await send({ rows, breaks: true })
    expect(await records()).toBe(0)
    expect(await count('report_loads')).toBe(0)
  })

  test('can be replaced by a larger one', async () => {
    await send({ rows })
    expect(await send({ rows: [...rows, { ip: '203.0.113.9', count: 5 }] })).toMatchObject([
      { status: 'revision' },
    ])
    await expectRollupsTrue()
  })

  test('cut off by a crash is removed at the next start', async () => {
    const chunk = `INSERT INTO report_chunks (rid, last_n, tenant_id, records) VALUES (7, ?, 'ten_a', '[1]')`
    await at.db.commit(actor, {
      writes: [
        { sql: `INSERT INTO report_loads VALUES (7, 'ten_a', 0)` },
        { sql: chunk, rows: Array.from({ length: 50 }, (_, i) => [(i + 1) * 500]) },
      ],
      audit: { none: 'staging' },
    })
    expect(await makeIngest().recover()).toBe(1)
    expect(await records()).toBe(0)
    expect(await count('report_loads')).toBe(0)
  })
})

test('temporary files of an upload are moved or removed', async () => {
  const path = `${at.data_dir}/tmp/upload-1`
  await Bun.write(path, specFile({}))
  await ingest.upload(actor, 'upload', [{ name: 'a', path, owned: true }])
  await Bun.write(path, specFile({}))
  await ingest.upload(actor, 'upload', [{ name: 'a', path, owned: true }])
  expect(existsSync(path)).toBe(false)
  expect(readdirSync(`${at.data_dir}/tmp`)).toEqual([])
})
