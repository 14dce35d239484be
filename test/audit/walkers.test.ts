import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createAuditStore } from '../../src/audit/store.ts'
import { verifyChain } from '../../src/audit/verify.ts'
import { createWalkers } from '../../src/audit/walkers.ts'
import { openIntruder, openTestAudit, type TestAudit } from '../support/audit.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'

const TENANT = 'ten_1'
const COMMAND = [process.execPath, join(import.meta.dir, '../support/audit-worker.ts')]
let t: TestDb
let a: TestAudit

beforeEach(async () => {
  t = await openTestDb()
  a = openTestAudit(t)
  for (let i = 0; i < 6; i++) {
    const audit = Array.from({ length: 500 }, () => ({ action: 'domains.update' }))
    await t.db.commit(testActor(TENANT, { name: 'Ada', ip: '192.0.2.1' }), { writes: [], audit })
    await a.checkpoints.round()
  }
})
afterEach(() => t.close())

/** In one go here, and in stretches by children: which must come to the same. */
async function verify(command = COMMAND, width = 3) {
  const chain = { instance_id: t.db.instance_id, tenant_id: TENANT }
  const evidence = await a.proof.evidence(TENANT)
  const path = join(t.data_dir, 'wardpost.db')
  const store = createAuditStore(t.db)
  const walkers = createWalkers({ command, path, width, entries_min: 10 })
  const here = await verifyChain(store, chain, null, evidence)
  expect(await verifyChain(store, chain, null, evidence, walkers)).toEqual(here)
  return here
}
function tamper(sql: string): void {
  const intruder = openIntruder(t.data_dir)
  intruder.run(sql)
  intruder.close()
}

test('a whole chain', async () => {
  expect(await verify()).toMatchObject({
    ok: true,
    checked: 3000,
    unanchored: 0,
    verdicts: { anchoring: 'full' },
  })
})

const TAMPERED: [string, string][] = [
  [
    'in the first stretch',
    `UPDATE audit_entries SET entry = replace(entry, 'update', 'upgrad') WHERE seq = 7`,
  ],
  ['in the second', `UPDATE audit_entries SET entry = replace(entry, 'update', 'upgrad') WHERE seq = 1500`],
  ['at a seam', 'UPDATE audit_entries SET hash = zeroblob(32) WHERE seq = 1000'],
  ['missing at a seam', 'DELETE FROM audit_entries WHERE seq = 1000'],
  ['in two', 'DELETE FROM audit_entries WHERE seq IN (900, 2500)'],
  ['in its personal values', `UPDATE audit_personal SET body = '{}' WHERE seq = 2100`],
  ['erased here and there', 'DELETE FROM audit_personal WHERE seq % 7 = 0'],
  ['cut off', 'DELETE FROM audit_entries WHERE seq > 1400'],
]
for (const [name, sql] of TAMPERED) {
  test(`${name}: the same is found`, async () => {
    tamper(sql)
    const { ok, redacted } = await verify()
    expect(ok).toBe(redacted > 0)
  })
}

test('children that cannot be started are done without', async () => {
  expect((await verify(['/nonexistent/wardpost'])).ok).toBe(true)
  expect((await verify([process.execPath, '-e', 'process.exit(3)'])).ok).toBe(true)
})
