/**
 * The queue that the table of deliveries is. What is due is found by index, per webhook; a claim names who sends, and
 * only the holder of the claim may write the result.
 */
import type { Db, RawWrite, SqlValue } from '../db/types.ts'
import { DELAYS_MS } from './rules/schedule.ts'

/** One delivery that is due, with all that sending it takes. */
export interface DueDelivery {
  id: string
  tenant_id: string
  webhook_id: string
  event_id: string
  event_type: string
  attempts: number
  round_attempts: number
  /** Null when the event is older than 90 days and no longer there. */
  body: string | null
  url: string
  secret: string
  next_secret: string | null
  promote_at: number | null
}

/** A webhook that has something to send, now or later. */
export interface OpenWebhook {
  id: string
  tenant_id: string
  active: number
  proven: number
  next_at: number
}

export interface AttemptResult {
  delivery_id: string
  tenant_id: string
  webhook_id: string
  claim: string
  /** Number of the attempt, over all rounds. */
  n: number
  started_at: number
  ended_at: number
  ms: number
  ok: boolean
  status_code: number | null
  error_class: string | null
  error: string | null
  address: string | null
  response: string
  /** After a failure: when again, or null when the round is over. */
  next_attempt_at: number | null
}

/** What the attempts of one batch did to a webhook. */
export interface HealthChange {
  webhook_id: string
  succeeded_at: number | null
  failures: number
  first_failure_at: number | null
  last_attempt_at: number
}

const OPEN = `status IN ('pending', 'retrying')`

const DUE = `
  SELECT d.id, d.tenant_id, d.webhook_id, d.event_id, d.event_type, d.attempts, d.round_attempts, e.body, w.url,
    w.secret, w.next_secret, w.promote_at
  FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id LEFT JOIN events e ON e.id = d.event_id
  WHERE d.webhook_id = ? AND d.status IN ('pending', 'retrying') AND d.next_attempt_at <= ?
    AND w.status = 'active'
  ORDER BY d.next_attempt_at LIMIT ?`

const FACTS = `w.tenant_id, w.status = 'active' AS active,
  w.failures = 0 AND w.last_success_at IS NOT NULL AS proven`

/** From webhook to webhook by the index of what is open: one step each, however long their queues are. */
const OPEN_WEBHOOKS = `
  WITH RECURSIVE ids (id) AS (
    SELECT min(webhook_id) FROM deliveries WHERE ${OPEN}
    UNION ALL
    SELECT (SELECT min(webhook_id) FROM deliveries WHERE ${OPEN} AND webhook_id > ids.id)
    FROM ids WHERE ids.id IS NOT NULL)
  SELECT w.id, ${FACTS},
    (SELECT min(d.next_attempt_at) FROM deliveries d
      WHERE d.webhook_id = w.id AND d.status IN ('pending', 'retrying')) AS next_at
  FROM ids JOIN webhooks w ON w.id = ids.id`

const WEBHOOK_FACTS = `SELECT w.id, ${FACTS}, 0 AS next_at FROM webhooks w
  WHERE w.id IN (SELECT value FROM json_each(?))`

/** Clock set back: nothing waits longer than its delay from now. */
const CLAMP = `
  UPDATE deliveries SET next_attempt_at = ?1 + CASE round_attempts
    ${DELAYS_MS.map((delay, made) => `WHEN ${made} THEN ${delay}`).join(' ')} ELSE 0 END
  WHERE ${OPEN} AND next_attempt_at > ?1 + CASE round_attempts
    ${DELAYS_MS.map((delay, made) => `WHEN ${made} THEN ${delay}`).join(' ')} ELSE 0 END`

export type QueueStore = ReturnType<typeof createQueueStore>

