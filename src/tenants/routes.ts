import { Elysia } from 'elysia'
import { etagOf, readIfMatch } from '../http/etag.ts'
import type { Guard } from '../http/guard.ts'
import type { Pager } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import { SCOPES } from '../lib/principal.ts'
import {
  NewTenant,
  Scopes,
  Settings,
  SettingsUpdate,
  Tenant,
  TenantCreate,
  TenantListQuery,
  TenantUpdate,
} from './schema.ts'
import type { TenantService } from './service.ts'

interface Deps {
  guard: Guard
  tenants: TenantService
  pager: Pager
}

/** `/v1/settings`: what a tenant says about itself. */
export const settingsRoutes = (deps: Deps) =>
  new Elysia({ name: 'settings', prefix: '/v1/settings', tags: ['Settings'], normalize: false })
    .use(deps.guard)
    .get(
      '',
      async ({ principal, set }) => {
        const settings = await deps.tenants.settings(principal.tenant_id)
        set.headers['etag'] = etagOf(settings.version)
        return settings
      },
      op('settings:read', {
        summary: 'Read the settings',
        answers: { 200: { schema: Settings, headers: ['ETag'] } },
      }),
    )
    .patch(
      '',
      async ({ principal, body, request, set }) => {
        const expected = readIfMatch(request.headers.get('if-match'))
        const settings = await deps.tenants.updateSettings(principal, body, expected)
        set.headers['etag'] = etagOf(settings.version)
        return settings
      },
      {
        parse: 'json',
        body: SettingsUpdate,
        ...op('settings:write', {
          summary: 'Change the settings',
          answers: { 200: { schema: Settings, headers: ['ETag'] } },
          problems: ['version_conflict', 'conflict'],
        }),
      },
    )
    .get(
      '/scopes',
      () => ({
        items: Object.entries(SCOPES).map(([scope, description]) => ({ scope, description })),
      }),
      op('settings:read', {
        summary: 'List the scopes that a key can carry',
        answers: { 200: { schema: Scopes } },
      }),
    )

/** `/v1/instance/tenants`: the operator's view. */
export const instanceTenantRoutes = (deps: Deps) =>
  new Elysia({
    name: 'instance-tenants',
    prefix: '/v1/instance/tenants',
    tags: ['Instance'],
    normalize: false,
  })
    .use(deps.guard)
    .get(
      '',
      async ({ principal, query }) => {
        const page = deps.pager.read(principal, 'tenants', query, { q: query.q })
        const rows = await deps.tenants.list({
          ...(query.q === undefined ? {} : { q: query.q }),
          after: page.after === null ? null : String(page.after[0]),
          limit: page.limit,
        })
        return page.finish(rows, (row) => [row.id])
      },
      {
        query: TenantListQuery,
        ...op('instance:read', { summary: 'List tenants', answers: { 200: { schema: Page(Tenant) } } }),
      },
    )
    .post(
      '',
      async ({ principal, body, set }) => {
        set.status = 201
        return deps.tenants.create(principal, body)
      },
      {
        parse: 'json',
        body: TenantCreate,
        ...op('instance:write', {
          summary: 'Create a tenant',
          description: 'With `owner_email`, the answer holds an invitation link for its owner.',
          answers: { 201: { schema: NewTenant } },
        }),
      },
    )
    .get('/:id', ({ params }) => deps.tenants.get(params.id), {
      params: IdParams,
      ...op('instance:read', { summary: 'Read a tenant', answers: { 200: { schema: Tenant } } }),
    })
    .patch('/:id', ({ principal, params, body }) => deps.tenants.update(principal, params.id, body), {
      params: IdParams,
      parse: 'json',
      body: TenantUpdate,
      ...op('instance:write', {
        summary: "Change a tenant's plan, limits or status",
        answers: { 200: { schema: Tenant } },
        problems: ['conflict'],
      }),
    })
