import { Tabs } from '../../ui/tabs.tsx'

/** Endpoints, and what did not arrive at any of them. */
export function WebhookTabs({ current }: { current: 'endpoints' | 'undelivered' }) {
  return (
    <div className="tabsbar">
      <Tabs
        label="Webhooks"
        current={current}
        tabs={[
          { id: 'endpoints', label: 'Endpoints', href: '/webhooks' },
          { id: 'undelivered', label: 'Not delivered', href: '/webhooks/undelivered' },
        ]}
      />
    </div>
  )
}
