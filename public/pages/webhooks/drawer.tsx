import { ApiProblem } from '../../lib/api.ts'
import { useCrumb } from '../../lib/crumb.ts'
import { useGet } from '../../lib/query.ts'
import { useView } from '../../lib/view.ts'
import { Drawer } from '../../ui/drawer.tsx'
import { Empty, ProblemNotice } from '../../ui/notice.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { WebhookDeliveries } from './deliveries.tsx'
import { WebhookOverview } from './overview.tsx'
import { WebhookSettings } from './settings.tsx'
import { WebhookSignature } from './signature.tsx'
import { hostOf, WEBHOOKS } from './types.ts'
import type { NewWebhook, Webhook } from './types.ts'
import { HealthTag } from './words.tsx'

const TABS = ['overview', 'deliveries', 'signature', 'settings'] as const
type TabName = (typeof TABS)[number]

const TAB_LABELS: Record<TabName, string> = {
  overview: 'Overview',
  deliveries: 'Deliveries',
  signature: 'Signature',
  settings: 'Settings',
}

/** Members of the URL that belong to one webhook only. */
const OWN = { tab: undefined, delivery: undefined, status: undefined, type: undefined, language: undefined }

interface Props {
  id: string
  list: readonly Webhook[]
  onSecret: (made: NewWebhook) => void
}

/** One webhook beside the list. */
export function WebhookDrawer({ id, list, onSecret }: Props) {
  const view = useView()
  const answer = useGet<Webhook>(`${WEBHOOKS}/${id}`)
  const item = answer.data ?? list.find((entry) => entry.id === id)
  useCrumb(item === undefined ? undefined : hostOf(item.url))
  const tab: TabName = TABS.find((name) => name === view.get('tab')) ?? 'overview'
  const close = view.at('/webhooks', OWN)
  if (item === undefined) {
    return (
      <Drawer title="Endpoint" close={close}>
        <div className="pad">
          {answer.error === null ? (
            <span className="sk" />
          ) : answer.error instanceof ApiProblem && answer.error.status === 404 ? (
            <Empty kind="match" title="There is no such endpoint">
              It was deleted, or belongs to another organisation.
            </Empty>
          ) : (
            <ProblemNotice error={answer.error} retry={() => void answer.refetch()} />
          )}
        </div>
      </Drawer>
    )
  }
  const at = list.findIndex((entry) => entry.id === id)
  const neighbour = (step: number) => {
    const other = at === -1 ? undefined : list[at + step]
    return other === undefined ? undefined : view.at(`/webhooks/${other.id}`, { delivery: undefined })
  }
  return (
    <Drawer
      title={hostOf(item.url)}
      sub={
        <>
          <span className="mono brk">{item.url}</span>
          {item.description !== '' && <span className="block">{item.description}</span>}
        </>
      }
      tag={<HealthTag item={item} />}
      previous={neighbour(-1)}
      next={neighbour(1)}
      close={close}
      tabs={
        <Tabs
          label={`About ${hostOf(item.url)}`}
          current={tab}
          tabs={TABS.map((name) => ({
            id: name,
            label: TAB_LABELS[name],
            href: view.with({ ...OWN, tab: name === 'overview' ? undefined : name }),
          }))}
        />
      }
    >
      {tab === 'overview' && <WebhookOverview item={item} />}
      {tab === 'deliveries' && <WebhookDeliveries item={item} />}
      {tab === 'signature' && <WebhookSignature item={item} onSecret={onSecret} />}
      {tab === 'settings' && <WebhookSettings item={item} close={close} />}
    </Drawer>
  )
}
