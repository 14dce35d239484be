/** What invite and reset pages share: the token is in the fragment, so that it never reaches a log. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { api } from '../lib/api.ts'
import type { Role } from '../lib/types.ts'
import { LinkButton } from '../ui/button.tsx'
import { ProblemNotice } from '../ui/notice.tsx'
import { Gate } from './gate.tsx'

export interface LinkInfo {
  kind: 'invite' | 'reset'
  email: string
  name: string | null
  has_account: boolean
  organisation: string | null
  role: Role | null
  expires_at: string
}

export const PASSWORD_MIN = 12
export const PASSWORD_MAX = 128

/** Why a password cannot be taken yet, before the server is asked. */
export function passwordProblem(password: string): string | undefined {
  if (password === '') return undefined
  if (password.length < PASSWORD_MIN) return `${password.length} of at least ${PASSWORD_MIN} characters`
  if (password.length > PASSWORD_MAX) return `At most ${PASSWORD_MAX} characters`
  return undefined
}

export function tokenOfFragment(): string {
  return location.hash.replace(/^#/, '')
}

export function useLink(token: string): UseQueryResult<LinkInfo> {
  return useQuery({
    queryKey: ['/auth/link', token],
    queryFn: () => api.post<LinkInfo>('/auth/link', { token }, { stay: true }),
    enabled: token !== '',
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** A link that was used, has expired or was cut off. */
export function DeadLink({ error }: { error: unknown }) {
  return (
    <Gate title="This link does not work" lead="Links work once and for a limited time. Ask for a new one.">
      {error !== null && <ProblemNotice error={error} />}
      <LinkButton href="/login">Sign in</LinkButton>
    </Gate>
  )
}
