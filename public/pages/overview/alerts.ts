import { useGet } from '../../lib/query.ts'
import type { Alert, AlertSummary, Page } from '../../lib/types.ts'
import type { Known } from './needs.ts'

const SHOWN_MAX = 20
const HANDLED_MAX = 200

/** The open alerts, and what the others are about, so that nothing is said that somebody already works on. */
export function useAlertsKnown(enabled: boolean): { known: Known['alerts']; ready: boolean } {
  const summary = useGet<AlertSummary>('/v1/alerts/summary', {}, { enabled })
  const open = useGet<Page<Alert>>(
    '/v1/alerts',
    { status: 'open', sort: '-severity', limit: SHOWN_MAX },
    { enabled },
  )
  const others = (summary.data?.acknowledged ?? 0) + (summary.data?.silenced ?? 0)
  const handled = useGet<Page<Alert>>(
    '/v1/alerts',
    { status: 'acknowledged,silenced', limit: HANDLED_MAX, fields: 'id,kind,subject' },
    { enabled: enabled && others > 0 },
  )
  return {
    known: {
      summary: summary.data,
      open: open.data?.items ?? [],
      handled: others > 0 ? (handled.data?.items ?? []) : [],
    },
    ready: !enabled || !open.isPending,
  }
}
