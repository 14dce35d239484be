import { Elysia } from 'elysia'
import type { Guard } from '../http/guard.ts'
import type { Pager } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import type { MeService } from './me.ts'
import {
  Me,
  MeUpdate,
  PasswordChange,
  PasswordProof,
  RecoveryCodes,
  Session,
  SessionListQuery,
  TenantSwitch,
  TotpConfirm,
  TotpSetup,
} from './schema.ts'
import type { SessionService } from './sessions.ts'

interface Deps {
  guard: Guard
  me: MeService
  sessions: SessionService
  pager: Pager
}

const DONE = { 204: { description: 'Done.' } }

/** `/v1/me`: the caller's own account. */
export const meRoutes = (deps: Deps) =>
  new Elysia({ name: 'me', prefix: '/v1', tags: ['Me'], normalize: false })
    .use(deps.guard)
    .get(
      '/me',
      ({ principal }) => deps.me.show(principal),
      op('member', {
        summary: 'Who this credential is and what it may do',
        answers: { 200: { schema: Me } },
      }),
    )
    .patch('/me', ({ principal, body }) => deps.me.rename(principal, body.name), {
      parse: 'json',
      body: MeUpdate,
      ...op('member', {
        summary: 'Change the own name',
        answers: { 200: { schema: Me } },
        problems: ['conflict'],
      }),
    })
    .post(
      '/me/password',
      async ({ principal, body, set }) => {
        await deps.me.changePassword(principal, body.current_password, body.new_password)
        set.status = 204
      },
      {
        parse: 'json',
        body: PasswordChange,
        ...op('member', {
          summary: 'Change the own password',
          description: 'All other sessions end.',
          answers: DONE,
          problems: ['conflict'],
        }),
      },
    )
    .post('/me/totp', ({ principal, body }) => deps.me.beginTotp(principal, body.password), {
      parse: 'json',
      body: PasswordProof,
      ...op('member', {
        summary: 'Begin to set up the second factor',
        answers: { 200: { schema: TotpSetup } },
        problems: ['conflict'],
      }),
    })
    .post('/me/totp/confirm', ({ principal, body }) => deps.me.confirmTotp(principal, body.code), {
      parse: 'json',
      body: TotpConfirm,
      ...op('member', {
        summary: 'Turn the second factor on with its first code',
        answers: { 200: { schema: RecoveryCodes } },
        problems: ['conflict'],
      }),
    })
    .post(
      '/me/totp/disable',
      async ({ principal, body, set }) => {
        await deps.me.disableTotp(principal, body.password)
        set.status = 204
      },
      {
        parse: 'json',
        body: PasswordProof,
        ...op('member', { summary: 'Turn the second factor off', answers: DONE, problems: ['conflict'] }),
      },
    )
    .post('/me/recovery-codes', ({ principal, body }) => deps.me.renewCodes(principal, body.password), {
      parse: 'json',
      body: PasswordProof,
      ...op('member', {
        summary: 'Make new recovery codes',
        answers: { 200: { schema: RecoveryCodes } },
        problems: ['conflict'],
      }),
    })
    .get(
      '/me/sessions',
      async ({ principal, query }) => {
        const page = deps.pager.read(principal, 'me-sessions', query)
        const after = page.after === null ? null : String(page.after[0])
        const rows = await deps.sessions.mine(principal, { after, limit: page.limit })
        return page.finish(rows, (row) => [row.id])
      },
      {
        query: SessionListQuery,
        ...op('member', { summary: 'List the own sessions', answers: { 200: { schema: Page(Session) } } }),
      },
    )
    .delete(
      '/me/sessions',
      async ({ principal, set }) => {
        await deps.sessions.revokeOthers(principal)
        set.status = 204
      },
      op('member', { summary: 'End all other own sessions', answers: DONE, problems: ['conflict'] }),
    )
    .delete(
      '/me/sessions/:id',
      async ({ principal, params, set }) => {
        await deps.sessions.revoke(principal, params.id, false)
        set.status = 204
      },
      { params: IdParams, ...op('member', { summary: 'End an own session', answers: DONE }) },
    )
    .post(
      '/session/tenant',
      async ({ principal, body, set }) => {
        await deps.sessions.switchTenant(principal, body.tenant_id)
        set.status = 204
      },
      {
        parse: 'json',
        body: TenantSwitch,
        ...op('member', {
          summary: 'Change the active tenant of this session',
          answers: DONE,
          problems: ['conflict', 'not_found'],
        }),
      },
    )
