import { useState } from 'react'
import type { ReactNode } from 'react'
import { useCan } from '../lib/me.ts'
import { useList } from '../lib/query.ts'
import { useTitle, useView } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { Split } from '../ui/drawer.tsx'
import { Empty, Notice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { Table } from '../ui/table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { Catalogue } from './webhooks/catalogue.tsx'
import { WebhookDrawer } from './webhooks/drawer.tsx'
import { CreateWebhook, ShownSecret } from './webhooks/form.tsx'
import { RecentCell } from './webhooks/recent.tsx'
import { JobLines } from './webhooks/redeliver.tsx'
import { WebhookTabs } from './webhooks/tabs.tsx'
import { ALL_WEBHOOKS, hostOf, maskedSecret, shortUrl, WEBHOOKS } from './webhooks/types.ts'
import type { NewWebhook, Webhook } from './webhooks/types.ts'
import { Health } from './webhooks/words.tsx'

const LEAD =
  'Signed events to your own systems. A delivery succeeds on a 2xx answer within 10 s; otherwise seven attempts over 31 h. Times are UTC.'

const COLUMNS: readonly Column<Webhook>[] = [
  {
    key: 'url',
    title: 'Endpoint',
    fixed: true,
    cell: (row) => (
      <>
        <span className="mono med brk">
          <span className="only-wide">https://</span>
          {shortUrl(row.url)}
        </span>
        <span className="sub">{row.description === '' ? kindsOf(row.events) : row.description}</span>
      </>
    ),
  },
  { key: 'state', title: 'State', fixed: true, cell: (row) => <Health item={row} /> },
  { key: 'recent', title: 'Last 40 deliveries', priority: 2, cell: (row) => <RecentCell item={row} /> },
  {
    key: 'last',
    title: 'Last attempt',
    priority: 1,
    num: true,
    cell: (row) => <Time at={row.last_attempt_at} as="relative" />,
  },
  {
    key: 'success',
    title: 'Last success',
    priority: 3,
    num: true,
    cell: (row) => <Time at={row.last_success_at} as="relative" />,
  },
  {
    key: 'secret',
    title: 'Secret',
    priority: 4,
    cell: (row) => <span className="mono t3 nw">{maskedSecret(row.secret_last4)}</span>,
  },
]

/** `PHISHING_REPORTED, RBL_LISTED and 4 more` */
function kindsOf(events: readonly string[]): string {
  const first = events.slice(0, 2).join(', ')
  return events.length <= 2 ? first : `${first} and ${events.length - 2} more`
}

/** /webhooks and /webhooks/{id} */
export function WebhooksPage() {
  const view = useView()
  const can = useCan()
  const [made, setMade] = useState<NewWebhook>()
  const read = can('webhooks:read')
  const write = can('webhooks:write')
  useTitle('Webhooks')
  const add = (
    <Button kind="primary" icon="plus" reason={write.reason} onClick={() => view.set({ add: '1' })}>
      Add endpoint
    </Button>
  )
  return (
    <>
      <PageHead
        title="Webhooks"
        lead={LEAD}
        actions={
          <>
            <Button kind="quiet" reason={read.reason} onClick={() => view.set({ catalogue: '1' })}>
              Event catalogue
            </Button>
            {add}
          </>
        }
      />
      {read.allowed ? (
        <WebhookList add={add} onSecret={setMade} />
      ) : (
        <div className="padx">
          <Notice>The webhooks are not shown: {read.reason}.</Notice>
        </div>
      )}
      {view.get('catalogue') !== undefined && read.allowed && (
        <Catalogue onClose={() => view.set({ catalogue: undefined })} />
      )}
      {view.get('add') !== undefined && write.allowed && (
        <CreateWebhook
          onClose={() => view.set({ add: undefined })}
          onCreated={(webhook) => {
            setMade(webhook)
            view.go(`/webhooks/${webhook.id}`)
          }}
        />
      )}
      {made !== undefined && <ShownSecret made={made} onSaved={() => setMade(undefined)} />}
    </>
  )
}

function WebhookList({ add, onSecret }: { add: ReactNode; onSecret: (made: NewWebhook) => void }) {
  const view = useView()
  const id = view.path.split('/')[2]
  const list = useList<Webhook>(WEBHOOKS, ALL_WEBHOOKS)
  return (
    <>
      <WebhookTabs current="endpoints" />
      <JobLines />
      <Split
        wide
        drawer={
          id === undefined ? undefined : (
            <WebhookDrawer key={id} id={id} list={list.items} onSecret={onSecret} />
          )
        }
      >
        <Table
          name="webhooks"
          caption="Endpoints, newest first"
          columns={COLUMNS}
          list={list}
          two
          rowId={(row) => row.id}
          rowName={(row) => hostOf(row.url)}
          href={(row) => view.at(`/webhooks/${row.id}`)}
          current={id}
          empty={
            <Empty kind="yet" icon="webhooks" title="No endpoints yet" action={add}>
              Your own systems learn of an event within seconds: a ticket, a chat message, an entry in the
              SIEM. Each delivery is signed, tried seven times and kept for 90 days.
            </Empty>
          }
        />
      </Split>
    </>
  )
}
