/** Queries over what was signed: checkpoints, starts, incarnations, keys. `tenantId` may be that of the system chain. */
import type { Db, RawWrite } from '../db/types.ts'
import type { Checkpoint } from '../lib/audit-statement.ts'
import { SYSTEM_CHAIN } from '../lib/principal.ts'

/** A chain with where it stands and its newest checkpoint, if any. */
export interface ChainState {
  tenant_id: string
  seq: number
  /** Null while nothing is in it. */
  hash: Uint8Array | null
  n: number
  signed_seq: number
  line: string | null
}

export interface CheckpointRow {
  n: number
  seq: number
  line: string
  filed: number
}

export interface KeyRow {
  fingerprint: string
  public_key: Uint8Array
  since: number
}

export type CheckpointStore = ReturnType<typeof createCheckpointStore>

export function createCheckpointStore(db: Pick<Db, 'query'>) {
  return {
    /** Every chain there is, and that of the installation even when nothing is in it yet. */
    states(): Promise<ChainState[]> {
      return db.query<ChainState>(
        `SELECT t.tenant_id, coalesce(h.seq, 0) AS seq, h.hash, coalesce(c.n, 0) AS n,
                coalesce(c.seq, 0) AS signed_seq, c.line
           FROM (SELECT tenant_id FROM audit_heads UNION SELECT '${SYSTEM_CHAIN}') t
           LEFT JOIN audit_heads h ON h.tenant_id = t.tenant_id
           LEFT JOIN audit_checkpoints c ON c.tenant_id = t.tenant_id
            AND c.n = (SELECT max(n) FROM audit_checkpoints m WHERE m.tenant_id = t.tenant_id)
          ORDER BY t.tenant_id`,
      )
    },

    /** Newest first. */
    list(tenantId: string, page: { before: number | null; limit: number }): Promise<CheckpointRow[]> {
      return db.query<CheckpointRow>(
        `SELECT n, seq, line, filed FROM audit_checkpoints
          WHERE tenant_id = ?1 AND (?2 IS NULL OR n < ?2) ORDER BY n DESC LIMIT ?3`,
        [tenantId, page.before, page.limit],
      )
    },

    /** Lines with numbers from `from_n` on, ascending. */
    lines(tenantId: string, from_n: number, limit: number): Promise<{ n: number; line: string }[]> {
      return db.query(
        'SELECT n, line FROM audit_checkpoints WHERE tenant_id = ? AND n >= ? ORDER BY n LIMIT ?',
        [tenantId, from_n, limit],
      )
    },

    /** Those of the last hours of the system chain: between them they name every chain. */
    async recentSystemLines(limit: number): Promise<string[]> {
      const rows = await db.query<{ line: string }>(
        'SELECT line FROM audit_checkpoints WHERE tenant_id = ? ORDER BY n DESC LIMIT ?',
        [SYSTEM_CHAIN, limit],
      )
      return rows.map((row) => row.line)
    },

    async start(tenantId: string): Promise<string | null> {
      const [row] = await db.query<{ line: string }>('SELECT line FROM audit_starts WHERE tenant_id = ?', [
        tenantId,
      ])
      return row?.line ?? null
    },

    /** The lives of a chain, first to last. */
    incarnations(tenantId: string): Promise<{ n: number; line: string }[]> {
      return db.query('SELECT n, line FROM audit_incarnations WHERE tenant_id = ? ORDER BY n', [tenantId])
    },

    /** Of every chain: for the chain of the installation. */
    allIncarnations: () =>
      db.query<{ line: string }>('SELECT line FROM audit_incarnations ORDER BY n, tenant_id'),

    keys: () => db.query<KeyRow>('SELECT fingerprint, public_key, since FROM audit_keys ORDER BY since'),

    async unfiled(limit: number): Promise<{ tenant_id: string; n: number; line: string }[]> {
      return db.query(
        `SELECT tenant_id, n, line FROM audit_checkpoints INDEXED BY audit_checkpoints_unfiled
          WHERE filed = 0 ORDER BY signed_at, tenant_id, n LIMIT ?`,
        [limit],
      )
    },

    unfiledIncarnations: () =>
      db.query<{ n: number; line: string }>(
        'SELECT n, line FROM audit_incarnations WHERE filed = 0 ORDER BY n, tenant_id',
      ),

    async meta(key: string): Promise<string | null> {
      const [row] = await db.query<{ value: string }>('SELECT value FROM meta WHERE key = ?', [key])
      return row?.value ?? null
    },

    /** A number that is taken means that two sign at once: the primary key refuses the second. */
    insert(checkpoints: readonly (Checkpoint & { line: string })[]): RawWrite {
      return {
        sql: 'INSERT INTO audit_checkpoints (tenant_id, n, seq, signed_at, line) VALUES (?, ?, ?, ?, ?)',
        rows: checkpoints.map((each) => [each.tenant_id, each.n, each.seq, each.signed_at, each.line]),
      }
    },

    markFiled(rows: readonly { tenant_id: string; n: number }[]): RawWrite {
      return {
        sql: 'UPDATE audit_checkpoints SET filed = 1 WHERE tenant_id = ? AND n = ?',
        rows: rows.map((row) => [row.tenant_id, row.n]),
      }
    },

    markIncarnationsFiled: (up_to: number): RawWrite => ({
      sql: 'UPDATE audit_incarnations SET filed = 1 WHERE n <= ?',
      params: [up_to],
    }),

    insertKey: (key: KeyRow): RawWrite => ({
      sql: 'INSERT OR IGNORE INTO audit_keys (fingerprint, public_key, since) VALUES (?, ?, ?)',
      params: [key.fingerprint, key.public_key, key.since],
    }),

    insertIncarnations: (
      n: number,
      started_at: number,
      lines: readonly (readonly [string, string])[],
    ): RawWrite => ({
      sql: 'INSERT INTO audit_incarnations (n, tenant_id, started_at, line) VALUES (?, ?, ?, ?)',
      rows: lines.map(([tenant_id, line]) => [n, tenant_id, started_at, line]),
    }),

    deleteMeta: (key: string): RawWrite => ({ sql: 'DELETE FROM meta WHERE key = ?', params: [key] }),
  }
}
