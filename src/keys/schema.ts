import { t } from 'elysia'
import { Body, FieldsQuery, Int, IsoTime, Literals, Nullable, PageQuery, QueryText } from '../http/schema.ts'
import { KEY_CIDRS_MAX, ROLL_OVERLAP_HOURS_MAX } from '../lib/limits.ts'

const Scope = t.String({ maxLength: 40, examples: ['reports:write'] })
const Network = t.String({ maxLength: 64, examples: ['192.0.2.0/24'] })
const Name = t.String({ minLength: 1, maxLength: 100, examples: ['report uploader'] })

export const Key = t.Object(
  {
    id: t.String({ examples: ['key_01k3v8q2m7x0c9tbe4h6ynp5rz'] }),
    name: Name,
    prefix: t.String({ examples: ['wdp_4kd0Qm81xZ'], description: 'The first 14 characters of the key.' }),
    last4: t.String({ examples: ['vE7h'] }),
    scopes: t.Array(Scope),
    allowed_cidrs: t.Array(Network),
    status: Literals(['active', 'expired', 'revoked']),
    created_by: Nullable(t.Object({ id: t.String(), name: Nullable(t.String()) })),
    created_at: IsoTime,
    expires_at: Nullable(IsoTime),
    last_used_at: Nullable(IsoTime),
    last_used_ip: Nullable(t.String()),
    revoked_at: Nullable(IsoTime),
    replaced_by: Nullable(t.String()),
  },
  { title: 'Key' },
)
export type KeyDto = typeof Key.static

export const NewKey = t.Intersect(
  [
    Key,
    t.Object({
      api_key: t.String({
        description: 'The key itself: shown this once, never stored.',
        examples: ['wdp_4kd0Qm81xZ7tRw2LcN5vYb9HsJ3fGa6KeUpTo0iDqXrMyC8nBz1WkP4vE7h'],
      }),
    }),
  ],
  { title: 'NewKey' },
)
export type NewKeyDto = KeyDto & { api_key: string }

export const KeyListQuery = t.Object({
  ...PageQuery,
  ...FieldsQuery,
  q: QueryText('Text in the name.'),
  status: t.Optional(t.String({ 'x-openapi': { enum: ['active', 'expired', 'revoked'] }, maxLength: 20 })),
})

export const KeyCreate = Body({
  name: Name,
  scopes: t.Array(Scope, { minItems: 1, maxItems: 40 }),
  expires_at: t.Optional(Nullable(t.String({ maxLength: 40, examples: ['2027-01-15'] }))),
  allowed_cidrs: t.Optional(t.Array(Network, { maxItems: KEY_CIDRS_MAX })),
})
export type KeyCreateInput = typeof KeyCreate.static

export const KeyUpdate = Body(
  { name: t.Optional(Name), allowed_cidrs: t.Optional(t.Array(Network, { maxItems: KEY_CIDRS_MAX })) },
  { minProperties: 1 },
)
export type KeyUpdateInput = typeof KeyUpdate.static

export const KeyRoll = Body({
  overlap_hours: Int({
    minimum: 0,
    maximum: ROLL_OVERLAP_HOURS_MAX,
    description: 'How long the old key goes on.',
    examples: [24],
  }),
})
