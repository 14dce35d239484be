/**
 * The pieces that every area's schemas are made of, and `op`, which puts permission and documentation on a route.
 * Answers are documented (and checked in tests), not validated at run time: they are ours.
 */
import { t } from 'elysia'
import { type TObject, type TProperties, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, QUERY_TEXT_CHARS_MAX } from '../lib/limits.ts'

/** A body: members that the schema does not name are refused, not dropped. */
export function Body<T extends TProperties>(
  properties: T,
  options: Record<string, unknown> = {},
): TObject<T> {
  return t.Object(properties, { additionalProperties: false, ...options })
}

/** An integer, and nothing that only looks like one (Elysia's own also takes digits in a string). */
export const Int = (options: Record<string, unknown> = {}) => Type.Integer(options)

export const IsoTime = t.String({ format: 'date-time', examples: ['2026-01-15T12:00:00.000Z'] })
export const Nullable = <T extends TSchema>(schema: T) => t.Union([schema, t.Null()])
/** One of the named strings. (Elysia's UnionEnum fills in the first one by itself, TypeBox's Unsafe it cannot compile.) */
export const Literals = <const T extends readonly string[]>(
  values: T,
  options: Record<string, unknown> = {},
) =>
  t.Union(
    values.map((value) => t.Literal(value)),
    options,
  ) as unknown as TUnsafe<T[number]>

/** A list's answer. */
export const Page = <T extends TSchema>(item: T) =>
  t.Object({
    items: t.Array(item),
    next_cursor: t.Optional(
      t.String({ description: 'Present when more items exist; goes back as `cursor`.' }),
    ),
  })

/**
 * An integer in the query string. It arrives as text and is read by `intParam`; OpenAPI shows the integer.
 */
export function QueryInt(minimum: number, maximum: number, options: Record<string, unknown> = {}) {
  return t.Optional(
    t.String({ 'x-openapi': { type: 'integer', minimum, maximum, ...options }, maxLength: 20 }),
  )
}

export const QueryText = (description: string, options: Record<string, unknown> = {}) =>
  t.Optional(t.String({ maxLength: QUERY_TEXT_CHARS_MAX, description, ...options }))

/** A plain date, as most will send it; timestamps are read too. */
const TIME_PATTERN =
  '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])(T[0-2][0-3]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{3})?Z)?$'

export const QueryTime = (description: string) =>
  t.Optional(
    t.String({
      maxLength: 40,
      'x-openapi': { pattern: TIME_PATTERN },
      description: `${description} ISO 8601 date or timestamp; a date means 00:00Z.`,
      examples: ['2026-01-15'],
    }),
  )

/** `limit`, `cursor`: on every list. */
export const PageQuery = {
  limit: QueryInt(1, PAGE_ITEMS_MAX, { default: PAGE_ITEMS_DEFAULT, description: 'Items per page.' }),
  cursor: t.Optional(
    t.String({
      maxLength: 2048,
      description: 'The `next_cursor` of the page before, with the same filters.',
    }),
  ),
}

export const FieldsQuery = {
  fields: t.Optional(
    t.String({
      maxLength: 2000,
      'x-openapi': { pattern: '^[a-z0-9_.,]*$' },
      description: 'Comma list of members to answer, dots for nested ones. `id` is always there.',
    }),
  ),
}

export const IdParams = t.Object({ id: t.String({ maxLength: 64 }) })

/** What an answer can be in the documentation: a schema, other content, or nothing. */
export type Answer =
  | { schema: TSchema; description?: string; example?: unknown; headers?: string[] }
  | { content: Record<string, { schema: TSchema; example?: unknown }>; description: string }
  | { description: string }

export interface Operation {
  summary: string
  description?: string
  answers: Readonly<Record<number, Answer>>
  /** Problem codes beyond those that every route of its kind can answer. */
  problems?: readonly string[]
  /** The request body where Elysia does not parse it (uploads). */
  request_body?: unknown
  /** An example for the JSON body. */
  body_example?: unknown
  /** Uploads: their content is the key. */
  no_idempotency?: true
}

/**
 * Permission and documentation of a route, to be spread into its options: `...op('domains:read', {…})`.
 * `public` and `member` (any signed-in principal) are the only permissions that are not scopes.
 */
export function op<const C extends string>(can: C, operation: Operation) {
  return {
    can,
    detail: {
      summary: operation.summary,
      ...(operation.description === undefined ? {} : { description: operation.description }),
      'x-can': can,
      'x-operation': operation,
    } as Record<string, unknown>,
  }
}
