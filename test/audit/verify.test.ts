import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { createAuditStore, type SeqRange } from '../../src/audit/store.ts'
import { verifyChain } from '../../src/audit/verify.ts'
import { nextHash } from '../../src/lib/audit-chain.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'

const TENANT = 'ten_1'
let t: TestDb
/** The intruder: a second connection to the file, past the door. */
let intruder: Database

beforeEach(async () => {
  t = await openTestDb()
  intruder = new Database(join(t.data_dir, 'wardpost.db'))
  await write(10)
})
afterEach(async () => {
  intruder.close()
  await t.close()
})

async function write(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await t.db.commit(testActor(TENANT, { type: 'user', id: 'usr_1', name: 'Ada', ip: '192.0.2.1' }), {
      writes: [],
      audit: { action: 'domains.create', target: { type: 'domain', id: `dom_${i}` }, detail: { n: i } },
    })
  }
}

const verify = (range: SeqRange | null = null) =>
  verifyChain(createAuditStore(t.db), { instance_id: t.db.instance_id, tenant_id: TENANT }, range)
const bad = async (range: SeqRange | null = null) => {
  const { first_bad } = await verify(range)
  return first_bad === undefined ? undefined : { seq: first_bad.seq, kind: first_bad.kind }
}
const tamper = (sql: string) => intruder.run(sql)

test('a whole chain verifies, and says that nothing vouches for it from outside', async () => {
  const result = await verify()
  expect(result).toMatchObject({
    ok: true,
    from_seq: 1,
    to_seq: 10,
    checked: 10,
    verdicts: { integrity: 'ok', completeness: 'ok', anchoring: 'none', redaction: 'none' },
    checkpoint: null,
  })
  expect(result.first_bad).toBeUndefined()
  expect(result.head?.seq).toBe(10)
  expect(result.head?.hash).toMatch(/^[0-9a-f]{64}$/)
})

test('a chain without entries verifies', async () => {
  const chain = { instance_id: t.db.instance_id, tenant_id: 'ten_2' }
  const result = await verifyChain(createAuditStore(t.db), chain, null)
  expect(result).toMatchObject({ ok: true, from_seq: null, to_seq: null, checked: 0, head: null })
})

test('an altered entry is found, whatever was altered in it', async () => {
  tamper(`UPDATE audit_entries SET entry = replace(entry, 'dom_4', 'dom_9') WHERE seq = 5`)
  const result = await verify()
  expect(result.first_bad).toMatchObject({ seq: 5, kind: 'altered' })
  expect(result.verdicts.integrity).toBe('failed')
  expect(result.ok).toBe(false)
})

test('an altered hash is found', async () => {
  tamper(`UPDATE audit_entries SET hash = zeroblob(32) WHERE seq = 7`)
  expect(await bad()).toEqual({ seq: 7, kind: 'altered' })
})

test('an entry that was altered and hashed again is found at the one after it', async () => {
  const row = intruder.query<{ entry: string }, []>('SELECT entry FROM audit_entries WHERE seq = 5').get()!
  const before = intruder
    .query<{ hash: Uint8Array }, []>('SELECT hash FROM audit_entries WHERE seq = 4')
    .get()!
  const entry = row.entry.replace('dom_4', 'dom_9')
  intruder
    .query('UPDATE audit_entries SET entry = ?, hash = ? WHERE seq = 5')
    .run(entry, nextHash(before.hash, entry))
  expect(await bad()).toEqual({ seq: 6, kind: 'altered' })
})

test('altered personal values are found', async () => {
  tamper(`UPDATE audit_personal SET body = '{"ip":"192.0.2.9","name":"Ada"}' WHERE seq = 3`)
  expect(await bad()).toEqual({ seq: 3, kind: 'altered' })
})

test('personal values that were put beside an entry without any are found', async () => {
  await t.db.commit(testActor(TENANT), { writes: [], audit: { action: 'instance.start' } })
  tamper(`INSERT INTO audit_personal VALUES ('${TENANT}', 11, zeroblob(16), '{"name":"Eve"}')`)
  expect(await bad()).toEqual({ seq: 11, kind: 'altered' })
})

