/** Looks at a whole database file: is it sound, and do the audit chains end where their heads say. */
import type { Database } from 'bun:sqlite'

export interface Head {
  tenant_id: string
  seq: number
  /** Hex. */
  hash: string
}

export interface Inspection {
  /** What `integrity_check` complains of; empty is good. */
  integrity: string[]
  /** Rows that refer to nothing. */
  orphans: number
  heads: Head[]
  /** Tenants whose chain does not end where its head says. */
  bad_heads: string[]
}

export function inspectDatabase(db: Database): Inspection {
  const integrity = db
    .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
    .all()
    .map((row) => row.integrity_check)
    .filter((text) => text !== 'ok')
  const orphans = db.query('PRAGMA foreign_key_check').all().length
  const heads = db
    .query<Head, []>('SELECT tenant_id, seq, lower(hex(hash)) AS hash FROM audit_heads ORDER BY tenant_id')
    .all()
  const bad_heads = db
    .query<{ tenant_id: string }, []>(
      `SELECT t.tenant_id FROM (SELECT DISTINCT tenant_id FROM audit_entries UNION SELECT tenant_id FROM audit_heads) t
         LEFT JOIN audit_heads h ON h.tenant_id = t.tenant_id
         LEFT JOIN audit_entries e ON e.tenant_id = t.tenant_id AND e.seq = h.seq
        WHERE e.hash IS NULL OR e.hash <> h.hash
           OR (SELECT max(seq) FROM audit_entries WHERE tenant_id = t.tenant_id) <> h.seq`,
    )
    .all()
    .map((row) => row.tenant_id)
  return { integrity, orphans, heads, bad_heads }
}

/** What is wrong with what the database says, in words, where the file itself is sound. */
export function warnings({ orphans, bad_heads }: Inspection): string[] {
  return [
    ...(orphans > 0 ? [`${orphans} rows refer to rows that are not there`] : []),
    ...bad_heads.map((tenant_id) => `the audit chain of ${tenant_id} does not end where its head says`),
  ]
}

/** Every original that a row refers to, in any table that has a `blob_sha256`. */
export function* referredBlobs(db: Database): Generator<{ tenant_id: string; sha256: string }> {
  const tables = db
    .query<{ name: string }, []>(
      `SELECT t.name FROM sqlite_schema t, pragma_table_info(t.name) c
        WHERE t.type = 'table' AND c.name = 'blob_sha256' ORDER BY t.name`,
    )
    .all()
  for (const { name } of tables) {
    const sql = `SELECT DISTINCT tenant_id, blob_sha256 AS sha256 FROM "${name}"`
    yield* db.query<{ tenant_id: string; sha256: string }, []>(sql).iterate()
  }
}
