import { useCan } from '../lib/me.ts'
import { useGet } from '../lib/query.ts'
import { useTitle } from '../lib/view.ts'
import { Notice, ProblemNotice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { NotificationForm } from './notifications/form.tsx'
import { NOTIFICATIONS_PATH } from './notifications/types.ts'
import type { Notifications } from './notifications/types.ts'
import { TestPanel } from './notifications/test.tsx'

/** /settings/notifications: who is told of alerts, when. */
export function NotificationsPage() {
  const can = useCan()
  const { allowed, reason } = can('settings:read')
  const settings = useGet<Notifications>(NOTIFICATIONS_PATH, {}, { enabled: allowed, poll: false })
  useTitle('Notifications')
  return (
    <>
      <PageHead
        title="Notifications"
        lead="Who in this organisation gets a mail about alerts, and when nobody should."
      />
      <div className="stack">
        {!allowed && <Notice>The settings are not shown: {reason}.</Notice>}
        {settings.error !== null && (
          <ProblemNotice error={settings.error} retry={() => void settings.refetch()} />
        )}
        {settings.data !== undefined && (
          <>
            <NotificationForm key={settings.data.version} settings={settings.data} />
            <TestPanel settings={settings.data} />
          </>
        )}
      </div>
    </>
  )
}
