/**
 * One table of everything that can go wrong towards a client (RFC 9457 problem details). `code` is stable and is
 * what scripts match on; `title` is for people. Throw `problem('not_found')` anywhere below the HTTP layer.
 */
export const PROBLEMS = {
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_cursor: { status: 400, title: 'The cursor is not valid for this request' },
  invalid_request: { status: 400, title: 'The request cannot be understood' },
  unauthenticated: { status: 401, title: 'A valid credential is needed' },
  invalid_credentials: { status: 401, title: 'The credentials are not right' },
  key_expired: { status: 401, title: 'The API key has expired' },
  key_revoked: { status: 401, title: 'The API key was revoked' },
  totp_required: { status: 401, title: 'The second factor is needed' },
  insufficient_scope: { status: 403, title: 'The credential lacks a scope' },
  insufficient_role: { status: 403, title: 'The role does not allow this' },
  operator_only: { status: 403, title: 'Only an operator may do this' },
  plan_limit: { status: 403, title: 'The plan does not allow this' },
  ip_not_allowed: { status: 403, title: 'The key may not be used from this address' },
  csrf_rejected: { status: 403, title: 'The request did not come from this site' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  conflict: { status: 409, title: 'The state does not allow this' },
  already_exists: { status: 409, title: 'It exists already' },
  own_credential: { status: 409, title: 'A credential cannot do this to itself' },
  last_owner: { status: 409, title: 'The last owner must stay' },
  mail_not_configured: { status: 409, title: 'No mail server is set' },
  idempotency_in_progress: { status: 409, title: 'A request with this key is still running' },
  outcome_unknown: { status: 409, title: 'The outcome of the first request is not known' },
  gone: { status: 410, title: 'No longer there' },
  version_conflict: { status: 412, title: 'It was changed in the meantime' },
  payload_too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'The media type is not supported' },
  validation_failed: { status: 422, title: 'The request is not valid' },
  idempotency_key_reused: { status: 422, title: 'The key was used for another request' },
  upload_rejected: { status: 422, title: 'Nothing in the upload could be accepted' },
  webhook_url_blocked: { status: 422, title: 'The URL of the webhook is not allowed' },
  rate_limited: { status: 429, title: 'Rate limit exceeded' },
  login_throttled: { status: 429, title: 'Too many failed attempts' },
  quota_exhausted: { status: 429, title: 'The quota is used up' },
  internal: { status: 500, title: 'Something went wrong here' },
  setup_required: { status: 503, title: 'Wardpost is not set up yet' },
  shutting_down: { status: 503, title: 'Wardpost is stopping' },
  overloaded: { status: 503, title: 'Too busy just now' },
  storage_full: { status: 507, title: 'The disk is full' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof PROBLEMS

/** One thing wrong in the request: `pointer` (RFC 6901) into the body, or the name of a query `parameter`. */
export interface ProblemItem {
  pointer?: string
  parameter?: string
  code: string
  detail: string
}

export interface ProblemOptions {
  errors?: ProblemItem[]
  headers?: Record<string, string>
  /** Extra members of the problem document, for example `required_scope`. */
  extra?: Record<string, unknown>
  cause?: unknown
}

export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly status: number
  readonly detail: string
  readonly options: ProblemOptions

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = PROBLEMS[code].status
    this.detail = detail
    this.options = options
  }
}

/** Makes a problem to throw. Without a detail, the title of the table serves. */
export function problem(code: ProblemCode, detail?: string, options?: ProblemOptions): Problem {
  return new Problem(code, detail ?? PROBLEMS[code].title, options)
}

/** A 422 about one member of the body (`/name`) or one query parameter (`?limit`). */
export function invalid(where: string, code: string, detail: string): Problem {
  const item: ProblemItem = where.startsWith('?')
    ? { parameter: where.slice(1), code, detail }
    : { pointer: where, code, detail }
  return new Problem('validation_failed', detail, { errors: [item] })
}
