/**
 * Browser sessions: a cookie of id and secret, of which only the secret's SHA-256 is kept. 12 hours idle, 10 days in
 * all. Ended sessions are deleted rows, so ending is immediate.
 */
import type { Db, Write } from '../db/types.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { equalBytes, randomToken, sha256 } from '../lib/crypto.ts'
import { problem } from '../lib/errors.ts'
import { isId, newId } from '../lib/ids.ts'
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS, SESSION_TOUCH_MS } from '../lib/limits.ts'
import { INSTANCE_SCOPES, type Principal, ROLE_SCOPES } from '../lib/principal.ts'
import { systemActor } from '../lib/actors.ts'
import { tenantContext } from '../tenants/context.ts'
import type { SessionDto } from './schema.ts'
import type { PageAt, SessionLookup, SessionRow, UserStore } from './store.ts'

export interface ClientInfo {
  ip: string | null
  user_agent: string | null
  request_id: string
}

export type SessionService = ReturnType<typeof createSessions>

/** Role scopes with the instance's, for operators. */
const operator_scopes = new Map(
  Object.entries(ROLE_SCOPES).map(([role, scopes]) => [role, new Set([...scopes, ...INSTANCE_SCOPES])]),
)

export function createSessions(deps: { db: Db; store: UserStore; clock: Clock }) {
  const { db, store, clock } = deps

  return {
    /** The write of a new session and the cookie's value, for whoever puts it into a login's change. */
    draft(
      user_id: string,
      tenant_id: string | null,
      client: ClientInfo,
      mfa: boolean,
    ): { id: string; write: Write; cookie: string } {
      const now = clock.now()
      const id = newId('ses', now)
      const secret = randomToken()
      const write = store.insertSession({
        id,
        user_id,
        tenant_id,
        secret_hash: sha256(secret),
        now,
        expires_at: now + SESSION_ABSOLUTE_MS,
        ip: client.ip,
        user_agent: client.user_agent?.slice(0, 300) ?? null,
        mfa_at: mfa ? now : null,
      })
      return { id, write, cookie: `${id}.${secret}` }
    },

    /** The principal behind a cookie, or why not. */
    async authenticate(cookie: string, request: { ip: string | null; id: string }) {
      const [id, secret] = cookie.split('.')
      if (id === undefined || secret === undefined || !isId('ses', id)) return ended()
      const row = await store.session(id)
      if (row === undefined || !equalBytes(row.secret_hash, sha256(secret))) return ended()
      const now = clock.now()
      if (row.expires_at <= now || row.last_seen_at + SESSION_IDLE_MS <= now) return ended()
      if (row.tenant_status !== 'active' && row.is_operator === 0) return ended()
      if (now - row.last_seen_at > SESSION_TOUCH_MS) {
        await db.commit(systemActor(), {
          writes: [store.touchSession(id, now)],
          audit: { none: 'session_touch' },
        })
      }
      return principalOf(row, request)
    },

    async mine(principal: Principal, page: PageAt): Promise<SessionDto[]> {
      if (principal.user === null) return []
      const since = clock.now() - SESSION_IDLE_MS
      const rows = await store.sessions(principal.tenant_id, principal.user.id, since, page)
      return rows.map((row) => dtoOf(row, principal.session_id))
    },

    async ofTenant(principal: Principal, page: PageAt): Promise<SessionDto[]> {
      const rows = await store.sessions(principal.tenant_id, null, clock.now() - SESSION_IDLE_MS, page)
      return rows.map((row) => dtoOf(row, principal.session_id))
    },

    /** Ends one session: an own one, or (with `tenant_wide`) any that is active in the tenant. */
    async revoke(principal: Principal, id: string, tenant_wide: boolean): Promise<void> {
      const row = await store.session(id)
      const visible =
        row !== undefined &&
        (row.user_id === principal.user?.id || (tenant_wide && row.tenant_id === principal.tenant_id))
      if (!visible) throw problem('not_found', 'There is no such session.')
      await db.commit(principal.actor, {
        writes: [store.deleteSession(id)],
        audit: {
          action: 'sessions.revoke',
          target: { type: 'session', id },
          detail: { user_id: row.user_id },
        },
      })
    },

    async revokeOthers(principal: Principal): Promise<void> {
      if (principal.user === null) throw problem('conflict', 'A key has no sessions.')
      await db.commit(principal.actor, {
        writes: [store.deleteSessionsOf(principal.user.id, principal.session_id)],
        audit: { action: 'sessions.revoke_all', target: { type: 'user', id: principal.user.id } },
      })
    },

    async switchTenant(principal: Principal, tenant_id: string): Promise<void> {
      if (principal.user === null || principal.session_id === null) {
        throw problem('conflict', 'Only a browser session can change its tenant.')
      }
      const memberships = await store.memberships(principal.user.id)
      if (!memberships.some((each) => each.tenant_id === tenant_id)) {
        throw problem('not_found', 'You are not a member of such a tenant.')
      }
      await db.commit(
        { ...principal.actor, tenant_id },
        {
          writes: [store.setSessionTenant(principal.session_id, tenant_id)],
          audit: { action: 'me.tenant', target: { type: 'tenant', id: tenant_id } },
        },
      )
    },

    /** Deletes what has run out: sessions, links, idempotency records. Called by a job. */
    async sweep(): Promise<void> {
      const now = clock.now()
      await db.commit(systemActor(), {
        writes: store.deleteExpired(now, now - SESSION_IDLE_MS),
        audit: { none: 'staging' },
      })
    },
  }
}

function ended() {
  return { refused: problem('unauthenticated', 'The session has ended. Sign in again.'), unknown: false }
}

function principalOf(row: SessionLookup, request: { ip: string | null; id: string }): Principal {
  const is_operator = row.is_operator === 1
  return {
    kind: 'session',
    tenant_id: row.tenant_id,
    tenant: tenantContext(row),
    user: { id: row.user_id, name: row.user_name, email: row.email },
    key: null,
    session_id: row.session_id,
    role: row.role,
    is_operator,
    scopes: is_operator ? operator_scopes.get(row.role)! : ROLE_SCOPES[row.role],
    actor: {
      tenant_id: row.tenant_id,
      type: 'user',
      id: row.user_id,
      name: row.user_name,
      key_id: null,
      ip: request.ip,
      request_id: request.id,
    },
  }
}

function dtoOf(row: SessionRow, current: string | null): SessionDto {
  return {
    id: row.id,
    current: row.id === current,
    user_id: row.user_id,
    user_name: row.user_name,
    user_email: row.user_email,
    created_at: isoTime(row.created_at),
    last_seen_at: isoTime(row.last_seen_at),
    expires_at: isoTime(row.expires_at),
    ip: row.ip,
    user_agent: row.user_agent,
  }
}
