import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { api } from './api.ts'
import { queries } from './query.ts'
import type { AuthState, Me } from './types.ts'

const ME = { queryKey: ['/v1/me'], queryFn: () => api.get<Me>('/v1/me'), staleTime: 60_000 }
const STATE = {
  queryKey: ['/auth/state'],
  queryFn: () => api.get<AuthState>('/auth/state', {}, { stay: true }),
  staleTime: 60_000,
}

/** Before a page is shown: who is here, and is there anything to show. */
export function loadAuthState(): Promise<AuthState> {
  return queries.fetchQuery({ ...STATE, staleTime: 0 })
}

export function loadMe(): Promise<Me> {
  return queries.ensureQueryData(ME)
}

export function useAuthState(): UseQueryResult<AuthState> {
  return useQuery(STATE)
}

/** Inside the shell the answer is always there: the route waits for it. */
export function useMe(): Me {
  const me = useQuery(ME).data
  if (me === undefined) throw new Error('the shell shows only once /v1/me is known')
  return me
}

/** After a change of the account, the tenant or the session. */
export async function refreshMe(): Promise<void> {
  await queries.invalidateQueries({ queryKey: ['/v1/me'] })
}

/** True when these scopes cover `scope`; wildcards `*`, `*:read`. */
export function covers(scopes: readonly string[], scope: string): boolean {
  if (scopes.includes(scope) || scopes.includes('*')) return true
  if (scope.endsWith(':read') && scopes.includes('*:read')) return true
  const area = scope.split(':')[0]
  return scopes.includes(`${area}:*`)
}

export interface Permission {
  allowed: boolean
  /** Why not, to be shown beside what is disabled. */
  reason: string | undefined
}

/** `const can = useCan(); can('domains:write')` -> allowed, or the reason why not. */
export function useCan(): (scope: string) => Permission {
  const me = useMe()
  return (scope) => {
    if (me.tenant.status !== 'active' && scope.endsWith(':write')) {
      return { allowed: false, reason: `${me.tenant.name} is read-only` }
    }
    if (covers(me.scopes, scope)) return { allowed: true, reason: undefined }
    const role = me.role === null ? 'This credential' : `The role ${me.role}`
    return { allowed: false, reason: `${role} lacks ${scope}` }
  }
}
