/**
 * The ten kinds of event, as they are told to webhooks: what each means, what its `data` is made of, and an example
 * that a receiver can be built against. `schema` is plain JSON Schema (2020-12): it goes into the API reference, the
 * UI and the tests as it is.
 */
export interface DataSchema {
  type: 'object'
  properties: Record<string, unknown>
  required: string[]
  additionalProperties: false
}

export interface EventKind {
  title: string
  description: string
  schema: DataSchema
  example: Record<string, unknown>
}

const text = (description: string) => ({ type: 'string', description })
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description })
const integer = (description: string) => ({ type: 'integer', minimum: 0, description })
const time = (description: string) => ({ type: 'string', format: 'date-time', description })
const percent = (description: string) => ({ type: 'number', minimum: 0, maximum: 100, description })
const flag = (description: string) => ({ type: 'boolean', description })
const choice = (values: readonly string[], description: string) => ({
  type: 'string',
  enum: [...values],
  description,
})
const nullable = (schema: { type: string; description: string }) => ({
  ...schema,
  type: [schema.type, 'null'],
})
const facts = (description: string) => ({ type: 'object', additionalProperties: true, description })
const SCORE = { type: 'number', minimum: 0, maximum: 100, description: 'The same as a number, 100 is worst.' }
const RISK = choice(['critical', 'high', 'medium', 'low'], 'How bad it is.')

function data(properties: Record<string, unknown>): DataSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

const sending = data({
  source: text('The sender as it is shown: a domain, an organisation or a network.'),
  messages: integer('Messages from it in the window.'),
  failing: integer('Of them, those that neither DKIM nor SPF passed.'),
})

