import { useSyncExternalStore } from 'react'
import { api, contact, onContact } from '../lib/api.ts'
import { initials, plural, timeSeconds } from '../lib/format.ts'
import { covers, useAuthState, useMe } from '../lib/me.ts'
import { queries, useGet } from '../lib/query.ts'
import type { Area } from '../routes.ts'
import type { Summary } from '../lib/types.ts'
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
  [{ area: 'overview', label: 'Overview', href: '/', icon: 'overview' }],
  [
    { area: 'domains', label: 'Domains', href: '/domains', icon: 'domains', scope: 'domains:read' },
    { area: 'reports', label: 'Reports', href: '/reports', icon: 'reports', scope: 'reports:read' },
  ],
  [
    { area: 'audit', label: 'Audit', href: '/audit', icon: 'audit', scope: 'audit:read' },
    { area: 'settings', label: 'Settings', href: '/settings', icon: 'settings' },
  ],
]

export function Rail({ area, onFollow }: { area: Area | undefined; onFollow?: () => void }) {
  const me = useMe()
  const can_reports = covers(me.scopes, 'reports:read')
  const summary = useGet<Summary>('/v1/reports/summary', {}, { enabled: can_reports }).data
  const waiting = summary === undefined ? 0 : summary.unassigned_reports + summary.rejected_files
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
                  {item.area === 'reports' && waiting > 0 && (
                    <em>
                      {waiting}
                      <span className="vh"> need attention</span>
                    </em>
                  )}
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

/** Honest about being asked, not told: when the server last answered, and whether the last question reached it. */
function Connection() {
  const state = useSyncExternalStore(onContact, contact)
  const version = useAuthState().data?.version
  return (
    <div className="rail__foot">
      <span className={state.ok ? 'st c-pass' : 'st c-fail'} title="Asked every 30 s while the page is open">
        <Glyph name={state.ok ? 'dot' : 'fail'} />
        {state.ok ? 'Updated' : 'No answer since'}
      </span>
      <span className="rail__utc">{state.at_ms === 0 ? '–' : `${timeSeconds(state.at_ms)} UTC`}</span>
      <span className="rail__v">Wardpost {version}</span>
    </div>
  )
}
