import { count, relative } from '../lib/format.ts'
import { useCan } from '../lib/me.ts'
import { useGet, useList } from '../lib/query.ts'
import type { Page } from '../lib/types.ts'
import { useTitle, useView } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { ColumnPicker } from '../ui/columns.tsx'
import { Split } from '../ui/drawer.tsx'
import { Empty, Notice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { State } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'
import type { Column } from '../ui/table.tsx'
import { DELIVERY_COLUMNS } from './webhooks/deliveries.tsx'
import { JobLines, RedeliverDialog } from './webhooks/redeliver.tsx'
import { WebhookTabs } from './webhooks/tabs.tsx'
import { ALL_WEBHOOKS, shortUrl, WEBHOOKS } from './webhooks/types.ts'
import type { Delivery, Webhook } from './webhooks/types.ts'

const LEAD =
  'What failed, was skipped while an endpoint was paused or disabled, or is being tried again. Times are UTC.'

function columnsOf(webhooks: readonly Webhook[]): readonly Column<Delivery>[] {
  const { state, event, created, tries, last, next } = DELIVERY_COLUMNS
  const urls = new Map(webhooks.map(({ id, url }) => [id, url]))
  const endpointOf = (row: Delivery): string => {
    const url = urls.get(row.webhook_id)
    return url === undefined ? 'deleted' : shortUrl(url)
  }
  return [
    state,
    {
      ...event,
      cell: (row) => (
        <>
          {event.cell(row)}
          <span className="sub only-narrow-b">
            {endpointOf(row)}, {relative(row.created_at)}
          </span>
        </>
      ),
    },
    {
      key: 'endpoint',
      title: 'Endpoint',
      priority: 2,
      cell: (row) => <span className="mono brk">{endpointOf(row)}</span>,
    },
    created,
    tries,
    last,
    next,
  ]
}

/** /webhooks/undelivered */
export function UndeliveredPage() {
  const { allowed, reason } = useCan()('webhooks:read')
  useTitle('Not delivered', 'Webhooks')
  if (allowed) return <Undelivered />
  return (
    <>
      <PageHead title="Not delivered" lead={LEAD} />
      <div className="padx">
        <Notice>The deliveries are not shown: {reason}.</Notice>
      </div>
    </>
  )
}

function Undelivered() {
  const view = useView()
  const can = useCan()
  const list = useList<Delivery>(`${WEBHOOKS}/undelivered`, { limit: 100 })
  const webhooks = useGet<Page<Webhook>>(WEBHOOKS, ALL_WEBHOOKS).data?.items ?? []
  const columns = columnsOf(webhooks)
  const none = webhooks.length === 0 ? 'there is no endpoint' : undefined
  const open = view.get('again') !== undefined && webhooks.length > 0
  return (
    <>
      <PageHead
        title="Not delivered"
        lead={LEAD}
        actions={
          <Button
            kind="primary"
            icon="refresh"
            reason={can('webhooks:write').reason ?? none}
            onClick={() => view.set({ again: '1' })}
          >
            Send again since…
          </Button>
        }
      />
      <WebhookTabs current="undelivered" />
      <JobLines />
      <Split>
        <Table
          name="undelivered"
          caption="Deliveries that did not arrive, newest first"
          columns={columns}
          list={list}
          rowId={(row) => row.id}
          rowName={(row) => `${row.event_type}, ${relative(row.created_at)}`}
          href={(row) => `/webhooks/${row.webhook_id}?tab=deliveries&delivery=${row.id}`}
          empty={<AllArrived endpoints={webhooks.length} />}
          foot={<ColumnPicker list="undelivered" columns={columns} />}
        />
      </Split>
      {open && can('webhooks:write').allowed && (
        <RedeliverDialog items={webhooks} onClose={() => view.set({ again: undefined })} />
      )}
    </>
  )
}

function AllArrived({ endpoints }: { endpoints: number }) {
  return (
    <Empty kind="done" title="Everything arrived">
      <State kind="pass">
        {endpoints === 0
          ? 'There is no endpoint yet, so nothing is waiting.'
          : `Nothing waits for ${endpoints === 1 ? 'the endpoint' : `any of the ${count(endpoints)} endpoints`}.`}
      </State>
    </Empty>
  )
}
