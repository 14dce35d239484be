import { t } from 'elysia'
import { Body, Int, IsoTime, Literals, Nullable, PageQuery, QueryText } from '../http/schema.ts'
import { RATE_LIMIT_MAX } from '../lib/limits.ts'
import { type Bounds, RETENTION } from './rules/retention.ts'

const PLANS = ['free', 'pro', 'enterprise'] as const
const Name = t.String({ minLength: 1, maxLength: 100, pattern: '\\S', examples: ['Northlight Labs'] })
const Rate = Int({ minimum: 1, maximum: RATE_LIMIT_MAX })
const Threshold = t.Number({ minimum: 0, maximum: 100, examples: [95] })

export const Limits = t.Object(
  {
    domains: Nullable(Int({ minimum: 1, maximum: 100_000 })),
    key_per_minute: Rate,
    tenant_per_minute: Rate,
    phishing_upload_per_minute: Rate,
    detonate_per_hour: Rate,
    threats_query_per_minute: Rate,
  },
  { title: 'Limits' },
)
const OwnLimits = t.Partial(Limits, { additionalProperties: false })

const days = ({ min, max }: Bounds) => Int({ minimum: min, maximum: max })

export const Retention = t.Object(
  {
    reports_days: days(RETENTION.reports_days),
    rejected_days: days(RETENTION.rejected_days),
    alerts_days: days(RETENTION.alerts_days),
    deliveries_days: days(RETENTION.deliveries_days),
    audit_days: Nullable(days(RETENTION.audit_days)),
  },
  { title: 'Retention', description: 'How long what is kept, in days. null: for ever.' },
)
const RetentionUpdate = t.Partial(t.Object({ ...Retention.properties }), {
  additionalProperties: false,
  minProperties: 1,
})

export const Settings = t.Object(
  {
    id: t.String(),
    name: Name,
    plan: Literals(PLANS),
    limits: Limits,
    default_compliance_threshold: Threshold,
    retention: Retention,
    version: Int(),
    created_at: IsoTime,
    updated_at: IsoTime,
  },
  { title: 'Settings' },
)
export type SettingsDto = typeof Settings.static

export const SettingsUpdate = Body(
  {
    name: t.Optional(Name),
    default_compliance_threshold: t.Optional(Threshold),
    retention: t.Optional(RetentionUpdate),
  },
  { minProperties: 1 },
)
export type SettingsUpdateInput = typeof SettingsUpdate.static

export const Scopes = t.Object({ items: t.Array(t.Object({ scope: t.String(), description: t.String() })) })

export const Tenant = t.Object(
  {
    id: t.String(),
    name: Name,
    plan: Literals(PLANS),
    status: Literals(['active', 'suspended']),
    limits: Limits,
    users: Int(),
    domains: Int(),
    created_at: IsoTime,
  },
  { title: 'Tenant' },
)
export type TenantDto = typeof Tenant.static

export const NewTenant = t.Intersect(
  [
    Tenant,
    t.Object({ invite_link: t.Optional(t.String({ description: 'For the owner: shown this once.' })) }),
  ],
  { title: 'NewTenant' },
)

export const TenantListQuery = t.Object({ ...PageQuery, q: QueryText('Text in the name.') })

export const TenantCreate = Body({
  name: Name,
  plan: Literals(PLANS),
  limits: t.Optional(OwnLimits),
  owner_email: t.Optional(t.String({ maxLength: 254, examples: ['mara@northlight.example'] })),
})
export type TenantCreateInput = typeof TenantCreate.static

export const TenantUpdate = Body(
  {
    name: t.Optional(Name),
    plan: t.Optional(Literals(PLANS)),
    status: t.Optional(Literals(['active', 'suspended'])),
    limits: t.Optional(OwnLimits),
  },
  { minProperties: 1 },
)
export type TenantUpdateInput = typeof TenantUpdate.static
