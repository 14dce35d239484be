/**
 * Opens SQLite files with the settings we rely on, and keeps prepared statements. Nothing else in the product
 * opens `wardpost.db`.
 */
import { Database, type Statement } from 'bun:sqlite'
import type { SqlValue } from './types.ts'

const BUSY_TIMEOUT_MS = 5000
const CACHE_KIB = 32_768
/** The WAL file is cut back to this after a checkpoint. */
const WAL_BYTES_KEPT = 64 * 1024 * 1024

/**
 * The one connection that writes. FULL: a commit is on the disk when it returns (NORMAL may lose the last ones
 * when the power goes). `full` false is for data that can be fetched again.
 */
export function openWriter(path: string, options: { full: boolean } = { full: true }): Database {
  const db = new Database(path, { create: true, readwrite: true })
  // First, so that none of the following can fail with SQLITE_BUSY.
  db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  // Has an effect only before the first table: lets retention give space back in small steps.
  db.run('PRAGMA auto_vacuum = INCREMENTAL')
  db.run('PRAGMA journal_mode = WAL')
  db.run(`PRAGMA synchronous = ${options.full ? 'FULL' : 'NORMAL'}`)
  db.run('PRAGMA foreign_keys = ON')
  db.run(`PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}`)
  // Deleted content is overwritten: what was erased is not left in free pages.
  db.run('PRAGMA secure_delete = ON')
  db.run('PRAGMA trusted_schema = OFF')
  db.run('PRAGMA temp_store = MEMORY')
  db.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  return db
}

export interface WriterSettings {
  synchronous: string
  journal_mode: string
  enforces_foreign_keys: string
}

/** How a connection is really set, asked of SQLite itself. */
export function writerSettings(db: Database): WriterSettings {
  const pragma = (name: string) => db.query<[unknown], []>(`PRAGMA ${name}`).values()[0]![0]
  const levels = ['OFF', 'NORMAL', 'FULL', 'EXTRA']
  return {
    synchronous: levels[Number(pragma('synchronous'))] ?? 'unknown',
    journal_mode: String(pragma('journal_mode')),
    enforces_foreign_keys: pragma('foreign_keys') === 1 ? 'on' : 'off',
  }
}

/** A connection that cannot write: the file is opened read-only. */
export function openReader(path: string): Database {
  const db = new Database(path, { readonly: true })
  db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  db.run('PRAGMA query_only = ON')
  db.run('PRAGMA trusted_schema = OFF')
  db.run('PRAGMA temp_store = MEMORY')
  db.run(`PRAGMA cache_size = -${CACHE_KIB}`)
  return db
}

export interface Prepared {
  statement: Statement<unknown, SqlValue[]>
  /** False for a write without RETURNING: it is run, not stepped through. */
  returns_rows: boolean
}

/** Prepared statements by their text, the least recently used finalised when there are more than `max`. */
export function statementCache(db: Database, max = 512): { get(sql: string): Prepared; clear(): void } {
  const cache = new Map<string, Prepared>()
  return {
    get(sql) {
      const known = cache.get(sql)
      if (known !== undefined) {
        cache.delete(sql)
        cache.set(sql, known)
        return known
      }
      const statement = db.prepare<unknown, SqlValue[]>(sql)
      const prepared = { statement, returns_rows: statement.columnNames.length > 0 }
      cache.set(sql, prepared)
      if (cache.size > max) {
        const [oldest, entry] = cache.entries().next().value!
        entry.statement.finalize()
        cache.delete(oldest)
      }
      return prepared
    },
    clear() {
      for (const entry of cache.values()) entry.statement.finalize()
      cache.clear()
    },
  }
}

export type StatementCache = ReturnType<typeof statementCache>
