import { Elysia } from 'elysia'
import { readFields } from '../http/fields.ts'
import type { Guard } from '../http/guard.ts'
import { choiceParam, type Pager, timeParam } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import {
  Delivery,
  DeliveryDetail,
  DeliveryListQuery,
  DeliveryParams,
  JobParams,
  RedeliverCount,
  RedeliverJob,
  RedeliverMany,
  RedeliverStarted,
  UndeliveredQuery,
} from './schema.ts'
import type { DeliveryService } from './service.deliveries.ts'
import { DELIVERY_STATUSES } from './statuses.ts'

interface Deps {
  guard: Guard
  deliveries: DeliveryService
  pager: Pager
}

/** `/v1/webhooks/…/deliveries`: what became of events, and sending again. */
export const deliveryRoutes = (deps: Deps) =>
  new Elysia({ name: 'deliveries', prefix: '/v1/webhooks', tags: ['Webhooks'], normalize: false })
    .use(deps.guard)
    .get(
      '/undelivered',
      async ({ principal, query }) => {
        const page = deps.pager.read(principal, 'undelivered', query)
        const pick = readFields(query.fields, Delivery)
        const after = page.after === null ? null : String(page.after[0])
        const rows = await deps.deliveries.undelivered(principal.tenant_id, after, page.limit)
        const { items, ...rest } = page.finish(rows, (row) => [row.id])
        return { items: items.map(pick), ...rest }
      },
      {
        query: UndeliveredQuery,
        ...op('webhooks:read', {
          summary: 'List what was not delivered',
          description: 'Of all webhooks: failed, skipped, and being tried again.',
          answers: { 200: { schema: Page(Delivery) } },
        }),
      },
    )
    .get(
      '/:id/deliveries',
      async ({ principal, params, query }) => {
        const status = choiceParam('status', query.status, DELIVERY_STATUSES)
        const binding = { webhook: params.id, status, type: query.type }
        const page = deps.pager.read(principal, 'deliveries', query, binding)
        const pick = readFields(query.fields, Delivery)
        const rows = await deps.deliveries.list(principal.tenant_id, params.id, {
          ...(status === undefined ? {} : { status }),
          ...(query.type === undefined ? {} : { type: query.type }),
          after: page.after === null ? null : String(page.after[0]),
          limit: page.limit,
        })
        const { items, ...rest } = page.finish(rows, (row) => [row.id])
        return { items: items.map(pick), ...rest }
      },
      {
        params: IdParams,
        query: DeliveryListQuery,
        ...op('webhooks:read', {
          summary: 'List deliveries of a webhook',
          answers: { 200: { schema: Page(Delivery) } },
        }),
      },
    )
    .get(
      '/:id/deliveries/:delivery_id',
      ({ principal, params }) => deps.deliveries.get(principal.tenant_id, params.id, params.delivery_id),
      {
        params: DeliveryParams,
        ...op('webhooks:read', {
          summary: 'Read a delivery with its attempts',
          description: 'Older than 90 days: 410; older than 180: 404.',
          answers: { 200: { schema: DeliveryDetail } },
          problems: ['gone'],
        }),
      },
    )
    .post(
      '/:id/redeliver/:delivery_id',
      async ({ principal, params, set }) => {
        set.status = 202
        return deps.deliveries.redeliver(principal, params.id, params.delivery_id)
      },
      {
        params: DeliveryParams,
        ...op('webhooks:write', {
          summary: 'Send a delivery again',
          description: 'A failed or skipped one: a new round of seven attempts with the same ids.',
          answers: { 202: { schema: Delivery } },
          problems: ['conflict', 'gone'],
        }),
      },
    )
    .post(
      '/:id/redeliver',
      async ({ principal, params, body, set }) => {
        const since = timeParam('since', body.since)!
        const dry_run = body.dry_run === true
        if (!dry_run) set.status = 202
        const request = { since, statuses: body.statuses, dry_run }
        return deps.deliveries.redeliverMany(principal, params.id, request)
      },
      {
        params: IdParams,
        parse: 'json',
        body: RedeliverMany,
        ...op('webhooks:write', {
          summary: 'Send everything again that was not delivered since',
          description:
            'With `dry_run` it only counts. Otherwise a job does it; `redeliver-jobs` shows how far it is.',
          answers: { 200: { schema: RedeliverCount }, 202: { schema: RedeliverStarted } },
          problems: ['conflict'],
          body_example: { since: '2026-01-15', statuses: ['failed', 'skipped'], dry_run: true },
        }),
      },
    )
    .get(
      '/:id/redeliver-jobs/:job_id',
      ({ principal, params }) => deps.deliveries.job(principal.tenant_id, params.id, params.job_id),
      {
        params: JobParams,
        ...op('webhooks:read', {
          summary: 'See how far sending again is',
          answers: { 200: { schema: RedeliverJob } },
        }),
      },
    )