export function createQueueStore(db: Pick<Db, 'query'>) {
  return {
    due: (webhook_id: string, now: number, limit: number) =>
      db.query<DueDelivery>(DUE, [webhook_id, now, limit]),

    /** When a webhook has something due after `now`; null when there is nothing. */
    async nextAfter(webhook_id: string, now: number): Promise<number | null> {
      const [row] = await db.query<{ next_at: number | null }>(
        `SELECT min(next_attempt_at) AS next_at FROM deliveries
         WHERE webhook_id = ? AND ${OPEN} AND next_attempt_at > ?`,
        [webhook_id, now],
      )
      return row?.next_at ?? null
    },

    openWebhooks: () => db.query<OpenWebhook>(OPEN_WEBHOOKS),
    webhooks: (ids: readonly string[]) => db.query<OpenWebhook>(WEBHOOK_FACTS, [JSON.stringify(ids)]),

    /** Claims that outlived their lease, at most `limit`. */
    expired: (now: number, limit: number) =>
      db.query<{ id: string; webhook_id: string; claim: string }>(
        `SELECT id, webhook_id, claim FROM deliveries WHERE status = 'sending' AND lease_until < ? LIMIT ?`,
        [now, limit],
      ),

    /** Answers the ids that were free. */
    claim: (claims: readonly { id: string; claim: string }[], lease_until: number): RawWrite => ({
      sql: `UPDATE deliveries SET status = 'sending', claim = ?, lease_until = ? WHERE id = ? AND ${OPEN}
            RETURNING id`,
      rows: claims.map(({ id, claim }) => [claim, lease_until, id]),
    }),

    /** Gives claims back: due as before, and no attempt is counted. */
    release: (claims: readonly { id: string; claim: string }[]): RawWrite => ({
      sql: `UPDATE deliveries SET ${RELEASED} WHERE id = ? AND claim = ?`,
      rows: claims.map(({ id, claim }) => [id, claim]),
    }),

    /** At start: whatever was being sent was cut off. It holds the data folder alone, so nobody else sends. */
    recover: (now: number): RawWrite[] => [
      { sql: `UPDATE deliveries SET ${RELEASED} WHERE status = 'sending'` },
      { sql: CLAMP, params: [now] },
    ],

    clamp: (now: number): RawWrite => ({ sql: CLAMP, params: [now] }),

    /** Attempts and what became of their deliveries. Without the claim nothing of it is written. */
    results: (results: readonly AttemptResult[]): RawWrite[] => [
      { sql: INSERT_ATTEMPT, rows: results.map(attemptRow) },
      { sql: UPDATE_DELIVERY, rows: results.map(deliveryRow) },
    ],

    /** Answers id, failures and failing_since after the change. */
    health: (changes: readonly HealthChange[]): RawWrite => ({
      sql: UPDATE_HEALTH,
      rows: changes.map((each) => [
        each.webhook_id,
        each.succeeded_at,
        each.failures,
        each.first_failure_at,
        each.last_attempt_at,
      ]),
    }),

    /** A chunk of what is open becomes skipped (or cancelled): the webhook is not active. Answers the ids. */
    sweep: (webhook_id: string, to: 'skipped' | 'cancelled', now: number, limit: number): RawWrite => ({
      sql: `UPDATE deliveries SET status = ?1, next_attempt_at = NULL, completed_at = ?2
            WHERE id IN (SELECT id FROM deliveries WHERE webhook_id = ?3 AND ${OPEN} LIMIT ?4)
              AND EXISTS (SELECT 1 FROM webhooks w WHERE w.id = ?3 AND w.status <> 'active')
            RETURNING id`,
      params: [to, now, webhook_id, limit],
    }),
  }
}

const RELEASED = `status = iif(round_attempts = 0, 'pending', 'retrying'), claim = NULL, lease_until = NULL,
  next_attempt_at = coalesce(next_attempt_at, created_at)`

const INSERT_ATTEMPT = `
  INSERT INTO delivery_attempts
    (tenant_id, delivery_id, n, started_at, ms, status_code, error_class, error, address, response)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
  WHERE EXISTS (SELECT 1 FROM deliveries WHERE id = ?2 AND claim = ?11)`

function attemptRow(each: AttemptResult): SqlValue[] {
  return [
    each.tenant_id,
    each.delivery_id,
    each.n,
    each.started_at,
    each.ms,
    each.status_code,
    each.error_class,
    each.error,
    each.address,
    each.response,
    each.claim,
  ]
}

/** A retry of a webhook that was paused or disabled meanwhile is skipped, of a deleted one cancelled. */
const WEBHOOK_STATUS = '(SELECT w.status FROM webhooks w WHERE w.id = deliveries.webhook_id)'
const GOES_ON = `?3 = 'retrying' AND ${WEBHOOK_STATUS} = 'active'`
const UPDATE_DELIVERY = `
  UPDATE deliveries SET
    status = CASE WHEN ?3 <> 'retrying' THEN ?3 ELSE
      CASE ${WEBHOOK_STATUS} WHEN 'active' THEN 'retrying' WHEN 'deleted' THEN 'cancelled' ELSE 'skipped' END END,
    next_attempt_at = iif(${GOES_ON}, ?4, NULL), completed_at = iif(${GOES_ON}, NULL, ?7),
    attempts = attempts + 1, round_attempts = round_attempts + 1, last_status_code = ?5, last_error = ?6,
    claim = NULL, lease_until = NULL
  WHERE id = ?1 AND claim = ?2`

function deliveryRow(each: AttemptResult): SqlValue[] {
  const status = each.ok ? 'succeeded' : each.next_attempt_at === null ? 'failed' : 'retrying'
  const last_error = each.error_class === null ? null : `${each.error_class}: ${each.error}`
  return [
    each.delivery_id,
    each.claim,
    status,
    each.next_attempt_at,
    each.status_code,
    last_error,
    each.ended_at,
  ]
}

const UPDATE_HEALTH = `
  UPDATE webhooks SET
    failures = iif(?2 IS NULL, failures + ?3, ?3),
    failing_since = iif(?2 IS NULL, coalesce(failing_since, ?4), ?4),
    last_success_at = coalesce(?2, last_success_at),
    last_attempt_at = ?5
  WHERE id = ?1
  RETURNING id, tenant_id, status, failures, failing_since`
