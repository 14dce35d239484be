/**
 * The door: commits a second, durable (synchronous FULL) and with their audit entry, for one client and for many.
 * `bun test/bench/commit.ts [seconds] [folder]`: the folder decides which disk is measured.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../../src/db/open.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { testActor } from '../support/db.ts'

const seconds = Number(process.argv[2] ?? 5)
const data_dir = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'wardpost-bench-'))
const db = openDb({ data_dir, clock: systemClock })
const actor = testActor('ten_bench', {
  type: 'key',
  id: 'key_1',
  key_id: 'key_1',
  name: 'bench',
  ip: '192.0.2.1',
})
let next = 0

function commit(audited: boolean) {
  const id = next++
  return db.commit(actor, {
    writes: [{ sql: 'INSERT INTO meta (key, value) VALUES (?, ?)', params: [`bench${id}`, 'x'.repeat(200)] }],
    audit: audited
      ? { action: 'settings.update', target: { type: 'setting', id: `bench${id}` }, detail: { id } }
      : { none: 'boot' },
  })
}

async function measure(clients: number, audited: boolean) {
  const took: number[] = []
  const end = performance.now() + seconds * 1000
  const client = async () => {
    while (performance.now() < end) {
      const started = performance.now()
      await commit(audited)
      took.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  took.sort((a, b) => a - b)
  const at = (share: number) => Number(took[Math.floor((took.length - 1) * share)]!.toFixed(2))
  return {
    clients,
    audited,
    'commits/s': Math.round(took.length / seconds),
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'max ms': at(1),
  }
}

await measure(8, true)
const rows = []
for (const audited of [true, false]) {
  for (const clients of [1, 8, 64]) rows.push(await measure(clients, audited))
}
console.table(rows)
await db.close()
rmSync(data_dir, { recursive: true })
