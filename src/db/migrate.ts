/**
 * Brings the schema up to date: each migration in its own transaction, in order, its SHA-256 kept. Refuses to go
 * on when an applied migration is not the one this executable knows, and when the data is newer than it.
 */
import type { Database } from 'bun:sqlite'
import type { Migration } from '../../migrations/index.ts'

/** The data folder does not fit this executable. The message is for the person who starts it. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch'
}

export interface MigrateOptions {
  migrations: readonly Migration[]
  now_ms: number
  /** Called once, before the first change to a database that already holds a schema. */
  backup?: (from_version: number) => void
}

/** Applies what is missing. Returns the version before and after. Throws `SchemaMismatch`. */
export function migrate(db: Database, options: MigrateOptions): { from: number; to: number } {
  db.run(
    `CREATE TABLE IF NOT EXISTS migrations (
       version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL
     ) STRICT`,
  )
  const applied = appliedMigrations(db)
  const problem = schemaProblem(applied, options.migrations)
  if (problem !== null) throw new SchemaMismatch(problem)

  const from = applied.length
  const missing = options.migrations.slice(from)
  if (from > 0 && missing.length > 0) options.backup?.(from)
  for (const migration of missing) apply(db, migration, options.now_ms)
  return { from, to: options.migrations.length }
}

export interface AppliedMigration {
  version: number
  name: string
  sha256: string
}

/** What has been applied to this database, in order. */
export function appliedMigrations(db: Database): AppliedMigration[] {
  return db.query<AppliedMigration, []>('SELECT version, name, sha256 FROM migrations ORDER BY version').all()
}

/** Why a database with these migrations cannot be used by this executable, or null when it can. */
export function schemaProblem(
  applied: readonly AppliedMigration[],
  known: readonly Migration[],
): string | null {
  for (const [index, row] of applied.entries()) {
    const migration = known[index]
    if (migration === undefined) {
      return (
        `the data folder was written by a newer version of Wardpost (schema ${applied.at(-1)?.version}, ` +
        `this executable knows up to ${known.length}): start that version, or restore an older backup`
      )
    }
    if (row.version !== migration.version || row.sha256 !== sha256(migration.sql)) {
      return `migration ${row.version} (${row.name}) was applied in another form than this executable knows`
    }
  }
  return null
}

function apply(db: Database, migration: Migration, now_ms: number): void {
  db.transaction(() => {
    db.run(migration.sql)
    db.query('INSERT INTO migrations (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)').run(
      migration.version,
      migration.name,
      sha256(migration.sql),
      now_ms,
    )
  }).immediate()
}

function sha256(text: string): string {
  return new Bun.SHA256().update(text).digest('hex')
}
