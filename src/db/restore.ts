/**
 * Puts a backup into an empty data folder. Everything is checked before and while it is copied; `wardpost.db` comes
 * last, and a mark stands in the folder until then, so a restore that was cut off is never taken for data.
 */
import { Database } from 'bun:sqlite'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MIGRATIONS, type Migration } from '../../migrations/index.ts'
import type { Clock } from '../lib/clock.ts'
import { digestOf, filesBelow, type Manifest, MANIFEST, syncPath } from './backup-files.ts'
import { inspectDatabase } from './inspect.ts'
import { appliedMigrations, schemaProblem } from './migrate.ts'
import { openDb, RESTORE_MARK } from './open.ts'
import { SEALED_COLUMNS } from './tables.ts'

/** The backup cannot be restored here. The message is for the person who asked. */
export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused'
}

export interface RestoreOptions {
  from: string
  data_dir: string
  clock: Clock
  migrations?: readonly Migration[]
}

export interface Restored {
  backup: string
  created_at: string
  files: number
  blobs: number
  /** What was found wrong with the data when the backup was made. */
  warnings: string[]
  /** What is there but cannot be opened, because the key was left out of the backup. */
  sealed: { what: string; count: number }[]
}

/** Throws `RestoreRefused`, and then leaves the folder as empty as it was. */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { from, data_dir, migrations = MIGRATIONS } = options
  const manifest = readManifest(from)
  checkDatabase(join(from, 'wardpost.db'), migrations)
  requireEmpty(data_dir)
  mkdirSync(data_dir, { recursive: true, mode: 0o700 })
  writeFileSync(join(data_dir, RESTORE_MARK), 'A restore is under way, or was cut off.\n', { flush: true })
  try {
    copyBlobs(from, data_dir, manifest)
    const last = (file: { name: string }) => (file.name === 'wardpost.db' ? 1 : 0)
    for (const file of [...manifest.files].sort((a, b) => last(a) - last(b))) {
      copyChecked(join(from, file.name), join(data_dir, file.name), file.sha256)
    }
    rmSync(join(data_dir, RESTORE_MARK))
    syncPath(data_dir)
  } catch (error) {
    for (const name of readdirSync(data_dir)) rmSync(join(data_dir, name), { recursive: true, force: true })
    throw error
  }
  const sealed = manifest.with_key ? [] : countSealed(join(data_dir, 'wardpost.db'))
  await recordRestore(options, manifest)
  const { created_at, files, blobs, warnings } = manifest
  return { backup: basename(from), created_at, files: files.length, blobs: blobs.count, warnings, sealed }
}

function readManifest(from: string): Manifest {
  const path = join(from, MANIFEST)
  if (!existsSync(path)) throw new RestoreRefused(`${from} is not a backup: it has no ${MANIFEST}`)
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Partial<Manifest>
  if (manifest.product !== 'wardpost' || manifest.format !== 1) {
    throw new RestoreRefused(`${from} is not a backup that this version of Wardpost can read`)
  }
  return manifest as Manifest
}

function checkDatabase(path: string, migrations: readonly Migration[]): void {
  const db = new Database(path, { readonly: true })
  try {
    const newer = schemaProblem(appliedMigrations(db), migrations)
    if (newer !== null) throw new RestoreRefused(newer)
    const { integrity } = inspectDatabase(db)
    if (integrity.length > 0) throw new RestoreRefused(`the backup is damaged: ${integrity[0]}`)
  } finally {
    db.close()
  }
}

function requireEmpty(data_dir: string): void {
  if (existsSync(data_dir) && readdirSync(data_dir).length > 0) {
    throw new RestoreRefused(`${data_dir} is not empty: restore into a new folder, then start with --data`)
  }
}

/** The name of an original is its SHA-256. */
function copyBlobs(from: string, data_dir: string, manifest: Manifest): void {
  const blobs = filesBelow(join(from, 'blobs'))
  if (blobs.length < manifest.blobs.count) throw new RestoreRefused('the backup lacks some of its originals')
  for (const { name } of blobs) {
    copyChecked(join(from, 'blobs', name), join(data_dir, 'blobs', name), basename(name))
  }
}

function copyChecked(from: string, to: string, sha256: string): void {
  if (!existsSync(from)) throw new RestoreRefused(`${from} is missing`)
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  copyFileSync(from, to)
  chmodSync(to, 0o600)
  if (digestOf(to).sha256 !== sha256) throw new RestoreRefused(`${from} is not what was backed up`)
  syncPath(to)
}

function countSealed(path: string): Restored['sealed'] {
  const db = new Database(path, { readonly: true })
  try {
    return SEALED_COLUMNS.map(({ table, column, what }) => {
      const sql = `SELECT count(*) AS count FROM ${table} WHERE ${column} IS NOT NULL`
      return { what, count: db.query<{ count: number }, []>(sql).get()?.count ?? 0 }
    }).filter(({ count }) => count > 0)
  } finally {
    db.close()
  }
}

/** Brings the schema up to date too, so that the first start finds nothing left to do. */
async function recordRestore(options: RestoreOptions, manifest: Manifest): Promise<void> {
  const db = openDb({ ...options, reserve_bytes: 0 })
  const actor = { type: 'cli', id: null, name: null, key_id: null, ip: null, request_id: null } as const
  await db.commit(
    { tenant_id: '_system', ...actor },
    {
      // Read at the next start: the log signs that it went on from here.
      writes: [
        {
          sql: `INSERT OR REPLACE INTO meta (key, value) VALUES ('audit_restored', ?)`,
          params: [
            JSON.stringify({
              backup: basename(options.from),
              created_at: manifest.created_at,
              heads: manifest.audit_heads,
            }),
          ],
        },
      ],
      audit: {
        action: 'instance.restore',
        detail: { backup: basename(options.from), created_at: manifest.created_at },
      },
    },
  )
  await db.close()
}
