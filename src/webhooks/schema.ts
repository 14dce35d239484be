import { t } from 'elysia'
import { Body, FieldsQuery, Int, IsoTime, Literals, Nullable, PageQuery } from '../http/schema.ts'
import { EVENT_TYPES } from '../lib/event-kinds.ts'
import { SECRET_CHARS_MAX, SECRET_CHARS_MIN, URL_CHARS_MAX } from '../lib/limits.ts'
import { DELIVERY_STATUSES, REDELIVERABLE } from './statuses.ts'

const Kind = Literals(EVENT_TYPES, { description: 'A kind of event; see `GET /v1/webhooks/events`.' })
/** Read as text and answered with the names that there are. */
const KindText = t.String({ maxLength: 60, examples: ['DMARC_THRESHOLD_REACHED'] })
const Kinds = t.Array(KindText, { minItems: 1, maxItems: EVENT_TYPES.length })
const Url = t.String({
  minLength: 1,
  maxLength: URL_CHARS_MAX,
  description: 'https only, without credentials or fragment.',
  examples: ['https://hooks.example.com/wardpost'],
})
const Description = t.String({ maxLength: 200, examples: ['SIEM of the Berlin office'] })
const Id = (prefix: string) => t.String({ examples: [`${prefix}_01k3v8q2m7x0c9tbe4h6ynp5rz`] })

export const Webhook = t.Object(
  {
    id: Id('wh'),
    url: Url,
    events: t.Array(Kind),
    status: Literals(['active', 'paused', 'disabled'], {
      description: '`disabled`: five days of nothing but failures. Resume it when it works again.',
    }),
    health: Literals(['healthy', 'degraded', 'failing']),
    description: Description,
    secret_last4: t.String({ examples: ['9fQ='] }),
    rotation: Nullable(
      t.Object({
        next_secret_last4: t.String(),
        promote_at: t.String({
          format: 'date-time',
          description: 'When the new secret signs alone, unless it is promoted before.',
        }),
      }),
    ),
    failures: Int({ minimum: 0, description: 'Failed attempts since the last one that succeeded.' }),
    failing_since: Nullable(IsoTime),
    last_attempt_at: Nullable(IsoTime),
    last_success_at: Nullable(IsoTime),
    version: Int({ minimum: 1 }),
    created_at: IsoTime,
    updated_at: IsoTime,
  },
  { title: 'Webhook' },
)
export type WebhookDto = typeof Webhook.static

export const WebhookWithSecret = t.Intersect(
  [
    Webhook,
    t.Object({
      secret: t.String({
        description: 'The secret itself: shown this once.',
        examples: ['whsec_mJ8l3vQ0tq4m8dU2y1n0bq7cWk5xZr9pT6hVgA3sE1U='],
      }),
    }),
  ],
  { title: 'WebhookWithSecret' },
)
export type WebhookWithSecretDto = WebhookDto & { secret: string }

export const WebhookCreate = Body({
  url: Url,
  events: Kinds,
  secret: t.Optional(
    t.String({
      // The same as `secretProblem`, for who reads the reference.
      minLength: SECRET_CHARS_MIN,
      maxLength: SECRET_CHARS_MAX,
      description: 'Your own: 16 to 256 visible ASCII characters. Made by the server when it is left out.',
    }),
  ),
  description: t.Optional(Description),
})
export type WebhookCreateInput = typeof WebhookCreate.static

export const WebhookUpdate = Body(
  { url: t.Optional(Url), events: t.Optional(Kinds), description: t.Optional(Description) },
  { minProperties: 1 },
)
export type WebhookUpdateInput = typeof WebhookUpdate.static

export const WebhookListQuery = t.Object({ ...PageQuery, ...FieldsQuery })

export const RotateQuery = t.Object({
  immediate: t.Optional(
    t.String({
      'x-openapi': { type: 'boolean', default: false },
      maxLength: 5,
      description: 'After a leak: the old secret signs nothing any more, from now on.',
    }),
  ),
})

export const EventKindList = t.Object({
  items: t.Array(
    t.Object({
      type: Kind,
      title: t.String(),
      description: t.String(),
      schema: t.Object({}, { additionalProperties: true, description: 'JSON Schema of `data`.' }),
      example: t.Object({}, { additionalProperties: true, description: 'A whole envelope.' }),
    }),
  ),
})
export type EventKindListDto = typeof EventKindList.static

export const WebhookTest = Body({ type: KindText })

