/**
 * Signing in and out, invitations and resets. Wrong password and unknown address look and take the same. Failed tries
 * are counted per address of the client, and second factors per account too.
 */
import type { Db, MustWrite, Write } from '../db/types.ts'
import { anonymousActor } from '../lib/actors.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { type Keyring, sha256 } from '../lib/crypto.ts'
import { invalid, problem } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Actor } from '../lib/principal.ts'
import { checkEmail } from './email.ts'
import { checkPassword, type Passwords } from './passwords.ts'
import type { ClientInfo, SessionService } from './sessions.ts'
import type { LinkRow, UserRow, UserStore } from './store.ts'
import type { Tickets } from './tickets.ts'
import { checkTotp, recoveryHash } from './totp.ts'

/** Counts failed tries; throws 429 when there were too many. The HTTP layer's counter fits. */
export interface FailureCounter {
  record(id: string | null): void
  check(id: string | null): void
}

export type SignedIn = { status: 'ok'; cookie: string } | { status: 'totp_required'; ticket: string }

export type LoginService = ReturnType<typeof createLogin>

export interface LoginDeps {
  db: Db
  store: UserStore
  clock: Clock
  keyring: Keyring
  passwords: Passwords
  sessions: SessionService
  tickets: Tickets
  failures: FailureCounter
  tenantName(tenantId: string): Promise<string | null>
}

