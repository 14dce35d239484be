import type { Role } from '../../lib/types.ts'

/** What each role may do, in words. The scopes themselves are fixed by the server. */
export const ROLES: readonly { role: Role; title: string; may: string; not?: string }[] = [
  {
    role: 'owner',
    title: 'Owner',
    may: 'Everything, and makes others owners. The last owner cannot be removed.',
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
    may: 'Reads domains and reports, uploads and exports reports, verifies the audit log.',
    not: 'Cannot change domains, keys, users or settings.',
  },
  {
    role: 'viewer',
    title: 'Viewer',
    may: 'Sees domains and reports.',
    not: 'Cannot change or export anything, or see the audit log.',
  },
]

export const roleTitle = (role: string): string => ROLES.find((row) => row.role === role)?.title ?? role
