import { t } from 'elysia'
import { SEVERITIES } from '../alerts/types.ts'
import { Body, Int, IsoTime, Literals, Nullable } from '../http/schema.ts'
import { NOTIFICATION_RECIPIENTS_MAX } from '../lib/limits.ts'

const Address = t.String({ minLength: 3, maxLength: 254, examples: ['wardpost@example.com'] })
const TimeOfDay = t.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', examples: ['07:00'] })
const Severities = t.Array(Literals(SEVERITIES), { maxItems: SEVERITIES.length, uniqueItems: true })
const TimeZone = t.String({ minLength: 1, maxLength: 64, examples: ['Europe/Berlin'] })

const Digest = { enabled: t.Boolean(), at: TimeOfDay, severities: Severities }
const Quiet = { enabled: t.Boolean(), from: TimeOfDay, to: TimeOfDay, timezone: TimeZone }

const members = {
  email_enabled: t.Boolean(),
  recipients: t.Array(t.String({ minLength: 3, maxLength: 254 }), {
    maxItems: NOTIFICATION_RECIPIENTS_MAX,
    description: 'Ids of users of the tenant, or addresses. Empty: all owners and admins.',
    examples: [['usr_01k3v8q2m7x0c9tbe4h6ynp5rz', 'soc@example.com']],
  }),
  immediate: t.Array(Literals(SEVERITIES), {
    maxItems: SEVERITIES.length,
    uniqueItems: true,
    description: 'Told at once, one mail per alert.',
  }),
  digest: t.Object(Digest, { description: 'The rest, once a day, in the time zone of the quiet hours.' }),
  quiet_hours: t.Object(Quiet, { description: 'No mail at all in between; it goes at their end.' }),
}

export const NotificationSettings = t.Object(
  {
    ...members,
    mail_configured: t.Boolean({ description: 'The operator has named a mail server.' }),
    version: Int(),
    updated_at: Nullable(IsoTime),
  },
  { title: 'NotificationSettings' },
)
export type NotificationSettingsDto = typeof NotificationSettings.static

export const NotificationUpdate = Body(
  {
    email_enabled: t.Optional(members.email_enabled),
    recipients: t.Optional(members.recipients),
    immediate: t.Optional(members.immediate),
    digest: t.Optional(t.Partial(t.Object(Digest), { additionalProperties: false })),
    quiet_hours: t.Optional(t.Partial(t.Object(Quiet), { additionalProperties: false })),
  },
  { minProperties: 1 },
)
export type NotificationUpdateInput = typeof NotificationUpdate.static

export const NotificationTest = t.Object({
  results: t.Array(t.Object({ to: t.String(), ok: t.Boolean(), error: Nullable(t.String()) })),
})

const SECURITIES = ['none', 'starttls', 'tls'] as const

export const MailSettings = t.Object(
  {
    configured: t.Boolean(),
    host: Nullable(t.String()),
    port: Nullable(Int()),
    security: Nullable(Literals(SECURITIES)),
    username: Nullable(t.String()),
    has_password: t.Boolean({ description: 'The password itself is never shown.' }),
    from_address: Nullable(t.String()),
    from_name: Nullable(t.String()),
    reply_to: Nullable(t.String()),
    queue: t.Object(
      {
        waiting: Int(),
        failed: Int({ description: 'Given up within the last 30 days.' }),
        last_error: Nullable(t.String()),
        last_sent_at: Nullable(IsoTime),
      },
      { description: 'Mail about alerts, of all tenants.' },
    ),
    version: Int(),
    updated_at: Nullable(IsoTime),
  },
  { title: 'MailSettings' },
)
export type MailSettingsDto = typeof MailSettings.static

export const MailUpdate = Body({
  host: t.String({ minLength: 1, maxLength: 253, examples: ['smtp.example.com'] }),
  port: Int({ minimum: 1, maximum: 65_535, examples: [587] }),
  security: Literals(SECURITIES),
  username: t.Optional(Nullable(t.String({ maxLength: 320 }))),
  password: t.Optional(
    Nullable(t.String({ maxLength: 1024, description: 'Left out: stays as it is. Null: none any more.' })),
  ),
  from_address: Address,
  from_name: t.Optional(Nullable(t.String({ maxLength: 100 }))),
  reply_to: t.Optional(Nullable(Address)),
})
export type MailUpdateInput = typeof MailUpdate.static

export const MailTest = Body({ to: Address })

export const MailTestResult = t.Object(
  {
    ok: t.Boolean(),
    response: Nullable(t.String({ description: 'What the server said to the message.' })),
    error: Nullable(t.String()),
    dialogue: t.Array(t.String(), { description: 'What both sides said, without secrets.' }),
    ms: Int(),
  },
  { title: 'MailTestResult' },
)
export type MailTestResultDto = typeof MailTestResult.static
