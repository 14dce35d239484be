import { t } from 'elysia'
import {
  FieldsQuery,
  Int,
  IsoTime,
  Literals,
  Nullable,
  PageQuery,
  QueryInt,
  QueryText,
  QueryTime,
} from '../http/schema.ts'
import { AUDIT_ACTIONS, type AuditAction } from './actions.ts'
import { EXPORT_FORMATS } from './formats/export.ts'

const OUTCOMES = ['success', 'denied', 'failure'] as const
const Hash = t.String({
  pattern: '^[0-9a-f]{64}$',
  examples: ['9f2c1de4a7b35f0886f1c94b2e7da05313c68e94f70b2a15d6e8437c0b9fa124'],
})
const Free = t.Record(t.String(), t.Unknown())
const ACTIONS = Object.keys(AUDIT_ACTIONS) as AuditAction[]

export const AuditEntry = t.Object(
  {
    seq: Int({ minimum: 1, description: 'Ascends by one within a tenant, without a gap.' }),
    ts: IsoTime,
    actor: t.Object({
      type: Literals(['user', 'key', 'operator', 'cli', 'system', 'anonymous']),
      id: Nullable(t.String()),
      name: Nullable(t.String()),
      key_id: Nullable(t.String()),
      ip: Nullable(t.String()),
    }),
    action: t.String({ examples: ['domains.create'] }),
    target: Nullable(t.Object({ type: t.String(), id: t.String() })),
    outcome: Literals(OUTCOMES),
    request_id: Nullable(t.String()),
    detail: Free,
    personal: Nullable(Free),
    hash: Hash,
    prev_hash: Nullable(Hash),
  },
  { title: 'AuditEntry' },
)

export const AuditEntryDetail = t.Composite(
  [
    AuditEntry,
    t.Object({
      canonical: t.String({ description: 'The exact text that was hashed (RFC 8785).' }),
      entry_hash: t.String({ description: 'SHA-256 of that text, hex.' }),
    }),
  ],
  { title: 'AuditEntryDetail' },
)

export const AuditActionList = t.Object({
  items: t.Array(t.Object({ action: Literals(ACTIONS), title: t.String() })),
})

export const Verification = t.Object(
  {
    ok: t.Boolean(),
    from_seq: Nullable(Int()),
    to_seq: Nullable(Int()),
    checked: Int(),
    head: Nullable(t.Object({ seq: Int(), hash: Hash })),
    verdicts: t.Object({
      integrity: Literals(['ok', 'failed']),
      completeness: Literals(['ok', 'failed']),
      anchoring: Literals(['none']),
      redaction: Literals(['none', 'redacted']),
    }),
    redacted: Int({ description: 'Entries whose personal values were erased.' }),
    first_bad: t.Optional(
      t.Object({ seq: Int(), kind: Literals(['altered', 'missing', 'order', 'truncated']) }),
    ),
    checkpoint: t.Null(),
  },
  { title: 'Verification' },
)

const Range = { from: QueryTime('Not before.'), to: QueryTime('Before.') }
const Actions = t.Optional(
  t.String({
    maxLength: 1000,
    description: 'Comma list of actions; `keys.*` stands for every action of an area.',
    examples: ['keys.*,users.*'],
  }),
)

export const AuditListQuery = t.Object({
  action: Actions,
  ...Range,
  actor: QueryText('Id of the user or key that did it.'),
  target: QueryText('Id of what it was done to.'),
  outcome: t.Optional(t.String({ 'x-openapi': { enum: [...OUTCOMES] }, maxLength: 20 })),
  q: QueryText('Text anywhere in the entry.'),
  ...FieldsQuery,
  ...PageQuery,
})

export const AuditExportQuery = t.Object({
  format: t.Optional(
    t.String({ 'x-openapi': { enum: [...EXPORT_FORMATS], default: 'ndjson' }, maxLength: 20 }),
  ),
  action: Actions,
  ...Range,
})

export const AuditVerifyQuery = t.Object({
  ...Range,
  from_seq: QueryInt(1, Number.MAX_SAFE_INTEGER, { description: 'First entry to verify.' }),
  to_seq: QueryInt(1, Number.MAX_SAFE_INTEGER, { description: 'Last entry to verify.' }),
})

export const SeqParams = t.Object({
  seq: t.String({ 'x-openapi': { type: 'integer', minimum: 1 }, maxLength: 16 }),
})

export { OUTCOMES }
