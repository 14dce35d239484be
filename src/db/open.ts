/** Opens the data folder: lock, schema, identity, then the door. The one place where this order is written down. */
import type { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS, type Migration } from '../../migrations/index.ts'
import type { Clock } from '../lib/clock.ts'
import { removePartialBackups, writeBackup } from './backup-write.ts'
import { openWriter, type WriterSettings, writerSettings } from './connection.ts'
import { createEmbeddedDb } from './drivers/embedded.ts'
import { lockDataFolder } from './lock.ts'
import { migrate, SchemaMismatch } from './migrate.ts'
import { createReader } from './read.ts'
import { createReserve, RESERVE_BYTES } from './reserve.ts'
import type { Db } from './types.ts'

export interface OpenOptions {
  data_dir: string
  clock: Clock
  /** Other than the product's own only in tests of the runner. */
  migrations?: readonly Migration[]
  /** Room put by for a full disk; 0 puts none by. */
  reserve_bytes?: number
}

export interface OpenedDb extends Db {
  /** Made once, when the data folder is created; part of every audit chain's first hash. */
  readonly instance_id: string
  readonly schema_version: number
  /** How the writing connection was set at start, asked of SQLite. */
  settings(): WriterSettings
}

/** Stands in a data folder while a backup is restored into it. */
export const RESTORE_MARK = 'RESTORING'

/** Throws `DataFolderLocked` or `SchemaMismatch`, both with a message for the person who starts the product. */
export function openDb(options: OpenOptions): OpenedDb {
  const { data_dir, clock, migrations = MIGRATIONS, reserve_bytes = RESERVE_BYTES } = options
  mkdirSync(data_dir, { recursive: true, mode: 0o700 })
  if (existsSync(join(data_dir, RESTORE_MARK))) {
    throw new SchemaMismatch(`a restore into ${data_dir} was cut off: empty the folder and restore again`)
  }
  const unlock = lockDataFolder(data_dir)
  let writer: Database | null = null
  try {
    removePartialBackups(join(data_dir, 'backups'))
    const path = join(data_dir, 'wardpost.db')
    writer = openWriter(path)
    const now_ms = clock.now()
    const backup = () => void writeBackup({ data_dir, kind: 'migration', now_ms })
    const { to } = migrate(writer, { migrations, now_ms, backup })
    const instance_id = instanceId(writer, clock)
    const reserve =
      reserve_bytes === 0 ? null : createReserve(join(data_dir, 'reserve'), clock, reserve_bytes)
    const db = createEmbeddedDb({ writer, reader: createReader(path), clock, instance_id, reserve })
    const settings = writerSettings(writer)
    return {
      ...db,
      instance_id,
      schema_version: to,
      settings: () => settings,
      async close() {
        await db.close()
        unlock()
      },
    }
  } catch (error) {
    writer?.close()
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
