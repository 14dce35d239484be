/** Rows as they leave over the API. */
import { isoTime } from '../lib/clock.ts'
import type { EventType } from '../lib/event-kinds.ts'
import { healthOf } from './rules/health.ts'
import type { DeliveryDetailDto, DeliveryDto, RedeliverJobDto, WebhookDto } from './schema.ts'
import type { AttemptRow, DeliveryRow, RedeliveryRow } from './store.deliveries.ts'
import type { WebhookRow } from './store.ts'

const iso = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

/** A rotation whose time is over counts as done, even before its row says so. */
export function webhookDto(row: WebhookRow, now: number): WebhookDto {
  const promoted = row.promote_at !== null && row.promote_at <= now
  const rotating = row.promote_at !== null && row.next_secret_last4 !== null && !promoted
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as EventType[],
    status: row.status,
    health: healthOf(row, now),
    description: row.description,
    secret_last4: (promoted ? row.next_secret_last4 : null) ?? row.secret_last4,
    rotation: rotating
      ? { next_secret_last4: row.next_secret_last4!, promote_at: isoTime(row.promote_at!) }
      : null,
    failures: row.failures,
    failing_since: iso(row.failing_since),
    last_attempt_at: iso(row.last_attempt_at),
    last_success_at: iso(row.last_success_at),
    version: row.version,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  }
}

export function deliveryDto(row: DeliveryRow): DeliveryDto {
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    event_id: row.event_id,
    event_type: row.event_type as EventType,
    status: row.status,
    attempts: row.attempts,
    next_attempt_at: iso(row.next_attempt_at),
    last_status_code: row.last_status_code,
    last_error: row.last_error,
    created_at: isoTime(row.created_at),
    completed_at: iso(row.completed_at),
  }
}

export function deliveryDetail(
  row: DeliveryRow,
  attempts: readonly AttemptRow[],
  body: string,
): DeliveryDetailDto {
  return {
    ...deliveryDto(row),
    attempts: attempts.map((each) => ({
      number: each.n,
      started_at: isoTime(each.started_at),
      ms: each.ms,
      status_code: each.status_code,
      error_class: each.error_class,
      error: each.error,
      address: each.address,
      response_body: each.response,
    })),
    body,
  }
}

export function jobDto(row: RedeliveryRow): RedeliverJobDto {
  return {
    id: row.id,
    status: row.status,
    total: row.total,
    done: row.done,
    created_at: isoTime(row.created_at),
  }
}
