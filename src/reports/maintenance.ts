/** What reports need from time to time: refusals are forgotten, originals that nobody refers to are removed. */
import type { Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Blobs } from './blobs.ts'

const FORGOTTEN_AT_ONCE = 500
const HASHES_AT_ONCE = 5000
/** Every table that refers to originals, with its column; rejected files keep theirs while they are shown. */
const REFERRING = ['reports', 'tls_reports', 'failure_reports', 'rejected_files'] as const

export interface MaintenanceDone {
  refusals: number
  originals: number
}

export interface Maintenance {
  /** Idempotent; may be interrupted anywhere. */
  run(): Promise<MaintenanceDone>
}

export function createMaintenance({ db, blobs, clock }: { db: Db; blobs: Blobs; clock: Clock }): Maintenance {
  const forgetRefusals = async (): Promise<number> => {
    let forgotten = 0
    for (;;) {
      const due = await db.query<{ id: string }>(
        'SELECT id FROM rejected_files WHERE expires_at <= ? LIMIT ?',
        [clock.now(), FORGOTTEN_AT_ONCE],
      )
      if (due.length === 0) return forgotten
      await db.commit(systemActor(), {
        writes: [{ sql: 'DELETE FROM rejected_files WHERE id = ?', rows: due.map(({ id }) => [id]) }],
        audit: { none: 'job' },
      })
      forgotten += due.length
    }
  }

  const referredBy = async (tenant_id: string): Promise<Set<string>> => {
    const referred = new Set<string>()
    for (const table of REFERRING) {
      let after = 0
      for (;;) {
        const rows = await db.query<{ at: number; sha256: string }>(
          `SELECT rowid AS at, blob_sha256 AS sha256 FROM ${table}
WHERE tenant_id = ? AND rowid > ? ORDER BY rowid LIMIT ?`,
          [tenant_id, after, HASHES_AT_ONCE],
        )
        for (const { sha256 } of rows) referred.add(sha256)
        if (rows.length < HASHES_AT_ONCE) break
        after = rows.at(-1)!.at
      }
    }
    return referred
  }

  return {
    async run() {
      const refusals = await forgetRefusals()
      let originals = 0
      for (const { id } of await db.query<{ id: string }>('SELECT id FROM tenants')) {
        originals += await blobs.sweep(id, await referredBy(id))
      }
      return { refusals, originals }
    },
  }
}
