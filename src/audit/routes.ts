import { Elysia, t } from 'elysia'
import { readFields } from '../http/fields.ts'
import type { Guard } from '../http/guard.ts'
import { choiceParam, type Pager, rangeParams } from '../http/pagination.ts'
import { op, Page } from '../http/schema.ts'
import { invalid, problem } from '../lib/errors.ts'
import { AUDIT_ACTIONS, expandActions } from './actions.ts'
import { byteStream, readSeqRange } from './ranges.ts'
import { EXPORT_FORMATS, EXPORT_WRITERS, exportText } from './formats/export.ts'
import {
  AuditActionList,
  AuditEntry,
  AuditEntryDetail,
  AuditExportQuery,
  AuditListQuery,
  AuditVerifyQuery,
  OUTCOMES,
  SeqParams,
  Verification,
} from './schema.ts'
import type { AuditService } from './service.ts'

/** `/v1/audit`: who did what, and the proof that nobody changed it since. */
export const auditRoutes = (deps: { guard: Guard; audit: AuditService; pager: Pager }) =>
  new Elysia({ name: 'audit', prefix: '/v1/audit', tags: ['Audit'], normalize: false })
    .use(deps.guard)
    .get(
      '/query',
      async ({ principal, query }) => {
        const filter = {
          ...rangeParams(query),
          ...actionFilter(query.action),
          ...sent('outcome', choiceParam('outcome', query.outcome, OUTCOMES)),
          ...sent('actor', query.actor),
          ...sent('target', query.target),
          ...sent('q', query.q),
        }
        const page = deps.pager.read(principal, 'audit', query, filter)
        const pick = readFields(query.fields, AuditEntry)
        const before = page.after === null ? null : Number(page.after[0])
        const rows = await deps.audit.query(principal.tenant_id, filter, { before, limit: page.limit + 1 })
        const { items, ...rest } = page.finish(rows, (row) => [row.seq])
        return { items: items.map((item) => ({ ...pick(item), seq: item.seq })), ...rest }
      },
      {
        query: AuditListQuery,
        ...op('audit:read', {
          summary: 'Search the audit log',
          description: 'Newest first.',
          answers: { 200: { schema: Page(AuditEntry) } },
        }),
      },
    )
    .get(
      '/actions',
      () => ({ items: Object.entries(AUDIT_ACTIONS).map(([action, title]) => ({ action, title })) }),
      op('audit:read', {
        summary: 'List the kinds of entries',
        answers: { 200: { schema: AuditActionList } },
      }),
    )
    .get(
      '/entries/:seq',
      ({ principal, params }) => {
        if (!/^[1-9]\d{0,15}$/.test(params.seq)) throw problem('not_found')
        return deps.audit.entry(principal.tenant_id, Number(params.seq))
      },
      {
        params: SeqParams,
        ...op('audit:read', {
          summary: 'Read an entry with the text that was hashed',
          answers: { 200: { schema: AuditEntryDetail } },
        }),
      },
    )
    .get(
      '/export',
      async ({ principal, query, request, server }) => {
        const format = choiceParam('format', query.format, EXPORT_FORMATS) ?? 'ndjson'
        const filter = { ...rangeParams(query), ...actionFilter(query.action) }
        const pages = await deps.audit.export(principal.actor, filter, format)
        // A reader may take its time.
        server?.timeout(request, 0)
        return new Response(byteStream(exportText(format, pages)), {
          headers: {
            'content-type': EXPORT_WRITERS[format].content_type,
            'content-disposition': `attachment; filename="audit.${format}"`,
          },
        })
      },
      {
        query: AuditExportQuery,
        ...op('audit:read', {
          summary: 'Export the audit log',
          description: 'Oldest first, streaming. Each entry comes with the exact text that was hashed.',
          answers: {
            200: {
              description: 'The entries.',
              content: {
                'application/x-ndjson': { schema: t.String() },
                'application/json': { schema: t.Object({ items: t.Array(AuditEntry) }) },
                'text/csv': { schema: t.String() },
              },
            },
          },
        }),
      },
    )
    .get(
      '/verify',
      ({ principal, query, request, server }) => {
        const range = readSeqRange(query)
        server?.timeout(request, 0)
        return deps.audit.verify(principal.actor, range)
      },
      {
        query: AuditVerifyQuery,
        ...op('audit:read', {
          summary: 'Verify the hash chain',
          description:
            'Whole, or a range of times or of numbers. Names the first bad entry and what is wrong.',
          answers: { 200: { schema: Verification } },
        }),
      },
    )

function actionFilter(text: string | undefined): { actions?: string[] } {
  if (text === undefined) return {}
  const actions = expandActions(text)
  if (actions === null) throw invalid('?action', 'unknown_action', `There is no action "${text}".`)
  return { actions }
}

function sent<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [name in K]?: V }
}
