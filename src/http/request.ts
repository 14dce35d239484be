/**
 * What the gate knows of a request, for whoever comes after it. Kept beside the request, not in Elysia's context, so
 * that error handlers see it too.
 */
import type { Principal } from '../lib/principal.ts'

export interface RequestState {
  id: string
  /** Monotonic milliseconds. */
  started: number
  path: string
  principal: Principal | null
  /** The client's address, behind proxies that are trusted; null when there is none (tests without a socket). */
  ip: string | null
  /** The request arrived over TLS, here or at a trusted proxy. */
  secure: boolean
}

const states = new WeakMap<Request, RequestState>()

export function setState(request: Request, state: RequestState): void {
  states.set(request, state)
}

/** The state the gate made. Without a gate in front (a mistake in composition) this throws. */
export function stateOf(request: Request): RequestState {
  const state = states.get(request)
  if (state === undefined) throw new Error('invariant: request did not pass the gate')
  return state
}

export function findState(request: Request): RequestState | undefined {
  return states.get(request)
}
