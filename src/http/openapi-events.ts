/** The events section of the OpenAPI document: what Wardpost sends to webhooks, with envelope, headers and example. */
import { EVENT_KINDS, type EventKind } from '../lib/event-kinds.ts'

type Json = Record<string, unknown>

const header = (name: string, description: string, example: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', examples: [example] },
})

const HEADERS: readonly Json[] = [
  header('X-Service-Signature-Timestamp', 'Unix seconds of the sending.', '1795046399'),
  header(
    'X-Service-Signature',
    'Lower-case hex of HMAC-SHA256, keyed with the secret, over `<timestamp>.<raw body>`.',
    '5f0f…',
  ),
  header(
    'webhook-id',
    'The id of the event: the same in every repetition.',
    'evt_01k3v8q2m7x0c9tbe4h6ynp5rz',
  ),
  header('webhook-timestamp', 'Unix seconds of the sending (Standard Webhooks).', '1795046399'),
  header(
    'webhook-signature',
    '`v1,` and base64 of HMAC-SHA256 (Standard Webhooks); two during a rotation.',
    'v1,K5oZ…',
  ),
]

/** `webhooks` of OpenAPI 3.1: one entry a kind. */
export function openApiEvents(): Json {
  return Object.fromEntries(
    Object.entries(EVENT_KINDS).map(([type, kind]) => [type, { post: operation(type, kind) }]),
  )
}

function operation(type: string, kind: EventKind): Json {
  const envelope = {
    type: 'object',
    required: ['id', 'type', 'created_at', 'tenant_id', 'data'],
    additionalProperties: false,
    properties: {
      id: { type: 'string', description: 'Idempotency key: the same event may arrive more than once.' },
      type: { const: type },
      created_at: { type: 'string', format: 'date-time' },
      tenant_id: { type: 'string' },
      data: kind.schema,
    },
  }
  const example = {
    id: 'evt_01k3v8q2m7x0c9tbe4h6ynp5rz',
    type,
    created_at: '2026-11-19T09:12:00.000Z',
    tenant_id: 'ten_01k3v8q2m7x0c9tbe4h6ynp5rz',
    data: kind.example,
  }
  return {
    operationId: `on${type}`,
    tags: ['Events'],
    summary: kind.title,
    description: kind.description,
    security: [],
    parameters: HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema: envelope, example } } },
    responses: {
      '2XX': { description: 'Taken. Anything else, or silence for 10 seconds, is a failed attempt.' },
      '4XX': { description: 'Not taken: it is sent again by the schedule.' },
    },
  }
}
