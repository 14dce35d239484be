/** Rows of alerts and their history. A silence that is over counts as open in every question asked here. */
import type { Db, RawWrite, SqlValue } from '../db/types.ts'
import { ALERT_HISTORY_MAX } from '../lib/limits.ts'
import { type AlertSort, SORT_COLUMN } from './sorts.ts'
import type { AlertKind, AlertStatus, Severity } from './types.ts'

export interface AlertRow {
  id: string
  tenant_id: string
  kind: AlertKind
  severity: Severity
  severity_rank: number
  status: AlertStatus
  title: string
  summary: string
  subject_type: string
  subject_id: string
  evidence_json: string
  dedupe_key: string
  count: number
  silenced_until: number | null
  assigned_to: string | null
  assigned_name: string | null
  first_at: number
  last_at: number
  resolved_at: number | null
}

export interface HistoryRow {
  alert_id: string
  n: number
  at: number
  action: HistoryAction
  actor_type: string
  actor_id: string | null
  actor_name: string | null
  note: string | null
  until: number | null
  user_id: string | null
  user_name: string | null
}

export type HistoryAction =
  | 'raised'
  | 'acknowledged'
  | 'silenced'
  | 'resolved'
  | 'reopened'
  | 'assigned'
  | 'unassigned'
  | 'note'

export interface AlertFilter {
  /** Any of these. */
  status?: readonly AlertStatus[]
  severity?: readonly Severity[]
  kind?: readonly AlertKind[]
  q?: string
  /** A user's id, or null: nobody's. */
  assigned_to?: string | null
}

export interface AlertPage {
  sort: AlertSort
  /** Sort value and id of the last one before. */
  after: readonly SqlValue[] | null
  limit: number
}

const COLUMNS = `a.id, a.tenant_id, a.kind, a.severity, a.severity_rank, a.status, a.title, a.summary, a.subject_type,
a.subject_id, a.evidence_json, a.dedupe_key, a.count, a.silenced_until, a.assigned_to,
(SELECT name FROM users u WHERE u.id = a.assigned_to) AS assigned_name, a.first_at, a.last_at, a.resolved_at`

export type AlertStore = ReturnType<typeof createAlertStore>

export function createAlertStore(db: Pick<Db, 'query'>) {
  return {
    async find(tenantId: string, id: string): Promise<AlertRow | undefined> {
      const [row] = await db.query<AlertRow>(
        `SELECT ${COLUMNS} FROM alerts a WHERE a.tenant_id = ? AND a.id = ?`,
        [tenantId, id],
      )
      return row
    },

    /** The alert of a key that is not resolved. */
    async unresolved(tenantId: string, dedupe_key: string): Promise<string | undefined> {
      const [row] = await db.query<{ id: string }>(
        `SELECT id FROM alerts WHERE tenant_id = ? AND dedupe_key = ? AND status <> 'resolved'`,
        [tenantId, dedupe_key],
      )
      return row?.id
    },

    list(tenantId: string, filter: AlertFilter, page: AlertPage, now: number): Promise<AlertRow[]> {
      const { where, params } = conditions(tenantId, filter, now)
      const descending = page.sort.startsWith('-')
      const column = SORT_COLUMN[page.sort.replace('-', '') as keyof typeof SORT_COLUMN]
      if (page.after !== null) {
        where.push(`(a.${column}, a.id) ${descending ? '<' : '>'} (?, ?)`)
        params.push(page.after[0]!, page.after[1]!)
      }
      const order = descending ? 'DESC' : 'ASC'
      params.push(page.limit)
      return db.query<AlertRow>(
        `SELECT ${COLUMNS} FROM alerts a WHERE ${where.join(' AND ')}
ORDER BY a.${column} ${order}, a.id ${order} LIMIT ?`,
        params,
      )
    },

    /** The newest entries of each of the alerts, oldest first. */
    history(tenantId: string, ids: readonly string[]): Promise<HistoryRow[]> {
      return db.query<HistoryRow>(
        `SELECT h.alert_id, h.n, h.at, h.action, h.actor_type, h.actor_id, h.note, h.until, h.user_id,
CASE h.actor_type WHEN 'system' THEN 'Wardpost' WHEN 'key' THEN (SELECT name FROM api_keys k WHERE k.id = h.actor_id)
  ELSE (SELECT name FROM users u WHERE u.id = h.actor_id) END AS actor_name,
(SELECT name FROM users u WHERE u.id = h.user_id) AS user_name
FROM json_each(?1) j CROSS JOIN alert_history h ON h.alert_id = j.value
WHERE h.tenant_id = ?2 AND h.n > (SELECT max(n) FROM alert_history m WHERE m.alert_id = h.alert_id) - ?3
ORDER BY h.alert_id, h.n`,
        [JSON.stringify(ids), tenantId, ALERT_HISTORY_MAX],
      )
    },

    counts(tenantId: string, now: number): Promise<{ status: AlertStatus; severity: Severity; n: number }[]> {
      return db.query(
        `SELECT CASE WHEN status = 'silenced' AND silenced_until <= ?2 THEN 'open' ELSE status END AS status,
severity, count(*) AS n FROM alerts
WHERE tenant_id = ?1 AND status IN ('open', 'acknowledged', 'silenced') GROUP BY 1, 2`,
        [tenantId, now],
      )
    },

    /** Alerts of all tenants whose silence is over. */
    silenceOver(now: number, limit: number): Promise<{ id: string; tenant_id: string }[]> {
      return db.query(
        `SELECT id, tenant_id FROM alerts WHERE status = 'silenced' AND silenced_until <= ?
ORDER BY silenced_until LIMIT ?`,
        [now, limit],
      )
    },

    async isMember(tenantId: string, userId: string): Promise<string | null> {
      const [row] = await db.query<{ name: string }>(
        'SELECT u.name FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.tenant_id = ? AND m.user_id = ?',
        [tenantId, userId],
      )
      return row?.name ?? null
    },

    /** Tenants with an alert of this key that is not resolved. */
    async tenantsWith(dedupe_key: string): Promise<string[]> {
      const rows = await db.query<{ id: string }>(
        `SELECT t.id FROM tenants t JOIN alerts a ON a.tenant_id = t.id AND a.dedupe_key = ?
WHERE a.status <> 'resolved'`,
        [dedupe_key],
      )
      return rows.map((row) => row.id)
    },

    /** Tenants whose people run the installation; without any, the oldest tenant. */
    async operatorTenants(): Promise<string[]> {
      const rows = await db.query<{ id: string }>(
        `SELECT DISTINCT m.tenant_id AS id FROM users u JOIN memberships m ON m.user_id = u.id
WHERE u.is_operator = 1 ORDER BY 1`,
      )
      if (rows.length > 0) return rows.map((row) => row.id)
      return (await db.query<{ id: string }>('SELECT id FROM tenants ORDER BY id LIMIT 1')).map(
        (row) => row.id,
      )
    },
  }
}

