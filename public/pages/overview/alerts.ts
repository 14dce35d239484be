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
  const handled = (status: 'acknowledged' | 'silenced') => ({
    query: { status, limit: HANDLED_MAX, fields: 'id,kind,subject' },
    options: { enabled: enabled && (summary.data?.[status] ?? 0) > 0 },
  })
  const [taken, silent] = [handled('acknowledged'), handled('silenced')]
  const acknowledged = useGet<Page<Alert>>('/v1/alerts', taken.query, taken.options)
  const silenced = useGet<Page<Alert>>('/v1/alerts', silent.query, silent.options)
  return {
    known: {
      summary: summary.data,
      open: open.data?.items ?? [],
      handled: [...(acknowledged.data?.items ?? []), ...(silenced.data?.items ?? [])],
    },
    ready: !enabled || !open.isPending,
  }
}