export function createLogin(deps: LoginDeps) {
  const { db, store, clock, keyring, passwords, sessions, tickets, failures } = deps

  const actorOf = (user: UserRow, tenant_id: string | null, client: ClientInfo): Actor => ({
    ...anonymousActor(client.ip, client.request_id, tenant_id ?? undefined),
    type: 'user',
    id: user.id,
    name: user.name,
  })

  const fail = async (
    client: ClientInfo,
    action: string,
    email: string,
    user: UserRow | null,
  ): Promise<never> => {
    const tenant = user === null ? undefined : (await store.memberships(user.id))[0]?.tenant_id
    await db.commit(anonymousActor(client.ip, client.request_id, tenant), {
      writes: [],
      audit: {
        action,
        outcome: 'failure',
        ...(user === null ? {} : { target: { type: 'user', id: user.id } }),
        personal: { email },
      },
    })
    failures.record(client.ip)
    throw problem('invalid_credentials', 'E-mail, password or code is not right.')
  }

  /** Opens a session in the user's first tenant, together with whatever else the login changes. */
  const open = async (
    user: UserRow,
    client: ClientInfo,
    action: string,
    mfa: boolean,
    more: (Write | MustWrite)[] = [],
    tenant?: string,
  ): Promise<SignedIn> => {
    const tenant_id = tenant ?? (await store.memberships(user.id))[0]?.tenant_id
    if (tenant_id === undefined)
      throw problem('insufficient_role', 'You are not a member of any organisation here.')
    const draft = sessions.draft(user.id, tenant_id, client, mfa)
    const now = clock.now()
    await db.commit(actorOf(user, tenant_id, client), {
      writes: [...more, store.updateUser(user.id, { last_login_at: now }, now), draft.write],
      audit: { action, target: { type: 'session', id: draft.id }, detail: { second_factor: mfa } },
    })
    return { status: 'ok', cookie: draft.cookie }
  }

  const openLink = async (token: string): Promise<LinkRow> => {
    const link = await store.link(sha256(token))
    if (link === undefined) throw problem('not_found', 'There is no such link.')
    if (link.used_at !== null) throw problem('gone', 'The link was used already.')
    if (link.expires_at <= clock.now()) throw problem('gone', 'The link is too old. Ask for a new one.')
    return link
  }

  return {
    async login(email: string, password: string, client: ClientInfo): Promise<SignedIn> {
      failures.check(client.ip)
      const address = email.trim().normalize('NFC').toLowerCase()
      const user = (await store.byEmail(address)) ?? null
      const right = await passwords.verify(password, user?.password_hash ?? null)
      if (user === null || !right) return fail(client, 'auth.login_failed', address, user)
      if (user.totp_secret === null) return open(user, client, 'auth.login', false)
      return { status: 'totp_required', ticket: tickets.issue(user.id, clock.now()) }
    },

    /** The second factor: six digits, or a recovery code. Each works once. */
    async totp(ticket: string, code: string, client: ClientInfo): Promise<SignedIn> {
      failures.check(client.ip)
      const now = clock.now()
      const user_id = tickets.read(ticket, now)
      const user = user_id === null ? undefined : await store.byId(user_id)
      if (user === undefined || user.totp_secret === null) {
        throw problem('invalid_credentials', 'The sign-in took too long. Start again.')
      }
      failures.check(user.id)
      const secret = keyring.open(user.totp_secret)
      const step = secret === null ? null : checkTotp(secret, code, now, user.totp_last_step)
      const guard: { write: Write; action: string } =
        step === null
          ? {
              write: store.useRecoveryCode(user.id, recoveryHash(code), now),
              action: 'auth.recovery_code_used',
            }
          : { write: store.takeTotpStep(user.id, step), action: 'auth.login' }
      try {
        return await open(user, client, guard.action, true, [{ must: guard.write, label: 'code' }])
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'Conflict') throw error
        failures.record(user.id)
        return fail(client, 'auth.totp_failed', user.email, user)
      }
    },

    async logout(cookie: string, client: ClientInfo): Promise<void> {
      const found = await sessions.authenticate(cookie, { ip: client.ip, id: client.request_id })
      if (!('scopes' in found) || found.session_id === null) return
      await db.commit(found.actor, {
        writes: [store.deleteSession(found.session_id)],
        audit: { action: 'auth.logout', target: { type: 'session', id: found.session_id } },
      })
    },

    /** What a link is for, before it is used. */
    async inspect(token: string, client: ClientInfo) {
      failures.check(client.ip)
      const link = await openLink(token).catch((error: unknown) => {
        failures.record(client.ip)
        throw error
      })
      const user = await store.byEmail(link.email)
      return {
        kind: link.kind,
        email: link.email,
        name: user?.name ?? null,
        has_account: user !== undefined && user.password_hash !== null,
        organisation: link.tenant_id === null ? null : await deps.tenantName(link.tenant_id),
        role: link.role,
        expires_at: isoTime(link.expires_at),
      }
    },

    /** Takes an invitation. Who has an account proves it with its password; who has none sets one. */
    async accept(
      input: { token: string; name?: string; password: string },
      client: ClientInfo,
    ): Promise<SignedIn> {
      failures.check(client.ip)
      const link = await openLink(input.token)
      if (link.kind !== 'invite' || link.tenant_id === null || link.role === null) {
        throw problem('not_found', 'This link is no invitation.')
      }
      const now = clock.now()
      const email = checkEmail('/email', link.email)
      const known = await store.byEmail(email)
      const writes: (Write | MustWrite)[] = [
        { must: store.useLink(link.id, now), label: 'the link was used already' },
      ]
      let user: UserRow
      if (known !== undefined && known.password_hash !== null) {
        if (!(await passwords.verify(input.password, known.password_hash))) {
          return fail(client, 'auth.login_failed', email, known)
        }
        user = known
      } else {
        checkPassword('/password', input.password, email)
        if (input.name === undefined) throw invalid('/name', 'required', 'A name is needed.')
        user = newUser(known?.id ?? newId('usr', now), email, input.name.trim(), now)
        const password_hash = await passwords.hash(input.password)
        writes.push(
          known === undefined
            ? store.insertUser({ ...user, password_hash, is_operator: false, now })
            : store.updateUser(known.id, { name: user.name, password_hash }, now),
        )
      }
      writes.push(store.addMember(link.tenant_id, user.id, link.role, now))
      if (user.totp_secret === null) return open(user, client, 'auth.accept', false, writes, link.tenant_id)
      await db.commit(actorOf(user, link.tenant_id, client), {
        writes,
        audit: { action: 'auth.accept', target: { type: 'user', id: user.id } },
      })
      return { status: 'totp_required', ticket: tickets.issue(user.id, now) }
    },

    /** Sets a new password by a reset link; all sessions of the user end. The second factor stays. */
    async reset(token: string, password: string, client: ClientInfo): Promise<SignedIn> {
      failures.check(client.ip)
      const link = await openLink(token)
      const user = link.user_id === null ? undefined : await store.byId(link.user_id)
      if (link.kind !== 'reset' || user === undefined) throw problem('not_found', 'This link resets nothing.')
      checkPassword('/password', password, user.email)
      const now = clock.now()
      const password_hash = await passwords.hash(password)
      const writes: (Write | MustWrite)[] = [
        { must: store.useLink(link.id, now), label: 'the link was used already' },
        store.updateUser(user.id, { password_hash }, now),
        store.deleteSessionsOf(user.id, null),
        store.closeResetLinks(user.id, now),
      ]
      if (user.totp_secret === null) return open(user, client, 'auth.reset', false, writes)
      const tenant = (await store.memberships(user.id))[0]?.tenant_id ?? null
      await db.commit(actorOf(user, tenant, client), {
        writes,
        audit: { action: 'auth.reset', target: { type: 'user', id: user.id } },
      })
      return { status: 'totp_required', ticket: tickets.issue(user.id, now) }
    },
  }
}

/** A user that is about to be made. */
export function newUser(id: string, email: string, name: string, now: number): UserRow {
  return {
    id,
    email,
    name,
    password_hash: null,
    is_operator: 0,
    totp_secret: null,
    totp_pending: null,
    totp_last_step: 0,
    created_at: now,
    updated_at: now,
    last_login_at: null,
  }
}