export const EVENT_KINDS = {
  DMARC_THRESHOLD_REACHED: {
    title: 'DMARC compliance fell below its threshold',
    description:
      'Over the seven days that end with the newest fully covered day, a smaller part of the mail of a domain passed DMARC than the threshold of the domain asks for. Fires once on crossing; again only after two points of recovery.',
    schema: data({
      domain_id: text('The domain.'),
      domain: text('Its name.'),
      threshold: percent('What was asked for, in percent.'),
      compliance: percent('What is, in percent of the messages.'),
      previous_compliance: nullable(percent('What was before; null when nothing was known.')),
      window_from: time('Start of the seven days.'),
      window_to: time('End of the seven days, exclusive.'),
      messages: integer('Messages in the window.'),
      top_failing_sources: { type: 'array', items: sending, description: 'Who fails most, worst first.' },
      probable_cause: text('What explains it best, in words.'),
    }),
    example: {
      domain_id: 'dom_01k3v8q2m7x0c9tbe4h6ynp5rz',
      domain: 'example.com',
      threshold: 95,
      compliance: 88.4,
      previous_compliance: 97.1,
      window_from: '2026-01-08T00:00:00.000Z',
      window_to: '2026-01-15T00:00:00.000Z',
      messages: 18342,
      top_failing_sources: [
        { source: 'mailer.example.net', messages: 1907, failing: 1907 },
        { source: '203.0.113.0/24', messages: 221, failing: 221 },
      ],
      probable_cause: 'mailer.example.net sends without a DKIM signature of example.com since 2026-01-12.',
    },
  },
  NEW_LOOKALIKE_DETECTED: {
    title: 'A new lookalike domain was found',
    description: 'A domain that can be mistaken for one of yours was seen for the first time.',
    schema: data({
      lookalike_id: text('The finding.'),
      domain_id: text('Your domain.'),
      domain: text('Its name.'),
      lookalike: text('The name that looks like it.'),
      technique: text('How it was made: homoglyph, omission, other TLD, …'),
      rank: { type: 'number', minimum: 0, maximum: 100, description: 'How likely it deceives, 100 is most.' },
      registered: flag('Somebody owns it.'),
      has_mx: flag('It can receive mail.'),
      first_seen: time('When it was first seen.'),
    }),
    example: {
      lookalike_id: 'lkl_01k3v8q2m7x0c9tbe4h6ynp5rz',
      domain_id: 'dom_01k3v8q2m7x0c9tbe4h6ynp5rz',
      domain: 'example.com',
      lookalike: 'examp1e.com',
      technique: 'homoglyph',
      rank: 92,
      registered: true,
      has_mx: true,
      first_seen: '2026-01-15T09:30:00.000Z',
    },
  },
  RBL_LISTED: {
    title: 'An address of yours is on a blocklist',
    description: 'An outbound address of a domain appeared on a public list that receivers refuse mail by.',
    schema: data({
      ip: text('The address.'),
      domain_id: nullable(text('The domain that sends from it, when one is known.')),
      list: text('The zone of the list.'),
      codes: texts('What the list answered.'),
      reason: nullable(text('What the list says about it.')),
      listed_at: time('When we saw it.'),
    }),
    example: {
      ip: '198.51.100.17',
      domain_id: 'dom_01k3v8q2m7x0c9tbe4h6ynp5rz',
      list: 'bl.example.org',
      codes: ['127.0.0.2'],
      reason: 'Spam received, see https://bl.example.org/198.51.100.17',
      listed_at: '2026-01-15T09:30:00.000Z',
    },
  },
  PHISHING_REPORTED: {
    title: 'A phishing message was reported',
    description: 'An employee, or a program through the API, reported a message and it was accepted.',
    schema: data({
      phishing_id: text('The report.'),
      from_domain: text('Domain of the sender.'),
      from_address: text('Address of the sender.'),
      subject: text('Subject of the message.'),
      ai_classification: text('The class of attack, for example credential_phishing.'),
      cluster_key: text('Messages of one campaign share it.'),
      iocs: data({
        domains: texts('Domains in the message.'),
        ips: texts('Addresses in the message.'),
        urls: texts('URLs in the message.'),
      }),
    }),
    example: {
      phishing_id: 'phr_01k3v8q2m7x0c9tbe4h6ynp5rz',
      from_domain: 'example.net',
      from_address: 'payroll@example.net',
      subject: 'Your mailbox is almost full',
      ai_classification: 'credential_phishing',
      cluster_key: 'c_7f3a91d2b4',
      iocs: {
        domains: ['login.example.net'],
        ips: ['203.0.113.9'],
        urls: ['https://login.example.net/mailbox'],
      },
    },
  },
  PHISHING_CLUSTERED: {
    title: 'Many people reported the same campaign',
    description: 'More different people than the threshold reported messages of one campaign.',
    schema: data({
      cluster_key: text('The campaign.'),
      reports: integer('Different people who reported it.'),
      threshold: integer('The number that had to be exceeded.'),
      subject: text('A subject of the campaign.'),
      from_domain: text('A sender domain of the campaign.'),
      phishing_ids: texts('The reports.'),
      first_at: time('The first report.'),
      last_at: time('The last report.'),
    }),
    example: {
      cluster_key: 'c_7f3a91d2b4',
      reports: 6,
      threshold: 5,
      subject: 'Your mailbox is almost full',
      from_domain: 'example.net',
      phishing_ids: ['phr_01k3v8q2m7x0c9tbe4h6ynp5rz', 'phr_01k3v8r9c1f4m2z7ta6wq0hxde'],
      first_at: '2026-01-15T08:02:11.000Z',
      last_at: '2026-01-15T09:30:00.000Z',
    },
  },
  SSPM_HIGH_RISK_APP_ADDED: {
    title: 'An app with dangerous permissions was added',
    description: 'A new OAuth app was given permissions that let it read or change much.',
    schema: data({
      app_id: text('The app.'),
      name: text('Its name.'),
      publisher: nullable(text('Who publishes it, when the directory says.')),
      scopes: texts('What it may do.'),
      risk: RISK,
      risk_score: SCORE,
      users: integer('How many people consented.'),
      granted_at: time('When.'),
      reasons: texts('Why it is judged so.'),
    }),
    example: {
      app_id: 'app_01k3v8q2m7x0c9tbe4h6ynp5rz',
      name: 'Mail Merge Plus',
      publisher: null,
      scopes: ['Mail.ReadWrite', 'offline_access'],
      risk: 'high',
      risk_score: 84,
      users: 1,
      granted_at: '2026-01-15T09:30:00.000Z',
      reasons: ['It can read and change all mail.', 'The publisher is not verified.'],
    },
  },
  SSPM_NEW_INBOX_RULE: {
    title: 'A suspicious inbox rule appeared',
    description: 'A mailbox has a new rule of the kind that intruders hide behind.',
    schema: data({
      rule_id: text('The rule.'),
      user: text('Whose mailbox.'),
      name: text('Name of the rule.'),
      conditions: facts('When it acts.'),
      actions: facts('What it does.'),
      risk: RISK,
      reasons: texts('Why it is judged so.'),
    }),
    example: {
      rule_id: 'rul_01k3v8q2m7x0c9tbe4h6ynp5rz',
      user: 'finance@example.com',
      name: '.',
      conditions: { subject_contains: ['invoice', 'payment'] },
      actions: { move_to: 'RSS Feeds', mark_read: true },
      risk: 'high',
      reasons: ['It hides mail about payments.', 'Its name is a single character.'],
    },
  },
  TAKEDOWN_RESOLVED: {
    title: 'A takedown is resolved',
    description: 'What was to be taken down is no longer there.',
    schema: data({
      takedown_id: text('The takedown.'),
      target: text('The URL, domain or address.'),
      resolved_at: time('When.'),
      days_open: { type: 'number', minimum: 0, description: 'Days since it was submitted.' },
    }),
    example: {
      takedown_id: 'tkd_01k3v8q2m7x0c9tbe4h6ynp5rz',
      target: 'https://login.example.net/mailbox',
      resolved_at: '2026-01-15T09:30:00.000Z',
      days_open: 2.4,
    },
  },
  AWARENESS_CAMPAIGN_COMPLETED: {
    title: 'A simulation campaign is complete',
    description: 'A simulated phishing campaign reached its end.',
    schema: data({
      campaign_id: text('The campaign.'),
      name: text('Its name.'),
      sent: integer('Messages sent.'),
      delivered: integer('Messages that arrived.'),
      clicked: integer('People who followed the link.'),
      submitted: integer('People who sent the form.'),
      reported: integer('People who reported the message.'),
      completed_at: time('When.'),
    }),
    example: {
      campaign_id: 'cmp_01k3v8q2m7x0c9tbe4h6ynp5rz',
      name: 'Parcel notice, January',
      sent: 412,
      delivered: 409,
      clicked: 37,
      submitted: 9,
      reported: 121,
      completed_at: '2026-01-15T09:30:00.000Z',
    },
  },
  AUDIT_LOG_ANOMALY: {
    title: 'Something unusual in the audit log',
    description: 'For example a sign-in from a network that this person never used, or a mass export.',
    schema: data({
      kind: text('What is unusual: new_network, denial_burst, key_new_network, mass_export, out_of_hours, …'),
      actor: data({
        type: text('user, key, operator, …'),
        id: nullable(text('Who; null when nobody was signed in.')),
        name: nullable(text('Their name.')),
      }),
      detail: text('The same in words.'),
      evidence: facts('What it was judged by.'),
      audit_seq: integer('The entry of the audit log.'),
    }),
    example: {
      kind: 'new_network',
      actor: { type: 'user', id: 'usr_01k3v8q2m7x0c9tbe4h6ynp5rz', name: 'Ada Example' },
      detail: 'Ada Example signed in from 203.0.113.0/24, a network never seen for this person.',
      evidence: { network: '203.0.113.0/24', known_networks: 3 },
      audit_seq: 4711,
    },
  },
} as const satisfies Record<string, EventKind>

export type EventType = keyof typeof EVENT_KINDS

export const EVENT_TYPES = Object.keys(EVENT_KINDS) as EventType[]

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENT_KINDS, name)
}
