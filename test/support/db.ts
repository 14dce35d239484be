/** A real database for tests: the product's own driver over a file in memory (tmpfs where there is one). */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb, type OpenedDb } from '../../src/db/open.ts'
import type { Actor } from '../../src/db/types.ts'
import { type FakeClock, fakeClock } from '../../src/lib/clock.ts'

export interface TestDb {
  db: OpenedDb
  clock: FakeClock
  data_dir: string
  close(): Promise<void>
}

/** Every migration applied, nothing in it. `close` removes it from the disk. */
export async function openTestDb(): Promise<TestDb> {
  const clock = fakeClock()
  const data_dir = tempDir()
  const db = openDb({ data_dir, clock, reserve_bytes: 0 })
  return {
    db,
    clock,
    data_dir,
    async close() {
      await db.close()
      rmSync(data_dir, { recursive: true, force: true })
    },
  }
}

/** An empty folder of its own. */
export function tempDir(): string {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'wardpost-test-'))
}

/** Somebody who does something, in a tenant's chain. */
export function testActor(tenant_id = '_system', over: Partial<Actor> = {}): Actor {
  return {
    tenant_id,
    type: 'system',
    id: null,
    name: null,
    key_id: null,
    ip: null,
    request_id: null,
    ...over,
  }
}

/** What a promise was rejected with; fails the test when it was not. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it should have been refused')
}
