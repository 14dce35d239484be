/** Who belongs to a tenant: members, roles, invitations, reset links; and the operator's view of all users. */
import type { Db } from '../db/types.ts'
import { operatorActor } from '../lib/actors.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import { USERS_PER_TENANT_MAX } from '../lib/limits.ts'
import type { Actor, Principal, Role } from '../lib/principal.ts'
import type { Links } from './links.ts'
import type { InstanceUserDto, InviteDto, MemberDto } from './schema.ts'
import type { MemberRow, PageAt, UserRow, UserStore } from './store.ts'

export type MemberService = ReturnType<typeof createMembers>

export function createMembers(deps: { db: Db; store: UserStore; clock: Clock; links: Links }) {
  const { db, store, clock, links } = deps

  const load = async (tenantId: string, id: string): Promise<MemberRow> => {
    const row = await store.member(tenantId, id)
    if (row === undefined) throw problem('not_found', 'There is no such user here.')
    return row
  }
  /** Owners are made, changed and removed by owners (or operators) only. */
  const mayTouch = (principal: Principal, role: Role): void => {
    if (role !== 'owner' || principal.role === 'owner' || principal.is_operator) return
    throw problem('insufficient_role', 'Only an owner may do this to an owner.')
  }
  /** A guarded write that changed nothing here means: the last owner would have gone. */
  const lastOwner = (error: unknown): never => {
    if (error instanceof Error && error.name === 'Conflict') {
      throw problem('last_owner', 'An organisation keeps at least one owner.')
    }
    throw error
  }

  return {
    async list(tenantId: string, q: string | undefined, page: PageAt): Promise<MemberDto[]> {
      return (await store.members(tenantId, q?.toLowerCase() ?? null, page)).map(memberOf)
    },

    async setRole(principal: Principal, id: string, role: Role): Promise<MemberDto> {
      const row = await load(principal.tenant_id, id)
      mayTouch(principal, row.role)
      mayTouch(principal, role)
      await db
        .commit(principal.actor, {
          writes: [{ must: store.setRole(principal.tenant_id, id, role), label: 'last owner' }],
          audit: { action: 'users.role', target: { type: 'user', id }, detail: { from: row.role, to: role } },
        })
        .catch(lastOwner)
      return memberOf({ ...row, role })
    },

    /** Ends the membership and the user's sessions in this tenant; the account itself stays. */
    async remove(principal: Principal, id: string): Promise<void> {
      const row = await load(principal.tenant_id, id)
      mayTouch(principal, row.role)
      await db
        .commit(principal.actor, {
          writes: [
            { must: store.removeMember(principal.tenant_id, id), label: 'last owner' },
            store.endSessionsIn(principal.tenant_id, id),
          ],
          audit: {
            action: 'users.remove',
            target: { type: 'user', id },
            detail: { role: row.role },
            personal: { email: row.email },
          },
        })
        .catch(lastOwner)
    },

    /** A one-time link with which the user sets a new password. */
    async resetLink(principal: Principal, id: string): Promise<{ link: string; expires_at: string }> {
      const row = await load(principal.tenant_id, id)
      mayTouch(principal, row.role)
      const others = await store.memberships(id)
      if (others.length > 1 && !principal.is_operator) {
        throw problem('insufficient_role', 'The user belongs to other organisations too: ask an operator.')
      }
      return makeReset(principal.actor, row, principal.user?.id ?? null)
    },

    /** The same from the command line. */
    async resetLinkByEmail(actor: Actor, email: string): Promise<{ link: string; expires_at: string }> {
      const row = await store.byEmail(email.trim().toLowerCase())
      if (row === undefined) throw problem('not_found', 'There is no user with this e-mail.')
      return makeReset(actor, row, null)
    },

    async invites(tenantId: string, page: PageAt): Promise<InviteDto[]> {
      const rows = await store.invites(tenantId, clock.now(), page)
      return rows.map((row) => ({
        id: row.id,
        email: row.email,
        role: row.role!,
        created_by: row.created_by === null ? null : { id: row.created_by, name: row.created_by_name },
        created_at: isoTime(row.created_at),
        expires_at: isoTime(row.expires_at),
      }))
    },

    async invite(principal: Principal, email: string, role: Role): Promise<InviteDto & { link: string }> {
      mayTouch(principal, role)
      const tenantId = principal.tenant_id
      const draft = links.invite(tenantId, email, role, principal.user?.id ?? null)
      const known = await store.byEmail(draft.email)
      if (known !== undefined && (await store.member(tenantId, known.id)) !== undefined) {
        throw problem('already_exists', 'This person is a member already.')
      }
      const everybody = await store.members(tenantId, null, { after: null, limit: USERS_PER_TENANT_MAX })
      if (everybody.length >= USERS_PER_TENANT_MAX) {
        throw problem('plan_limit', `An organisation has at most ${USERS_PER_TENANT_MAX} users.`)
      }
      const dto = {
        id: draft.id,
        email: draft.email,
        role,
        created_by: principal.user === null ? null : { id: principal.user.id, name: principal.user.name },
        created_at: draft.created_at,
        expires_at: draft.expires_at,
        link: draft.link,
      }
      const { actor } = principal
      await db.commit(actor, {
        writes: [draft.write],
        audit: {
          action: 'invites.create',
          target: { type: 'invite', id: draft.id },
          detail: { role },
          personal: { email: draft.email },
        },
        ...(actor.reply === undefined ? {} : { idempotency: actor.reply(201, dto, { secret: true }) }),
      })
      return dto
    },

    async deleteInvite(principal: Principal, id: string): Promise<void> {
      await db
        .commit(principal.actor, {
          writes: [{ must: store.deleteInvite(principal.tenant_id, id), label: 'no such invite' }],
          audit: { action: 'invites.delete', target: { type: 'invite', id } },
        })
        .catch((error: unknown) => {
          if (error instanceof Error && error.name === 'Conflict') {
            throw problem('not_found', 'There is no such open invitation.')
          }
          throw error
        })
    },

    async allUsers(q: string | undefined, page: PageAt): Promise<InstanceUserDto[]> {
      const rows = await store.users(q?.toLowerCase() ?? null, page)
      return Promise.all(rows.map(async (row) => instanceUser(row, await store.memberships(row.id))))
    },

    setOperator: (principal: Principal, id: string, is_operator: boolean): Promise<InstanceUserDto> =>
      setOperator(operatorActor(principal), id, is_operator),

    /** The same from the command line, by e-mail. */
    async setOperatorByEmail(actor: Actor, email: string, is_operator: boolean): Promise<InstanceUserDto> {
      const row = await store.byEmail(email.trim().toLowerCase())
      if (row === undefined) throw problem('not_found', 'There is no user with this e-mail.')
      return setOperator(actor, row.id, is_operator)
    },
  }

  async function setOperator(actor: Actor, id: string, is_operator: boolean): Promise<InstanceUserDto> {
    const row = await store.byId(id)
    if (row === undefined) throw problem('not_found', 'There is no such user.')
    await db
      .commit(actor, {
        writes: [{ must: store.setOperator(id, is_operator), label: 'last operator' }],
        audit: { action: 'users.operator', target: { type: 'user', id }, detail: { is_operator } },
      })
      .catch((error: unknown) => {
        if (error instanceof Error && error.name === 'Conflict') {
          throw problem('conflict', 'An installation keeps at least one operator.')
        }
        throw error
      })
    return instanceUser({ ...row, is_operator: is_operator ? 1 : 0 }, await store.memberships(id))
  }

  async function makeReset(actor: Actor, user: { id: string; email: string }, created_by: string | null) {
    const draft = links.reset(user, created_by)
    const dto = { link: draft.link, expires_at: draft.expires_at }
    await db.commit(actor, {
      writes: draft.writes,
      audit: { action: 'users.reset_link', target: { type: 'user', id: user.id } },
      ...(actor.reply === undefined ? {} : { idempotency: actor.reply(201, dto, { secret: true }) }),
    })
    return dto
  }
}

function memberOf(row: MemberRow): MemberDto {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    is_operator: row.is_operator === 1,
    totp_enabled: row.totp === 1,
    status: 'active',
    last_login_at: row.last_login_at === null ? null : isoTime(row.last_login_at),
    created_at: isoTime(row.created_at),
  }
}

function instanceUser(row: UserRow, memberships: InstanceUserDto['memberships']): InstanceUserDto {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    is_operator: row.is_operator === 1,
    totp_enabled: row.totp_secret !== null,
    memberships,
    created_at: isoTime(row.created_at),
    last_login_at: row.last_login_at === null ? null : isoTime(row.last_login_at),
  }
}
