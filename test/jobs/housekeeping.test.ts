import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHousekeeping } from '../../src/jobs/housekeeping.ts'
import { DAY_MS } from '../../src/lib/clock.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'

let test_db: TestDb
beforeEach(async () => {
  test_db = await openTestDb()
  const { db, clock } = test_db
  await db.commit(testActor(), {
    writes: [
      {
        sql: `INSERT INTO tenants (id, name, plan, created_at, updated_at) VALUES ('ten_a', 'a', 'pro', ?1, ?1)`,
        params: [clock.now()],
      },
      {
        sql: `INSERT INTO users (id, email, name, created_at, updated_at) VALUES ('usr_a', 'a@a.test', 'a', ?1, ?1)`,
        params: [clock.now()],
      },
    ],
    audit: { none: 'boot' },
  })
})
afterEach(() => test_db.close())

const addSession = (id: string, expires_at: number) => ({
  sql: `INSERT INTO sessions (id, user_id, secret_hash, created_at, last_seen_at, expires_at)
        VALUES (?, 'usr_a', x'00', 0, 0, ?)`,
  params: [id, expires_at],
})
const addLink = (id: string, expires_at: number) => ({
  sql: `INSERT INTO links (id, kind, token_hash, email, created_at, expires_at) VALUES (?, 'reset', ?, 'a', 0, ?)`,
  params: [id, new TextEncoder().encode(id), expires_at],
})
const idsOf = async (table: string): Promise<string[]> =>
  (await test_db.db.query<{ id: string }>(`SELECT id FROM ${table} ORDER BY id`)).map((row) => row.id)

describe('housekeeping', () => {
  test('removes what has had its time and leaves the rest', async () => {
    const { db, clock } = test_db
    const now = clock.now()
    await db.commit(testActor(), {
      writes: [
        addSession('over', now),
        addSession('valid', now + 1),
        addLink('long over', now - 7 * DAY_MS),
        addLink('just over', now - 1),
      ],
      audit: { none: 'boot' },
    })
    const housekeeping = createHousekeeping(db)
    expect(await housekeeping.expire(now)).toBe('1 sessions, 1 links')
    expect(await idsOf('sessions')).toEqual(['valid'])
    expect(await idsOf('links')).toEqual(['just over'])
    expect(await housekeeping.expire(now)).toBeUndefined()
  })
})
