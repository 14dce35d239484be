/** Queries of the watch for the unusual. */
import type { Db, MustWrite, RawWrite } from '../db/types.ts'
import { SYSTEM_CHAIN } from '../lib/principal.ts'
import type { WatchedEntry } from './rules/anomalies.ts'

export interface Watched {
  tenant_id: string
  /** The last entry that was looked at; 0 at first. */
  seq: number
  since: number | null
}

interface EntryRow {
  entry: string
  name: string | null
  ip: string | null
}

export type AnomalyStore = ReturnType<typeof createAnomalyStore>

const ENTRIES = `SELECT e.entry, json_extract(p.body, '$.name') AS name, json_extract(p.body, '$.ip') AS ip
  FROM audit_entries e %s LEFT JOIN audit_personal p ON p.tenant_id = e.tenant_id AND p.seq = e.seq`

export function createAnomalyStore(db: Pick<Db, 'query'>) {
  const read = async (sql: string, params: (string | number)[]): Promise<WatchedEntry[]> =>
    (await db.query<EntryRow>(sql, params)).map(watched)

  return {
    /** Chains with entries that were not looked at yet. */
    due(): Promise<Watched[]> {
      return db.query<Watched>(
        `SELECT h.tenant_id, coalesce(w.seq, 0) AS seq, w.since FROM audit_heads h
           LEFT JOIN audit_watch w ON w.tenant_id = h.tenant_id
          WHERE h.seq > coalesce(w.seq, 0) AND h.tenant_id <> '${SYSTEM_CHAIN}' ORDER BY h.tenant_id`,
      )
    },

    entries(tenantId: string, after: number, limit: number): Promise<WatchedEntry[]> {
      return read(`${ENTRIES.replace('%s', '')} WHERE e.tenant_id = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`, [
        tenantId,
        after,
        limit,
      ])
    },

    /** Refused and failed ones from `since_ms` up to a number. */
    refused(tenantId: string, since_ms: number, up_to: number): Promise<WatchedEntry[]> {
      return read(
        `${ENTRIES.replace('%s', 'INDEXED BY audit_entries_failed')}
          WHERE e.tenant_id = ?1 AND e.outcome <> 'success' AND e.outcome IN ('denied', 'failure') AND e.seq <= ?3
            AND e.seq >= coalesce((SELECT min(seq) FROM audit_entries WHERE tenant_id = ?1 AND ts >= ?2), ?3)
          ORDER BY e.seq`,
        [tenantId, since_ms, up_to],
      )
    },

    /** With one of these actions from `since_ms` up to a number. */
    acted(
      tenantId: string,
      actions: readonly string[],
      since_ms: number,
      up_to: number,
    ): Promise<WatchedEntry[]> {
      return read(
        `${ENTRIES.replace('%s', 'INDEXED BY audit_entries_by_action')}
          WHERE e.tenant_id = ?1 AND e.action IN (SELECT value FROM json_each(?4)) AND e.seq <= ?3
            AND e.seq >= coalesce((SELECT min(seq) FROM audit_entries WHERE tenant_id = ?1 AND ts >= ?2), ?3)
          ORDER BY e.seq`,
        [tenantId, since_ms, up_to, JSON.stringify(actions)],
      )
    },

    networks(tenantId: string): Promise<{ subject: string; network: string }[]> {
      return db.query('SELECT subject, network FROM audit_networks WHERE tenant_id = ?', [tenantId])
    },

    async hours(tenantId: string): Promise<number[]> {
      const rows = await db.query<{ hour: number; entries: number }>(
        'SELECT hour, entries FROM audit_hours WHERE tenant_id = ?',
        [tenantId],
      )
      const hours = Array.from({ length: 24 }, () => 0)
      for (const { hour, entries } of rows) hours[hour] = entries
      return hours
    },

    async findings(tenantId: string): Promise<Map<string, number>> {
      const rows = await db.query<{ kind: string; subject: string; at: number }>(
        'SELECT kind, subject, at FROM audit_findings WHERE tenant_id = ?',
        [tenantId],
      )
      return new Map(rows.map(({ kind, subject, at }) => [`${kind} ${subject}`, at]))
    },

    /** From the number that was read, and no other: two that watch at once do not both tell. */
    advance(tenantId: string, from: number, to: number, since: number): MustWrite {
      return {
        must: {
          sql: `INSERT INTO audit_watch (tenant_id, seq, since) VALUES (?1, ?3, ?4)
                ON CONFLICT (tenant_id) DO UPDATE SET seq = ?3 WHERE audit_watch.seq = ?2`,
          params: [tenantId, from, to, since],
        },
        label: 'watched meanwhile',
      }
    },

    learnNetworks: (
      rows: readonly (readonly [tenantId: string, subject: string, network: string, at: number])[],
    ): RawWrite => ({
      sql: `INSERT INTO audit_networks (tenant_id, subject, network, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?4)
            ON CONFLICT DO UPDATE SET last_at = max(last_at, excluded.last_at)`,
      rows,
    }),

    learnHours: (
      rows: readonly (readonly [tenantId: string, hour: number, entries: number])[],
    ): RawWrite => ({
      sql: `INSERT INTO audit_hours (tenant_id, hour, entries) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET entries = entries + excluded.entries`,
      rows,
    }),

    found: (
      rows: readonly (readonly [tenantId: string, kind: string, subject: string, at: number, seq: number])[],
    ): RawWrite => ({
      sql: `INSERT INTO audit_findings (tenant_id, kind, subject, at, seq) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET at = excluded.at, seq = excluded.seq`,
      rows,
    }),
  }
}

function watched({ entry, name, ip }: EntryRow): WatchedEntry {
  const { seq, ts, actor, action, target, outcome, detail } = JSON.parse(entry) as {
    seq: number
    ts: number
    actor: { type: string; id: string | null; key_id: string | null }
    action: string
    target: { id: string } | null
    outcome: string
    detail: { count?: unknown }
  }
  const count = typeof detail.count === 'number' ? detail.count : 1
  return { seq, ts, actor: { ...actor, name, ip }, action, target_id: target?.id ?? null, outcome, count }
}
