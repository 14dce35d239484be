import { Elysia, t } from 'elysia'
import { etagOf, readIfMatch } from '../http/etag.ts'
import { readFields } from '../http/fields.ts'
import type { AnswerCache } from '../http/answer-cache.ts'
import type { Guard } from '../http/guard.ts'
import { choiceParam, type Pager, sortParam } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import {
  Domain,
  DomainBulk,
  DomainBulkResult,
  DomainCreate,
  DomainListQuery,
  DomainUpdate,
  DomainVerify,
  PROFILES,
  STATUSES,
} from './schema.ts'
import type { DomainsService } from './service.ts'
import { DOMAIN_SORTS, domainPosition } from './sorts.ts'

const FieldsOnly = t.Object({ fields: DomainListQuery.properties.fields })

interface Deps {
  guard: Guard
  domains: DomainsService
  pager: Pager
  answers: AnswerCache
}

/** `/v1/domains`: the domains of a tenant. Their timelines and sources are read from reports. */
export const domainRoutes = (deps: Deps) =>
  new Elysia({ name: 'domains', prefix: '/v1/domains', tags: ['Domains'], normalize: false })
    .use(deps.guard)
    .get(
      '',
      ({ principal, query, request }) =>
        deps.answers.json(principal, request.url, async () => {
          const filter = {
            ...sent('q', query.q),
            ...sent('status', choiceParam('status', query.status, STATUSES)),
            ...sent('profile', choiceParam('profile', query.profile, PROFILES)),
            ...sent('tag', query.tag),
          }
          const sort = sortParam(query.sort, DOMAIN_SORTS, 'name')
          const page = deps.pager.read(principal, 'domains', query, { ...filter, sort })
          const pick = readFields(query.fields, Domain)
          const { after, limit } = page
          const rows = await deps.domains.list(principal.tenant_id, filter, { sort, after, limit: limit + 1 })
          const { items, ...rest } = page.finish(rows, (row) => domainPosition(row, sort))
          return { items: (await deps.domains.show(items)).map(pick), ...rest }
        }),
      {
        query: DomainListQuery,
        ...op('domains:read', { summary: 'List domains', answers: { 200: { schema: Page(Domain) } } }),
      },
    )
    .post(
      '',
      async ({ principal, body, set }) => {
        const domain = await deps.domains.create(principal, body)
        set.status = 201
        set.headers['etag'] = etagOf(domain.version)
        return domain
      },
      {
        parse: 'json',
        body: DomainCreate,
        ...op('domains:write', {
          summary: 'Add a domain',
          description: 'Reports about the name and the names below it become its reports.',
          answers: { 201: { schema: Domain, headers: ['ETag'] } },
          problems: ['already_exists', 'plan_limit', 'conflict'],
          body_example: { name: 'example.com', profile: 'sending', tags: ['brand'] },
        }),
      },
    )
    .post(
      '/bulk',
      async ({ principal, body }) => ({ results: await deps.domains.bulk(principal.actor, body) }),
      {
        parse: 'json',
        body: DomainBulk,
        ...op('domains:write', {
          summary: 'Delete, check or tag many domains',
          description: 'Each id has its own result.',
          answers: { 200: { schema: DomainBulkResult } },
          body_example: { ids: ['dom_01k9w3p6zj4vtrcq8e1m2n5a7b'], action: 'tag', tag: 'brand' },
        }),
      },
    )
    .get(
      '/:id',
      async ({ principal, params, query, set }) => {
        const pick = readFields(query.fields, Domain)
        const domain = await deps.domains.get(principal.tenant_id, params.id)
        set.headers['etag'] = etagOf(domain.version)
        return pick(domain)
      },
      {
        params: IdParams,
        query: FieldsOnly,
        ...op('domains:read', {
          summary: 'Read a domain',
          answers: { 200: { schema: Domain, headers: ['ETag'] } },
        }),
      },
    )
    .patch(
      '/:id',
      async ({ principal, params, body, request, set }) => {
        const expected = readIfMatch(request.headers.get('if-match'))
        const domain = await deps.domains.update(principal, params.id, body, expected)
        set.headers['etag'] = etagOf(domain.version)
        return domain
      },
      {
        parse: 'json',
        params: IdParams,
        body: DomainUpdate,
        ...op('domains:write', {
          summary: 'Change a domain',
          answers: { 200: { schema: Domain, headers: ['ETag'] } },
          problems: ['version_conflict', 'conflict'],
          body_example: { compliance_threshold: 98, tags: ['brand', 'shop'] },
        }),
      },
    )
    .delete(
      '/:id',
      async ({ principal, params, set }) => {
        await deps.domains.remove(principal.actor, params.id)
        set.status = 204
      },
      {
        params: IdParams,
        ...op('domains:write', {
          summary: 'Delete a domain',
          description: 'Its reports stay; they go to the next domain above it, or become unassigned.',
          answers: { 204: { description: 'Deleted.' } },
        }),
      },
    )
    .post(
      '/:id/verify',
      ({ principal, params, body }) => deps.domains.verify(principal, params.id, body?.by_hand === true),
      {
        params: IdParams,
        body: t.Optional(DomainVerify),
        ...op('domains:write', {
          summary: 'Verify a domain',
          description: 'Looks for the TXT record. Without a resolver an operator can say it by hand.',
          answers: { 200: { schema: Domain } },
          problems: ['operator_only', 'conflict'],
          body_example: {},
        }),
      },
    )
    .post('/:id/check', ({ principal, params }) => deps.domains.check(principal.actor, params.id), {
      params: IdParams,
      ...op('domains:write', {
        summary: 'Look the DNS records of a domain up now',
        answers: { 200: { schema: Domain } },
      }),
    })

function sent<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [name in K]?: V }
}
