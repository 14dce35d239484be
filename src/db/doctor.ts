/**
 * Is this installation well? Reads only, from a connection of its own, so it can run beside the server (in its own
 * process: `integrity_check` takes as long as it takes).
 */
import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'bun:sqlite'
import { MIGRATIONS } from '../../migrations/index.ts'
import { listBackups, PARTIAL_PREFIX } from './backup-files.ts'
import { openReader, openWriter, type WriterSettings, writerSettings } from './connection.ts'
import { type Inspection, inspectDatabase, referredBlobs } from './inspect.ts'
import { DataFolderLocked, lockDataFolder } from './lock.ts'
import { appliedMigrations, schemaProblem } from './migrate.ts'
import { RESTORE_MARK } from './open.ts'

export interface Check {
  name: string
  status: 'ok' | 'warning' | 'failed'
  detail: string
}

export interface DoctorOptions {
  data_dir: string
  now_ms: number
  /** What the running server's connection is set to; absent when none runs. */
  settings?: WriterSettings
}

const FREE_BYTES_LOW = 1_000_000_000
const FREE_BYTES_FAILED = 100_000_000
const BACKUP_AGE_MS = 48 * 3_600_000

/** Every check, in the order in which they matter. Throws only when there is no database at all. */
export function runDoctor(options: DoctorOptions): Check[] {
  const { data_dir } = options
  const db = openReader(join(data_dir, 'wardpost.db'))
  try {
    const inspection = inspectDatabase(db)
    return [
      ...fileChecks(inspection),
      ...settingChecks(options.settings ?? ownSettings(data_dir)),
      migrationCheck(db),
      auditCheck(inspection),
      blobCheck(db, data_dir),
      diskCheck(data_dir),
      permissionCheck(data_dir),
      leftoverCheck(db, data_dir),
      backupCheck(options),
    ]
  } finally {
    db.close()
  }
}

function check(name: string, status: Check['status'], detail: string): Check {
  return { name, status, detail }
}

function fileChecks({ integrity, orphans }: Inspection): Check[] {
  return [
    integrity.length === 0
      ? check('integrity', 'ok', 'integrity_check found nothing')
      : check('integrity', 'failed', integrity.slice(0, 3).join('; ')),
    orphans === 0
      ? check('foreign_keys', 'ok', 'every reference leads somewhere')
      : check('foreign_keys', 'failed', `${orphans} rows refer to rows that are not there`),
  ]
}

/** With no server running the folder is ours for a moment. */
function ownSettings(data_dir: string): WriterSettings | null {
  try {
    const unlock = lockDataFolder(data_dir)
    const writer = openWriter(join(data_dir, 'wardpost.db'))
    const settings = writerSettings(writer)
    writer.close()
    unlock()
    return settings
  } catch (error) {
    if (error instanceof DataFolderLocked) return null
    throw error
  }
}

function settingChecks(settings: WriterSettings | null): Check[] {
  if (settings === null) {
    return [check('synchronous', 'warning', 'a server is running and was not asked how it writes')]
  }
  const expect = (name: keyof WriterSettings, wanted: string) =>
    check(name, settings[name] === wanted ? 'ok' : 'failed', `${settings[name]} (should be ${wanted})`)
  return [expect('synchronous', 'FULL'), expect('journal_mode', 'wal'), expect('enforces_foreign_keys', 'on')]
}

function migrationCheck(db: Database): Check {
  const applied = appliedMigrations(db)
  const problem = schemaProblem(applied, MIGRATIONS)
  if (problem !== null) return check('migrations', 'failed', problem)
  return applied.length < MIGRATIONS.length
    ? check('migrations', 'warning', `${MIGRATIONS.length - applied.length} come at the next start`)
    : check('migrations', 'ok', `schema ${applied.length}, unchanged`)
}

function auditCheck({ heads, bad_heads }: Inspection): Check {
  return bad_heads.length === 0
    ? check('audit_heads', 'ok', `${heads.length} chains end where their heads say`)
    : check('audit_heads', 'failed', `the chains of ${bad_heads.join(', ')} do not`)
}

function blobCheck(db: Database, data_dir: string): Check {
  let referred = 0
  let missing = 0
  for (const { tenant_id, sha256 } of referredBlobs(db)) {
    referred += 1
    if (!existsSync(join(data_dir, 'blobs', tenant_id, sha256))) missing += 1
  }
  return missing === 0
    ? check('originals', 'ok', `all ${referred} are there`)
    : check('originals', 'failed', `${missing} of ${referred} are not there`)
}

function diskCheck(data_dir: string): Check {
  const { bavail, bsize } = statfsSync(data_dir)
  const free = bavail * bsize
  const reserved = existsSync(join(data_dir, 'reserve'))
  const detail = `${Math.floor(free / 1e6)} MB free, the reserve for a full disk is ${reserved ? 'put by' : 'in use'}`
  if (free < FREE_BYTES_FAILED) return check('disk', 'failed', detail)
  return check('disk', free < FREE_BYTES_LOW || !reserved ? 'warning' : 'ok', detail)
}

/** Others on the machine must read neither the data nor the key. */
function permissionCheck(data_dir: string): Check {
  if (process.platform === 'win32') return check('permissions', 'ok', 'left to Windows')
  const open = ['.', 'instance.key', 'audit-signing.key', 'setup-link', 'control.sock'].filter((name) => {
    const path = join(data_dir, name)
    return existsSync(path) && (statSync(path).mode & 0o077) !== 0
  })
  return open.length === 0
    ? check('permissions', 'ok', 'the data folder and the key are closed to others')
    : check('permissions', 'warning', `open to other users of the machine: ${open.join(', ')}`)
}

function leftoverCheck(db: Database, data_dir: string): Check {
  const found: string[] = []
  const backups = join(data_dir, 'backups')
  const partial = existsSync(backups)
    ? readdirSync(backups).filter((name) => name.startsWith(PARTIAL_PREFIX)).length
    : 0
  if (partial > 0) found.push(`${partial} unfinished backups`)
  if (existsSync(join(data_dir, RESTORE_MARK))) found.push('an unfinished restore')
  const temp = join(data_dir, 'tmp')
  const files = existsSync(temp) ? readdirSync(temp).length : 0
  if (files > 0) found.push(`${files} temporary files`)
  const loading = db
    .query<{ n: number }, []>(`SELECT count(*) AS n FROM reports WHERE state = 'loading'`)
    .get()
  if (loading !== null && loading.n > 0) found.push(`${loading.n} half-loaded reports`)
  return found.length === 0
    ? check('leftovers', 'ok', 'none')
    : check('leftovers', 'warning', `${found.join(', ')} (removed at the next start, unless in use now)`)
}

function backupCheck({ data_dir, now_ms }: DoctorOptions): Check {
  const [newest] = listBackups(join(data_dir, 'backups'))
  if (newest === undefined) return check('backups', 'warning', 'there is none yet')
  const old = now_ms - Date.parse(newest.created_at) > BACKUP_AGE_MS
  const detail = `the newest is ${newest.name}${newest.verified ? '' : `: ${newest.warnings.join('; ')}`}`
  return check('backups', old || !newest.verified ? 'warning' : 'ok', detail)
}
