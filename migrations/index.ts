/** Every migration, in order. Append only: one that has been applied anywhere is never edited. */
import foundation from './0001_foundation.sql' with { type: 'text' }

export interface Migration {
  version: number
  name: string
  sql: string
}

export const MIGRATIONS: readonly Migration[] = [{ version: 1, name: 'foundation', sql: foundation }]
