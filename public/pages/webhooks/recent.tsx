/** The last deliveries of a webhook as marks, with how many of them arrived. */
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { percent, share } from '../../lib/format.ts'
import type { Page } from '../../lib/types.ts'
import { Strip, type StripCell } from '../../ui/meter.tsx'
import { WEBHOOKS } from './types.ts'
import type { Delivery, DeliveryStatus, Webhook } from './types.ts'

const RECENT = 40

const CELLS: Record<DeliveryStatus, StripCell> = {
  pending: 'none',
  sending: 'none',
  retrying: 'warn',
  succeeded: 'ok',
  failed: 'fail',
  skipped: 'quiet',
  cancelled: 'quiet',
}

export interface Recent {
  /** Oldest first. */
  cells: StripCell[]
  /** Percent of those that ended, `null` when none did. */
  rate: number | null
  delivered: number
  ended: number
  waiting: number
}

export function recentOf(items: readonly Pick<Delivery, 'status'>[]): Recent {
  const having = (...statuses: DeliveryStatus[]) =>
    items.filter((item) => statuses.includes(item.status)).length
  const delivered = having('succeeded')
  const ended = delivered + having('failed')
  return {
    cells: items.map((item) => CELLS[item.status]).reverse(),
    rate: share(delivered, ended),
    delivered,
    ended,
    waiting: having('pending', 'sending', 'retrying'),
  }
}

/** Asked again only when something was sent since. */
export function useRecent(item: Webhook): Recent | undefined {
  const path = `${WEBHOOKS}/${item.id}/deliveries`
  const found = useQuery({
    queryKey: [path, 'recent', item.last_attempt_at, item.status],
    queryFn: ({ signal }) =>
      api.get<Page<Delivery>>(path, { limit: RECENT, fields: 'id,status' }, { signal }),
    staleTime: 30_000,
  })
  return found.data === undefined ? undefined : recentOf(found.data.items)
}

export function RecentCell({ item }: { item: Webhook }) {
  const recent = useRecent(item)
  if (recent === undefined) return <span className="sk" style={{ width: '60%' }} />
  if (recent.cells.length === 0) return <span className="t3">none yet</span>
  return (
    <>
      <Strip cells={recent.cells} />
      <span className="sub">{rateWords(recent)}</span>
    </>
  )
}

/** `97.5 % of 40 arrived, 2 wait, 1 not sent` */
export function rateWords({ cells, rate, ended, waiting }: Recent): string {
  const held = cells.length - ended - waiting
  return [
    rate === null ? '' : `${percent(rate)} of ${ended} arrived`,
    waiting === 0 ? '' : `${waiting} ${waiting === 1 ? 'waits' : 'wait'}`,
    held === 0 ? '' : `${held} not sent`,
  ]
    .filter((part) => part !== '')
    .join(', ')
}
