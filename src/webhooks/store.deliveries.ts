/** What became of events: lists, one with its attempts, and what can be sent again. */
import type { Db, RawWrite, SqlValue } from '../db/types.ts'
import type { DeliveryStatus } from './statuses.ts'

export interface DeliveryRow {
  id: string
  webhook_id: string
  event_id: string
  event_type: string
  status: DeliveryStatus
  attempts: number
  next_attempt_at: number | null
  last_status_code: number | null
  last_error: string | null
  created_at: number
  completed_at: number | null
}

export interface AttemptRow {
  n: number
  started_at: number
  ms: number
  status_code: number | null
  error_class: string | null
  error: string | null
  address: string | null
  response: string
}

export interface RedeliveryRow {
  id: string
  tenant_id: string
  webhook_id: string
  statuses: string
  since: number
  position: string
  last_id: string
  status: 'running' | 'done'
  total: number
  done: number
  created_at: number
}

export interface DeliveryFilter {
  status?: DeliveryStatus
  type?: string
  after: string | null
  limit: number
}

const COLUMNS = `d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempts,
  iif(d.status = 'sending', NULL, d.next_attempt_at) AS next_attempt_at, d.last_status_code, d.last_error,
  d.created_at, d.completed_at`

/** The condition of a partial index, which SQLite looks for word by word. */
const INDEXES: readonly { statuses: readonly DeliveryStatus[]; where: string }[] = [
  { statuses: ['failed', 'skipped', 'cancelled'], where: `status IN ('failed', 'skipped', 'cancelled')` },
  { statuses: ['pending', 'retrying'], where: `status IN ('pending', 'retrying')` },
  { statuses: ['sending'], where: `status = 'sending'` },
]

/** Where few rows are wanted among many, the index of what they are, and not the order of the list, must be used. */
const INDEX_OF: Partial<Record<DeliveryStatus, string>> = {
  pending: 'INDEXED BY deliveries_due',
  retrying: 'INDEXED BY deliveries_due',
  sending: 'INDEXED BY deliveries_sending',
}

/** Spelt out, so that the index of the status serves. */
function whereStatus(status: DeliveryStatus): string {
  const index = INDEXES.find(({ statuses }) => statuses.includes(status))
  return `d.status = '${status}'${index === undefined ? '' : ` AND d.${index.where}`}`
}

/** Above every id. */
const LAST = 'dlv_~'

const REDELIVERED = `status = 'pending', round_attempts = 0, next_attempt_at = ?, completed_at = NULL`

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

