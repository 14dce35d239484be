/** Scopes as a person picks them: by area, read and write side by side, with ready-made sets for common uses. */
export interface ScopeRow {
  scope: string
  description: string
}

export interface ScopeArea {
  area: string
  title: string
  scopes: ScopeRow[]
}

export interface Preset {
  name: string
  why: string
  scopes: readonly string[]
}

const TITLES: Readonly<Record<string, string>> = {
  domains: 'Domains',
  reports: 'Reports',
  alerts: 'Alerts',
  phishing: 'Phishing',
  awareness: 'Awareness',
  sspm: 'SaaS posture',
  webhooks: 'Webhooks',
  takedowns: 'Takedowns',
  settings: 'Settings, keys and users',
  threats: 'Threats',
  intel: 'Domain intelligence',
  audit: 'Audit',
  export: 'Export',
  instance: 'Instance',
}

export const PRESETS: readonly Preset[] = [
  {
    name: 'Upload reports',
    why: 'For a mailbox script or a relay that hands in DMARC reports',
    scopes: ['reports:write'],
  },
  {
    name: 'Read into a SIEM',
    why: 'Domains, reports, alerts, indicators and the audit log, nothing can be changed',
    scopes: ['domains:read', 'reports:read', 'alerts:read', 'threats:read', 'audit:read', 'export:read'],
  },
  { name: 'Read everything', why: 'Every read scope, also those of areas to come', scopes: ['*:read'] },
  { name: 'Everything', why: 'All that you may do yourself. Prefer less', scopes: ['*'] },
]

/** The wildcards are presets, not rows: one says what it means, the other would hide what is granted. */
export function groupScopes(items: readonly ScopeRow[]): ScopeArea[] {
  const areas = new Map<string, ScopeArea>()
  for (const item of items) {
    if (item.scope.startsWith('*')) continue
    const area = item.scope.split(':')[0] ?? item.scope
    const group = areas.get(area) ?? { area, title: TITLES[area] ?? area, scopes: [] }
    group.scopes.push(item)
    areas.set(area, group)
  }
  return [...areas.values()]
}

export const samePreset = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((scope) => b.includes(scope))
