import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiProblem } from '../../lib/api.ts'
import { PROFILE_WORDS } from '../../lib/dmarc.ts'
import { exact } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { refresh, useGet } from '../../lib/query.ts'
import type { Domain } from '../../lib/types.ts'
import { useCrumb } from '../../lib/crumb.ts'
import { useView } from '../../lib/view.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { Menu, MenuItem, MenuLine, MenuLink } from '../../ui/menu.tsx'
import { Empty, ProblemNotice } from '../../ui/notice.tsx'
import { StateTag } from '../../ui/state.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'
import { DomainDns } from './dns.tsx'
import { DomainOverview } from './overview.tsx'
import { DomainReports } from './reports.tsx'
import { DomainSettings } from './settings.tsx'
import { DomainSources } from './sources.tsx'

const TABS = ['overview', 'sources', 'reports', 'dns', 'settings'] as const
type TabName = (typeof TABS)[number]

const TAB_LABELS: Record<TabName, string> = {
  overview: 'Overview',
  sources: 'Sources',
  reports: 'Reports',
  dns: 'DNS records',
  settings: 'Settings',
}

/** One domain beside the list. */
export function DomainDrawer({ id, list }: { id: string; list: readonly Domain[] }) {
  const view = useView()
  const answer = useGet<Domain>(`/v1/domains/${id}`)
  const domain = answer.data ?? list.find((entry) => entry.id === id)
  useCrumb(domain?.unicode_name)
  const asked = view.get('tab')
  const tab: TabName = TABS.find((name) => name === asked) ?? 'overview'
  const at = list.findIndex((entry) => entry.id === id)
  const close = view.at('/domains', { tab: undefined, range: undefined, sources: undefined })
  const neighbour = (step: number) => {
    const other = at === -1 ? undefined : list[at + step]
    return other === undefined ? undefined : view.at(`/domains/${other.id}`)
  }
  if (domain === undefined) {
    return (
      <Drawer title="Domain" close={close}>
        <div className="pad">
          {answer.error === null ? (
            <span className="sk" />
          ) : answer.error instanceof ApiProblem && answer.error.status === 404 ? (
            <Empty kind="match" title="There is no such domain">
              It was deleted, or belongs to another organisation.
            </Empty>
          ) : (
            <ProblemNotice error={answer.error} retry={() => void answer.refetch()} />
          )}
        </div>
      </Drawer>
    )
  }
  return (
    <Drawer
      title={domain.unicode_name}
      sub={subtitle(domain)}
      tag={
        domain.status === 'verified' ? (
          <StateTag kind="pass">Verified</StateTag>
        ) : (
          <StateTag kind="pending">Pending</StateTag>
        )
      }
      menu={<DomainMenu domain={domain} close={close} />}
      previous={neighbour(-1)}
      next={neighbour(1)}
      close={close}
      tabs={
        <Tabs
          label={`About ${domain.unicode_name}`}
          current={tab}
          tabs={TABS.map((name) => ({
            id: name,
            label: TAB_LABELS[name],
            href: view.with({ tab: name === 'overview' ? undefined : name }),
            count: name === 'reports' ? domain.reports : undefined,
          }))}
        />
      }
    >
      {tab === 'overview' && <DomainOverview domain={domain} />}
      {tab === 'sources' && <DomainSources domain={domain} />}
      {tab === 'reports' && <DomainReports domain={domain} />}
      {tab === 'dns' && <DomainDns domain={domain} />}
      {tab === 'settings' && <DomainSettings domain={domain} close={close} />}
    </Drawer>
  )
}

function subtitle(domain: Domain): string {
  const parts: string[] = [PROFILE_WORDS[domain.profile], `limit ${domain.compliance_threshold} %`]
  if (domain.name !== domain.unicode_name) parts.unshift(domain.name)
  if (domain.policy.checked_at !== null) parts.push(`checked ${exact(domain.policy.checked_at)}`)
  return parts.join(', ')
}

/** Runs the checks of one domain and says how it went. */
export function useCheck(domain: Domain): { run: () => void; busy: boolean } {
  const check = useMutation({
    mutationFn: () => api.post<Domain>(`/v1/domains/${domain.id}/check`),
    onSuccess: async (found) => {
      await refresh('/v1/domains')
      notify({
        kind: 'pass',
        text: `${found.unicode_name} is checked: DMARC ${found.policy.p ?? found.policy.state}`,
      })
    },
    onError: (error) => notifyProblem(error, 'Not checked'),
  })
  return { run: () => check.mutate(), busy: check.isPending }
}

export function CheckButton({ domain }: { domain: Domain }) {
  const can = useCan()
  const check = useCheck(domain)
  return (
    <Button small icon="refresh" busy={check.busy} reason={can('domains:write').reason} onClick={check.run}>
      {check.busy ? 'Checking' : 'Check now'}
    </Button>
  )
}

function DomainMenu({ domain, close }: { domain: Domain; close: string }) {
  const view = useView()
  const can = useCan()
  const check = useCheck(domain)
  const [deleting, setDeleting] = useState(false)
  const reason = can('domains:write').reason
  return (
    <>
      <Menu trigger={<IconButton icon="more" label="More about this domain" />}>
        <MenuItem icon="refresh" reason={reason} onSelect={check.run}>
          Check now
        </MenuItem>
        <MenuLink icon="reports" href={`/reports?domain=${domain.name}`}>
          All its reports
        </MenuLink>
        <MenuLink
          icon="download"
          download
          href={`/v1/reports/export?format=csv&domain=${encodeURIComponent(domain.name)}`}
        >
          Export its records as CSV
        </MenuLink>
        <MenuLine />
        <MenuItem icon="trash" danger reason={reason} onSelect={() => setDeleting(true)}>
          Delete
        </MenuItem>
      </Menu>
      <DeleteDomain
        domain={domain}
        open={deleting}
        onClose={() => setDeleting(false)}
        onDone={() => view.go(close)}
      />
    </>
  )
}

interface DeleteProps {
  domain: Domain
  open: boolean
  onClose: () => void
  onDone: () => void
}

export function DeleteDomain({ domain, open, onClose, onDone }: DeleteProps) {
  return (
    <ConfirmDialog
      open={open}
      title={`Delete ${domain.unicode_name}?`}
      confirmLabel="Delete domain"
      typed={domain.unicode_name}
      onClose={onClose}
      onConfirm={async () => {
        await api.delete(`/v1/domains/${domain.id}`)
        notify({ kind: 'pass', text: `${domain.unicode_name} is deleted` })
        onDone()
        await refresh('/v1/domains', '/v1/reports')
      }}
    >
      <p>
        Its {domain.reports.toLocaleString('en-US')} reports stay and become unassigned. Adding the domain
        again adopts them. Its threshold, tags and verification are lost.
      </p>
    </ConfirmDialog>
  )
}
