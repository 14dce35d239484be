/**
 * The first run. Until somebody owns the installation a one-time link is the only way in: 60 minutes, printed and
 * written to a file that only the operator can read, renewed at restart. "Owned" is a mark in the database, set in the
 * change that makes the owner, and never taken back.
 */
import type { Db, MustWrite, Write } from '../db/types.ts'
import { anonymousActor } from '../lib/actors.ts'
import type { Clock } from '../lib/clock.ts'
import { equalBytes, randomToken, sha256 } from '../lib/crypto.ts'
import { problem } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { SETUP_LINK_TTL_MS } from '../lib/limits.ts'
import type { Actor, Plan, TenantLimits } from '../lib/principal.ts'
import { checkEmail } from '../users/email.ts'
import { checkPassword, type Passwords } from '../users/passwords.ts'
import type { SetupInput } from '../users/schema.ts'
import type { ClientInfo, SessionService } from '../users/sessions.ts'
import type { UserStore } from '../users/store.ts'
import type { TenantService } from './service.ts'

export type SetupService = ReturnType<typeof createSetup>

export interface SetupDeps {
  db: Db
  clock: Clock
  users: UserStore
  tenants: TenantService
  passwords: Passwords
  sessions: SessionService
  baseUrl(): string
  /** Keeps the link where the operator finds it, or (null) takes it away. */
  keepLink(link: string | null): void
}

export interface NewTenant {
  name: string
  email: string
  plan: Plan
  limits: Partial<TenantLimits>
}

const OWNED = "INSERT INTO meta (key, value) VALUES ('initialised_at', ?)"

export function createSetup(deps: SetupDeps) {
  const { db, clock, users } = deps
  let owned = false
  let token: { hash: Uint8Array; expires_at: number } | null = null

  const mark = (now: number): Write => ({ sql: OWNED, params: [String(now)] })
  const done = (): void => {
    owned = true
    token = null
    deps.keepLink(null)
  }
  const freshLink = (): string => {
    const text = randomToken()
    token = { hash: sha256(text), expires_at: clock.now() + SETUP_LINK_TTL_MS }
    const link = `${deps.baseUrl()}/setup#${text}`
    deps.keepLink(link)
    return link
  }

  return {
    isSetUp: (): boolean => owned,

    /** Reads the mark. Call once, before the first request. */
    async load(): Promise<void> {
      const [row] = await db.query<{ value: string }>("SELECT value FROM meta WHERE key = 'initialised_at'")
      owned = row !== undefined
    },

    /** A new link; the one before it ends. Null when the installation is owned. */
    renewLink: (): string | null => (owned ? null : freshLink()),

    /** Makes the first owner, operator and tenant, and signs the owner in. */
    async complete(input: SetupInput, client: ClientInfo) {
      if (owned) throw problem('gone', 'Wardpost is set up already.')
      const right =
        token !== null && token.expires_at > clock.now() && equalBytes(token.hash, sha256(input.token))
      if (!right) {
        throw problem(
          'invalid_credentials',
          'The setup link is not right or too old. `wardpost setup-link` makes a new one.',
        )
      }
      const email = checkEmail('/email', input.email)
      checkPassword('/password', input.password, email)
      const password_hash = await deps.passwords.hash(input.password)
      const tenant = deps.tenants.draft({ name: input.organisation, plan: 'pro' })
      const user = { id: newId('usr', tenant.now), name: input.name.trim(), email }
      const session = deps.sessions.draft(user.id, tenant.id, client, false)
      const actor: Actor = {
        ...anonymousActor(client.ip, client.request_id, tenant.id),
        type: 'user',
        id: user.id,
        name: user.name,
      }
      const writes: (Write | MustWrite)[] = [
        // Always: of two that race for it, the second runs into the first one's mark.
        mark(tenant.now),
        tenant.write,
        users.insertUser({ ...user, password_hash, is_operator: true, now: tenant.now }),
        users.addMember(tenant.id, user.id, 'owner', tenant.now),
        session.write,
      ]
      await db
        .commit(actor, {
          writes,
          audit: {
            action: 'tenants.create',
            target: { type: 'tenant', id: tenant.id },
            detail: { plan: 'pro', first: true },
          },
        })
        .catch((error: unknown) => {
          if (error instanceof Error && error.name === 'Conflict')
            throw problem('gone', 'Wardpost is set up already.')
          throw error
        })
      done()
      return { user, tenant: { id: tenant.id, name: input.organisation.trim() }, cookie: session.cookie }
    },

    /**
     * The same without a browser: a tenant and its owner, who has no password yet (a reset link gives one). The first
     * one ends the set-up and is an operator.
     */
    async createHeadless(actor: Actor, input: NewTenant): Promise<{ tenant_id: string; user_id: string }> {
      const email = checkEmail('/email', input.email)
      const known = await users.byEmail(email)
      const tenant = deps.tenants.draft({ name: input.name, plan: input.plan, limits: input.limits })
      const user_id = known?.id ?? newId('usr', tenant.now)
      const name = email.split('@')[0]!
      await db.commit(
        { ...actor, tenant_id: tenant.id },
        {
          writes: [
            ...(owned ? [] : [mark(tenant.now)]),
            tenant.write,
            ...(known === undefined
              ? [
                  users.insertUser({
                    id: user_id,
                    name,
                    email,
                    password_hash: null,
                    is_operator: !owned,
                    now: tenant.now,
                  }),
                ]
              : []),
            users.addMember(tenant.id, user_id, 'owner', tenant.now),
          ],
          audit: {
            action: 'tenants.create',
            target: { type: 'tenant', id: tenant.id },
            detail: { name: input.name, plan: input.plan },
          },
        },
      )
      if (!owned) done()
      return { tenant_id: tenant.id, user_id }
    },
  }
}
