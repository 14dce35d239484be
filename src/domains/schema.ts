import type { Static } from '@sinclair/typebox'
import { t } from 'elysia'
import { Body, FieldsQuery, Int, IsoTime, Literals, Nullable, PageQuery, QueryText } from '../http/schema.ts'
import { BULK_IDS_MAX } from '../lib/limits.ts'
import { DOMAIN_SORTS } from './sorts.ts'

export const STATUSES = ['pending', 'verified'] as const
export const PROFILES = ['sending', 'receive_only', 'parked'] as const
export const POLICY_STATES = ['ok', 'missing', 'multiple', 'invalid', 'unknown'] as const
export const BULK_ACTIONS = ['delete', 'check', 'tag', 'untag'] as const
const POLICIES = ['none', 'quarantine', 'reject'] as const

const Count = Int({ minimum: 0 })
const Rate = Nullable(t.Number({ minimum: 0, maximum: 100, description: 'Percent; null without messages.' }))
const NotYet = t.Null({ description: 'Not checked by this version.' })

export const Domain = t.Object(
  {
    id: t.String({ examples: ['dom_01k9w3p6zj4vtrcq8e1m2n5a7b'] }),
    name: t.String({ description: 'A-label form, lower case.', examples: ['xn--bcher-kva.example'] }),
    unicode_name: t.String({ examples: ['bücher.example'] }),
    status: Literals(STATUSES),
    profile: Literals(PROFILES),
    compliance_threshold: t.Number({ minimum: 0, maximum: 100 }),
    score: t.Null({ description: 'Reserved for the domain score.' }),
    grade: t.Null({ description: 'Reserved for the grade of the score.' }),
    compliance: t.Object({
      rate: Rate,
      messages: Count,
      pass: Count,
      fail: Count,
      window_days: Int(),
      trend: t.Array(t.Object({ date: t.String({ format: 'date' }), rate: Rate })),
    }),
    dns: t.Object({
      dmarc: t.Object({
        record: Nullable(t.String()),
        state: Literals(POLICY_STATES),
        found_at: Nullable(
          t.String({ description: 'The name that has the record: the domain or a parent.' }),
        ),
        detail: Nullable(t.String()),
      }),
      spf: NotYet,
      dkim: t.Array(t.Object({})),
      mx: NotYet,
      mta_sts: NotYet,
      tls_rpt: NotYet,
      bimi: NotYet,
      dnssec: NotYet,
      checked_at: Nullable(IsoTime),
    }),
    findings: t.Array(t.Object({})),
    outbound_ips: t.Array(t.String()),
    dkim_selectors: t.Array(t.String()),
    tags: t.Array(t.String()),
    verification: t.Object({
      record_name: t.String({ examples: ['_wardpost.example.com'] }),
      record_value: t.String({ examples: ['wardpost-verification=3kTq0VbB6dJ9'] }),
      checked_at: Nullable(IsoTime),
      detail: Nullable(t.String()),
    }),
    policy: t.Object({
      record: Nullable(t.String()),
      p: Nullable(Literals(POLICIES)),
      sp: Nullable(Literals(POLICIES)),
      np: Nullable(Literals(POLICIES)),
      adkim: Nullable(Literals(['r', 's'])),
      aspf: Nullable(Literals(['r', 's'])),
      rua: t.Array(t.String()),
      testing: Nullable(t.Boolean()),
      checked_at: Nullable(IsoTime),
      state: Literals(POLICY_STATES),
      detail: Nullable(t.String()),
    }),
    reports: Count,
    last_report_at: Nullable(IsoTime),
    version: Int({ minimum: 1 }),
    created_at: IsoTime,
    updated_at: IsoTime,
  },
  { title: 'Domain' },
)
export type DomainDto = Static<typeof Domain>

const Editable = {
  profile: t.Optional(Literals(PROFILES)),
  compliance_threshold: t.Optional(t.Number({ minimum: 0, maximum: 100 })),
  tags: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 20, uniqueItems: true })),
  outbound_ips: t.Optional(
    t.Array(t.String({ maxLength: 60, description: 'Address or network.' }), {
      maxItems: 256,
      uniqueItems: true,
    }),
  ),
  dkim_selectors: t.Optional(
    t.Array(t.String({ minLength: 1, maxLength: 120 }), { maxItems: 64, uniqueItems: true }),
  ),
}

export const DomainCreate = Body({
  name: t.String({ minLength: 1, maxLength: 255, description: 'A-label or U-label form.' }),
  ...Editable,
})
export type DomainCreateInput = Static<typeof DomainCreate>

export const DomainUpdate = Body(Editable)
export type DomainUpdateInput = Static<typeof DomainUpdate>

export const DomainVerify = Body({
  by_hand: t.Optional(t.Boolean({ description: 'Operators only: verified without a look-up.' })),
})

export const DomainBulk = Body({
  ids: t.Array(t.String({ maxLength: 64 }), { minItems: 1, maxItems: BULK_IDS_MAX }),
  action: Literals(BULK_ACTIONS),
  tag: t.Optional(t.String({ minLength: 1, maxLength: 40 })),
})
export type DomainBulkInput = Static<typeof DomainBulk>

export const DomainBulkResult = t.Object({
  results: t.Array(
    t.Object({ id: t.String(), status: Literals(['ok', 'failed']), code: t.Optional(t.String()) }),
  ),
})

export const DomainListQuery = t.Object({
  q: QueryText('Part of the name.'),
  status: t.Optional(t.String({ 'x-openapi': { type: 'string', enum: STATUSES } })),
  profile: t.Optional(t.String({ 'x-openapi': { type: 'string', enum: PROFILES } })),
  tag: QueryText('Domains that carry this tag.'),
  sort: t.Optional(t.String({ 'x-openapi': { type: 'string', enum: DOMAIN_SORTS, default: 'name' } })),
  ...FieldsQuery,
  ...PageQuery,
})
