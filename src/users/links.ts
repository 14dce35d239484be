/** Invitation and reset links: 32 random bytes in the fragment of an address, of which only the SHA-256 is kept. */
import type { Write } from '../db/types.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { randomToken, sha256 } from '../lib/crypto.ts'
import { newId } from '../lib/ids.ts'
import { INVITE_LINK_TTL_MS, RESET_LINK_TTL_MS } from '../lib/limits.ts'
import type { Role } from '../lib/principal.ts'
import { checkEmail } from './email.ts'
import type { UserStore } from './store.ts'

export interface LinkDraft {
  id: string
  email: string
  write: Write
  link: string
  created_at: string
  expires_at: string
}

export type Links = ReturnType<typeof createLinks>

export function createLinks(deps: { store: UserStore; clock: Clock; baseUrl(): string }) {
  const make = (
    kind: 'invite' | 'reset',
    email: string,
    of: { user_id: string | null; tenant_id: string | null; role: Role | null; created_by: string | null },
  ): LinkDraft => {
    const now = deps.clock.now()
    const token = randomToken()
    const id = newId('inv', now)
    const expires_at = now + (kind === 'invite' ? INVITE_LINK_TTL_MS : RESET_LINK_TTL_MS)
    const write = deps.store.insertLink({
      id,
      kind,
      token_hash: sha256(token),
      email,
      ...of,
      created_at: now,
      expires_at,
    })
    const link = `${deps.baseUrl()}/${kind === 'invite' ? 'accept' : 'reset'}#${token}`
    return { id, email, write, link, created_at: isoTime(now), expires_at: isoTime(expires_at) }
  }
  return {
    invite: (tenant_id: string, email: string, role: Role, created_by: string | null): LinkDraft =>
      make('invite', checkEmail('/email', email), { user_id: null, tenant_id, role, created_by }),
    /** Also ends the user's older reset links. */
    reset(user: { id: string; email: string }, created_by: string | null): LinkDraft & { writes: Write[] } {
      const draft = make('reset', user.email, { user_id: user.id, tenant_id: null, role: null, created_by })
      return { ...draft, writes: [deps.store.closeResetLinks(user.id, deps.clock.now()), draft.write] }
    },
  }
}
