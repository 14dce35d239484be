import { Elysia } from 'elysia'
import type { Guard } from '../http/guard.ts'
import type { Pager } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import type { MemberService } from './members.ts'
import {
  InstanceUser,
  Invite,
  InviteCreate,
  LinkAnswer,
  Member,
  MemberListQuery,
  NewInvite,
  OperatorChange,
  RoleChange,
  Session,
  SessionListQuery,
} from './schema.ts'
import type { SessionService } from './sessions.ts'

interface Deps {
  guard: Guard
  members: MemberService
  sessions: SessionService
  pager: Pager
}

const DONE = { 204: { description: 'Done.' } }
const afterOf = (page: { after: unknown[] | null }): string | null =>
  page.after === null ? null : String(page.after[0])

/** `/v1/settings/users`, `/invites`, `/sessions`: who belongs to the tenant. */
export const userRoutes = (deps: Deps) =>
  new Elysia({ name: 'users', prefix: '/v1/settings', tags: ['Users'], normalize: false })
    .use(deps.guard)
    .get(
      '/users',
      async ({ principal, query }) => {
        const page = deps.pager.read(principal, 'users', query, { q: query.q })
        const at = { after: afterOf(page), limit: page.limit }
        return page.finish(await deps.members.list(principal.tenant_id, query.q, at), (row) => [row.id])
      },
      {
        query: MemberListQuery,
        ...op('settings:read', { summary: 'List users', answers: { 200: { schema: Page(Member) } } }),
      },
    )
    .patch(
      '/users/:id',
      ({ principal, params, body }) => deps.members.setRole(principal, params.id, body.role),
      {
        params: IdParams,
        parse: 'json',
        body: RoleChange,
        ...op('settings:write', {
          summary: "Change a user's role",
          answers: { 200: { schema: Member } },
          problems: ['last_owner', 'insufficient_role'],
        }),
      },
    )
    .delete(
      '/users/:id',
      async ({ principal, params, set }) => {
        await deps.members.remove(principal, params.id)
        set.status = 204
      },
      {
        params: IdParams,
        ...op('settings:write', {
          summary: 'Remove a user from the tenant',
          answers: DONE,
          problems: ['last_owner', 'insufficient_role'],
        }),
      },
    )
    .post(
      '/users/:id/reset-link',
      async ({ principal, params, set }) => {
        set.status = 201
        return deps.members.resetLink(principal, params.id)
      },
      {
        params: IdParams,
        ...op('settings:write', {
          summary: 'Make a password reset link for a user',
          answers: { 201: { schema: LinkAnswer } },
          problems: ['insufficient_role'],
        }),
      },
    )
    .get(
      '/invites',
      async ({ principal, query }) => {
        const page = deps.pager.read(principal, 'invites', query)
        const at = { after: afterOf(page), limit: page.limit }
        return page.finish(await deps.members.invites(principal.tenant_id, at), (row) => [row.id])
      },
      {
        query: SessionListQuery,
        ...op('settings:read', {
          summary: 'List open invitations',
          answers: { 200: { schema: Page(Invite) } },
        }),
      },
    )
    .post(
      '/invites',
      async ({ principal, body, set }) => {
        set.status = 201
        return deps.members.invite(principal, body.email, body.role)
      },
      {
        parse: 'json',
        body: InviteCreate,
        ...op('settings:write', {
          summary: 'Invite a user',
          description: 'The answer holds the link to hand over.',
          answers: { 201: { schema: NewInvite } },
          problems: ['already_exists', 'insufficient_role', 'plan_limit'],
        }),
      },
    )
    .delete(
      '/invites/:id',
      async ({ principal, params, set }) => {
        await deps.members.deleteInvite(principal, params.id)
        set.status = 204
      },
      {
        params: IdParams,
        ...op('settings:write', { summary: 'Withdraw an invitation', answers: DONE }),
      },
    )
    .get(
      '/sessions',
      async ({ principal, query }) => {
        const page = deps.pager.read(principal, 'sessions', query)
        const rows = await deps.sessions.ofTenant(principal, { after: afterOf(page), limit: page.limit })
        return page.finish(rows, (row) => [row.id])
      },
      {
        query: SessionListQuery,
        ...op('settings:read', {
          summary: 'List the sessions that are active in this tenant',
          answers: { 200: { schema: Page(Session) } },
        }),
      },
    )
    .delete(
      '/sessions/:id',
      async ({ principal, params, set }) => {
        await deps.sessions.revoke(principal, params.id, true)
        set.status = 204
      },
      { params: IdParams, ...op('settings:write', { summary: 'End a session', answers: DONE }) },
    )

/** `/v1/instance/users`: the operator's view. */
export const instanceUserRoutes = (deps: Deps) =>
  new Elysia({ name: 'instance-users', prefix: '/v1/instance/users', tags: ['Instance'], normalize: false })
    .use(deps.guard)
    .get(
      '',
      async ({ principal, query }) => {
        const page = deps.pager.read(principal, 'instance-users', query, { q: query.q })
        const at = { after: afterOf(page), limit: page.limit }
        return page.finish(await deps.members.allUsers(query.q, at), (row) => [row.id])
      },
      {
        query: MemberListQuery,
        ...op('instance:read', {
          summary: 'List the users of the installation',
          answers: { 200: { schema: Page(InstanceUser) } },
        }),
      },
    )
    .patch(
      '/:id',
      ({ principal, params, body }) => deps.members.setOperator(principal, params.id, body.is_operator),
      {
        params: IdParams,
        parse: 'json',
        body: OperatorChange,
        ...op('instance:write', {
          summary: 'Make a user an operator, or no longer',
          answers: { 200: { schema: InstanceUser } },
          problems: ['conflict'],
        }),
      },
    )
