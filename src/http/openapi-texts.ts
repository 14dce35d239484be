/** What the API reference says in words: introduction, tags, headers, the shape of a problem. */
import { PROBLEMS } from '../lib/errors.ts'

const DESCRIPTION = `Everything the Wardpost pages do, a script can do.

**Credentials.** Every request to \`/v1\` carries \`Authorization: Bearer wdp_…\`. Keys are made under Settings, API keys, and
carry scopes; each operation names the scope it needs.

**Lists** answer \`{"items": […], "next_cursor": "…"}\`. \`next_cursor\` is absent on the last page; send it back as \`cursor\`
with the same filters. \`limit\` is 1 to 500, by default 50. \`fields=a,b.c\` picks members. Times are ISO 8601 UTC; \`from\` is
inclusive, \`to\` exclusive.

**Doing it once.** A POST with an \`Idempotency-Key\` is done once: the same request again replays the first answer for 24
hours. Uploads need no key, since their content is one.

**Changing what you read.** Answers with an \`ETag\` can be changed with \`If-Match\`; 412 says that somebody was faster.

**Errors** are \`application/problem+json\` (RFC 9457) with a stable \`code\` and the \`request_id\` that the log knows.

**Limits.** Exact sliding windows: see the table. Every answer says how much is left; 429 says how long to wait.`

export const INFO = {
  title: 'Wardpost API',
  description: DESCRIPTION,
  license: { name: 'MIT', identifier: 'MIT' },
}

export const TAGS: Readonly<Record<string, string>> = {
  Domains: 'Domains of the tenant, their verification, DMARC record, timeline and sources.',
  Reports: 'DMARC aggregate reports, TLS reports, failure reports: upload, list, export.',
  Alerts: 'What a person must act on.',
  Webhooks:
    'Signed deliveries of events to HTTPS endpoints of yours, each with its attempts; what did not arrive can be sent again.',
  Audit: 'Who did what, provably unaltered.',
  Live: 'What changes, as it happens.',
  Me: "The caller's own account.",
  'API keys': 'Keys for scripts.',
  Users: 'Who belongs to the tenant, invitations, sessions.',
  Settings: 'What the tenant says about itself.',
  Instance: 'The installation itself: for operators.',
  Events: 'What Wardpost sends to the webhooks of a tenant.',
  'Sign-in': 'For browsers: set-up, sign-in, links.',
}

const integer = { type: 'integer', minimum: 0 }

export const HEADERS = {
  'X-Request-Id': {
    description: 'Names this request in logs and audit entries.',
    schema: { type: 'string' },
  },
  'X-RateLimit-Limit': { description: 'The tightest limit of this request.', schema: integer },
  'X-RateLimit-Remaining': { description: 'Requests left under it.', schema: integer },
  'X-RateLimit-Reset': {
    description: 'Unix seconds at which the oldest counted request leaves the window.',
    schema: integer,
  },
  'X-RateLimit-Scope': {
    description: 'Which limit refused.',
    schema: { type: 'string', enum: ['key', 'tenant', 'endpoint'] },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  ETag: { description: 'The version, for If-Match.', schema: { type: 'string' } },
  'Set-Cookie': { description: 'The session.', schema: { type: 'string' } },
} as const

export const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'instance', 'request_id'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    code: { type: 'string', enum: Object.keys(PROBLEMS) },
    detail: { type: 'string' },
    instance: { type: 'string' },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          pointer: { type: 'string', description: 'JSON pointer into the body.' },
          parameter: { type: 'string', description: 'Name of the query parameter.' },
          code: { type: 'string' },
          detail: { type: 'string' },
        },
      },
    },
  },
}

export const RATE_LIMITS = [
  { level: '1', limit: '100 a minute', scope: 'API key', note: 'Any endpoint.' },
  { level: '2', limit: '1000 a minute', scope: 'Tenant', note: 'All keys and browser sessions together.' },
  { level: '3', limit: '60 a minute', scope: 'Tenant', note: 'POST /v1/phishing/upload' },
  { level: '3', limit: '30 an hour', scope: 'Tenant', note: 'POST /v1/phishing/{id}/detonate' },
  { level: '3', limit: '30 a minute', scope: 'Tenant', note: 'GET /v1/threats/query' },
]
