import { Elysia, t } from 'elysia'
import { readFields } from '../http/fields.ts'
import type { Guard } from '../http/guard.ts'
import { choiceParam, type Pager, sortParam } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import { csvLine } from '../lib/csv.ts'
import { invalid } from '../lib/errors.ts'
import type { Principal } from '../lib/principal.ts'
import { ALERT_CSV_COLUMNS, alertCsvCells } from './present.ts'
import {
  Alert,
  AlertAssign,
  AlertBulk,
  AlertBulkResult,
  AlertKinds,
  type AlertListInput,
  AlertListQuery,
  AlertNote,
  AlertSummary,
  FieldsOnly,
  KINDS,
  LIST_FORMATS,
  SilenceQuery,
} from './schema.ts'
import type { AlertService } from './service.ts'
import { ALERT_SORTS, alertPosition } from './sorts.ts'
import { ALERT_KINDS, ALERT_STATUSES, SEVERITIES } from './types.ts'

const CSV = { 'content-type': 'text/csv; charset=utf-8; header=present' }
const one = { 200: { schema: Alert } }

/** `/v1/alerts`: what a person must act on. */
export const alertRoutes = (deps: { guard: Guard; alerts: AlertService; pager: Pager }) =>
  new Elysia({ name: 'alerts', prefix: '/v1/alerts', tags: ['Alerts'], normalize: false })
    .use(deps.guard)
    .get(
      '',
      async ({ principal, query }) => {
        const filter = readFilter(principal, query)
        const sort = sortParam(query.sort, ALERT_SORTS, '-last_at')
        const format = choiceParam('format', query.format, LIST_FORMATS) ?? 'json'
        const page = deps.pager.read(principal, 'alerts', query, { ...filter, sort })
        const pick = readFields(query.fields, Alert)
        const { after, limit } = page
        const rows = await deps.alerts.list(principal.tenant_id, filter, { sort, after, limit: limit + 1 })
        const { items, ...rest } = page.finish(rows, (row) => alertPosition(row, sort))
        const shown = await deps.alerts.show(principal.tenant_id, items)
        if (format === 'json') return { items: shown.map(pick), ...rest }
        const lines = [ALERT_CSV_COLUMNS, ...shown.map(alertCsvCells)].map(csvLine)
        const headers = { ...CSV, 'content-disposition': 'attachment; filename="alerts.csv"' }
        return new Response(lines.join(''), { headers })
      },
      {
        query: AlertListQuery,
        ...op('alerts:read', {
          summary: 'List alerts',
          description: 'Those that were raised last come first.',
          answers: {
            200: {
              description: 'The alerts.',
              content: {
                'application/json': { schema: Page(Alert) },
                'text/csv': { schema: t.String({ description: 'The page as a table.' }) },
              },
            },
          },
        }),
      },
    )
    .get('/summary', ({ principal }) => deps.alerts.summary(principal.tenant_id), {
      ...op('alerts:read', {
        summary: 'Count the alerts that are not resolved',
        answers: { 200: { schema: AlertSummary } },
      }),
    })
    .get(
      '/kinds',
      () => ({ items: Object.entries(ALERT_KINDS).map(([kind, title]) => ({ kind, title })) }),
      op('alerts:read', { summary: 'List the kinds of alerts', answers: { 200: { schema: AlertKinds } } }),
    )
    .post('/bulk', async ({ principal, body }) => ({ results: await deps.alerts.bulk(principal, body) }), {
      parse: 'json',
      body: AlertBulk,
      ...op('alerts:write', {
        summary: 'Acknowledge, silence or resolve many alerts',
        description: 'Each id has its own result.',
        answers: { 200: { schema: AlertBulkResult } },
        body_example: { ids: ['alr_01k3v8q2m7x0c9tbe4h6ynp5rz'], action: 'silence', duration: '4h' },
      }),
    })
    .get(
      '/:id',
      async ({ principal, params, query }) => {
        const pick = readFields(query.fields, Alert)
        return pick(await deps.alerts.get(principal.tenant_id, params.id))
      },
      {
        params: IdParams,
        query: FieldsOnly,
        ...op('alerts:read', { summary: 'Read an alert', answers: one }),
      },
    )
    .post('/:id/ack', ({ principal, params }) => deps.alerts.acknowledge(principal, params.id), {
      params: IdParams,
      ...op('alerts:write', {
        summary: 'Acknowledge an alert',
        description: 'Open and silenced ones. Anything else: 409.',
        answers: one,
        problems: ['conflict'],
      }),
    })
    .post('/:id/resolve', ({ principal, params }) => deps.alerts.resolve(principal, params.id), {
      params: IdParams,
      ...op('alerts:write', {
        summary: 'Resolve an alert',
        description: 'When the problem comes back, a new alert is raised.',
        answers: one,
        problems: ['conflict'],
      }),
    })
    .post(
      '/:id/silence',
      ({ principal, params, query }) => deps.alerts.silence(principal, params.id, query.duration),
      {
        params: IdParams,
        query: SilenceQuery,
        ...op('alerts:write', {
          summary: 'Silence an alert for a while',
          description: 'Open and acknowledged ones; then it is open again. Anything else: 409.',
          answers: one,
          problems: ['conflict'],
        }),
      },
    )
    .post(
      '/:id/assign',
      ({ principal, params, body }) => deps.alerts.assign(principal, params.id, body.user_id),
      {
        params: IdParams,
        parse: 'json',
        body: AlertAssign,
        ...op('alerts:write', {
          summary: 'Assign an alert to a user, or to nobody',
          answers: one,
          problems: ['conflict'],
          body_example: { user_id: null },
        }),
      },
    )
    .post('/:id/note', ({ principal, params, body }) => deps.alerts.note(principal, params.id, body.text), {
      params: IdParams,
      parse: 'json',
      body: AlertNote,
      ...op('alerts:write', {
        summary: 'Write a note into the history of an alert',
        answers: one,
        problems: ['conflict'],
        body_example: { text: 'The new mailer has no DKIM key yet; asked marketing.' },
      }),
    })

function readFilter(principal: Principal, query: AlertListInput) {
  const status = choices('status', query.status, ALERT_STATUSES)
  const severity = choices('severity', query.severity, SEVERITIES)
  const kind = choices('kind', query.kind, KINDS)
  return {
    ...(status === undefined ? {} : { status }),
    ...(severity === undefined ? {} : { severity }),
    ...(kind === undefined ? {} : { kind }),
    ...(query.q === undefined ? {} : { q: query.q }),
    ...(query.assigned_to === undefined ? {} : { assigned_to: assignedTo(principal, query.assigned_to) }),
  }
}

/** A comma list of the named values, each once; undefined when not sent. */
function choices<const T extends string>(name: string, text: string | undefined, allowed: readonly T[]) {
  if (text === undefined) return undefined
  return [...new Set(text.split(',').map((each) => choiceParam(name, each.trim(), allowed)!))]
}

function assignedTo(principal: Principal, text: string): string | null {
  if (text === 'none') return null
  if (text !== 'me') return text
  if (principal.user !== null) return principal.user.id
  throw invalid('?assigned_to', 'no_user', 'A key is not a user: name one by its id.')
}
