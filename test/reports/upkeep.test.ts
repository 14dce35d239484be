/** Import of folders, reading originals again, forgetting what is over. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBlobs } from '../../src/reports/blobs.ts'
import { importPaths } from '../../src/reports/import.ts'
import { createIngest, type Ingest } from '../../src/reports/ingest.ts'
import { createMaintenance } from '../../src/reports/maintenance.ts'
import { createReparse } from '../../src/reports/reparse.ts'
import type { SandboxPool } from '../../src/sandbox/types.ts'
import { openTestDb, tempDir, testActor, type TestDb } from '../support/db.ts'
import { recount, rollupRows } from '../support/recount.ts'
import { addTenant, type ReportSpec, specFile, specPool } from '../support/reports.ts'

let at: TestDb
let blobs: ReturnType<typeof createBlobs>
const actor = testActor('ten_a')
const files = (): string[] => readdirSync(join(at.data_dir, 'blobs/ten_a'))

const ingestWith = (pool: SandboxPool): Ingest =>
  createIngest({ db: at.db, clock: at.clock, pool, blobs, networks: null })

/** A later version of the parser: it reads what the one before did not, and counts twice what it did. */
function laterPool(): SandboxPool {
  const pool = specPool()
  return {
    ...pool,
    async *run(job) {
      const text =
        job.bytes === undefined ? await Bun.file(job.path!).text() : new TextDecoder().decode(job.bytes)
      const readable = text === 'nothing' ? '[{"id":"now readable"}]' : text
      for await (const message of pool.run({ ...job, bytes: new TextEncoder().encode(readable) })) {
        if (message.type === 'records' && message.kind === 'dmarc' && text.includes('double')) {
          yield { ...message, rows: message.rows.map((row) => ({ ...row, count: row.count * 2 })) }
        } else if (message.type === 'end' && message.kind === 'dmarc' && text.includes('double')) {
          const { totals } = message
          yield {
            ...message,
            rows_sha256: message.rows_sha256.replace(/^./, 'x'),
            totals: { ...totals, messages: totals.messages * 2, fail: totals.fail * 2 },
          }
        } else yield message
      }
    },
  }
}

beforeEach(async () => {
  at = await openTestDb()
  await addTenant(at.db, 'ten_a')
  blobs = createBlobs(at.data_dir, at.clock)
})
afterEach(() => at.close())

describe('a folder', () => {
  test('is imported with all below it, each fold named', async () => {
    const folder = tempDir()
    mkdirSync(join(folder, 'below'))
    const put = (name: string, spec: ReportSpec | string): void =>
      writeFileSync(join(folder, name), specFile(spec))
    put('a', { id: 'a' })
    put('b', { id: 'b' })
    put('below/c', { id: 'c' })
    put('z-again', { id: 'a' })
    put('z-bad', 'nothing')
    put('.hidden', { id: 'h' })
    const seen: number[] = []
    const ingest = ingestWith(specPool())
    const done = await importPaths(
      ingest,
      actor,
      [folder],
      () => 0,
      (progress) => seen.push(progress.done),
    )
    expect(done).toMatchObject({ files: 5, done: 5, created: 3, duplicates: 1, rejected: 1, messages: 3 })
    // Several are read at once: which of two equal files came first is not said.
    const [again, bad] = done.folds
    expect(['a', 'z-again']).toContain(again!.file)
    expect([again!.status, bad]).toMatchObject([
      'duplicate',
      { file: 'z-bad', status: 'rejected', code: 'not_a_report' },
    ])
    expect(seen.at(-1)).toBe(5)
    expect(await rollupRows(at.db)).toEqual(await recount(at.db))
  })

  test('of many lands in few changes, each audited', async () => {
    const folder = tempDir()
    for (let i = 0; i < 300; i++) writeFileSync(join(folder, `${i}`), specFile({ id: `${i}` }))
    await importPaths(
      ingestWith(specPool()),
      actor,
      [folder],
      () => 0,
      () => {},
    )
    const entries = await at.db.query<{ entry: string }>(
      `SELECT entry FROM audit_entries WHERE tenant_id = 'ten_a'`,
    )
    const created = entries.map(
      ({ entry }) => (JSON.parse(entry) as { detail: { created: number } }).detail.created,
    )
    expect(created.reduce((sum, each) => sum + each, 0)).toBe(300)
    expect(entries.length).toBeLessThan(6)
  })

  test('that does not exist is an error', async () => {
    const missing = importPaths(
      ingestWith(specPool()),
      actor,
      ['/nowhere/at/all'],
      () => 0,
      () => {},
    )
    expect(missing).rejects.toThrow()
  })
})

