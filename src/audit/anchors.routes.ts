import { Elysia } from 'elysia'
import type { Guard } from '../http/guard.ts'
import { op } from '../http/schema.ts'
import type { Anchors } from './anchors.ts'
import { Anchors as AnchorsSchema, AnchorsBody } from './schema.ts'

/** `/v1/instance/anchors`: where the checkpoints of the audit log are sent. */
export const anchorRoutes = (deps: { guard: Guard; anchors: Anchors }) =>
  new Elysia({ name: 'anchors', prefix: '/v1/instance/anchors', tags: ['Instance'], normalize: false })
    .use(deps.guard)
    .get(
      '',
      () => deps.anchors.show(),
      op('instance:read', {
        summary: 'Read where checkpoints of the audit log are sent',
        answers: { 200: { schema: AnchorsSchema } },
      }),
    )
    .put('', ({ principal, body }) => deps.anchors.put(principal, body), {
      parse: 'json',
      body: AnchorsBody,
      ...op('instance:write', {
        summary: 'Set where checkpoints of the audit log are sent',
        description:
          'Replaces all of it. To syslog and the webhook every checkpoint goes as it is made, by mail one a day. `{"checkpoints": ["…"]}` is what the webhook gets: signed lines, to be kept.',
        answers: { 200: { schema: AnchorsSchema } },
        problems: ['webhook_url_blocked'],
        body_example: {
          mail_to: ['auditor@example.com'],
          syslog: { host: 'siem.example.com', port: 514, protocol: 'tcp' },
          webhook_url: null,
        },
      }),
    })
