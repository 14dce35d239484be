/**
 * Keyset pages: the position of the last row is in the cursor, so pages stay stable under inserts and deletes.
 * `from`, `to`, `limit` and other query values are read here, so that every list answers the same way to nonsense.
 */
import type { CursorBinding, Cursors, CursorValue } from '../lib/cursor.ts'
import { invalid, problem } from '../lib/errors.ts'
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '../lib/limits.ts'
import type { Principal } from '../lib/principal.ts'

export interface PageRequest {
  /** How many items the page may have; ask the store for one more to know whether there is a next page. */
  limit: number
  /** The last row of the page before, as the store gave it; null on the first page. */
  after: CursorValue[] | null
}

export interface Page<T> {
  items: T[]
  next_cursor?: string
}

export interface Pager {
  /** Reads `limit` and `cursor`. `binding` is what decides rows and order: filters and sort. */
  read(
    principal: Principal,
    route: string,
    query: { limit?: string | undefined; cursor?: string | undefined },
    binding?: Record<string, unknown>,
  ): PageRequest & { finish<Row>(rows: Row[], position: (row: Row) => CursorValue[]): Page<Row> }
}

export function createPager(cursors: Cursors): Pager {
  return {
    read(principal, route, query, filters = {}) {
      const limit = intParam('limit', query.limit, 1, PAGE_ITEMS_MAX) ?? PAGE_ITEMS_DEFAULT
      const binding: CursorBinding = { tenant_id: principal.tenant_id, route, query: filters }
      let after: CursorValue[] | null = null
      if (query.cursor !== undefined) {
        after = cursors.decode(binding, query.cursor)
        if (after === null)
          throw problem('invalid_cursor', 'Take the cursor from the page before, with the same filters.')
      }
      return {
        limit,
        after,
        finish(rows, position) {
          if (rows.length <= limit) return { items: rows }
          const items = rows.slice(0, limit)
          return { items, next_cursor: cursors.encode(binding, position(items[limit - 1]!)) }
        },
      }
    },
  }
}

/** An integer query parameter, or undefined when it was not sent. Outside the bounds: 422. */
export function intParam(
  name: string,
  text: string | undefined,
  min: number,
  max: number,
): number | undefined {
  if (text === undefined) return undefined
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) {
    throw invalid(`?${name}`, 'out_of_range', `${name} must be an integer from ${min} to ${max}.`)
  }
  return value
}

const DATE = /^\d{4}-\d{2}-\d{2}$/
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/

/** An ISO date (00:00Z) or timestamp (UTC when it names no zone) in milliseconds; undefined when not sent. */
export function timeParam(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  // A plus sign in a query string that nobody escaped arrives as a space.
  const value = text.trim().replace(/ (\d{2}:?\d{2})$/, '+$1')
  const zoned = /(Z|[+-]\d{2}:?\d{2})$/.test(value) ? value : `${value}Z`
  const ms = DATE.test(value)
    ? Date.parse(`${value}T00:00:00Z`)
    : TIMESTAMP.test(value)
      ? Date.parse(zoned.replace(' ', 'T'))
      : Number.NaN
  if (Number.isNaN(ms))
    throw invalid(`?${name}`, 'invalid_time', `${name} must be an ISO 8601 date or timestamp.`)
  return ms
}

export interface TimeRange {
  /** Inclusive, milliseconds. */
  from?: number
  /** Exclusive, milliseconds. */
  to?: number
}

/** `from` (inclusive) and `to` (exclusive); reversed: 422. */
export function rangeParams(query: { from?: string | undefined; to?: string | undefined }): TimeRange {
  const from = timeParam('from', query.from)
  const to = timeParam('to', query.to)
  if (from !== undefined && to !== undefined && from > to) {
    throw invalid('?from', 'reversed_range', '`from` lies after `to`.')
  }
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
}

/** `sort=field` or `sort=-field` out of an allow-list. */
export function sortParam<const T extends string>(
  text: string | undefined,
  allowed: readonly T[],
  fallback: T,
): T {
  if (text === undefined) return fallback
  const found = allowed.find((each) => each === text)
  if (found === undefined) throw invalid('?sort', 'unknown_sort', `sort can be ${allowed.join(', ')}.`)
  return found
}

/** One of the named values, or undefined when not sent. */
export function choiceParam<const T extends string>(
  name: string,
  text: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (text === undefined) return undefined
  const found = allowed.find((each) => each === text)
  if (found === undefined) throw invalid(`?${name}`, 'unknown_value', `${name} can be ${allowed.join(', ')}.`)
  return found
}
