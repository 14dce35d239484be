/** Says what SQLite's errors mean to the rest of the product. */
import { SQLiteError } from 'bun:sqlite'
import { problem } from '../lib/errors.ts'
import { Conflict } from './types.ts'

/**
 * - UNIQUE, PRIMARY KEY and CHECK -> `Conflict('unique:domains.tenant_id,domains.name')`, `Conflict('check:…')`
 * - FOREIGN KEY -> `Conflict('foreign_key')` (SQLite does not say which)
 * - disk full -> `Problem('storage_full')`
 * - everything else stays as it is: a bug, or a broken disk.
 */
export function translateFailure(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error
  if (error.code === 'SQLITE_FULL') return problem('storage_full', undefined, { cause: error })
  const kind = CONSTRAINTS.get(error.code ?? '')
  if (kind === undefined) return error
  if (kind === 'foreign_key') return new Conflict(kind, { cause: error })
  const what = error.message.slice(error.message.indexOf(': ') + 2).replaceAll(', ', ',')
  return new Conflict(`${kind}:${what}`, { cause: error })
}

const CONSTRAINTS = new Map([
  ['SQLITE_CONSTRAINT_UNIQUE', 'unique'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 'unique'],
  ['SQLITE_CONSTRAINT_ROWID', 'unique'],
  ['SQLITE_CONSTRAINT_CHECK', 'check'],
  ['SQLITE_CONSTRAINT_FOREIGNKEY', 'foreign_key'],
])
