import { Elysia, t } from 'elysia'
import { readFields } from '../http/fields.ts'
import type { Guard } from '../http/guard.ts'
import { type Pager, rangeParams } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import type { OtherReports } from './others.ts'
import { attachment } from './responses.ts'
import {
  FailureReport,
  FailureReportDetail,
  OtherListQuery,
  RejectedFile,
  TlsReport,
  TlsReportDetail,
} from './schema.ts'
import type { Original } from './service.ts'

interface Deps {
  guard: Guard
  others: OtherReports
  pager: Pager
}

const FileAnswer = {
  200: {
    description: 'The file.',
    content: { 'application/octet-stream': { schema: t.String({ format: 'binary' }) } },
  },
}

const download = (original: Original): Response =>
  attachment(original.name, 'application/octet-stream', Bun.file(original.path))

function readFilter(query: { q?: string | undefined; from?: string | undefined; to?: string | undefined }) {
  return { ...rangeParams(query), ...(query.q === undefined || query.q === '' ? {} : { q: query.q }) }
}

/** `/v1/reports/{tls,failures,rejected}`. */
export const otherReportRoutes = (deps: Deps) =>
  new Elysia({ name: 'reports-others', prefix: '/v1/reports', tags: ['Reports'], normalize: false })
    .use(deps.guard)
    .get(
      '/tls',
      async ({ principal, query }) => {
        const filter = readFilter(query)
        const page = deps.pager.read(principal, 'reports/tls', query, filter)
        const pick = readFields(query.fields, TlsReport)
        const { after, limit } = page
        const rows = await deps.others.tls(principal.tenant_id, filter, { after, limit: limit + 1 })
        const { items, ...rest } = page.finish(rows, (row) => [Date.parse(row.date_end), row.id])
        return { items: items.map(pick), ...rest }
      },
      {
        query: OtherListQuery,
        ...op('reports:read', { summary: 'List TLS reports', answers: { 200: { schema: Page(TlsReport) } } }),
      },
    )
    .get('/tls/:id', ({ principal, params }) => deps.others.tlsDetail(principal.tenant_id, params.id), {
      params: IdParams,
      ...op('reports:read', { summary: 'Read a TLS report', answers: { 200: { schema: TlsReportDetail } } }),
    })
    .get(
      '/tls/:id/raw',
      async ({ principal, params }) => download(await deps.others.tlsOriginal(principal.actor, params.id)),
      {
        params: IdParams,
        ...op('reports:read', {
          summary: 'Download a TLS report as it was sent',
          answers: FileAnswer,
          problems: ['gone'],
        }),
      },
    )
    .get(
      '/failures',
      async ({ principal, query }) => {
        const filter = readFilter(query)
        const page = deps.pager.read(principal, 'reports/failures', query, filter)
        const pick = readFields(query.fields, FailureReport)
        const { after, limit } = page
        const rows = await deps.others.failures(principal.tenant_id, filter, { after, limit: limit + 1 })
        const { items, ...rest } = page.finish(rows, (row) => [row.id])
        return { items: items.map(pick), ...rest }
      },
      {
        query: OtherListQuery,
        ...op('reports:read', {
          summary: 'List failure reports',
          answers: { 200: { schema: Page(FailureReport) } },
        }),
      },
    )
    .get(
      '/failures/:id',
      ({ principal, params }) => deps.others.failureDetail(principal.tenant_id, params.id),
      {
        params: IdParams,
        ...op('reports:read', {
          summary: 'Read a failure report',
          answers: { 200: { schema: FailureReportDetail } },
        }),
      },
    )
    .get(
      '/failures/:id/raw',
      async ({ principal, params }) =>
        download(await deps.others.failureOriginal(principal.actor, params.id)),
      {
        params: IdParams,
        ...op('reports:read', {
          summary: 'Download a failure report as it was sent',
          answers: FileAnswer,
          problems: ['gone'],
        }),
      },
    )
    .get(
      '/rejected',
      async ({ principal, query }) => {
        const filter = readFilter(query)
        const page = deps.pager.read(principal, 'reports/rejected', query, filter)
        const pick = readFields(query.fields, RejectedFile)
        const { after, limit } = page
        const rows = await deps.others.rejected(principal.tenant_id, filter, { after, limit: limit + 1 })
        const { items, ...rest } = page.finish(rows, (row) => [row.id])
        return { items: items.map(pick), ...rest }
      },
      {
        query: OtherListQuery,
        ...op('reports:read', {
          summary: 'List files that were refused',
          description: 'Kept for 30 days with the reason.',
          answers: { 200: { schema: Page(RejectedFile) } },
        }),
      },
    )
    .get(
      '/rejected/:id/raw',
      async ({ principal, params }) =>
        download(await deps.others.rejectedOriginal(principal.actor, params.id)),
      {
        params: IdParams,
        ...op('reports:read', {
          summary: 'Download a refused file',
          answers: FileAnswer,
          problems: ['gone'],
        }),
      },
    )
