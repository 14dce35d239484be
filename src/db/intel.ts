/**
 * `intel.db`: public indicators, which can be fetched again. It is a file of its own so that importing a million
 * rows never makes a customer's write wait, and it may lose its last commits when the power goes.
 */
import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { openWriter } from './connection.ts'

/** Opens it, and makes it when it is not there. The caller closes it. */
export function openIntelDb({ data_dir, clock }: { data_dir: string; clock: Clock }): Database {
  const db = openWriter(join(data_dir, 'intel.db'), { full: false })
  db.run(
    'CREATE TABLE IF NOT EXISTS meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID',
  )
  db.query(`INSERT INTO meta (key, value) VALUES ('created_at', ?) ON CONFLICT DO NOTHING`).run(
    String(clock.now()),
  )
  return db
}
