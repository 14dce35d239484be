import { t } from 'elysia'
import {
  Body,
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
      completeness: Literals(['ok', 'restored', 'failed']),
      anchoring: Literals(['full', 'partial', 'none', 'failed']),
      redaction: Literals(['none', 'redacted']),
    }),
    redacted: Int({ description: 'Entries whose personal values were erased.' }),
    first_bad: t.Optional(
      t.Object({
        seq: Int(),
        kind: Literals(['altered', 'missing', 'order', 'truncated', 'bad_checkpoint']),
        detail: t.String(),
      }),
    ),
    checkpoint: Nullable(
      t.Object(
        { seq: Int(), signed_at: IsoTime, key: Hash },
        { description: 'The newest checkpoint that the checked entries bear out.' },
      ),
    ),
    unanchored: Int({
      description: 'Entries after it. A change to them shows only after the next checkpoint.',
    }),
    starts_after: Nullable(
      Int({ description: 'Entries up to this one were removed because they were past keeping.' }),
    ),
    restored: t.Array(
      t.Object({
        name: Literals(['restored', 'rekeyed']),
        incarnation: Int(),
        signed_at: IsoTime,
        backup: Nullable(t.String()),
        seq: Int({ description: 'The log went on after this entry.' }),
        lost: Nullable(t.Object({ from_seq: Int(), to_seq: Int() })),
      }),
    ),
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

export const Checkpoint = t.Object(
  {
    n: Int({ minimum: 1 }),
    seq: Int({ description: 'The last entry at that time.' }),
    hash: Hash,
    signed_at: IsoTime,
    key: Hash,
    incarnation: Int({ minimum: 1, description: 'Rises with every restore of a backup.' }),
    prev: Nullable(Hash),
    signature: t.String({ description: 'Ed25519, base64.' }),
    line: t.String({ description: 'The signed statement as it is kept and sent.' }),
    outside: t.Boolean({ description: 'It is in the file outside of the database.' }),
  },
  { title: 'Checkpoint' },
)

export const CheckpointListQuery = t.Object({ ...PageQuery })

const PublicKeyText = t.String({ description: '32 bytes, base64.' })

export const PublicKey = t.Object(
  {
    algorithm: Literals(['Ed25519']),
    fingerprint: Hash,
    public_key: PublicKeyText,
    instance_id: t.String(),
    keys: t.Array(t.Object({ fingerprint: Hash, public_key: PublicKeyText, since: IsoTime })),
  },
  { title: 'PublicKey' },
)

export const BundleQuery = t.Object({
  ...Range,
  from_seq: QueryInt(1, Number.MAX_SAFE_INTEGER, { description: 'First entry.' }),
  to_seq: QueryInt(1, Number.MAX_SAFE_INTEGER, { description: 'Last entry.' }),
})

export const Erase = Body({
  subject: t.Union([
    Body({ user_id: t.String({ minLength: 1, maxLength: 64 }) }),
    Body({ email: t.String({ minLength: 3, maxLength: 254 }) }),
    Body({ ip: t.String({ minLength: 2, maxLength: 45 }) }),
  ]),
})
export type EraseInput = typeof Erase.static

export const Erased = t.Object(
  { erased: Int({ description: 'Entries whose personal values are gone.' }) },
  { title: 'Erased' },
)

const AnchorSettings = {
  mail_to: t.Array(t.String({ format: 'email', maxLength: 254 }), { maxItems: 10, uniqueItems: true }),
  syslog: Nullable(
    Body({
      host: t.String({
        minLength: 1,
        maxLength: 253,
        pattern: '^[A-Za-z0-9.:_-]+$',
        examples: ['siem.example.com'],
      }),
      port: Int({ minimum: 1, maximum: 65_535, examples: [514] }),
      protocol: Literals(['udp', 'tcp']),
    }),
  ),
  webhook_url: Nullable(t.String({ maxLength: 2048, examples: ['https://hooks.example.com/checkpoints'] })),
}

export const AnchorsBody = Body(AnchorSettings)
export type AnchorsInput = typeof AnchorsBody.static

export const Anchors = t.Object(
  {
    ...AnchorSettings,
    targets: t.Array(
      t.Object({
        kind: Literals(['mail', 'syslog', 'webhook']),
        sent_n: Int({ description: 'Number of the newest checkpoint that arrived there.' }),
        sent_at: Nullable(IsoTime),
        tried_at: Nullable(IsoTime),
        error: Nullable(t.String()),
      }),
    ),
    latest: Nullable(t.Object({ n: Int(), line: t.String() }, { description: 'To be kept by hand.' })),
  },
  { title: 'Anchors' },
)
export type AnchorsDto = typeof Anchors.static