export const WebhookTestResult = t.Object({
  ok: t.Boolean(),
  status_code: Nullable(Int()),
  error: Nullable(t.String()),
  error_class: Nullable(t.String()),
  ms: Int({ minimum: 0 }),
  address: Nullable(t.String()),
  request_headers: t.Record(t.String(), t.String()),
  response_body: t.String(),
})
export type WebhookTestDto = typeof WebhookTestResult.static

export const Delivery = t.Object(
  {
    id: Id('dlv'),
    webhook_id: Id('wh'),
    event_id: Id('evt'),
    event_type: Kind,
    status: Literals(DELIVERY_STATUSES, {
      description: '`skipped`: the webhook was paused or disabled; it can be sent again.',
    }),
    attempts: Int({ minimum: 0 }),
    next_attempt_at: Nullable(IsoTime),
    last_status_code: Nullable(Int()),
    last_error: Nullable(t.String()),
    created_at: IsoTime,
    completed_at: Nullable(IsoTime),
  },
  { title: 'Delivery' },
)
export type DeliveryDto = typeof Delivery.static

const Attempt = t.Object({
  number: Int({ minimum: 1 }),
  started_at: IsoTime,
  ms: Int({ minimum: 0 }),
  status_code: Nullable(Int()),
  error_class: Nullable(
    t.String({
      description:
        'http_status, redirect, blocked, dns, connect, tls, timeout, reset, protocol, secret or expired; null for success.',
    }),
  ),
  error: Nullable(t.String()),
  address: Nullable(t.String({ description: 'The address it was sent to.' })),
  response_body: t.String({ description: 'The first 16 kB of the answer.' }),
})

export const DeliveryDetail = t.Object(
  {
    ...Delivery.properties,
    attempts: t.Array(Attempt, { description: 'In the order in which they were made.' }),
    body: t.String({ description: 'The envelope, byte for byte as it is signed and sent.' }),
  },
  { title: 'DeliveryDetail' },
)
export type DeliveryDetailDto = typeof DeliveryDetail.static

export const DeliveryListQuery = t.Object({
  status: t.Optional(t.String({ 'x-openapi': { enum: DELIVERY_STATUSES }, maxLength: 20 })),
  type: t.Optional(t.String({ 'x-openapi': { enum: EVENT_TYPES }, maxLength: 60 })),
  ...PageQuery,
  ...FieldsQuery,
})

export const UndeliveredQuery = t.Object({ ...PageQuery, ...FieldsQuery })

export const DeliveryParams = t.Object({
  id: t.String({ maxLength: 64 }),
  delivery_id: t.String({ maxLength: 64 }),
})
export const JobParams = t.Object({ id: t.String({ maxLength: 64 }), job_id: t.String({ maxLength: 64 }) })

export const RedeliverMany = Body({
  since: t.String({ maxLength: 40, description: 'ISO 8601 date or timestamp.', examples: ['2026-01-15'] }),
  statuses: t.Optional(
    t.Array(Literals(REDELIVERABLE), { minItems: 1, maxItems: REDELIVERABLE.length, uniqueItems: true }),
  ),
  dry_run: t.Optional(t.Boolean({ description: 'Only count.' })),
})
export type RedeliverManyInput = typeof RedeliverMany.static

export const RedeliverCount = t.Object({ count: Int({ minimum: 0 }) })
export const RedeliverStarted = t.Object({ job_id: Id('job'), count: Int({ minimum: 0 }) })
export const RedeliverJob = t.Object({
  id: Id('job'),
  status: Literals(['running', 'done']),
  total: Int({ minimum: 0 }),
  done: Int({ minimum: 0 }),
  created_at: IsoTime,
})
export type RedeliverJobDto = typeof RedeliverJob.static

export const SignatureCheck = Body({
  headers: t.Record(t.String({ maxLength: 100 }), t.String({ maxLength: 4096 }), {
    description: 'As your endpoint received them; the case of names does not matter.',
  }),
  body: t.String({ description: 'The raw body as your endpoint received it.' }),
})
export type SignatureCheckInput = typeof SignatureCheck.static

export const SignatureCheckResult = t.Object({
  ok: t.Boolean({ description: 'At least one of the two signatures is right, and fresh.' }),
  findings: t.Array(t.Object({ check: t.String(), ok: t.Boolean(), detail: t.String() })),
})
export type SignatureCheckDto = typeof SignatureCheckResult.static
