export interface Webhook {
  id: string
  url: string
  events: string[]
  status: 'active' | 'paused' | 'disabled'
  health: 'healthy' | 'degraded' | 'failing'
  description: string
  secret_last4: string
  rotation: { next_secret_last4: string; promote_at: string } | null
  failures: number
  failing_since: string | null
  last_attempt_at: string | null
  last_success_at: string | null
  version: number
  created_at: string
  updated_at: string
}

export type NewWebhook = Webhook & { secret: string }

export type DeliveryStatus =
  | 'pending'
  | 'sending'
  | 'retrying'
  | 'succeeded'
  | 'failed'
  | 'skipped'
  | 'cancelled'

export interface Delivery {
  id: string
  webhook_id: string
  event_id: string
  event_type: string
  status: DeliveryStatus
  attempts: number
  next_attempt_at: string | null
  last_status_code: number | null
  last_error: string | null
  created_at: string
  completed_at: string | null
}

export interface Attempt {
  number: number
  started_at: string
  ms: number
  status_code: number | null
  error_class: string | null
  error: string | null
  address: string | null
  response_body: string
}

export interface DeliveryDetail extends Omit<Delivery, 'attempts'> {
  attempts: Attempt[]
  body: string
}

export interface EventKind {
  type: string
  title: string
  description: string
  schema: { properties?: Record<string, { description?: string }> }
  /** A whole envelope. */
  example: Record<string, unknown>
}

export interface TestResult {
  ok: boolean
  status_code: number | null
  error: string | null
  error_class: string | null
  ms: number
  address: string | null
  request_headers: Record<string, string>
  response_body: string
}

export interface Finding {
  check: string
  ok: boolean
  detail: string
}

export const WEBHOOKS = '/v1/webhooks'

/** At most this many per organisation: all of them fit one page. */
export const ALL_WEBHOOKS = { limit: 100 } as const

/** `siem.example.net:8443`: how an endpoint is called in sentences. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host
  } catch {
    return url
  }
}

/** `siem.example.net:8443/hooks`: tells two at the same host apart; all of them are https. */
export const shortUrl = (url: string): string => url.replace(/^https:\/\//, '')

/** `whsec_…9fQ=`: enough to tell two apart, useless to anybody else. */
export const maskedSecret = (last4: string): string => `whsec_…${last4}`
