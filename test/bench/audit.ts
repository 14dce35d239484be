/**
 * How fast a chain is verified, and how long the event loop waits meanwhile. `bun test/bench/audit.ts [entries]`
 * fills a chain through the real door first.
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openTestDb, testActor } from '../support/db.ts'
import { createAuditStore } from '../../src/audit/store.ts'
import { verifyChain } from '../../src/audit/verify.ts'
import { createWalkers } from '../../src/audit/walkers.ts'

const entries = Number(process.argv[2] ?? 1_000_000)
const bench = await openTestDb()
const { db } = bench
const actor = testActor('ten_bench', {
  type: 'user',
  id: 'usr_01kabcdefghjkmnpqrstvwxyz0',
  name: 'Ada Lovelace',
  ip: '192.0.2.17',
  request_id: 'req_01kabcdefghjkmnpqrstvwxyz0',
})

const filled_at = performance.now()
for (let done = 0; done < entries; done += 1000) {
  const audit = Array.from({ length: Math.min(1000, entries - done) }, (_, i) => ({
    action: 'domains.update',
    target: { type: 'domain', id: `dom_${done + i}` },
    detail: { name: `host${i}.example.org`, tags: ['a', 'b'], threshold: 95 },
  }))
  await db.commit(actor, { writes: [], audit })
}
const filled_ms = performance.now() - filled_at

let worst_gap_ms = 0
let last = performance.now()
const probe = setInterval(() => {
  worst_gap_ms = Math.max(worst_gap_ms, performance.now() - last)
  last = performance.now()
}, 1)
const cpu_before = process.cpuUsage()
const started = performance.now()
last = started
const chain = { instance_id: db.instance_id, tenant_id: 'ten_bench' }
const walker = createWalkers({
  command: [process.execPath, join(import.meta.dir, '../support/audit-worker.ts')],
  path: join(bench.data_dir, 'wardpost.db'),
  width: availableParallelism(),
})
const result = await verifyChain(createAuditStore(db), chain, null, undefined, walker)
const ms = performance.now() - started
const cpu = process.cpuUsage(cpu_before)
clearInterval(probe)

console.table({
  'entries written': { value: entries, 'per second': Math.round((entries / filled_ms) * 1000) },
  'entries verified': { value: result.checked, 'per second': Math.round((result.checked / ms) * 1000) },
  'verification, ms': { value: Math.round(ms) },
  'of it in the server, ms of processor time': { value: Math.round((cpu.user + cpu.system) / 1000) },
  'longest pause of the event loop, ms': { value: Math.round(worst_gap_ms) },
})
await bench.close()
if (!result.ok) process.exitCode = 1
