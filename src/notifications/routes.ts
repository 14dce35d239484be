import { Elysia } from 'elysia'
import { etagOf, readIfMatch } from '../http/etag.ts'
import type { Guard } from '../http/guard.ts'
import { op } from '../http/schema.ts'
import type { MailService } from './mail.ts'
import {
  MailSettings,
  MailTest,
  MailTestResult,
  MailUpdate,
  NotificationSettings,
  NotificationTest,
  NotificationUpdate,
} from './schema.ts'
import type { NotificationService } from './service.ts'

/** `/v1/settings/notifications`: who is told of alerts. */
export const notificationRoutes = (deps: { guard: Guard; notifications: NotificationService }) =>
  new Elysia({
    name: 'notifications',
    prefix: '/v1/settings/notifications',
    tags: ['Settings'],
    normalize: false,
  })
    .use(deps.guard)
    .get(
      '',
      async ({ principal, set }) => {
        const settings = await deps.notifications.get(principal.tenant_id)
        set.headers['etag'] = etagOf(settings.version)
        return settings
      },
      op('settings:read', {
        summary: 'Read who is told of alerts',
        answers: { 200: { schema: NotificationSettings, headers: ['ETag'] } },
      }),
    )
    .patch(
      '',
      async ({ principal, body, request, set }) => {
        const expected = readIfMatch(request.headers.get('if-match'))
        const settings = await deps.notifications.update(principal, body, expected)
        set.headers['etag'] = etagOf(settings.version)
        return settings
      },
      {
        parse: 'json',
        body: NotificationUpdate,
        ...op('settings:write', {
          summary: 'Change who is told of alerts',
          description: 'Members that are left out stay as they are, within `digest` and `quiet_hours` too.',
          answers: { 200: { schema: NotificationSettings, headers: ['ETag'] } },
          problems: ['version_conflict'],
          body_example: {
            immediate: ['critical'],
            quiet_hours: { enabled: true, timezone: 'Europe/Berlin' },
          },
        }),
      },
    )
    .post('/test', ({ principal }) => deps.notifications.test(principal), {
      ...op('settings:write', {
        summary: 'Send a test mail to everybody who would be told',
        description: 'At once, whatever the quiet hours.',
        answers: { 200: { schema: NotificationTest } },
        problems: ['mail_not_configured'],
      }),
    })

/** `/v1/instance/mail`: the mail server, for operators. */
export const mailRoutes = (deps: { guard: Guard; mail: MailService }) =>
  new Elysia({ name: 'instance-mail', prefix: '/v1/instance/mail', tags: ['Instance'], normalize: false })
    .use(deps.guard)
    .get(
      '',
      async ({ set }) => {
        const settings = await deps.mail.get()
        set.headers['etag'] = etagOf(settings.version)
        return settings
      },
      op('instance:read', {
        summary: 'Read the mail server',
        answers: { 200: { schema: MailSettings, headers: ['ETag'] } },
      }),
    )
    .put(
      '',
      async ({ principal, body, request, set }) => {
        const expected = readIfMatch(request.headers.get('if-match'))
        const settings = await deps.mail.put(principal, body, expected)
        set.headers['etag'] = etagOf(settings.version)
        return settings
      },
      {
        parse: 'json',
        body: MailUpdate,
        ...op('instance:write', {
          summary: 'Set the mail server',
          description: 'A password that is left out stays; null takes it away. It is never shown again.',
          answers: { 200: { schema: MailSettings, headers: ['ETag'] } },
          problems: ['version_conflict'],
          body_example: {
            host: 'smtp.example.com',
            port: 587,
            security: 'starttls',
            username: 'wardpost',
            password: 'the password',
            from_address: 'wardpost@example.com',
            from_name: 'Wardpost',
          },
        }),
      },
    )
    .delete(
      '',
      async ({ principal, set }) => {
        await deps.mail.remove(principal)
        set.status = 204
      },
      op('instance:write', {
        summary: 'Send no mail any more',
        answers: { 204: { description: 'Removed.' } },
      }),
    )
    .post('/test', ({ principal, body }) => deps.mail.test(principal, body.to), {
      parse: 'json',
      body: MailTest,
      ...op('instance:write', {
        summary: 'Send a test mail',
        description: 'Answers what the server said, word by word.',
        answers: { 200: { schema: MailTestResult } },
        problems: ['mail_not_configured'],
        body_example: { to: 'mara@northlight.example' },
      }),
    })
