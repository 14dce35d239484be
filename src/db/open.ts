/** Opens the data folder: lock, schema, identity, then the door. The one place where this order is written down. */
import type { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS, type Migration } from '../../migrations/index.ts'
import type { Clock } from '../lib/clock.ts'
import { openWriter } from './connection.ts'
import { createEmbeddedDb } from './drivers/embedded.ts'
import { lockDataFolder } from './lock.ts'
import { migrate } from './migrate.ts'
import { createReader } from './read.ts'
import type { Db } from './types.ts'

export interface OpenOptions {
  data_dir: string
  clock: Clock
  /** Other than the product's own only in tests of the runner. */
  migrations?: readonly Migration[]
}

export interface OpenedDb extends Db {
  /** Made once, when the data folder is created; part of every audit chain's first hash. */
  readonly instance_id: string
  readonly schema_version: number
}

/** Throws `DataFolderLocked` or `SchemaMismatch`, both with a message for the person who starts the product. */
export function openDb({ data_dir, clock, migrations = MIGRATIONS }: OpenOptions): OpenedDb {
  mkdirSync(data_dir, { recursive: true, mode: 0o700 })
  const unlock = lockDataFolder(data_dir)
  try {
    const path = join(data_dir, 'wardpost.db')
    const writer = openWriter(path)
    const { to } = migrate(writer, { migrations, now_ms: clock.now() })
    const instance_id = instanceId(writer, clock)
    const db = createEmbeddedDb({ writer, reader: createReader(path), clock, instance_id })
    return {
      ...db,
      instance_id,
      schema_version: to,
      async close() {
        await db.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

function instanceId(writer: Database, clock: Clock): string {
  const read = writer.query<{ value: string }, []>(`SELECT value FROM meta WHERE key = 'instance_id'`)
  const known = read.get()
  if (known !== null) return known.value
  const fresh = randomBytes(16).toString('hex')
  const insert = writer.query('INSERT INTO meta (key, value) VALUES (?, ?)')
  writer.transaction(() => {
    insert.run('instance_id', fresh)
    insert.run('created_at', String(clock.now()))
  })()
  return fresh
}