describe('reading originals again', () => {
  test('changes what comes out otherwise, takes in what can be read now, leaves the rest', async () => {
    const first = ingestWith(specPool())
    const specs = [{ id: 'same' }, { id: 'double', rows: [{ count: 5 }] }, 'nothing']
    await first.upload(
      actor,
      'upload',
      specs.map((spec, i) => ({ name: `${i}`, content: specFile(spec) })),
    )
    const reparse = createReparse({ db: at.db, blobs, ingest: ingestWith(laterPool()) })
    const done = await reparse.run(actor, () => {})
    expect(done).toMatchObject({ files: 3, unchanged: 1, revised: 1, accepted: 1, rejected: 0, missing: 0 })
    const rows = await at.db.query('SELECT report_id, state, messages FROM reports ORDER BY report_id, state')
    expect(rows).toEqual([
      { report_id: 'double', state: 'current', messages: 10 },
      { report_id: 'double', state: 'superseded', messages: 5 },
      { report_id: 'now readable', state: 'current', messages: 1 },
      { report_id: 'same', state: 'current', messages: 1 },
    ])
    expect(await rollupRows(at.db)).toEqual(await recount(at.db))
    const again = await createReparse({ db: at.db, blobs, ingest: ingestWith(laterPool()) }).run(
      actor,
      () => {},
    )
    expect(again).toMatchObject({ unchanged: 3, revised: 0, accepted: 0 })
  })

  test('says which originals are missing', async () => {
    await ingestWith(specPool()).upload(actor, 'upload', [{ name: 'a', content: specFile({}) }])
    for (const name of files()) await Bun.file(join(at.data_dir, 'blobs/ten_a', name)).delete()
    const done = await createReparse({ db: at.db, blobs, ingest: ingestWith(specPool()) }).run(
      actor,
      () => {},
    )
    expect(done).toMatchObject({ files: 1, missing: 1 })
  })
})

describe('upkeep', () => {
  test('forgets refusals after 30 days, and removes originals nobody refers to', async () => {
    const ingest = ingestWith(specPool())
    await ingest.upload(actor, 'upload', [
      { name: 'a', content: specFile({}) },
      { name: 'b', content: specFile('nothing') },
    ])
    writeFileSync(join(at.data_dir, 'blobs/ten_a', 'orphan'), 'x')
    const age = (): void => {
      for (const name of files()) utimesSync(join(at.data_dir, 'blobs/ten_a', name), 0, 0)
    }
    age()
    const upkeep = createMaintenance({ db: at.db, clock: at.clock, blobs })
    expect(await upkeep.run()).toEqual({ refusals: 0, originals: 1 })
    expect(files()).toHaveLength(2)
    at.clock.advance(31 * 86_400_000)
    expect(await upkeep.run()).toEqual({ refusals: 1, originals: 1 })
    expect(files()).toHaveLength(1)
    expect(await upkeep.run()).toEqual({ refusals: 0, originals: 0 })
  })

  test('leaves a file alone that may belong to a change on its way', async () => {
    await ingestWith(specPool()).upload(actor, 'upload', [{ name: 'a', content: specFile({}) }])
    writeFileSync(join(at.data_dir, 'blobs/ten_a', 'fresh'), 'x')
    utimesSync(join(at.data_dir, 'blobs/ten_a', 'fresh'), at.clock.now() / 1000, at.clock.now() / 1000)
    await createMaintenance({ db: at.db, clock: at.clock, blobs }).run()
    expect(files()).toContain('fresh')
  })
})