export function createDeliveryStore(db: Pick<Db, 'query'>) {
  return {
    list(tenantId: string, webhook_id: string, filter: DeliveryFilter): Promise<DeliveryRow[]> {
      const where = ['d.webhook_id = ?', 'd.tenant_id = ?', 'd.id < ?']
      const params: SqlValue[] = [webhook_id, tenantId, filter.after ?? LAST]
      if (filter.status !== undefined) where.push(whereStatus(filter.status))
      if (filter.type !== undefined) {
        where.push('d.event_type = ?')
        params.push(filter.type)
      }
      const index = filter.status === undefined ? '' : (INDEX_OF[filter.status] ?? '')
      return db.query<DeliveryRow>(
        `SELECT ${COLUMNS} FROM deliveries d ${index} WHERE ${where.join(' AND ')} ORDER BY d.id DESC LIMIT ?`,
        [...params, filter.limit],
      )
    },

    /** Of all webhooks of the tenant: what failed, was skipped, or is being tried again. */
    undelivered(tenantId: string, after: string | null, limit: number): Promise<DeliveryRow[]> {
      return db.query<DeliveryRow>(
        `SELECT ${COLUMNS} FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id AND w.status <> 'deleted'
         WHERE d.tenant_id = ? AND d.status IN ('failed', 'skipped', 'retrying') AND d.id < ?
         ORDER BY d.id DESC LIMIT ?`,
        [tenantId, after ?? LAST, limit],
      )
    },

    async find(tenantId: string, webhook_id: string, id: string): Promise<DeliveryRow | undefined> {
      const [row] = await db.query<DeliveryRow>(
        `SELECT ${COLUMNS} FROM deliveries d WHERE d.tenant_id = ? AND d.webhook_id = ? AND d.id = ?`,
        [tenantId, webhook_id, id],
      )
      return row
    },

    attempts: (tenantId: string, delivery_id: string) =>
      db.query<AttemptRow>(
        `SELECT n, started_at, ms, status_code, error_class, error, address, response
         FROM delivery_attempts WHERE tenant_id = ? AND delivery_id = ? ORDER BY n`,
        [tenantId, delivery_id],
      ),

    async eventBody(tenantId: string, event_id: string): Promise<string | null> {
      const [row] = await db.query<{ body: string }>(
        'SELECT body FROM events WHERE tenant_id = ? AND id = ?',
        [tenantId, event_id],
      )
      return row?.body ?? null
    },

    /** A new round of attempts with the same ids. */
    redeliver: (tenantId: string, id: string, now: number): RawWrite => ({
      sql: `UPDATE deliveries SET ${REDELIVERED}
            WHERE tenant_id = ? AND id = ? AND status IN ('failed', 'skipped')
              AND (SELECT w.status FROM webhooks w WHERE w.id = deliveries.webhook_id) = 'active'`,
      params: [now, tenantId, id],
    }),

    async countUndelivered(
      tenantId: string,
      webhook_id: string,
      statuses: readonly DeliveryStatus[],
      since: number,
    ): Promise<number> {
      let total = 0
      for (const status of statuses) {
        const [row] = await db.query<{ count: number }>(
          `SELECT count(*) AS count FROM deliveries d
           WHERE d.webhook_id = ? AND d.tenant_id = ? AND d.created_at >= ? AND ${whereStatus(status)}`,
          [webhook_id, tenantId, since],
        )
        total += row?.count ?? 0
      }
      return total
    },

    insertRedelivery: (row: RedeliveryRow): RawWrite => ({
      sql: `INSERT INTO redeliveries
              (id, tenant_id, webhook_id, statuses, since, position, last_id, status, total, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?)`,
      params: [
        row.id,
        row.tenant_id,
        row.webhook_id,
        row.statuses,
        row.since,
        row.position,
        row.last_id,
        row.total,
        row.created_at,
      ],
    }),

    async findRedelivery(tenantId: string, webhook_id: string, id: string) {
      const [row] = await db.query<RedeliveryRow>(
        'SELECT * FROM redeliveries WHERE tenant_id = ? AND webhook_id = ? AND id = ?',
        [tenantId, webhook_id, id],
      )
      return row
    },

    runningRedeliveries: () =>
      db.query<RedeliveryRow>(`SELECT * FROM redeliveries WHERE status = 'running' ORDER BY id`),

    /** The ids of the next chunk of a redelivery. Each status by its index, then merged: none is read twice. */
    async chunk(row: RedeliveryRow, limit: number): Promise<string[]> {
      const ids: string[] = []
      for (const status of JSON.parse(row.statuses) as DeliveryStatus[]) {
        const rows = await db.query<{ id: string }>(
          `SELECT d.id FROM deliveries d
           WHERE d.webhook_id = ? AND ${whereStatus(status)} AND d.id > ? AND d.id <= ? AND d.created_at >= ?
           ORDER BY d.id LIMIT ?`,
          [row.webhook_id, row.position, row.last_id, row.since, limit],
        )
        ids.push(...rows.map(({ id }) => id))
      }
      return ids.sort().slice(0, limit)
    },

    /** Sends a chunk again and notes how far it is. Deliveries that changed meanwhile are left alone. */
    redeliverChunk: (row: RedeliveryRow, ids: readonly string[], now: number): RawWrite[] => [
      {
        sql: `UPDATE deliveries SET ${REDELIVERED}
              WHERE id = ? AND status IN ('failed', 'skipped')
                AND (SELECT w.status FROM webhooks w WHERE w.id = deliveries.webhook_id) = 'active'`,
        rows: ids.map((id) => [now, id]),
      },
      {
        sql: 'UPDATE redeliveries SET position = ?, done = done + ? WHERE id = ?',
        params: [ids.at(-1)!, ids.length, row.id],
      },
    ],

    endRedelivery: (id: string, now: number): RawWrite => ({
      sql: `UPDATE redeliveries SET status = 'done', ended_at = ?, total = done WHERE id = ?`,
      params: [now, id],
    }),
  }
}
