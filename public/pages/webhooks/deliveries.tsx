import { useState } from 'react'
import { relative } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { useList } from '../../lib/query.ts'
import { useView } from '../../lib/view.ts'
import { Button } from '../../ui/button.tsx'
import { FilterBar, type FilterDef } from '../../ui/filter.tsx'
import { Empty } from '../../ui/notice.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { DeliveryView } from './delivery.tsx'
import { JobLines, RedeliverDialog } from './redeliver.tsx'
import { WEBHOOKS } from './types.ts'
import type { Delivery, Webhook } from './types.ts'
import { DELIVERY_WORDS, DeliveryState, LastAnswer, nextOf } from './words.tsx'

export const DELIVERY_COLUMNS = {
  state: {
    key: 'state',
    title: 'State',
    fixed: true,
    className: 'nw',
    cell: (row) => <DeliveryState status={row.status} />,
  },
  event: {
    key: 'event',
    title: 'Event',
    fixed: true,
    cell: (row) => <span className="mono brk">{row.event_type}</span>,
  },
  created: {
    key: 'created',
    title: 'Created',
    num: true,
    priority: 1,
    cell: (row) => <Time at={row.created_at} />,
  },
  tries: { key: 'tries', title: 'Tries', num: true, priority: 2, cell: (row) => row.attempts },
  last: { key: 'last', title: 'Last', num: true, priority: 1, cell: (row) => <LastAnswer item={row} /> },
  next: {
    key: 'next',
    title: 'Next',
    num: true,
    priority: 3,
    cell: (row) => <span className="t3 nw">{nextOf(row)}</span>,
  },
} satisfies Record<string, Column<Delivery>>

function filtersOf(item: Webhook): readonly FilterDef[] {
  return [
    {
      name: 'status',
      label: 'Status',
      kind: 'choice',
      options: Object.entries(DELIVERY_WORDS).map(([value, { word }]) => ({
        value,
        label: word.toLowerCase(),
      })),
    },
    {
      name: 'type',
      label: 'Event',
      kind: 'choice',
      options: item.events.map((name) => ({ value: name, label: name })),
      show: (value) => value,
    },
  ]
}

/** What became of each event, newest first; one of them with its attempts. */
export function WebhookDeliveries({ item }: { item: Webhook }) {
  const view = useView()
  const can = useCan()
  const [again, setAgain] = useState(false)
  const open = view.get('delivery')
  const list = useList<Delivery>(`${WEBHOOKS}/${item.id}/deliveries`, {
    status: view.get('status'),
    type: view.get('type'),
    limit: 50,
  })
  const back = () => view.set({ delivery: undefined })
  return (
    <>
      {open !== undefined && <DeliveryView key={open} webhook={item} id={open} back={back} />}
      {/* Kept behind the delivery, so that its row has the focus again afterwards. */}
      <div className="list" hidden={open !== undefined}>
        <FilterBar filters={filtersOf(item)}>
          <Button small icon="refresh" reason={can('webhooks:write').reason} onClick={() => setAgain(true)}>
            Send again since…
          </Button>
        </FilterBar>
        <JobLines webhook_id={item.id} />
        <Table
          name="deliveries"
          caption="Deliveries, newest first"
          columns={Object.values(DELIVERY_COLUMNS)}
          list={list}
          rowId={(row) => row.id}
          rowName={(row) => `${row.event_type}, ${relative(row.created_at)}`}
          href={(row) => view.with({ delivery: row.id })}
          current={open}
          empty={<NoDeliveries />}
          foot="kept for 90 days"
        />
      </div>
      {again && <RedeliverDialog items={[item]} onClose={() => setAgain(false)} />}
    </>
  )
}

function NoDeliveries() {
  const view = useView()
  const status = view.get('status')
  const type = view.get('type')
  if (status === undefined && type === undefined) {
    return (
      <Empty
        kind="yet"
        icon="send"
        title="Nothing was sent yet"
        action={<Button onClick={() => view.set({ tab: undefined })}>Send a test</Button>}
      >
        Here will be each event of its kinds, with every attempt and what the receiver answered.
      </Empty>
    )
  }
  const word = Object.entries(DELIVERY_WORDS).find(([name]) => name === status)?.[1].word ?? status
  return (
    <Empty
      kind="match"
      title="No delivery matches"
      action={<Button onClick={() => view.set({ status: undefined, type: undefined })}>Clear filters</Button>}
    >
      {status === undefined ? '' : `Status is ${word?.toLowerCase()}. `}
      {type === undefined ? '' : `The event is ${type}.`}
    </Empty>
  )
}
