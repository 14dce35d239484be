/** What each role may do, in words. The scopes themselves are fixed by the server. */
export type Role = 'owner' | 'admin' | 'analyst' | 'viewer'

export const ROLES: readonly { role: Role; title: string; may: string; not: string }[] = [
  {
    role: 'owner',
    title: 'Owner',
    may: 'Everything, and make others owners. The last owner cannot be removed.',
    not: '',
  },
  {
    role: 'admin',
    title: 'Admin',
    may: 'Domains, reports, settings, keys, users and sessions, the audit log.',
    not: 'Cannot change owners.',
  },
  {
    role: 'analyst',
    title: 'Analyst',
    may: 'Reads everything but settings, uploads reports, works on alerts and reported mail, verifies and exports the audit log.',
    not: 'Cannot change domains, keys, users or settings.',
  },
  {
    role: 'viewer',
    title: 'Viewer',
    may: 'Sees domains, reports and alerts.',
    not: 'Cannot change or export anything, or see the audit log.',
  },
]

export const roleTitle = (role: string): string => ROLES.find((row) => row.role === role)?.title ?? role

/** Mozilla/5.0 … -> "Chrome on Linux": enough to tell one's own browsers apart; the full text stays in the title. */
export function browserName(agent: string | null | undefined): string {
  if (agent === null || agent === undefined || agent === '') return 'Unknown program'
  const names: readonly [RegExp, string][] = [
    [/Edg\//, 'Edge'],
    [/OPR\//, 'Opera'],
    [/Firefox\//, 'Firefox'],
    [/Chrome\/|Chromium\//, 'Chrome'],
    [/Safari\//, 'Safari'],
  ]
  const systems: readonly [RegExp, string][] = [
    [/iPhone|iPad/, 'iOS'],
    [/Android/, 'Android'],
    [/Mac OS X/, 'macOS'],
    [/Windows/, 'Windows'],
    [/Linux|X11/, 'Linux'],
  ]
  const name = names.find(([test]) => test.test(agent))?.[1]
  const system = systems.find(([test]) => test.test(agent))?.[1]
  if (name === undefined) return agent.split(/[\s/]/)[0] ?? agent
  return system === undefined ? name : `${name} on ${system}`
}
