/**
 * When a domain fires: once on falling below its threshold, and again only after it recovered by two points. What is
 * too little mail to judge by, or too old to act on, is silent.
 */
import { DAY_MS, dayOf, SECOND_MS } from '../../lib/clock.ts'

/** Days of the window, ending with the newest day that reports cover to its end. */
export const WINDOW_DAYS = 7
/** Below this, chance decides. */
export const MESSAGES_MIN = 100
/** Points above the threshold at which a domain may fire again. */
const REARM_POINTS = 2
/** What ended longer ago is history that somebody loaded. */
const SILENT_AFTER_MS = 7 * DAY_MS

export interface ComplianceState {
  armed: boolean
  /** Percent, when it was looked at last. */
  compliance: number
}

export type Verdict = 'fire' | 'rearm' | 'note'

/** `state` is null before the first look: a domain begins armed. */
export function judge(
  state: ComplianceState | null,
  now: { compliance: number; threshold: number },
): Verdict {
  if (state === null || state.armed) return now.compliance < now.threshold ? 'fire' : 'note'
  return now.compliance >= Math.min(100, now.threshold + REARM_POINTS) ? 'rearm' : 'note'
}

export function isNews(report_end: number, now: number): boolean {
  return report_end > now - SILENT_AFTER_MS
}

/**
 * First and last day of the window, both inclusive. Reports end at 23:59:59 or at the next 00:00; a day that is not
 * over yet is not covered, whatever a report says.
 */
export function windowOf(last_end: number, now: number): { first: number; last: number } {
  const last = Math.min(dayOf(last_end + SECOND_MS), dayOf(now)) - 1
  return { first: last - WINDOW_DAYS + 1, last }
}

/** Percent with two decimals, never rounded up over a threshold. */
export function percent(part: number, whole: number): number {
  return Math.floor((10_000 * part) / whole) / 100
}
