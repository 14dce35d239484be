/** How long an alert can be silent: a number and `m`, `h`, `d` or `w`, from one minute to 90 days. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/clock.ts'
import { SILENCE_MS_MAX, SILENCE_MS_MIN } from '../../lib/limits.ts'

const UNITS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }

/** Milliseconds, or null for anything else than such a duration. */
export function readDuration(text: string): number | null {
  const match = /^(\d{1,6})([mhdw])$/.exec(text)
  if (match === null) return null
  const ms = Number(match[1]) * UNITS[match[2]!]!
  return ms >= SILENCE_MS_MIN && ms <= SILENCE_MS_MAX ? ms : null
}