test('a missing entry is found', async () => {
  tamper('DELETE FROM audit_entries WHERE seq = 6')
  const result = await verify()
  expect(result.first_bad).toMatchObject({ seq: 6, kind: 'missing' })
  expect(result.verdicts.completeness).toBe('failed')
})

test('exchanged entries are found', async () => {
  tamper('UPDATE audit_entries SET seq = 99 WHERE seq = 3')
  tamper('UPDATE audit_entries SET seq = 3 WHERE seq = 4')
  tamper('UPDATE audit_entries SET seq = 4 WHERE seq = 99')
  expect(await bad()).toEqual({ seq: 3, kind: 'order' })
})

test('a cut-off tail is found by the head', async () => {
  tamper('DELETE FROM audit_entries WHERE seq > 8')
  expect(await bad()).toEqual({ seq: 9, kind: 'truncated' })
  expect((await verify()).verdicts.completeness).toBe('failed')
})

test('a head that was set back, or removed, is found', async () => {
  tamper('UPDATE audit_heads SET seq = 8')
  expect(await bad()).toEqual({ seq: 9, kind: 'order' })
  tamper('DELETE FROM audit_heads')
  expect(await bad()).toEqual({ seq: 10, kind: 'truncated' })
})

test('a chain of another installation does not verify', async () => {
  const chain = { instance_id: 'other', tenant_id: TENANT }
  const result = await verifyChain(createAuditStore(t.db), chain, null)
  expect(result.first_bad).toMatchObject({ seq: 1, kind: 'altered' })
})

test('erased personal values leave the chain whole, and are counted', async () => {
  tamper('DELETE FROM audit_personal WHERE seq IN (2, 3)')
  expect(await verify()).toMatchObject({ ok: true, redacted: 2, verdicts: { redaction: 'redacted' } })
})

test('a range looks only at itself and at what it attaches to', async () => {
  tamper(`UPDATE audit_entries SET entry = replace(entry, 'dom_4', 'dom_9') WHERE seq = 5`)
  expect(await verify({ from_seq: 6, to_seq: 8 })).toMatchObject({
    ok: true,
    from_seq: 6,
    to_seq: 8,
    checked: 3,
  })
  expect(await verify({ from_seq: 1, to_seq: 4 })).toMatchObject({ ok: true, checked: 4 })
  expect(await bad({ from_seq: 5, to_seq: 5 })).toEqual({ seq: 5, kind: 'altered' })
  tamper('DELETE FROM audit_entries WHERE seq = 7')
  expect(await bad({ from_seq: 8, to_seq: 9 })).toEqual({ seq: 7, kind: 'missing' })
  expect(await verify({ from_seq: 11, to_seq: 20 })).toMatchObject({ ok: true, checked: 0, from_seq: null })
})

test('chains over a page boundary verify, and a fault in the second page is found', async () => {
  const audit = Array.from({ length: 4500 }, () => ({ action: 'domains.update' }))
  await t.db.commit(testActor(TENANT), { writes: [], audit })
  expect(await verify()).toMatchObject({ ok: true, checked: 4510 })
  tamper('DELETE FROM audit_entries WHERE seq = 2001')
  expect(await bad()).toEqual({ seq: 2001, kind: 'missing' })
})

test('entries written while it verifies are no fault', async () => {
  const audit = Array.from({ length: 5000 }, () => ({ action: 'domains.update' }))
  await t.db.commit(testActor(TENANT), { writes: [], audit })
  const running = verify()
  await write(20)
  expect(await running).toMatchObject({ ok: true, checked: 5010 })
})

test('the time of an entry never runs backwards', async () => {
  t.clock.set(t.clock.now() - 60_000)
  await write(1)
  const rows = await t.db.query<{ ts: number }>('SELECT ts FROM audit_entries ORDER BY seq')
  expect(rows.at(-1)!.ts).toBe(rows.at(-2)!.ts)
})
