/**
 * Which UTC days the messages of a report belong to. Reports say a period, not a day: most cover one day, some
 * begin in local time, some drift by seconds, a few cover weeks (and a few have begin = end).
 *
 * - up to 36 hours: all messages on the UTC day of the midpoint, so that drifting daily reports are not cut in two;
 * - longer: spread over the days by the seconds they share, with the largest remainders, so that totals stay exact;
 * - longer than `SPAN_DAYS_MAX`: not believable (usually a missing begin); everything on the last day.
 */
import { DAY_MS, HOUR_MS } from '../../lib/clock.ts'

/** Longer periods than this are a defect of the report; the longest real one seen is 24.6 days. */
export const SPAN_DAYS_MAX = 400
const WHOLE_SPAN_MS_MAX = 36 * HOUR_MS

export interface DaySpread {
  /** Days since 1970-01-01 UTC, ascending; never empty. */
  days: number[]
  /** Share of each day, adding up to 1; null when there is one day. */
  shares: number[] | null
  /** The day under which the report itself is counted. */
  primary: number
}

/** The days of a period in milliseconds UTC; `end` is inclusive, as reports say it. */
export function spreadOf(begin_ms: number, end_ms: number): DaySpread {
  const span = end_ms - begin_ms
  if (span <= WHOLE_SPAN_MS_MAX) return single(Math.floor((begin_ms + span / 2) / DAY_MS))
  const first = Math.floor(begin_ms / DAY_MS)
  const last = Math.floor((end_ms - 1) / DAY_MS)
  if (last - first >= SPAN_DAYS_MAX) return single(last)
  const days: number[] = []
  const shares: number[] = []
  for (let day = first; day <= last; day++) {
    const from = Math.max(begin_ms, day * DAY_MS)
    const to = Math.min(end_ms, (day + 1) * DAY_MS)
    days.push(day)
    shares.push((to - from) / span)
  }
  return { days, shares, primary: Math.floor((begin_ms + span / 2) / DAY_MS) }
}

/** Splits a count over the days of a spread; the parts add up to `count` exactly. */
export function splitCount(count: number, shares: readonly number[]): number[] {
  const parts = shares.map((share) => Math.floor(count * share))
  let rest = count - parts.reduce((sum, part) => sum + part, 0)
  const order = shares
    .map((share, i) => ({ i, remainder: count * share - parts[i]! }))
    .sort((a, b) => b.remainder - a.remainder || a.i - b.i)
  for (let at = 0; rest > 0; at = (at + 1) % order.length) {
    const take = rest > order.length ? Math.floor(rest / order.length) : 1
    parts[order[at]!.i]! += take
    rest -= take
  }
  return parts
}

function single(day: number): DaySpread {
  return { days: [day], shares: null, primary: day }
}

/** Months since year 0: year * 12 + month - 1. */
export function monthOf(day: number): number {
  const date = new Date(day * DAY_MS)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** First day of a month, in days since 1970. */
export function firstDayOfMonth(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12, 1) / DAY_MS
}
