/**
 * How a webhook does, from its unbroken run of failed attempts. One success makes it healthy again. Disabled is a
 * status, not a health: it takes five days of nothing but failures, and a person to turn it on again.
 */
import { DAY_MS, HOUR_MS } from '../../lib/clock.ts'

export type Health = 'healthy' | 'degraded' | 'failing'

export interface FailureRecord {
  /** Failed attempts since the last success. */
  failures: number
  /** When the first of them failed. */
  failing_since: number | null
}

const DEGRADED_FAILURES = 3
const FAILING_FAILURES = 10
const FAILING_MS = HOUR_MS
const DISABLE_FAILURES = 20
const DISABLE_MS = 5 * DAY_MS

export function healthOf({ failures, failing_since }: FailureRecord, now: number): Health {
  if (failures < DEGRADED_FAILURES || failing_since === null) return 'healthy'
  return failures >= FAILING_FAILURES && now - failing_since >= FAILING_MS ? 'failing' : 'degraded'
}

/** Five days of nothing but failures, and enough of them to mean it. */
export function shouldDisable({ failures, failing_since }: FailureRecord, now: number): boolean {
  return failures >= DISABLE_FAILURES && failing_since !== null && now - failing_since >= DISABLE_MS
}

/** The same as a condition of a guarded update, so that a success in between is not overlooked. */
export const DISABLE_WHERE = { failures: DISABLE_FAILURES, since: (now: number) => now - DISABLE_MS }

/** What the attempts of one webhook, in the order in which they ended, do to its record. */
export interface Change {
  /** At least one succeeded: what was before them no longer counts. */
  succeeded_at: number | null
  /** Failures after the last success, or all of them. */
  failures: number
  first_failure_at: number | null
  last_attempt_at: number
}

export function changeOf(attempts: readonly { ok: boolean; ended_at: number }[]): Change {
  const change: Change = { succeeded_at: null, failures: 0, first_failure_at: null, last_attempt_at: 0 }
  for (const { ok, ended_at } of attempts) {
    change.last_attempt_at = Math.max(change.last_attempt_at, ended_at)
    if (ok) {
      change.succeeded_at = ended_at
      change.failures = 0
      change.first_failure_at = null
    } else {
      change.failures += 1
      change.first_failure_at ??= ended_at
    }
  }
  return change
}
