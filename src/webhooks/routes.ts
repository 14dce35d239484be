import { Elysia } from 'elysia'
import { etagOf, readIfMatch } from '../http/etag.ts'
import { readFields } from '../http/fields.ts'
import type { Guard } from '../http/guard.ts'
import { choiceParam, type Pager } from '../http/pagination.ts'
import { IdParams, op, Page } from '../http/schema.ts'
import { type Clock, SECOND_MS } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import { checkSignature } from './rules/signature-check.ts'
import {
  EventKindList,
  RotateQuery,
  SignatureCheck,
  SignatureCheckResult,
  Webhook,
  WebhookCreate,
  WebhookListQuery,
  WebhookTest,
  WebhookTestResult,
  WebhookUpdate,
  WebhookWithSecret,
} from './schema.ts'
import type { WebhookService } from './service.ts'

interface Deps {
  guard: Guard
  webhooks: WebhookService
  pager: Pager
  clock: Clock
}

/** `/v1/webhooks`: where events go. What became of them is in routes.deliveries.ts. */
export const webhookRoutes = (deps: Deps) =>
  new Elysia({ name: 'webhooks', prefix: '/v1/webhooks', tags: ['Webhooks'], normalize: false })
    .use(deps.guard)
    .get('/events', ({ principal }) => deps.webhooks.kinds(principal.tenant_id), {
      ...op('webhooks:read', {
        summary: 'List the kinds of event',
        description: 'Each with the JSON Schema of its `data` and a whole envelope as example.',
        answers: { 200: { schema: EventKindList } },
      }),
    })
    .get(
      '',
      async ({ principal, query }) => {
        const page = deps.pager.read(principal, 'webhooks', query)
        const pick = readFields(query.fields, Webhook)
        const after = page.after === null ? null : String(page.after[0])
        const rows = await deps.webhooks.list(principal.tenant_id, after, page.limit)
        const { items, ...rest } = page.finish(rows, (row) => [row.id])
        return { items: items.map(pick), ...rest }
      },
      {
        query: WebhookListQuery,
        ...op('webhooks:read', { summary: 'List webhooks', answers: { 200: { schema: Page(Webhook) } } }),
      },
    )
    .post(
      '',
      async ({ principal, body, set }) => {
        const made = await deps.webhooks.create(principal, body)
        set.status = 201
        set.headers['etag'] = etagOf(made.version)
        return made
      },
      {
        parse: 'json',
        body: WebhookCreate,
        ...op('webhooks:write', {
          summary: 'Add a webhook',
          description: 'At most 20. The secret is in the answer, this once.',
          answers: { 201: { schema: WebhookWithSecret, headers: ['ETag'] } },
          problems: ['webhook_url_blocked', 'conflict'],
          body_example: {
            url: 'https://hooks.example.com/wardpost',
            events: ['DMARC_THRESHOLD_REACHED', 'AUDIT_LOG_ANOMALY'],
            description: 'SIEM of the Berlin office',
          },
        }),
      },
    )
    .get(
      '/:id',
      async ({ principal, params, set }) => {
        const found = await deps.webhooks.get(principal.tenant_id, params.id)
        set.headers['etag'] = etagOf(found.version)
        return found
      },
      {
        params: IdParams,
        ...op('webhooks:read', {
          summary: 'Read a webhook',
          answers: { 200: { schema: Webhook, headers: ['ETag'] } },
        }),
      },
    )
    .patch(
      '/:id',
      async ({ principal, params, body, request, set }) => {
        const version = readIfMatch(request.headers.get('if-match'))
        const changed = await deps.webhooks.update(principal, params.id, body, version)
        set.headers['etag'] = etagOf(changed.version)
        return changed
      },
      {
        params: IdParams,
        parse: 'json',
        body: WebhookUpdate,
        ...op('webhooks:write', {
          summary: 'Change URL, events or description',
          description: 'Deliveries that are open go to the new URL.',
          answers: { 200: { schema: Webhook, headers: ['ETag'] } },
          problems: ['version_conflict', 'webhook_url_blocked'],
        }),
      },
    )
    .delete(
      '/:id',
      async ({ principal, params, set }) => {
        await deps.webhooks.remove(principal, params.id)
        set.status = 204
      },
      {
        params: IdParams,
        ...op('webhooks:write', {
          summary: 'Delete a webhook',
          description: 'Its deliveries go with it; open ones are cancelled.',
          answers: { 204: { description: 'Deleted.' } },
          problems: ['conflict'],
        }),
      },
    )
    .post('/:id/pause', ({ principal, params }) => deps.webhooks.pause(principal, params.id), {
      params: IdParams,
      ...op('webhooks:write', {
        summary: 'Pause a webhook',
        description: 'What happens meanwhile is kept as skipped deliveries, which can be sent later.',
        answers: { 200: { schema: Webhook } },
        problems: ['conflict'],
      }),
    })
    .post('/:id/resume', ({ principal, params }) => deps.webhooks.resume(principal, params.id), {
      params: IdParams,
      ...op('webhooks:write', {
        summary: 'Resume a paused or disabled webhook',
        answers: { 200: { schema: Webhook } },
        problems: ['conflict'],
      }),
    })
    .post(
      '/:id/secret/rotate',
      ({ principal, params, query }) => {
        const immediate = choiceParam('immediate', query.immediate, ['true', 'false']) === 'true'
        return deps.webhooks.rotate(principal, params.id, immediate)
      },
      {
        params: IdParams,
        query: RotateQuery,
        ...op('webhooks:write', {
          summary: 'Give a webhook a new secret',
          description:
            '`webhook-signature` carries both signatures; `X-Service-Signature` stays with the old secret until the ' +
            'new one is promoted, or for 24 hours. The new secret is in the answer, this once.',
          answers: { 200: { schema: WebhookWithSecret } },
          problems: ['conflict'],
        }),
      },
    )
    .post('/:id/secret/promote', ({ principal, params }) => deps.webhooks.promote(principal, params.id), {
      params: IdParams,
      ...op('webhooks:write', {
        summary: 'Make the new secret the only one',
        answers: { 200: { schema: Webhook } },
        problems: ['conflict'],
      }),
    })
    .post('/:id/test', ({ principal, params, body }) => deps.webhooks.test(principal, params.id, body.type), {
      params: IdParams,
      parse: 'json',
      body: WebhookTest,
      ...op('webhooks:write', {
        summary: 'Send a signed example now',
        description: 'Answers what the receiver said, within ten seconds. Leaves no delivery.',
        answers: { 200: { schema: WebhookTestResult } },
        problems: ['overloaded'],
        body_example: { type: 'AUDIT_LOG_ANOMALY' },
      }),
    })
    .post(
      '/:id/check-signature',
      async ({ principal, params, body }) => {
        const secrets = await deps.webhooks.signing(principal.tenant_id, params.id)
        if (secrets === null) throw problem('conflict', 'The secret cannot be opened: rotate it.')
        const headers = new Map(
          Object.entries(body.headers).map(([name, value]) => [name.toLowerCase(), value]),
        )
        return checkSignature({ headers, body: body.body }, secrets, Math.floor(deps.clock.now() / SECOND_MS))
      },
      {
        params: IdParams,
        parse: 'json',
        body: SignatureCheck,
        ...op('webhooks:read', {
          summary: 'Find out why a signature does not verify',
          description: 'Paste what your endpoint received. Nothing is kept.',
          answers: { 200: { schema: SignatureCheckResult } },
          problems: ['conflict'],
          body_example: {
            headers: { 'X-Service-Signature-Timestamp': '1768471200', 'X-Service-Signature': '9f2c…' },
            body: '{"id":"evt_01k3v8q2m7x0c9tbe4h6ynp5rz"}',
          },
        }),
      },
    )
