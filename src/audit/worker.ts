/** The hidden verb `audit-worker`: walks one stretch of a chain and answers what it found. Reads only. */
import { openReader, statementCache } from '../db/connection.ts'
import type { SqlValue } from '../db/types.ts'
import { createAuditStore } from './store.ts'
import { walkEntries } from './walk.ts'
import type { WalkAnswer, WalkJob } from './walkers.ts'

const MAPPED_BYTES = 4 * 1024 ** 3

/** Returns the exit code. */
export async function runAuditWorker(): Promise<number> {
  const job = (await Bun.stdin.json()) as WalkJob
  const reader = openReader(job.path)
  // A long scan reads each page once: without copies it is a tenth faster.
  reader.run(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
  const statements = statementCache(reader)
  const store = createAuditStore({
    async query<Row extends object>(sql: string, params: readonly SqlValue[] = []) {
      return statements.get(sql).statement.all(...params) as Row[]
    },
  })
  const before = job.before === null ? null : Buffer.from(job.before, 'hex')
  const walk = await walkEntries(store, job.chain, { ...job, before })
  statements.clear()
  reader.close()
  const last_hash = walk.last_hash === null ? null : Buffer.from(walk.last_hash).toString('hex')
  const answer: WalkAnswer = { ...walk, last_hash }
  await Bun.write(Bun.stdout, `${JSON.stringify(answer)}\n`)
  return 0
}
