import { useSyncExternalStore } from 'react'
import { api, contact, onContact } from '../lib/api.ts'
import { initials, plural, timeSeconds } from '../lib/format.ts'
import { useIsLive } from '../lib/live.ts'
import { covers, useAuthState, useMe } from '../lib/me.ts'
import { queries, useGet } from '../lib/query.ts'
import type { Area } from '../routes.ts'
import type { AlertSummary, Page, Summary } from '../lib/types.ts'
import { Glyph, Icon, type IconName } from '../ui/icons.tsx'
import { A } from '../ui/link.tsx'
import { Menu, MenuItem, MenuLabel } from '../ui/menu.tsx'
import { notifyProblem } from '../ui/toast.tsx'

interface RailItem {
  area: Area
  label: string
  href: string
  icon: IconName
  scope?: string
}

/** Only areas that exist. */
export const RAIL: readonly (readonly RailItem[])[] = [
  [
    { area: 'overview', label: 'Overview', href: '/', icon: 'overview' },
    { area: 'alerts', label: 'Alerts', href: '/alerts', icon: 'alerts', scope: 'alerts:read' },
  ],
  [
    { area: 'domains', label: 'Domains', href: '/domains', icon: 'domains', scope: 'domains:read' },
    { area: 'reports', label: 'Reports', href: '/reports', icon: 'reports', scope: 'reports:read' },
  ],
  [
    { area: 'audit', label: 'Audit', href: '/audit', icon: 'audit', scope: 'audit:read' },
    { area: 'webhooks', label: 'Webhooks', href: '/webhooks', icon: 'webhooks', scope: 'webhooks:read' },
    { area: 'settings', label: 'Settings', href: '/settings', icon: 'settings' },
  ],
]

interface WebhookState {
  status: string
  health: string
}

/** Paused is a person's decision; disabled is not. */
function isInTrouble({ status, health }: WebhookState): boolean {
  return status === 'disabled' || (status === 'active' && health === 'failing')
}

/** What waits in each area. */
function useWaiting(): Partial<Record<Area, { count: number; words: string }>> {
  const me = useMe()
  const reads = (scope: string) => ({ enabled: covers(me.scopes, scope) })
  const reports = useGet<Summary>('/v1/reports/summary', {}, reads('reports:read')).data
  const alerts = useGet<AlertSummary>('/v1/alerts/summary', {}, reads('alerts:read')).data
  const webhooks = useGet<Page<WebhookState>>(
    '/v1/webhooks',
    { limit: 100, fields: 'id,status,health' },
    reads('webhooks:read'),
  ).data
  return {
    webhooks: { count: webhooks?.items.filter(isInTrouble).length ?? 0, words: 'failing' },
    alerts: { count: alerts?.open ?? 0, words: 'open' },
    reports: {
      count: reports === undefined ? 0 : reports.unassigned_reports + reports.rejected_files,
      words: 'need attention',
    },
  }
}

export function Rail({ area, onFollow }: { area: Area | undefined; onFollow?: () => void }) {
  const me = useMe()
  const waiting = useWaiting()
  return (
    <nav className="rail" aria-label="Main">
      <TenantSwitch />
      {RAIL.map((group) => {
        const items = group.filter((item) => item.scope === undefined || covers(me.scopes, item.scope))
        if (items.length === 0) return null
        return (
          <ul key={group[0]?.area}>
            {items.map((item) => (
              <li key={item.area}>
                <A
                  href={item.href}
                  title={item.label}
                  {...(item.area === area ? { 'aria-current': 'page' as const } : {})}
                  {...(onFollow === undefined ? {} : { onClick: onFollow })}
                >
                  <Icon name={item.icon} />
                  <span>{item.label}</span>
                  <Waits {...waiting[item.area]} />
                </A>
              </li>
            ))}
          </ul>
        )
      })}
      <Connection />
    </nav>
  )
}

function Waits({ count = 0, words = '' }: { count?: number; words?: string }) {
  if (count === 0) return null
  return (
    <em>
      {count}
      <span className="vh"> {words}</span>
    </em>
  )
}

function TenantSwitch() {
  const me = useMe()
  const plan = me.tenant.plan.slice(0, 1).toUpperCase() + me.tenant.plan.slice(1)
  const limit = me.tenant.limits.domains
  const switchTo = async (tenant_id: string) => {
    if (tenant_id === me.tenant.id) return
    try {
      await api.post('/v1/session/tenant', { tenant_id })
      // Nothing of the other organisation may stay in memory: the application starts anew.
      queries.clear()
      location.assign('/')
    } catch (error) {
      notifyProblem(error, 'Not switched')
    }
  }
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="tenant" title={me.tenant.name}>
          <b className="vh">Organisation: {me.tenant.name}</b>
          <span className="tenant__m" aria-hidden="true">
            {initials(me.tenant.name)}
          </span>
          <span className="tenant__n" aria-hidden="true">
            <b className="cut">{me.tenant.name}</b>
            <small className="cut">
              {plan}
              {limit !== null && ` · up to ${plural(limit, 'domain')}`}
              {me.tenant.status !== 'active' && ` · ${me.tenant.status}`}
            </small>
          </span>
          <Icon name="down" />
        </button>
      }
    >
      <MenuLabel>Organisations</MenuLabel>
      {me.memberships.map((membership) => (
        <MenuItem
          key={membership.tenant_id}
          checked={membership.tenant_id === me.tenant.id}
          note={membership.role}
          onSelect={() => void switchTo(membership.tenant_id)}
        >
          {membership.tenant_name}
        </MenuItem>
      ))}
    </Menu>
  )
}

/** Honest about how fresh things are: told of changes, asked every 30 s, or without an answer, and since when. */
function Connection() {
  const state = useSyncExternalStore(onContact, contact)
  const live = useIsLive()
  const version = useAuthState().data?.version
  const word = !state.ok ? 'No answer since' : live ? 'Live' : 'Updated'
  const how = live ? 'Changes are shown as they happen' : 'Asked every 30 s while the page is open'
  return (
    <div className="rail__foot">
      <span
        className={state.ok ? 'st c-pass' : 'st c-fail'}
        title={state.ok ? how : 'The server cannot be reached'}
      >
        <Glyph name={state.ok ? 'dot' : 'fail'} />
        {word}
      </span>
      <span className="rail__utc">{state.at_ms === 0 ? '–' : `${timeSeconds(state.at_ms)} UTC`}</span>
      <span className="rail__v">Wardpost {version}</span>
    </div>
  )
}
