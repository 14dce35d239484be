/**
 * `fields=a,b.c`: which members of each item the client wants. Names are checked against the item's schema.
 */
import type { TSchema } from '@sinclair/typebox'
import { invalid } from '../lib/errors.ts'
import { FIELDS_NAMES_MAX } from '../lib/limits.ts'

export type Picker = <T extends object>(item: T) => T

const everything: Picker = (item) => item

/** Reads the `fields` parameter. Unknown names: 422. `id` is always kept. */
export function readFields(text: string | undefined, schema: TSchema): Picker {
  if (text === undefined || text.trim() === '') return everything
  const names = text.split(',').map((name) => name.trim())
  if (names.length > FIELDS_NAMES_MAX) {
    throw invalid('?fields', 'too_many_fields', `At most ${FIELDS_NAMES_MAX} fields can be named.`)
  }
  const paths = names.map((name) => {
    const path = name.split('.')
    if (!knows(schema as ObjectSchema, path))
      throw invalid('?fields', 'unknown_field', `There is no field "${name}".`)
    return path
  })
  return (item) => pick(item, paths)
}

interface ObjectSchema {
  properties?: Record<string, ObjectSchema>
  anyOf?: ObjectSchema[]
  items?: ObjectSchema
  additionalProperties?: boolean | ObjectSchema
}

function knows(schema: ObjectSchema, path: readonly string[]): boolean {
  if (path.length === 0) return true
  if (schema.anyOf !== undefined) return schema.anyOf.some((each) => knows(each, path))
  if (schema.items !== undefined) return knows(schema.items, path)
  const [head, ...rest] = path
  const next = schema.properties?.[head!]
  return next !== undefined && knows(next, rest)
}

function pick<T extends object>(item: T, paths: readonly string[][]): T {
  const out: Record<string, unknown> = {}
  const source = item as Record<string, unknown>
  if ('id' in source) out['id'] = source['id']
  for (const path of paths) copy(source, out, path)
  return out as T
}

function copy(from: Record<string, unknown>, to: Record<string, unknown>, path: readonly string[]): void {
  const [head, ...rest] = path
  const value = from[head!]
  if (value === undefined) return
  if (rest.length === 0 || value === null || typeof value !== 'object') {
    to[head!] = value
  } else if (Array.isArray(value)) {
    const kept = (to[head!] ?? value.map(() => ({}))) as Record<string, unknown>[]
    for (const [index, each] of value.entries()) copy(each as Record<string, unknown>, kept[index]!, rest)
    to[head!] = kept
  } else {
    const kept = (to[head!] ?? {}) as Record<string, unknown>
    copy(value as Record<string, unknown>, kept, rest)
    to[head!] = kept
  }
}
