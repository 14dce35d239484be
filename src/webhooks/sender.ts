/** One attempt: signs the stored bytes, sends them, and says what came of it. Never rejects. */
import type { Clock } from '../lib/clock.ts'
import { SECOND_MS } from '../lib/clock.ts'
import { WEBHOOK_RESPONSE_BYTES_MAX, WEBHOOK_TIMEOUT_MS } from '../lib/limits.ts'
import type { Egress, EgressAnswer } from '../net/http.ts'
import { signatureHeaders } from './rules/signature.ts'
import type { SealedSecrets, SecretBox } from './secrets.ts'

export interface Parcel extends SealedSecrets {
  url: string
  tenant_id: string
  webhook_id: string
  /** Null for a test: there is no delivery. */
  delivery_id: string | null
  event_id: string
  event_type: string
  /** The envelope as it is stored; null when it is no longer kept. */
  body: string | null
}

export interface Outcome {
  ok: boolean
  started_at: number
  ended_at: number
  ms: number
  status_code: number | null
  /** Null when it succeeded: http_status, redirect, blocked, dns, connect, tls, timeout, reset, protocol, secret, expired. */
  error_class: string | null
  error: string | null
  address: string | null
  response: string
  request_headers: Record<string, string>
}

export interface SenderPorts {
  egress: Egress
  clock: Clock
  secrets: SecretBox
  /** A destination was refused: for the audit log. */
  blocked(tenant_id: string, webhook_id: string): void
  /** Told of every attempt, for the metrics. */
  ended?(error_class: string | null, ms: number): void
  timeout_ms?: number
}

export type Sender = ReturnType<typeof createSender>

export function createSender(ports: SenderPorts) {
  const { egress, clock, secrets, timeout_ms = WEBHOOK_TIMEOUT_MS } = ports

  return {
    async send(parcel: Parcel): Promise<Outcome> {
      const started_at = clock.now()
      const opened = secrets.secretsAt(parcel, started_at)
      if (opened === null) return unsent(started_at, 'secret', UNSEALED)
      if (parcel.body === null) return unsent(started_at, 'expired', 'the event is no longer kept')
      const body = Buffer.from(parcel.body)
      const request_headers = {
        'content-type': 'application/json',
        'user-agent': 'Wardpost-Webhooks/1',
        'X-Service-Event': parcel.event_type,
        ...(parcel.delivery_id === null ? {} : { 'X-Service-Delivery': parcel.delivery_id }),
        ...signatureHeaders(opened, parcel.event_id, Math.floor(started_at / SECOND_MS), body),
      }
      const answer = await egress.send({
        url: parcel.url,
        method: 'POST',
        headers: request_headers,
        body,
        timeout_ms,
        response_bytes: WEBHOOK_RESPONSE_BYTES_MAX,
      })
      if (answer.error?.class === 'blocked') ports.blocked(parcel.tenant_id, parcel.webhook_id)
      const verdict = verdictOf(answer)
      ports.ended?.(verdict.error_class, answer.ms)
      return {
        ...verdict,
        started_at,
        ended_at: clock.now(),
        ms: answer.ms,
        status_code: answer.status,
        address: answer.error?.class === 'blocked' ? null : answer.address,
        response: textOf(answer.body),
        request_headers,
      }
    },
  }
}

/** 2xx with a complete answer (or its first 16 kB) is success, everything else is not. */
function verdictOf({ status, error, location }: EgressAnswer): Pick<Outcome, 'ok' | 'error_class' | 'error'> {
  if (error !== null) return { ok: false, error_class: error.class, error: error.detail }
  if (status !== null && status >= 200 && status < 300) return { ok: true, error_class: null, error: null }
  if (status !== null && status >= 300 && status < 400) {
    const to = location === null ? '' : ` to ${location.slice(0, 200)}`
    const error = `it redirects${to}, which is not followed`
    return { ok: false, error_class: 'redirect', error }
  }
  return { ok: false, error_class: 'http_status', error: `it answered ${status}` }
}

/** Sealed under another instance key: only a new secret helps. */
const UNSEALED =
  'the secret cannot be opened with the key of this installation; rotate it with ?immediate=true'

function unsent(now: number, error_class: string, error: string): Outcome {
  return {
    ok: false,
    started_at: now,
    ended_at: now,
    ms: 0,
    status_code: null,
    error_class,
    error,
    address: null,
    response: '',
    request_headers: {},
  }
}

/** NUL would end the text for some readers. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll('\0', '\uFFFD')
}
