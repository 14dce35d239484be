/** When the attempts of a delivery are made: the contract's numbers, as delays after the attempt that failed. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/clock.ts'

/** Of attempt 1 to 7. Exact: no jitter, and nothing that the receiver says changes them. */
export const DELAYS_MS = [
  0,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  24 * HOUR_MS,
] as const

export const ATTEMPTS_PER_ROUND = DELAYS_MS.length

/** When the next attempt is made after `made` attempts of the round have failed, the last at `failed_at`; null: never. */
export function nextAttemptAt(made: number, failed_at: number): number | null {
  const delay = DELAYS_MS[made]
  return delay === undefined ? null : failed_at + delay
}
