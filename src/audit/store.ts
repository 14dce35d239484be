/** Looks into the audit log. Nothing here writes: entries are made by the database door alone. */
import type { Db, SqlValue } from '../db/types.ts'

/** An entry as it is stored: the hashed text, its hash, the hash before it, and the personal values beside it. */
export interface StoredEntry {
  seq: number
  entry: string
  hash: Uint8Array
  prev_hash: Uint8Array | null
  /** Canonical JSON of the personal values; null when there are none, or when they were erased. */
  personal: string | null
}

/** What the verifier needs of an entry. */
export interface LinkRow {
  seq: number
  entry: string
  hash: Uint8Array
  /** Its personal values; null when it has none, or when they were erased. */
  beside: Personal | null
}

export interface Personal {
  salt: Uint8Array
  /** Canonical JSON. */
  body: string
}

export interface ChainHead {
  seq: number
  hash: Uint8Array
}

export interface EntryFilter {
  actions?: readonly string[]
  /** A user's or key's id. */
  actor?: string
  target?: string
  outcome?: string
  /** Free text, anywhere in the entry or in its personal values. */
  q?: string
}

/** Sequence numbers, both inclusive. */
export interface SeqRange {
  from_seq: number
  to_seq: number
}

export type AuditStore = ReturnType<typeof createAuditStore>

export function createAuditStore(db: Pick<Db, 'query'>) {
  const one = async <Row extends object>(sql: string, params: SqlValue[]): Promise<Row | null> =>
    (await db.query<Row>(sql, params))[0] ?? null

  return {
    /** The head row, and the highest number that is really there whatever the head says (0: none). */
    async ends(tenantId: string): Promise<{ head: ChainHead | null; last: number }> {
      const row = await one<{ seq: number | null; hash: Uint8Array | null; last: number | null }>(
        `SELECT h.seq, h.hash, (SELECT max(seq) FROM audit_entries WHERE tenant_id = ?1) AS last
           FROM (SELECT 1) LEFT JOIN audit_heads h ON h.tenant_id = ?1`,
        [tenantId],
      )
      const { seq = null, hash = null, last = null } = row ?? {}
      return { head: seq === null || hash === null ? null : { seq, hash }, last: last ?? 0 }
    },

    /** The last entry before a time; 0 when there is none. Times ascend with the number. */
    async lastBefore(tenantId: string, ms: number): Promise<number> {
      const row = await one<{ seq: number }>(
        'SELECT seq FROM audit_entries WHERE tenant_id = ? AND ts < ? ORDER BY ts DESC, seq DESC LIMIT 1',
        [tenantId, ms],
      )
      return row?.seq ?? 0
    },

    /** The first entry at or after a time, or null. */
    async firstSince(tenantId: string, ms: number): Promise<number | null> {
      const row = await one<{ seq: number }>(
        'SELECT seq FROM audit_entries WHERE tenant_id = ? AND ts >= ? ORDER BY ts, seq LIMIT 1',
        [tenantId, ms],
      )
      return row?.seq ?? null
    },

    /** Entries of a range that match, newest or oldest first. */
    list(
      tenantId: string,
      range: SeqRange,
      filter: EntryFilter,
      page: { order: 'asc' | 'desc'; limit: number },
    ): Promise<StoredEntry[]> {
      const { index, where, params } = conditions(filter)
      return db.query<StoredEntry>(
        `SELECT e.seq, e.entry, e.hash, prev.hash AS prev_hash, p.body AS personal
           FROM audit_entries e ${index}
           LEFT JOIN audit_entries prev ON prev.tenant_id = e.tenant_id AND prev.seq = e.seq - 1
           LEFT JOIN audit_personal p ON p.tenant_id = e.tenant_id AND p.seq = e.seq
          WHERE e.tenant_id = ? AND e.seq BETWEEN ? AND ?${where}
          ORDER BY e.seq ${page.order} LIMIT ?`,
        [tenantId, range.from_seq, range.to_seq, ...params, page.limit],
      )
    },

    /** The hash of one entry, where a range attaches; null when the entry is not there. */
    async hashAt(tenantId: string, seq: number): Promise<Uint8Array | null> {
      const row = await one<{ hash: Uint8Array }>(
        'SELECT hash FROM audit_entries WHERE tenant_id = ? AND seq = ?',
        [tenantId, seq],
      )
      return row?.hash ?? null
    },

    /** What the entries after a number were about, ascending: for the live stream. */
    changes(tenantId: string, after: number, limit: number) {
      return db.query<{ seq: number; action: string; target_id: string | null }>(
        `SELECT seq, action, target_id FROM audit_entries WHERE tenant_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
        [tenantId, after, limit],
      )
    },

    /** A stretch of the chain for the verifier, in order. Two plain scans: half the cost of a join. */
    async links(tenantId: string, range: SeqRange, limit: number): Promise<LinkRow[]> {
      const between = 'WHERE tenant_id = ? AND seq BETWEEN ? AND ? ORDER BY seq'
      const rows = await db.query<LinkRow>(
        `SELECT seq, entry, hash, NULL AS beside FROM audit_entries ${between} LIMIT ?`,
        [tenantId, range.from_seq, range.to_seq, limit],
      )
      const personal = await db.query<Personal & { seq: number }>(
        `SELECT seq, salt, body FROM audit_personal ${between}`,
        [tenantId, range.from_seq, rows.at(-1)?.seq ?? 0],
      )
      let next = 0
      for (const beside of personal) {
        while (next < rows.length && rows[next]!.seq < beside.seq) next += 1
        if (rows[next]?.seq === beside.seq) rows[next]!.beside = beside
      }
      return rows
    },
  }
}

/** Without statistics SQLite would walk the whole range for a filter that has an index of its own. */
function conditions(filter: EntryFilter): { index: string; where: string; params: SqlValue[] } {
  const parts: string[] = []
  const params: SqlValue[] = []
  let index = ''
  if (filter.outcome !== undefined) {
    parts.push('e.outcome = ?')
    params.push(filter.outcome)
  }
  if (filter.outcome !== undefined && filter.outcome !== 'success') {
    index = 'INDEXED BY audit_entries_failed'
    parts.push(`e.outcome <> 'success'`)
  }
  if (filter.actions !== undefined) {
    index = 'INDEXED BY audit_entries_by_action'
    parts.push(`e.action IN (${filter.actions.map(() => '?').join(', ')})`)
    params.push(...filter.actions)
  }
  if (filter.actor !== undefined) {
    index = 'INDEXED BY audit_entries_by_actor'
    parts.push('e.actor_id = ?')
    params.push(filter.actor)
  }
  if (filter.target !== undefined) {
    index = 'INDEXED BY audit_entries_by_target'
    parts.push('e.target_id = ?')
    params.push(filter.target)
  }
  if (filter.q !== undefined) {
    const like = `%${filter.q.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
    parts.push(String.raw`(e.entry LIKE ? ESCAPE '\' OR p.body LIKE ? ESCAPE '\')`)
    params.push(like, like)
  }
  return { index, where: parts.map((part) => ` AND ${part}`).join(''), params }
}
