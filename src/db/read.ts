/**
 * The looking side: drizzle and plain SQL over a connection that cannot write. Each statement sees everything that
 * was committed before it began, and is finished before it returns, so no reader holds the WAL back.
 */
import { drizzle, type SqliteRemoteDatabase } from 'drizzle-orm/sqlite-proxy'
import { openReader, statementCache } from './connection.ts'
import type { SqlValue } from './types.ts'

export interface Reader {
  readonly drizzle: SqliteRemoteDatabase
  query<Row extends object>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>
  close(): void
}

export function createReader(path: string): Reader {
  const db = openReader(path)
  const statements = statementCache(db)

  return {
    drizzle: drizzle(
      async (sql, params: SqlValue[], method) => {
        const { statement } = statements.get(sql)
        if (method === 'run') {
          statement.run(...params)
          return { rows: [] }
        }
        const rows = statement.values(...params)
        // For `get` drizzle expects the row itself, and undefined when there is none; its type says any[].
        return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
      },
      // Without it a camelCase key becomes a quoted unknown name, which SQLite silently reads as a string.
      { casing: 'snake_case' },
    ),
    async query<Row extends object>(sql: string, params: readonly SqlValue[] = []) {
      return statements.get(sql).statement.all(...params) as Row[]
    },
    close() {
      statements.clear()
      db.close()
    },
  }
}
