/**
 * The first thing every request meets, before its body is read: a request id, security headers, the size cap, and on
 * the API the credential and the rate limits. What passes has a principal; what does not is a problem document.
 */
import { Elysia } from 'elysia'
import type { Clock } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { JSON_BODY_BYTES_MAX, UPLOAD_FRAME_BYTES_MAX, UPLOAD_REQUEST_BYTES_MAX } from '../lib/limits.ts'
import type { Principal } from '../lib/principal.ts'
import { claimsOf, type Limiter, type LimitScope, type LimitVerdict } from './rate-limit.ts'
import { type RequestState, findState, setState } from './request.ts'

export interface GateDeps {
  clock: Clock
  limiter: Limiter
  /** The client of a request: address and whether it came over TLS. */
  client(request: Request, peer: string | null): { ip: string | null; secure: boolean }
  /** True once somebody owns the installation. */
  isSetUp(): boolean
  isDraining(): boolean
  authenticate(request: Request, state: RequestState): Promise<Principal>
  /** Told of every answered request, for metrics and logs. `route` is the template, not the path. */
  observe(done: { route: string; method: string; status: number; ms: number; state: RequestState }): void
  /** Told of every refusal by a rate limit, for the audit log. */
  limited(principal: Principal, scope: LimitScope): void
}

type Headers = Record<string, string | number>

export function createGate(deps: GateDeps) {
  return new Elysia({ name: 'gate' })
    .onRequest(async ({ request, set, server }) => {
      const peer = server?.requestIP(request)?.address ?? null
      const state = admit(deps, request, peer, set.headers)
      if (!needsPrincipal(state.path)) return
      if (!deps.isSetUp()) throw problem('setup_required', 'Open the setup link that the server printed.')
      const principal = await deps.authenticate(request, state)
      state.principal = principal
      const verdict = deps.limiter.take(claimsOf(principal, request.method, state.path))
      limitHeaders(set.headers, verdict, deps.clock)
      if (verdict.ok) return checkMediaType(request, state.path)
      deps.limited(principal, verdict.scope)
      throw refusal(verdict)
    })
    .onAfterResponse({ as: 'global' }, ({ request, route, set }) => {
      const state = findState(request)
      if (state === undefined) return
      const status = typeof set.status === 'number' ? set.status : 200
      const ms = deps.clock.monotonic() - state.started
      deps.observe({ route: route === '' ? 'none' : route, method: request.method, status, ms, state })
    })
}

/** Paths that only a principal may reach. */
function needsPrincipal(path: string): boolean {
  return path.startsWith('/v1/') || path === '/v1' || path.startsWith('/taxii2')
}

function admit(deps: GateDeps, request: Request, peer: string | null, headers: Headers): RequestState {
  const client = deps.client(request, peer)
  const path = pathOf(request.url)
  const state: RequestState = {
    id: newId('req', deps.clock.now()),
    started: deps.clock.monotonic(),
    path,
    principal: null,
    ip: client.ip,
    secure: client.secure,
  }
  setState(request, state)
  headers['x-request-id'] = state.id
  headers['x-content-type-options'] = 'nosniff'
  headers['referrer-policy'] = 'no-referrer'
  headers['cross-origin-resource-policy'] = 'same-origin'
  if (client.secure) headers['strict-transport-security'] = 'max-age=31536000'
  if (needsPrincipal(path) || path.startsWith('/auth/')) {
    headers['cache-control'] = 'no-store'
    headers['content-security-policy'] = "default-src 'none'; frame-ancestors 'none'"
  }
  if (deps.isDraining()) throw problem('shutting_down', undefined, { headers: { 'retry-after': '2' } })
  checkLength(request, path)
  return state
}

function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return '/'
  const end = url.indexOf('?', start)
  return end === -1 ? url.slice(start) : url.slice(start, end)
}

/** Bodies that announce themselves as too large are not read at all; the others are cut off by the server. */
function checkLength(request: Request, path: string): void {
  const announced = request.headers.get('content-length')
  if (announced === null) return
  const max = path.endsWith('/upload')
    ? UPLOAD_REQUEST_BYTES_MAX + UPLOAD_FRAME_BYTES_MAX
    : JSON_BODY_BYTES_MAX
  if (Number(announced) > max) {
    throw problem('payload_too_large', `The body has ${announced} bytes; the limit is ${max}.`, {
      extra: { limit_bytes: max },
    })
  }
}

/** Bodies of the API are JSON, except where files come in. */
function checkMediaType(request: Request, path: string): void {
  const type = request.headers.get('content-type')
  if (type === null || request.method === 'GET' || path.endsWith('/upload')) return
  if (request.body === null || /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) return
  throw problem('unsupported_media_type', `Send application/json instead of ${type.slice(0, 80)}.`)
}

function limitHeaders(headers: Headers, verdict: LimitVerdict, clock: Clock): void {
  headers['x-ratelimit-limit'] = String(verdict.limit)
  headers['x-ratelimit-remaining'] = String(verdict.remaining)
  headers['x-ratelimit-reset'] = String(Math.ceil((clock.now() + verdict.reset_in_ms) / 1000))
}

function refusal(verdict: LimitVerdict) {
  const seconds = Math.max(1, Math.ceil(verdict.reset_in_ms / 1000))
  const name =
    verdict.scope === 'key' ? 'this API key' : verdict.scope === 'tenant' ? 'this tenant' : 'this endpoint'
  return problem('rate_limited', `The limit of ${verdict.limit} requests for ${name} is reached.`, {
    headers: { 'retry-after': String(seconds), 'x-ratelimit-scope': verdict.scope },
    extra: { retry_after: seconds, scope: verdict.scope },
  })
}
