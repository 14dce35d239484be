/**
 * The one door of the screens to the server: JSON in and out, cookie session, problem documents as `ApiProblem`.
 * A lost session leads to the login page and back; an instance that was never set up leads to /setup.
 */
import { nowMs } from './format.ts'

export interface FieldError {
  pointer?: string
  parameter?: string
  code: string
  detail: string
}

/** What the server said, or that it could not be reached (`code: 'unreachable'`, status 0). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly errors: FieldError[]
  readonly extra: Record<string, unknown>
  readonly request_id: string | null
  /** How long to wait before asking again (429). */
  readonly retry_after_ms: number | null

  constructor(status: number, body: Record<string, unknown>, retry_after_s?: string | null) {
    const title = typeof body['title'] === 'string' ? body['title'] : 'The server answered with an error'
    const detail = typeof body['detail'] === 'string' ? body['detail'] : title
    super(detail)
    this.status = status
    this.code = typeof body['code'] === 'string' ? body['code'] : 'unknown'
    this.title = title
    this.detail = detail
    this.errors = Array.isArray(body['errors']) ? (body['errors'] as FieldError[]) : []
    this.extra = body
    this.retry_after_ms = /^\d+$/.test(retry_after_s ?? '') ? Number(retry_after_s) * 1000 : null
    this.request_id = typeof body['request_id'] === 'string' ? body['request_id'] : null
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>

export interface Options {
  query?: Query
  /** Sent as JSON. */
  body?: unknown
  /** Sent as multipart/form-data. */
  form?: FormData
  headers?: Record<string, string>
  /** The version last read: sent as `If-Match`. */
  version?: number | undefined
  signal?: AbortSignal | undefined
  /** Do not leave for the login page on 401: the caller says what is wrong. */
  stay?: boolean
}

let leave: (to: string) => void = (to) => location.assign(to)
/** The router takes over navigation, so that leaving for the login page keeps the application loaded. */
export function onLeave(handler: (to: string) => void): void {
  leave = handler
}

let last_answer_ms = 0
let last_ok = true
const watchers = new Set<() => void>()
/** When the server last answered (0: not yet) and whether the last request reached it. */
export function contact(): { at_ms: number; ok: boolean } {
  return snapshot
}
let snapshot = { at_ms: last_answer_ms, ok: last_ok }
export function onContact(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}
function note(ok: boolean): void {
  if (ok) last_answer_ms = nowMs()
  last_ok = ok
  snapshot = { at_ms: last_answer_ms, ok: last_ok }
  for (const watcher of watchers) watcher()
}

/** `/v1/x?a=1`; members that are null, undefined or empty are left out. */
export function address(path: string, query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') params.set(name, String(value))
  }
  const text = params.toString()
  return text === '' ? path : `${path}?${text}`
}

/** 32 hex digits; works where `crypto.randomUUID` does not (plain HTTP). */
function idempotencyKey(): string {
  const random = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function send(method: string, path: string, options: Options): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers }
  let body: FormData | string | undefined
  if (options.form !== undefined) {
    body = options.form
  } else if (options.body !== undefined) {
    body = JSON.stringify(options.body)
    headers['content-type'] = 'application/json'
  }
  if (method === 'POST' && path.startsWith('/v1/') && options.form === undefined) {
    headers['idempotency-key'] = idempotencyKey()
  }
  if (options.version !== undefined) headers['if-match'] = `"v${options.version}"`
  try {
    const answer = await fetch(address(path, options.query), {
      method,
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    note(true)
    return answer
  } catch (cause) {
    if (options.signal?.aborted === true) throw cause
    note(false)
    throw new ApiProblem(0, {
      code: 'unreachable',
      title: 'The server cannot be reached',
      detail: 'The server cannot be reached. Check that it runs and that this machine is connected.',
    })
  }
}

/** Where the login page sends back to. */
export function returnTo(): string {
  return `${location.pathname}${location.search}`
}

async function toProblem(answer: Response, stay: boolean): Promise<ApiProblem> {
  let body: Record<string, unknown> = {}
  try {
    body = (await answer.json()) as Record<string, unknown>
  } catch {
    body = { title: `The server answered ${answer.status}` }
  }
  const found = new ApiProblem(answer.status, body, answer.headers.get('retry-after'))
  if (found.code === 'setup_required' && location.pathname !== '/setup') leave('/setup')
  if (answer.status === 401 && !stay && location.pathname !== '/login') {
    const back = returnTo()
    leave(back === '/' ? '/login' : `/login?next=${encodeURIComponent(back)}`)
  }
  return found
}

/** Asks and gives the JSON, or `undefined` for 204. Throws `ApiProblem`. */
async function call<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const answer = await send(method, path, options)
  if (!answer.ok) throw await toProblem(answer, options.stay === true)
  if (answer.status === 204) return undefined as T
  return (await answer.json()) as T
}

export const api = {
  get: <T>(path: string, query?: Query, options: Options = {}) =>
    call<T>('GET', path, { ...options, ...(query === undefined ? {} : { query }) }),
  post: <T>(path: string, body?: unknown, options: Options = {}) =>
    call<T>('POST', path, { ...options, ...(body === undefined ? {} : { body }) }),
  patch: <T>(path: string, body: unknown, options: Options = {}) =>
    call<T>('PATCH', path, { ...options, body }),
  put: <T>(path: string, body: unknown, options: Options = {}) => call<T>('PUT', path, { ...options, body }),
  delete: <T = void>(path: string, options: Options = {}) => call<T>('DELETE', path, options),
  /**
   * Sends files as a form. An upload that was refused as a whole (422) still carries a result per file, so its body
   * is given back instead of being thrown.
   */
  async upload<T>(path: string, form: FormData, signal?: AbortSignal): Promise<T> {
    const answer = await send('POST', path, { form, signal })
    if (answer.ok) return (await answer.json()) as T
    if (answer.status === 422) {
      const body = (await answer.clone().json()) as Record<string, unknown>
      if (Array.isArray(body['results'])) return body as T
    }
    throw await toProblem(answer, false)
  },
}

/** What to say about an error of any kind. */
export function explain(error: unknown): string {
  if (error instanceof ApiProblem) return error.detail
  return error instanceof Error ? error.message : 'Something went wrong'
}

/** The message for one field of a form: `name` for pointer `/name`. */
export function fieldError(error: unknown, name: string): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined
  return error.errors.find(
    (item) => item.pointer === `/${name}` || item.pointer?.startsWith(`/${name}/`) === true,
  )?.detail
}

/** True when every message of the problem is shown beside one of these fields. */
export function isAllFields(error: unknown, names: readonly string[]): boolean {
  if (!(error instanceof ApiProblem) || error.errors.length === 0) return false
  return error.errors.every((item) => {
    const name = item.pointer?.split('/')[1]
    return name !== undefined && names.includes(name)
  })
}
