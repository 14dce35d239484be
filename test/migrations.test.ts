import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { MIGRATIONS, type Migration } from '../migrations/index.ts'
import { migrate, SchemaMismatch } from '../src/db/migrate.ts'
import * as tables from '../src/db/tables.ts'

const SNAPSHOT = join(import.meta.dir, 'fixtures/schema.sql')

function migrated(migrations: readonly Migration[] = MIGRATIONS): Database {
  const db = new Database(':memory:')
  db.run('PRAGMA foreign_keys = ON')
  migrate(db, { migrations, now_ms: 0 })
  return db
}

const names = (db: Database, sql: string, ...params: string[]) =>
  db
    .query<{ name: string }, string[]>(sql)
    .all(...params)
    .map((row) => row.name)
const tableNames = (db: Database) =>
  names(db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
const columnsOf = (db: Database, table: string) => names(db, 'SELECT name FROM pragma_table_xinfo(?)', table)

test('migrations are numbered without a gap', () => {
  expect(MIGRATIONS.map((migration) => migration.version)).toEqual(MIGRATIONS.map((_, index) => index + 1))
})

// After adding a migration: UPDATE_SNAPSHOT=1 bun test test/migrations.test.ts, and read the difference.
test('the schema is the one in the snapshot', () => {
  const rows = migrated()
    .query<{ sql: string }, []>(
      'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name',
    )
    .all()
  const schema = rows.map((row) => `${row.sql};\n`).join('\n')
  if (process.env['UPDATE_SNAPSHOT'] !== undefined || !existsSync(SNAPSHOT)) writeFileSync(SNAPSHOT, schema)
  expect(schema).toBe(readFileSync(SNAPSHOT, 'utf8'))
})

test('applying twice changes nothing', () => {
  const db = migrated()
  expect(migrate(db, { migrations: MIGRATIONS, now_ms: 1 })).toEqual({
    from: MIGRATIONS.length,
    to: MIGRATIONS.length,
  })
})

test('an applied migration that was edited is refused', () => {
  const db = migrated()
  const edited = MIGRATIONS.map((each) => (each.version === 1 ? { ...each, sql: `${each.sql} -- x` } : each))
  expect(() => migrate(db, { migrations: edited, now_ms: 1 })).toThrow(SchemaMismatch)
  expect(() => migrate(db, { migrations: edited, now_ms: 1 })).toThrow('migration 1 (foundation)')
})

test('data of a newer executable is refused', () => {
  const db = migrated()
  const older = MIGRATIONS.slice(0, -1)
  expect(() => migrate(db, { migrations: older, now_ms: 1 })).toThrow('newer version of Wardpost')
})

test('a backup is made before the first change of data that exists, and only then', () => {
  const more = [
    ...MIGRATIONS,
    { version: MIGRATIONS.length + 1, name: 'more', sql: 'CREATE TABLE more (a TEXT) STRICT' },
  ]
  const calls: number[] = []
  const backup = (from: number) => calls.push(from)
  const db = new Database(':memory:')
  migrate(db, { migrations: MIGRATIONS, now_ms: 0, backup })
  expect(calls).toEqual([])
  migrate(db, { migrations: more, now_ms: 0, backup })
  expect(calls).toEqual([MIGRATIONS.length])
})

test('a migration that fails leaves nothing of itself', () => {
  const broken = [
    ...MIGRATIONS,
    {
      version: MIGRATIONS.length + 1,
      name: 'broken',
      sql: 'CREATE TABLE half (a TEXT) STRICT; CREATE TABLE half (a TEXT) STRICT',
    },
  ]
  const db = migrated()
  expect(() => migrate(db, { migrations: broken, now_ms: 1 })).toThrow('half')
  expect(tableNames(db)).not.toContain('half')
  expect(migrate(db, { migrations: MIGRATIONS, now_ms: 1 }).to).toBe(MIGRATIONS.length)
})

test('every table is strict', () => {
  const loose = names(
    migrated(),
    `SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND strict = 0
        AND name NOT LIKE 'sqlite_%'`,
  )
  expect(loose).toEqual([])
})

test('every table is either a tenant’s, and in the list for deletion, or of the installation', () => {
  const db = migrated()
  const listed: string[] = [...tables.TENANT_TABLES, ...tables.INSTALLATION_TABLES].sort()
  expect(listed).toEqual(tableNames(db))
  for (const table of tables.TENANT_TABLES) {
    expect([table, columnsOf(db, table).includes('tenant_id')]).toEqual([table, true])
  }
})

test('the list for deletion names what refers before what is referred to', () => {
  const db = migrated()
  const order: readonly string[] = tables.TENANT_TABLES
  for (const [index, table] of order.entries()) {
    const parents = db
      .query<{ parent: string; on_delete: string }, [string]>(
        'SELECT "table" AS parent, on_delete FROM pragma_foreign_key_list(?)',
      )
      .all(table)
    for (const { parent, on_delete } of parents) {
      if (parent === table || !order.includes(parent) || on_delete === 'CASCADE') continue
      expect([table, parent, order.indexOf(parent) > index]).toEqual([table, parent, true])
    }
  }
})

test('the tables that the code names have the columns of the schema', () => {
  const db = migrated()
  const configs = Object.values(tables)
    .filter((each) => each instanceof SQLiteTable)
    .map((table) => getTableConfig(table))
  expect(configs.length).toBeGreaterThan(0)
  for (const { name, columns } of configs) {
    const real = columnsOf(db, name)
    const unknown = columns.map((column) => column.name).filter((column) => !real.includes(column))
    expect([name, unknown]).toEqual([name, []])
  }
})
