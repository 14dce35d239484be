/** Rows of webhooks. `tenantId` comes first. Deleted ones are not found: a job takes them away, with what is theirs. */
import type { Db, RawWrite, SqlValue } from '../db/types.ts'
import { DISABLE_WHERE } from './rules/health.ts'

export interface WebhookRow {
  id: string
  tenant_id: string
  url: string
  description: string
  events: string
  status: 'active' | 'paused' | 'disabled'
  secret: string
  secret_last4: string
  next_secret: string | null
  next_secret_last4: string | null
  promote_at: number | null
  failures: number
  failing_since: number | null
  last_attempt_at: number | null
  last_success_at: number | null
  version: number
  created_at: number
  updated_at: number
}

export interface NewWebhook {
  id: string
  url: string
  description: string
  events: string
  secret: string
  secret_last4: string
  now: number
}

const LIVE = `tenant_id = ? AND status <> 'deleted'`
/** A new start: what failed before says nothing about what is there now. */
const FRESH = 'failures = 0, failing_since = NULL'

export type WebhookStore = ReturnType<typeof createWebhookStore>

export function createWebhookStore(db: Pick<Db, 'query'>) {
  /** A guarded update of one webhook; its version rises. */
  const update = (
    tenantId: string,
    id: string,
    set: string,
    values: readonly SqlValue[],
    guard: { where: string; values: readonly SqlValue[] },
    now: number,
  ): RawWrite => ({
    sql: `UPDATE webhooks SET ${set}, version = version + 1, updated_at = ?
          WHERE ${LIVE} AND id = ? AND ${guard.where}`,
    params: [...values, now, tenantId, id, ...guard.values],
  })

  return {
    async find(tenantId: string, id: string): Promise<WebhookRow | undefined> {
      const [row] = await db.query<WebhookRow>(`SELECT * FROM webhooks WHERE ${LIVE} AND id = ?`, [
        tenantId,
        id,
      ])
      return row
    },

    list(tenantId: string, after: string | null, limit: number): Promise<WebhookRow[]> {
      return db.query<WebhookRow>(
        `SELECT * FROM webhooks WHERE ${LIVE} AND id < ? ORDER BY id DESC LIMIT ?`,
        [tenantId, after ?? 'wh_~', limit],
      )
    },

    insert: (tenantId: string, row: NewWebhook, max: number): RawWrite => ({
      sql: `INSERT INTO webhooks
              (id, tenant_id, url, description, events, status, secret, secret_last4, created_at, updated_at)
            SELECT ?, ?, ?, ?, ?, 'active', ?, ?, ?, ?
            WHERE (SELECT count(*) FROM webhooks WHERE ${LIVE}) < ?`,
      params: [
        row.id,
        tenantId,
        row.url,
        row.description,
        row.events,
        row.secret,
        row.secret_last4,
        row.now,
        row.now,
        tenantId,
        max,
      ],
    }),

    /** Of exactly this version. A new URL begins with a clean record. */
    change(
      tenantId: string,
      row: Pick<WebhookRow, 'id' | 'version' | 'url' | 'description' | 'events'>,
      moved: boolean,
      now: number,
    ): RawWrite {
      return update(
        tenantId,
        row.id,
        `url = ?, description = ?, events = ?${moved ? `, ${FRESH}` : ''}`,
        [row.url, row.description, row.events],
        { where: 'version = ?', values: [row.version] },
        now,
      )
    },

    pause: (tenantId: string, id: string, now: number) =>
      update(tenantId, id, `status = 'paused'`, [], { where: `status = 'active'`, values: [] }, now),

    resume: (tenantId: string, id: string, now: number) =>
      update(
        tenantId,
        id,
        `status = 'active', ${FRESH}`,
        [],
        { where: `status IN ('paused', 'disabled')`, values: [] },
        now,
      ),

    /** Only if it is still as bad as it was found. */
    disable: (tenantId: string, id: string, now: number) =>
      update(
        tenantId,
        id,
        `status = 'disabled'`,
        [],
        {
          where: `status = 'active' AND failures >= ? AND failing_since <= ?`,
          values: [DISABLE_WHERE.failures, DISABLE_WHERE.since(now)],
        },
        now,
      ),

    /** Its rows are taken away by a job; the secrets go at once. */
    remove: (tenantId: string, id: string, now: number) =>
      update(
        tenantId,
        id,
        `status = 'deleted', secret = '', next_secret = NULL, next_secret_last4 = NULL, promote_at = NULL`,
        [],
        { where: '1', values: [] },
        now,
      ),

    /** A second secret beside the first, until `promote_at`. Another rotation replaces it. */
    rotate: (
      tenantId: string,
      id: string,
      next: { secret: string; last4: string; promote_at: number },
      now: number,
    ) =>
      update(
        tenantId,
        id,
        'next_secret = ?, next_secret_last4 = ?, promote_at = ?',
        [next.secret, next.last4, next.promote_at],
        { where: '1', values: [] },
        now,
      ),

    /** The new secret and no other, from now on. */
    replaceSecret: (tenantId: string, id: string, made: { secret: string; last4: string }, now: number) =>
      update(
        tenantId,
        id,
        'secret = ?, secret_last4 = ?, next_secret = NULL, next_secret_last4 = NULL, promote_at = NULL',
        [made.secret, made.last4],
        { where: '1', values: [] },
        now,
      ),

    promote: (tenantId: string, id: string, now: number) =>
      update(tenantId, id, PROMOTED, [], { where: 'next_secret IS NOT NULL', values: [] }, now),

    /** Rotations whose time is over, of all tenants. */
    promoteDue: (now: number): RawWrite => ({
      sql: `UPDATE webhooks SET ${PROMOTED}, version = version + 1, updated_at = ?1 WHERE promote_at <= ?1
            RETURNING id`,
      params: [now],
    }),
  }
}

const PROMOTED = `secret = next_secret, secret_last4 = next_secret_last4, next_secret = NULL,
  next_secret_last4 = NULL, promote_at = NULL`
