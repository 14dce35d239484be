/**
 * From a request's credential to its principal: an API key as Bearer, or the browser session's cookie. A session
 * is only taken for a change when the request came from our own pages (Fetch Metadata, else Origin).
 * Failed tries are counted per address; a valid credential is never refused for its neighbours' failures.
 */
import type { Clock } from '../lib/clock.ts'
import { type Problem, problem } from '../lib/errors.ts'
import { RATE_COUNTERS_MAX, RATE_FAILED_AUTH_PER_MINUTE, RATE_WINDOW_MS } from '../lib/limits.ts'
import type { Principal } from '../lib/principal.ts'
import { createRing, type Window } from '../lib/ring.ts'
import type { RequestState } from './request.ts'

/** What a credential store answers: the principal, or why not. Only `unknown` ones count as a failed try. */
export type Authentication = Principal | { refused: Problem; unknown: boolean }

export interface AuthDeps {
  clock: Clock
  byKey(token: string, state: RequestState): Promise<Authentication>
  bySession(cookie: string, state: RequestState): Promise<Authentication>
  /** The origin that browsers see, when the operator has set one. */
  base_origin: string | null
  /** Told of failed tries, for the audit log. */
  failed(ip: string | null): void
}

export interface Failures {
  /** Counts one failure of this address. Throws 429 when it had too many in the last minute. */
  record(ip: string | null): void
  /** Throws 429 when this address has used up its tries. */
  check(ip: string | null): void
}

/** Failed logins and unknown keys share one counter per address. */
export function createFailures(clock: Clock): Failures {
  const windows = new Map<string, Window>()
  const windowOf = (ip: string | null): Window => {
    const name = ip ?? ''
    const known = windows.get(name)
    if (known !== undefined) return known
    if (windows.size >= RATE_COUNTERS_MAX) windows.delete(windows.keys().next().value!)
    const made = createRing(RATE_FAILED_AUTH_PER_MINUTE, RATE_WINDOW_MS)
    windows.set(name, made)
    return made
  }
  const checked = (ip: string | null): Window => {
    const window = windowOf(ip)
    const wait = window.wait(clock.monotonic())
    if (wait === 0) return window
    throw problem('login_throttled', 'Too many failed attempts from this address.', {
      headers: { 'retry-after': String(Math.ceil(wait / 1000)) },
    })
  }
  return {
    record: (ip) => checked(ip).add(clock.monotonic()),
    check: (ip) => void checked(ip),
  }
}

export const SESSION_COOKIE = 'sid'
export const SECURE_SESSION_COOKIE = '__Host-sid'

export function createAuthenticate(deps: AuthDeps & { failures: Failures }) {
  return async function authenticate(request: Request, state: RequestState): Promise<Principal> {
    const bearer = bearerToken(request.headers.get('authorization'))
    if (bearer !== null) {
      const found = await deps.byKey(bearer, state)
      if ('scopes' in found) return found
      deps.failed(state.ip)
      if (found.unknown) deps.failures.record(state.ip)
      throw found.refused
    }
    const cookie = sessionCookie(request.headers.get('cookie'), state.secure)
    if (cookie === null) {
      deps.failed(state.ip)
      throw unauthenticated('Send an API key as "Authorization: Bearer …".')
    }
    const found = await deps.bySession(cookie, state)
    if (!('scopes' in found)) throw found.refused
    if (changes(request.method)) checkOrigin(request, deps.base_origin)
    return found
  }
}

export function unauthenticated(detail: string): Problem {
  return problem('unauthenticated', detail, { headers: { 'www-authenticate': 'Bearer realm="wardpost"' } })
}

function bearerToken(header: string | null): string | null {
  if (header === null || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return null
  return header.slice(7).trim()
}

/** The session cookie's value: the `__Host-` one over TLS, the plain one on loopback. */
export function sessionCookie(header: string | null, secure: boolean): string | null {
  if (header === null) return null
  const wanted = `${secure ? SECURE_SESSION_COOKIE : SESSION_COOKIE}=`
  for (const part of header.split(';')) {
    const text = part.trim()
    if (text.startsWith(wanted)) return text.slice(wanted.length)
  }
  return null
}

function changes(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

/**
 * Refuses what another site's page sent. With our cookie at stake the request must say that it comes from our own
 * pages; signing in itself may also be done by a program, which says nothing of the kind.
 */
export function checkOrigin(request: Request, base_origin: string | null, silent_ok = false): void {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) {
    if (site === 'same-origin' || site === 'none') return
    throw problem('csrf_rejected', 'The request came from another site.')
  }
  const origin = request.headers.get('origin')
  if (origin === null && silent_ok) return
  if (origin !== null && (origin === base_origin || isHost(origin, request.headers.get('host')))) return
  throw problem('csrf_rejected', 'The request names no origin of this site.')
}

function isHost(origin: string, host: string | null): boolean {
  return host !== null && URL.canParse(origin) && new URL(origin).host === host
}
