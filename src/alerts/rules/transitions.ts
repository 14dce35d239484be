/** What can be done to an alert in which state. Everything else is a conflict. */
import type { AlertStatus } from '../types.ts'

export const ALERT_ACTIONS = ['ack', 'resolve', 'silence'] as const
export type AlertAction = (typeof ALERT_ACTIONS)[number]

interface Transition {
  from: readonly AlertStatus[]
  to: AlertStatus
  /** What the history calls it. */
  history: 'acknowledged' | 'resolved' | 'silenced'
  audit: 'alerts.acknowledge' | 'alerts.resolve' | 'alerts.silence'
}

export const TRANSITIONS: Readonly<Record<AlertAction, Transition>> = {
  ack: {
    from: ['open', 'silenced'],
    to: 'acknowledged',
    history: 'acknowledged',
    audit: 'alerts.acknowledge',
  },
  resolve: {
    from: ['open', 'acknowledged', 'silenced'],
    to: 'resolved',
    history: 'resolved',
    audit: 'alerts.resolve',
  },
  silence: {
    from: ['open', 'acknowledged'],
    to: 'silenced',
    history: 'silenced',
    audit: 'alerts.silence',
  },
}

/** A silence that is over ends by itself, whether or not anybody has written it down yet. */
export function statusAt(
  row: { status: AlertStatus; silenced_until: number | null },
  now: number,
): AlertStatus {
  const over = row.status === 'silenced' && row.silenced_until !== null && row.silenced_until <= now
  return over ? 'open' : row.status
}
