/** The line of a delivery: what was tried, what is next, what would be left. */
import type { Attempt, DeliveryDetail } from './types.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Each delay counts from the attempt before it. */
const PLAN = [
  { words: 'at once', ms: 0 },
  { words: '+30 s', ms: 30 * SECOND_MS },
  { words: '+2 min', ms: 2 * MINUTE_MS },
  { words: '+10 min', ms: 10 * MINUTE_MS },
  { words: '+1 h', ms: HOUR_MS },
  { words: '+6 h', ms: 6 * HOUR_MS },
  { words: '+24 h', ms: 24 * HOUR_MS },
] as const

export const ATTEMPTS_PER_ROUND = PLAN.length

export interface Step {
  kind: 'ok' | 'fail' | 'next' | 'later'
  /** The planned delay, `again` where it was sent again by a person. */
  plan: string
  /** When it was or will be, `null`: now. */
  at: string | null
  attempt?: Attempt
  /** The last of its round. */
  last: boolean
}

/** A second of tolerance: the clock of an attempt is read a moment before it is sent. */
const EARLY_MS = SECOND_MS

/** True when `attempt` comes sooner than the plan has it: a person sent the delivery again. */
function isNewRound(before: Attempt, attempt: Attempt, place: number): boolean {
  const planned = PLAN[place]
  if (planned === undefined || before.error_class === null) return true
  const ended = Date.parse(before.started_at) + before.ms
  return Date.parse(attempt.started_at) < ended + planned.ms - EARLY_MS
}

export function stepsOf(item: Pick<DeliveryDetail, 'status' | 'attempts' | 'next_attempt_at'>): Step[] {
  const steps: Step[] = []
  let place = 0
  let before: Attempt | undefined
  for (const attempt of item.attempts) {
    if (before !== undefined) place = isNewRound(before, attempt, place + 1) ? 0 : place + 1
    steps.push({
      kind: attempt.error_class === null ? 'ok' : 'fail',
      plan: planWords(place, before !== undefined),
      at: attempt.started_at,
      attempt,
      last: place === ATTEMPTS_PER_ROUND - 1,
    })
    before = attempt
  }
  const open = item.status === 'pending' || item.status === 'sending' || item.status === 'retrying'
  if (!open) return steps
  // Waiting again after attempts: a person started a new round.
  const next = before === undefined || item.status === 'pending' ? 0 : (place + 1) % ATTEMPTS_PER_ROUND
  return [...steps, ...plannedSteps(next, before !== undefined, item.next_attempt_at)]
}

function plannedSteps(next: number, tried: boolean, next_at: string | null): Step[] {
  let at = next_at === null ? null : Date.parse(next_at)
  return PLAN.slice(next).map((planned, index) => {
    if (index > 0 && at !== null) at += planned.ms
    return {
      kind: index === 0 ? 'next' : 'later',
      plan: planWords(next + index, tried),
      at: at === null ? null : new Date(at).toISOString(),
      last: next + index === ATTEMPTS_PER_ROUND - 1,
    }
  })
}

function planWords(place: number, again: boolean): string {
  return place === 0 && again ? 'again' : (PLAN[place]?.words ?? '')
}
