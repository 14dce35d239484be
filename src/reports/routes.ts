import { Elysia, t } from 'elysia'
import { readFields } from '../http/fields.ts'
import type { Guard } from '../http/guard.ts'
import { choiceParam, type Pager, rangeParams, sortParam } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import { csvLine } from '../lib/csv.ts'
import { invalid } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { EXPORT_TYPES, exportText, REPORT_CSV_COLUMNS, reportCsvCells } from './export.ts'
import { attachment, byteStream } from './responses.ts'
import {
  EXPORT_FORMATS,
  LIST_FORMATS,
  RecordListQuery,
  Report,
  ReportDetail,
  ReportDetailQuery,
  ReportExportQuery,
  ReportListQuery,
  ReportRecord,
  STATUSES,
} from './schema.ts'
import { readDomainFilter } from './domain-filter.ts'
import type { ReportsService } from './service.ts'
import { REPORT_SORTS, reportPosition } from './sorts.ts'

interface Deps {
  guard: Guard
  reports: ReportsService
  pager: Pager
  log: Log
}

const csv_table = t.String({ description: 'The page as a table.' })

/** `/v1/reports`: DMARC aggregate reports, their records, and the export. */
export const reportRoutes = (deps: Deps) =>
  new Elysia({ name: 'reports', prefix: '/v1/reports', tags: ['Reports'], normalize: false })
    .use(deps.guard)
    .get(
      '',
      async ({ principal, query }) => {
        const filter = readFilter(query)
        const sort = sortParam(query.sort, REPORT_SORTS, '-date_end')
        const format = choiceParam('format', query.format, LIST_FORMATS) ?? 'json'
        const page = deps.pager.read(principal, 'reports', query, { ...filter, sort })
        const pick = readFields(query.fields, Report)
        const { after, limit } = page
        const rows = await deps.reports.list(principal.tenant_id, filter, { sort, after, limit: limit + 1 })
        const { items, ...rest } = page.finish(rows, (row) => reportPosition(row, sort))
        const shown = items.map(deps.reports.show)
        if (format === 'json') return { items: shown.map(pick), ...rest }
        const lines = shown.map((report) => csvLine(reportCsvCells(report)))
        return attachment('reports.csv', EXPORT_TYPES.csv, csvLine(REPORT_CSV_COLUMNS) + lines.join(''))
      },
      {
        query: ReportListQuery,
        ...op('reports:read', {
          summary: 'List reports',
          description:
            'By end of the covered period, newest first. Reports that were replaced are not shown.',
          answers: {
            200: {
              description: 'The reports.',
              content: {
                'application/json': { schema: Page(Report) },
                'text/csv': { schema: csv_table },
              },
            },
          },
        }),
      },
    )
    .get(
      '/export',
      async ({ principal, query, request, server }) => {
        const format = choiceParam('format', query.format, EXPORT_FORMATS) ?? 'json'
        const pages = await deps.reports.export(principal.actor, readFilter(query), format)
        // A reader may take its time.
        server?.timeout(request, 0)
        const text = exportText(format, pages, (error) => deps.log.error('export broke off', { error }))
        return attachment(`dmarc-records.${format}`, EXPORT_TYPES[format], byteStream(text))
      },
      {
        query: ReportExportQuery,
        ...op('reports:read', {
          summary: 'Export records of reports',
          description:
            'One row per record, streaming. json and ndjson end with `_meta` {rows, sha256, complete}: without it, ' +
            'or with complete false, the file is cut off. sha256 is over the items, each as one line of compact JSON.',
          answers: {
            200: {
              description: 'The records.',
              content: {
                'application/json': { schema: { type: 'object' } as never },
                'application/x-ndjson': { schema: { type: 'string' } as never },
                'text/csv': { schema: csv_table },
              },
            },
          },
        }),
      },
    )
    .get(
      '/:id',
      async ({ principal, params, query }) => {
        const pick = readFields(query.fields, ReportDetail)
        const report = await deps.reports.find(principal.tenant_id, params.id)
        const page = deps.pager.read(principal, `reports/${params.id}/records`, query)
        const records = await deps.reports.records(report, {
          after: Number(page.after?.[0] ?? 0),
          limit: page.limit + 1,
          failing: false,
        })
        return pick({
          ...deps.reports.show(report),
          records: page.finish(records, (record) => [record.n]),
        })
      },
      {
        params: IdParams,
        query: ReportDetailQuery,
        ...op('reports:read', {
          summary: 'Read a report with its records',
          description: '`limit` and `cursor` page through the records.',
          answers: { 200: { schema: ReportDetail } },
        }),
      },
    )
    .get(
      '/:id/records',
      async ({ principal, params, query }) => {
        const failing = choiceParam('result', query.result, ['fail']) === 'fail'
        const report = await deps.reports.find(principal.tenant_id, params.id)
        // The cursor of the detail serves here too when nothing is filtered.
        const binding = failing ? { result: 'fail' } : {}
        const page = deps.pager.read(principal, `reports/${params.id}/records`, query, binding)
        const records = await deps.reports.records(report, {
          after: Number(page.after?.[0] ?? 0),
          limit: page.limit + 1,
          failing,
        })
        return page.finish(records, (record) => [record.n])
      },
      {
        params: IdParams,
        query: RecordListQuery,
        ...op('reports:read', {
          summary: 'List the records of a report',
          answers: { 200: { schema: Page(ReportRecord) } },
        }),
      },
    )
    .get(
      '/:id/raw',
      async ({ principal, params }) => {
        const original = await deps.reports.original(principal.actor, params.id)
        return attachment(original.name, 'application/octet-stream', Bun.file(original.path))
      },
      {
        params: IdParams,
        ...op('reports:read', {
          summary: 'Download the file as it was sent',
          answers: {
            200: {
              description: 'The file.',
              content: {
                'application/octet-stream': { schema: { type: 'string', format: 'binary' } as never },
              },
            },
          },
          problems: ['gone'],
        }),
      },
    )

interface FilterQuery {
  domain?: string | undefined
  from?: string | undefined
  to?: string | undefined
  org?: string | undefined
  q?: string | undefined
  unassigned?: string | undefined
  status?: string | undefined
}

function readFilter(query: FilterQuery) {
  const unassigned = readBoolean('unassigned', query.unassigned)
  return {
    ...sent('domains', readDomainFilter(query.domain)),
    ...rangeParams(query),
    ...sent('org', query.org),
    ...sent('q', query.q === '' ? undefined : query.q),
    ...sent('unassigned', unassigned),
    ...sent('status', choiceParam('status', query.status, STATUSES)),
  }
}

function readBoolean(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false')
    throw invalid(`?${name}`, 'unknown_value', `${name} can be true, false.`)
  return text === 'true'
}

function sent<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [name in K]?: V }
}
