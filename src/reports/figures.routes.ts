import { Elysia } from 'elysia'
import type { Guard } from '../http/guard.ts'
import { type Pager, rangeParams, sortParam } from '../http/pagination.ts'
import { IdParams, op } from '../http/schema.ts'
import type { Principal } from '../lib/principal.ts'
import {
  DomainSourcesQuery,
  RangeQuery,
  Reporters,
  ReportSummary,
  Sources,
  SourcesQuery,
  Timeline,
  TimelineQuery,
} from './schema.ts'
import { readDomainFilter } from './domain-filter.ts'
import type { ReportsService } from './service.ts'
import { SOURCE_SORTS, sourcePosition } from './sorts.ts'

interface Deps {
  guard: Guard
  reports: ReportsService
  pager: Pager
}

interface SourceQuery {
  from?: string | undefined
  to?: string | undefined
  sort?: string | undefined
  sender?: string | undefined
  limit?: string | undefined
  cursor?: string | undefined
}

type About = { domain_id: string } | { names: readonly string[] | undefined }

async function sourcesPage(deps: Deps, principal: Principal, about: About, query: SourceQuery) {
  const range = rangeParams(query)
  const sort = sortParam(query.sort, SOURCE_SORTS, '-fail')
  const sender = query.sender === undefined ? {} : { sender: query.sender }
  const page = deps.pager.read(principal, 'sources', query, { ...about, ...range, ...sender, sort })
  const { after, limit } = page
  const found = await deps.reports.sources(principal.tenant_id, about, range, {
    sort,
    after,
    limit: limit + 1,
    ...sender,
  })
  return { ...found, ...page.finish(found.items, (item) => sourcePosition(item, sort)) }
}

/** Timelines, sources and sums over all domains: `/v1/reports/{timeline,sources,summary,reporters}`. */
export const figureRoutes = (deps: Deps) =>
  new Elysia({ name: 'report-figures', prefix: '/v1/reports', tags: ['Reports'], normalize: false })
    .use(deps.guard)
    .get(
      '/timeline',
      ({ principal, query }) => {
        const names = readDomainFilter(query.domain)
        return deps.reports.timeline(principal.tenant_id, { names }, rangeParams(query))
      },
      {
        query: TimelineQuery,
        ...op('reports:read', {
          summary: 'Messages by day, over all domains or those named',
          answers: { 200: { schema: Timeline } },
        }),
      },
    )
    .get(
      '/sources',
      ({ principal, query }) =>
        sourcesPage(deps, principal, { names: readDomainFilter(query.domain) }, query),
      {
        query: SourcesQuery,
        ...op('reports:read', {
          summary: 'Senders, over all domains or those named',
          description: 'Those with the most failing messages first.',
          answers: { 200: { schema: Sources } },
        }),
      },
    )
    .get(
      '/summary',
      ({ principal, query }) => deps.reports.summary(principal.tenant_id, rangeParams(query)),
      {
        query: RangeQuery,
        ...op('reports:read', { summary: 'Sums over a range', answers: { 200: { schema: ReportSummary } } }),
      },
    )
    .get(
      '/reporters',
      async ({ principal, query }) => ({
        items: await deps.reports.reporters(principal.tenant_id, rangeParams(query)),
      }),
      {
        query: RangeQuery,
        ...op('reports:read', {
          summary: 'Who sent reports about the days of a range',
          answers: { 200: { schema: Reporters } },
        }),
      },
    )

/** The same of one domain: `/v1/domains/{id}/{timeline,sources}`. */
export const domainFigureRoutes = (deps: Deps) =>
  new Elysia({ name: 'domain-figures', prefix: '/v1/domains', tags: ['Domains'], normalize: false })
    .use(deps.guard)
    .get(
      '/:id/timeline',
      ({ principal, params, query }) =>
        deps.reports.timeline(principal.tenant_id, { domain_id: params.id }, rangeParams(query)),
      {
        params: IdParams,
        query: RangeQuery,
        ...op('domains:read', {
          summary: 'Messages of a domain by day',
          answers: { 200: { schema: Timeline } },
        }),
      },
    )
    .get(
      '/:id/sources',
      ({ principal, params, query }) => sourcesPage(deps, principal, { domain_id: params.id }, query),
      {
        params: IdParams,
        query: DomainSourcesQuery,
        ...op('domains:read', {
          summary: 'Senders of a domain',
          description: 'Those with the most failing messages first.',
          answers: { 200: { schema: Sources } },
        }),
      },
    )