function conditions(tenantId: string, filter: AlertFilter, now: number) {
  const where = ['a.tenant_id = ?']
  const params: SqlValue[] = [tenantId]
  const add = (condition: string, ...values: SqlValue[]): void => {
    where.push(condition)
    params.push(...values)
  }
  const among = (column: string, values: readonly string[]): void =>
    add(`a.${column} IN (${values.map(() => '?').join(', ')})`, ...values)
  if (filter.status !== undefined) statusCondition(filter.status, now, among, add)
  if (filter.severity !== undefined) among('severity', filter.severity)
  if (filter.kind !== undefined) among('kind', filter.kind)
  if (filter.assigned_to === null) add('a.assigned_to IS NULL')
  else if (filter.assigned_to !== undefined) add('a.assigned_to = ?', filter.assigned_to)
  if (filter.q !== undefined) {
    const text = filter.q.toLowerCase()
    add('(instr(lower(a.title), ?) > 0 OR instr(lower(a.summary), ?) > 0 OR a.id = ?)', text, text, filter.q)
  }
  return { where, params }
}

/** As it is written narrows by an index; as it is now decides. */
function statusCondition(
  wanted: readonly AlertStatus[],
  now: number,
  among: (column: string, values: readonly string[]) => void,
  add: (condition: string, ...values: SqlValue[]) => void,
): void {
  const open = wanted.includes('open')
  const silenced = wanted.includes('silenced')
  among('status', open && !silenced ? [...wanted, 'silenced'] : wanted)
  if (open && !silenced) add(`(a.status <> 'silenced' OR a.silenced_until <= ?)`, now)
  if (silenced && !open) add(`(a.status <> 'silenced' OR a.silenced_until > ?)`, now)
}

export interface HistoryEntry {
  at: number
  action: HistoryAction
  actor: { type: string; id: string | null }
  note?: string | null
  until?: number | null
  user_id?: string | null
}

/** Appends to the history of an alert of the tenant. `when` narrows to alerts of that state (`a` is the alert). */
export function historyInsert(tenantId: string, id: string, entry: HistoryEntry, when = '1'): RawWrite {
  return {
    sql: `INSERT INTO alert_history (alert_id, n, tenant_id, at, action, actor_type, actor_id, note, until, user_id)
SELECT a.id, (SELECT coalesce(max(n), 0) + 1 FROM alert_history h WHERE h.alert_id = a.id), a.tenant_id,
?, ?, ?, ?, ?, ?, ? FROM alerts a WHERE a.tenant_id = ? AND a.id = ? AND ${when}`,
    params: [
      entry.at,
      entry.action,
      entry.actor.type,
      entry.actor.id,
      entry.note ?? null,
      entry.until ?? null,
      entry.user_id ?? null,
      tenantId,
      id,
    ],
  }
}

/** Writes down that the silence of an alert is over, when it is. Goes before every change of its state. */
export function endSilence(tenantId: string, id: string, now: number): RawWrite[] {
  return [
    {
      sql: `INSERT INTO alert_history (alert_id, n, tenant_id, at, action, actor_type)
SELECT a.id, (SELECT coalesce(max(n), 0) + 1 FROM alert_history h WHERE h.alert_id = a.id), a.tenant_id,
a.silenced_until, 'reopened', 'system' FROM alerts a
WHERE a.tenant_id = ? AND a.id = ? AND a.status = 'silenced' AND a.silenced_until <= ?`,
      params: [tenantId, id, now],
    },
    {
      sql: `UPDATE alerts SET status = 'open', silenced_until = NULL
WHERE tenant_id = ? AND id = ? AND status = 'silenced' AND silenced_until <= ?`,
      params: [tenantId, id, now],
    },
  ]
}
