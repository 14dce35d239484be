import { Elysia } from 'elysia'
import { readFields } from '../http/fields.ts'
import type { Guard } from '../http/guard.ts'
import { choiceParam, type Pager } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import { Key, KeyCreate, KeyListQuery, KeyRoll, KeyUpdate, NewKey } from './schema.ts'
import type { KeyService } from './service.ts'

/** `/v1/settings/keys`: API keys of the tenant. */
export const keyRoutes = (deps: { guard: Guard; keys: KeyService; pager: Pager }) =>
  new Elysia({ name: 'keys', prefix: '/v1/settings/keys', tags: ['API keys'], normalize: false })
    .use(deps.guard)
    .get(
      '',
      async ({ principal, query }) => {
        const status = choiceParam('status', query.status, ['active', 'expired', 'revoked'])
        const page = deps.pager.read(principal, 'keys', query, { status, q: query.q })
        const pick = readFields(query.fields, Key)
        const rows = await deps.keys.list(principal.tenant_id, {
          ...(status === undefined ? {} : { status }),
          ...(query.q === undefined ? {} : { q: query.q }),
          after: page.after === null ? null : String(page.after[0]),
          limit: page.limit,
        })
        const { items, ...rest } = page.finish(rows, (row) => [row.id])
        return { items: items.map(pick), ...rest }
      },
      {
        query: KeyListQuery,
        ...op('settings:read', { summary: 'List API keys', answers: { 200: { schema: Page(Key) } } }),
      },
    )
    .post(
      '',
      async ({ principal, body, set }) => {
        set.status = 201
        return deps.keys.create(principal, body)
      },
      {
        parse: 'json',
        body: KeyCreate,
        ...op('settings:write', {
          summary: 'Create an API key',
          description: 'The key is in the answer, this once. It cannot carry a scope that you lack.',
          answers: { 201: { schema: NewKey } },
          problems: ['insufficient_scope', 'conflict'],
        }),
      },
    )
    .get('/:id', ({ principal, params }) => deps.keys.get(principal.tenant_id, params.id), {
      params: IdParams,
      ...op('settings:read', { summary: 'Read an API key', answers: { 200: { schema: Key } } }),
    })
    .patch('/:id', ({ principal, params, body }) => deps.keys.update(principal, params.id, body), {
      params: IdParams,
      parse: 'json',
      body: KeyUpdate,
      ...op('settings:write', {
        summary: 'Rename an API key or change its networks',
        answers: { 200: { schema: Key } },
      }),
    })
    .delete(
      '/:id',
      async ({ principal, params, set }) => {
        await deps.keys.revoke(principal, params.id)
        set.status = 204
      },
      {
        params: IdParams,
        ...op('settings:write', {
          summary: 'Revoke an API key',
          description: 'Immediate. A key cannot revoke itself.',
          answers: { 204: { description: 'Revoked.' } },
          problems: ['own_credential'],
        }),
      },
    )
    .post(
      '/:id/roll',
      async ({ principal, params, body, set }) => {
        set.status = 201
        return deps.keys.roll(principal, params.id, body.overlap_hours)
      },
      {
        params: IdParams,
        parse: 'json',
        body: KeyRoll,
        ...op('settings:write', {
          summary: 'Replace an API key by a new one',
          description: 'Same scopes and networks; the old key goes on for the overlap.',
          answers: { 201: { schema: NewKey } },
          problems: ['conflict', 'insufficient_scope'],
        }),
      },
    )
