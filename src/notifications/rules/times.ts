/** Times of day where somebody lives: quiet hours, and when the daily summary is due. */
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts'

export interface QuietHours {
  enabled: boolean
  /** `22:00`; when `from` is later than `to`, the night lies between. */
  from: string
  to: string
  timezone: string
}

const DAY_MINUTES = 24 * 60
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
    formats.set(timezone, format)
  }
  return format
}

/** A name of the IANA database, or an offset. */
export function isTimeZone(name: string): boolean {
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}

/** `07:30` in minutes. */
export function minutesOf(text: string): number {
  const [hours, minutes] = text.split(':')
  return Number(hours) * 60 + Number(minutes)
}

/** Minutes since midnight on the clocks there. */
export function localMinutes(ms: number, timezone: string): number {
  return minutesOf(formatOf(timezone).format(ms))
}

/** The last time not after `ms` that the clocks there showed this; where they are put forward over it, just about. */
export function lastAt(text: string, timezone: string, ms: number): number {
  const minute = Math.floor(ms / MINUTE_MS) * MINUTE_MS
  const ago = (localMinutes(minute, timezone) - minutesOf(text) + DAY_MINUTES) % DAY_MINUTES
  const guess = minute - ago * MINUTE_MS
  const moved = shift(text, timezone, guess)
  return moved <= ms ? moved : shift(text, timezone, moved - DAY_MS)
}

/** The next time after `ms` that the clocks there will show this. */
export function nextAt(text: string, timezone: string, ms: number): number {
  const minute = Math.floor(ms / MINUTE_MS) * MINUTE_MS
  const ahead = (minutesOf(text) - localMinutes(minute, timezone) + DAY_MINUTES) % DAY_MINUTES
  const moved = shift(text, timezone, minute + ahead * MINUTE_MS)
  return moved > ms ? moved : shift(text, timezone, moved + DAY_MS)
}

/** When clocks were put forward or back in between, the guess is off by that. */
function shift(text: string, timezone: string, guess: number): number {
  const off = minutesOf(text) - localMinutes(guess, timezone)
  const nearest = ((off + DAY_MINUTES + DAY_MINUTES / 2) % DAY_MINUTES) - DAY_MINUTES / 2
  return guess + nearest * MINUTE_MS
}

/** When a mail that is due now may go: now, or at the end of the quiet hours. */
export function quietUntil(quiet: QuietHours, now: number): number {
  if (!quiet.enabled) return now
  const local = localMinutes(now, quiet.timezone)
  const from = minutesOf(quiet.from)
  const to = minutesOf(quiet.to)
  const inside = from <= to ? local >= from && local < to : local >= from || local < to
  return inside ? nextAt(quiet.to, quiet.timezone, now) : now
}
