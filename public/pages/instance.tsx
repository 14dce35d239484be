import { useMe } from '../lib/me.ts'
import { useGet } from '../lib/query.ts'
import { useTitle, useView } from '../lib/view.ts'
import { Notice, ProblemNotice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { InstanceAnchors } from './instance/anchors.tsx'
import { InstanceBackups } from './instance/backups.tsx'
import { InstanceJobs } from './instance/jobs.tsx'
import { InstanceMail } from './instance/mail.tsx'
import { InstanceOverview } from './instance/overview.tsx'
import { InstanceSettings } from './instance/settings.tsx'
import { InstanceTenants } from './instance/tenants.tsx'
import type { Instance } from './instance/types.ts'
import { InstanceUsers } from './instance/users.tsx'

const PATH = '/settings/instance'
const TABS = [
  { id: '', label: 'Status' },
  { id: 'tenants', label: 'Organisations' },
  { id: 'users', label: 'Users' },
  { id: 'backups', label: 'Backups' },
  { id: 'jobs', label: 'Jobs' },
  { id: 'mail', label: 'Mail' },
  { id: 'anchors', label: 'Anchors' },
  { id: 'settings', label: 'Settings' },
] as const

/** /settings/instance and /settings/instance/{tab}: for whoever runs this installation. */
export function InstancePage() {
  const me = useMe()
  useTitle('Instance')
  if (me.user?.is_operator !== true) {
    return (
      <>
        <PageHead title="Instance" />
        <Notice>Only operators of this installation see this page.</Notice>
      </>
    )
  }
  return <ForOperators />
}

function ForOperators() {
  const view = useView()
  const tab = view.path.split('/')[3] ?? ''
  const instance = useGet<Instance>('/v1/instance')
  return (
    <>
      <PageHead
        title="Instance"
        lead="What runs here, for every organisation on it. Changes go to the audit log of the installation."
      />
      <div className="tabs-in">
        <Tabs
          label="Instance"
          current={tab}
          tabs={TABS.map(({ id, label }) => ({ id, label, href: id === '' ? PATH : `${PATH}/${id}` }))}
        />
      </div>
      <div className="stack">
        {instance.error !== null && (
          <ProblemNotice error={instance.error} retry={() => void instance.refetch()} />
        )}
        {tab === 'tenants' && <InstanceTenants />}
        {tab === 'users' && <InstanceUsers />}
        {tab === 'anchors' && <InstanceAnchors />}
        {tab === 'mail' && <InstanceMail />}
        {tab === 'jobs' && <InstanceJobs />}
        {tab === 'backups' && <InstanceBackups path={instance.data?.data.path ?? 'the data folder'} />}
        {tab === 'settings' && instance.data !== undefined && (
          <InstanceSettings settings={instance.data.settings} />
        )}
        {tab === '' && instance.data !== undefined && <InstanceOverview instance={instance.data} />}
      </div>
    </>
  )
}
