import { t } from 'elysia'
import { Body, FieldsQuery, Int, IsoTime, Literals, Nullable, PageQuery, QueryText } from '../http/schema.ts'
import { ALERT_NOTE_CHARS_MAX, BULK_IDS_MAX } from '../lib/limits.ts'
import { ALERT_ACTIONS } from './rules/transitions.ts'
import { ALERT_SORTS } from './sorts.ts'
import { ALERT_KINDS, ALERT_STATUSES, type AlertKind, SEVERITIES } from './types.ts'

export const KINDS = Object.keys(ALERT_KINDS) as AlertKind[]
export const LIST_FORMATS = ['json', 'csv'] as const

const AlertId = t.String({ maxLength: 64, examples: ['alr_01k3v8q2m7x0c9tbe4h6ynp5rz'] })
const Person = t.Object({ id: t.String(), name: Nullable(t.String()) })

export const HISTORY_ACTIONS = [
  'raised',
  'acknowledged',
  'silenced',
  'resolved',
  'reopened',
  'assigned',
  'unassigned',
  'note',
] as const

const HistoryEntry = t.Object({
  at: IsoTime,
  action: Literals(HISTORY_ACTIONS),
  actor: t.Object({
    type: t.String({ description: 'user, key, system, …' }),
    id: Nullable(t.String()),
    name: Nullable(t.String()),
  }),
  note: Nullable(t.String({ description: 'What somebody wrote, or why it resolved itself.' })),
  until: Nullable(IsoTime),
  user: Nullable(Person),
})

export const Alert = t.Object(
  {
    id: AlertId,
    kind: Literals(KINDS),
    severity: Literals(SEVERITIES),
    status: Literals(ALERT_STATUSES),
    title: t.String(),
    summary: t.String(),
    subject: t.Object({ type: t.String({ examples: ['domain'] }), id: t.String() }),
    evidence: t.Object(
      {},
      { additionalProperties: true, description: 'Figures behind it; differs by kind.' },
    ),
    dedupe_key: t.String({
      description: 'The same problem has the same key, and adds to the count until the alert is resolved.',
    }),
    count: Int({ minimum: 1 }),
    silenced_until: Nullable(IsoTime),
    assigned_to: Nullable(Person),
    history: t.Array(HistoryEntry, { description: 'Oldest first; at most the newest 100.' }),
    first_at: IsoTime,
    last_at: IsoTime,
  },
  { title: 'Alert' },
)
export type AlertDto = typeof Alert.static

const choice = (values: readonly string[], description?: string) =>
  t.Optional(
    t.String({
      'x-openapi': { enum: [...values] },
      maxLength: 40,
      ...(description === undefined ? {} : { description }),
    }),
  )

/** One of them or a comma list. */
const choices = (values: readonly string[]) => {
  const one = `(${values.join('|')})`
  return t.Optional(
    t.String({
      'x-openapi': { pattern: `^${one}(,${one})*$` },
      maxLength: 500,
      description: `${values.join(', ')}; or several, as a comma list.`,
      examples: [values[0]],
    }),
  )
}

export const AlertListQuery = t.Object({
  ...PageQuery,
  ...FieldsQuery,
  q: QueryText('Text in title or summary, or an id.'),
  status: choices(ALERT_STATUSES),
  severity: choices(SEVERITIES),
  kind: choices(KINDS),
  assigned_to: t.Optional(
    t.String({ maxLength: 64, description: "A user's id, `me`, or `none`: alerts that are nobody's." }),
  ),
  sort: choice(ALERT_SORTS),
  format: choice(LIST_FORMATS),
})
export type AlertListInput = typeof AlertListQuery.static

export const FieldsOnly = t.Object({ ...FieldsQuery })

export const SilenceQuery = t.Object({
  duration: t.String({
    maxLength: 20,
    'x-openapi': { pattern: '^[0-9]{1,6}[mhdw]$' },
    description: 'A number and `m`, `h`, `d` or `w`: 1m to 90d.',
    examples: ['4h'],
  }),
})

export const AlertAssign = Body({ user_id: Nullable(t.String({ maxLength: 64 })) })
export const AlertNote = Body({
  text: t.String({ minLength: 1, maxLength: ALERT_NOTE_CHARS_MAX, pattern: '\\S' }),
})

export const AlertBulk = Body({
  ids: t.Array(AlertId, { minItems: 1, maxItems: BULK_IDS_MAX }),
  action: Literals(ALERT_ACTIONS),
  duration: t.Optional(t.String({ maxLength: 20, description: 'Of a silence.', examples: ['4h'] })),
})
export type AlertBulkInput = typeof AlertBulk.static

export const AlertBulkResult = t.Object({
  results: t.Array(
    t.Object({ id: t.String(), status: Literals(['ok', 'failed']), code: t.Optional(t.String()) }),
  ),
})

const severities = Object.fromEntries(SEVERITIES.map((name) => [name, Int()])) as Record<
  (typeof SEVERITIES)[number],
  ReturnType<typeof Int>
>

export const AlertSummary = t.Object(
  {
    open: Int(),
    acknowledged: Int(),
    silenced: Int(),
    by_severity: t.Object(severities, { description: 'Of the open ones.' }),
  },
  { title: 'AlertSummary' },
)
export type AlertSummaryDto = typeof AlertSummary.static

export const AlertKinds = t.Object({
  items: t.Array(t.Object({ kind: t.String(), title: t.String() })),
})
