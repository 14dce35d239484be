/**
 * The contract's three levels of rate limits: per key, per tenant, per endpoint and tenant. Exact sliding logs; all
 * limits of a request are taken together or none, and a refused request does not count. Synchronous from check to
 * take, so concurrent requests cannot slip between.
 */
import type { Clock } from '../lib/clock.ts'
import {
  RATE_COUNTERS_MAX,
  RATE_DETONATE_PER_HOUR,
  RATE_PHISHING_UPLOAD_PER_MINUTE,
  RATE_RING_ENTRIES_MAX,
  RATE_THREATS_QUERY_PER_MINUTE,
  RATE_WINDOW_MS,
} from '../lib/limits.ts'
import type { Principal, TenantLimits } from '../lib/principal.ts'
import { createBuckets, createRing, type Window } from '../lib/ring.ts'

export type LimitScope = 'key' | 'tenant' | 'endpoint'

export interface LimitClaim {
  scope: LimitScope
  /** Names the counter; unique over all scopes. */
  id: string
  limit: number
  window_ms: number
}

export interface LimitVerdict {
  ok: boolean
  /** The tightest limit of the request: the one with the fewest requests left, or the one that refused longest. */
  scope: LimitScope
  limit: number
  remaining: number
  /** Milliseconds until the oldest counted request leaves that window; when refused, until the next is admitted. */
  reset_in_ms: number
}

/** State carried over a graceful restart: ages in milliseconds with counts. */
export interface LimiterState {
  saved_at: number
  counters: [id: string, limit: number, window_ms: number, ages: [number, number][]][]
}

export interface Limiter {
  take(claims: readonly LimitClaim[]): LimitVerdict
  save(): LimiterState
  load(state: LimiterState): void
}

export function createLimiter(clock: Clock): Limiter {
  const windows = new Map<string, Window>()
  let takes_until_sweep = RATE_COUNTERS_MAX

  const make = (limit: number, window_ms: number): Window =>
    limit > RATE_RING_ENTRIES_MAX ? createBuckets(limit, window_ms) : createRing(limit, window_ms)

  const windowOf = (claim: LimitClaim, now: number): Window => {
    const known = windows.get(claim.id)
    if (known !== undefined && known.limit === claim.limit) return known
    const made = make(claim.limit, claim.window_ms)
    if (known !== undefined) replay(made, known.ages(now), now)
    windows.set(claim.id, made)
    return made
  }
  const sweep = (now: number): void => {
    takes_until_sweep = RATE_COUNTERS_MAX
    for (const [id, window] of windows) if (window.used(now) === 0) windows.delete(id)
    for (const id of windows.keys()) {
      if (windows.size <= RATE_COUNTERS_MAX) break
      windows.delete(id)
    }
  }

  return {
    take(claims) {
      const now = clock.monotonic()
      if (--takes_until_sweep <= 0) sweep(now)
      const held = claims.map((claim) => ({ claim, window: windowOf(claim, now) }))
      const refusal = longestRefusal(held, now)
      if (refusal !== null) return refusal
      for (const { window } of held) window.add(now)
      return tightest(held, now)
    },
    save() {
      const now = clock.monotonic()
      const counters: LimiterState['counters'] = []
      for (const [id, window] of windows) {
        const ages = window.ages(now)
        if (ages.length > 0) counters.push([id, window.limit, window.window_ms, ages])
      }
      return { saved_at: clock.now(), counters }
    },
    load(state) {
      const now = clock.monotonic()
      const away_ms = Math.max(0, clock.now() - state.saved_at)
      for (const [id, limit, window_ms, ages] of state.counters) {
        const window = make(limit, window_ms)
        replay(
          window,
          ages.map(([age, count]): [number, number] => [age + away_ms, count]),
          now,
        )
        windows.set(id, window)
      }
    },
  }
}

interface Held {
  claim: LimitClaim
  window: Window
}

function longestRefusal(held: readonly Held[], now: number): LimitVerdict | null {
  let refusal: LimitVerdict | null = null
  for (const { claim, window } of held) {
    const wait = window.wait(now)
    if (wait > 0 && (refusal === null || wait > refusal.reset_in_ms)) {
      refusal = { ok: false, scope: claim.scope, limit: claim.limit, remaining: 0, reset_in_ms: wait }
    }
  }
  return refusal
}

function tightest(held: readonly Held[], now: number): LimitVerdict {
  let best: LimitVerdict | null = null
  for (const { claim, window } of held) {
    const remaining = claim.limit - window.used(now)
    if (best === null || remaining < best.remaining) {
      const reset_in_ms = window.untilOldestLeaves(now)
      best = { ok: true, scope: claim.scope, limit: claim.limit, remaining, reset_in_ms }
    }
  }
  return best ?? { ok: true, scope: 'tenant', limit: 0, remaining: 0, reset_in_ms: 0 }
}

function replay(window: Window, ages: readonly [number, number][], now: number): void {
  for (const [age, count] of ages) {
    if (age > window.window_ms) continue
    for (let i = 0; i < count; i++) window.add(now - age)
  }
}

interface EndpointLimit {
  method: string
  path: RegExp
  limit(limits: TenantLimits): number
  window_ms: number
}

const ENDPOINT_LIMITS: readonly EndpointLimit[] = [
  {
    method: 'POST',
    path: /^\/v1\/phishing\/upload$/,
    limit: (limits) => limits.phishing_upload_per_minute,
    window_ms: RATE_WINDOW_MS,
  },
  {
    method: 'POST',
    path: /^\/v1\/phishing\/[^/]+\/detonate$/,
    limit: (limits) => limits.detonate_per_hour,
    window_ms: 60 * RATE_WINDOW_MS,
  },
  {
    method: 'GET',
    path: /^\/v1\/threats\/query$/,
    limit: (limits) => limits.threats_query_per_minute,
    window_ms: RATE_WINDOW_MS,
  },
]

export const ENDPOINT_LIMIT_DEFAULTS = {
  phishing_upload_per_minute: RATE_PHISHING_UPLOAD_PER_MINUTE,
  detonate_per_hour: RATE_DETONATE_PER_HOUR,
  threats_query_per_minute: RATE_THREATS_QUERY_PER_MINUTE,
} as const

/** The limits that one request falls under. Browser sessions count to their tenant, not to a key. */
export function claimsOf(principal: Principal, method: string, path: string): LimitClaim[] {
  const { tenant, key } = principal
  const claims: LimitClaim[] = []
  if (key !== null) {
    claims.push({
      scope: 'key',
      id: `k:${key.id}`,
      limit: tenant.limits.key_per_minute,
      window_ms: RATE_WINDOW_MS,
    })
  }
  claims.push({
    scope: 'tenant',
    id: `t:${tenant.id}`,
    limit: tenant.limits.tenant_per_minute,
    window_ms: RATE_WINDOW_MS,
  })
  for (const [index, endpoint] of ENDPOINT_LIMITS.entries()) {
    if (endpoint.method !== method || !endpoint.path.test(path)) continue
    claims.push({
      scope: 'endpoint',
      id: `e${index}:${tenant.id}`,
      limit: endpoint.limit(tenant.limits),
      window_ms: endpoint.window_ms,
    })
  }
  return claims
}
