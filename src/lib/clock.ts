/**
 * Time as a port. Everything that needs the time takes a `Clock`; only this file reads the machine's.
 * `now` is wall time (integer milliseconds UTC, may jump), `monotonic` never goes back (milliseconds, fractional).
 */
export interface Clock {
  now(): number
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** A clock that stands still until it is moved: for tests. */
export interface FakeClock extends Clock {
  advance(ms: number): void
  set(ms: number): void
}

export function fakeClock(start_ms: number = Date.UTC(2026, 0, 15, 12)): FakeClock {
  let now = start_ms
  let mono = 0
  return {
    now: () => now,
    monotonic: () => mono,
    advance(ms) {
      now += ms
      mono += ms
    },
    set(ms) {
      mono += Math.max(0, ms - now)
      now = ms
    },
  }
}

/** ISO 8601 UTC with milliseconds and `Z`, the one form in which times leave the product. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Whole days since 1970-01-01 UTC. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS)
}

/** `2026-01-15` of a day number. */
export function isoDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}
