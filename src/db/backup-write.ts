/**
 * Makes one backup, synchronously: in a process of its own while the server runs, or at start before a migration.
 * The database is copied by VACUUM INTO from a read-only connection, so it is one moment of it, and writers go on.
 *
 * The originals are linked before and after that moment: what was swept meanwhile is in the first pass, what came
 * meanwhile in the second, so everything that the copy refers to is there.
 */
import { Database } from 'bun:sqlite'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type BackupFile,
  type BackupInfo,
  backupInfo,
  type BackupKind,
  digestOf,
  filesBelow,
  type Manifest,
  MANIFEST,
  PARTIAL_PREFIX,
  syncPath,
} from './backup-files.ts'
import { openReader } from './connection.ts'
import { inspectDatabase, referredBlobs, warnings } from './inspect.ts'

/** What seals secrets, and, once there is one, what signs the audit log. */
const INSTANCE_KEY = 'instance.key'
const SIGNING_KEY = 'audit-signing.key'

export interface BackupRequest {
  data_dir: string
  kind: BackupKind
  now_ms: number
  /** Where the backup's folder is put. Default `DATA/backups`. */
  into?: string
  with_key?: boolean
  without_intel?: boolean
}

/** Throws, and leaves nothing, when the copy cannot be made or is damaged. */
export function writeBackup(request: BackupRequest): BackupInfo {
  const { data_dir } = request
  const into = request.into ?? join(data_dir, 'backups')
  mkdirSync(into, { recursive: true, mode: 0o700 })
  requireSpace(data_dir, into)
  const name = freeName(into, request)
  const partial = join(into, `${PARTIAL_PREFIX}${name}`)
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { mode: 0o700 })
  try {
    fill(partial, request)
    renameSync(partial, join(into, name))
    syncPath(into)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
  return backupInfo(join(into, name), name)
}

/** What is left of backups that were cut off. Only the holder of the data folder may call it. */
export function removePartialBackups(dir: string): void {
  if (!existsSync(dir)) return
  for (const name of readdirSync(dir)) {
    if (name.startsWith(PARTIAL_PREFIX)) rmSync(join(dir, name), { recursive: true, force: true })
  }
}

function fill(dir: string, request: BackupRequest): void {
  const { data_dir } = request
  linkBlobs(data_dir, dir)
  copyDatabase(data_dir, dir, 'wardpost.db')
  linkBlobs(data_dir, dir)
  const names = ['wardpost.db']
  if (request.without_intel !== true && existsSync(join(data_dir, 'intel.db'))) {
    copyDatabase(data_dir, dir, 'intel.db')
    names.push('intel.db')
  }
  const signs = existsSync(join(data_dir, SIGNING_KEY))
  for (const name of request.with_key === true ? [INSTANCE_KEY, ...(signs ? [SIGNING_KEY] : [])] : []) {
    copyFileSync(join(data_dir, name), join(dir, name))
    syncPath(join(dir, name))
    names.push(name)
  }
  const files = names.map((name) => ({ name, ...digestOf(join(dir, name)) }))
  const manifest = verifiedManifest(dir, request, files)
  writeFileSync(join(dir, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true })
  syncPath(dir)
}

function copyDatabase(data_dir: string, dir: string, name: string): void {
  const db = openReader(join(data_dir, name))
  try {
    // query_only would forbid the copy too; the file itself is open read-only.
    db.run('PRAGMA query_only = OFF')
    db.query('VACUUM INTO ?').run(join(dir, name))
  } finally {
    db.close()
  }
  syncPath(join(dir, name))
}

/** Hard links where the file system has them: originals never change once they are in place. */
function linkBlobs(data_dir: string, dir: string): void {
  for (const { name } of filesBelow(join(data_dir, 'blobs'))) {
    const from = join(data_dir, 'blobs', name)
    const to = join(dir, 'blobs', name)
    if (existsSync(to)) continue
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
    linkOrCopy(from, to)
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    // Swept since it was listed: nothing that is copied afterwards refers to it.
    if (!existsSync(from)) return
    copyFileSync(from, to)
    syncPath(to)
  }
}

function verifiedManifest(dir: string, request: BackupRequest, files: BackupFile[]): Manifest {
  const db = new Database(join(dir, 'wardpost.db'), { readonly: true })
  try {
    const inspection = inspectDatabase(db)
    if (inspection.integrity.length > 0) {
      throw new Error(`the copy is damaged: ${inspection.integrity.slice(0, 3).join('; ')}`)
    }
    const missing = missingBlobs(db, dir)
    const blobs = filesBelow(join(dir, 'blobs'))
    const meta = db.query<{ value: string }, []>(`SELECT value FROM meta WHERE key = 'instance_id'`).get()
    const schema = db.query<{ version: number }, []>('SELECT max(version) AS version FROM migrations').get()
    return {
      format: 1,
      product: 'wardpost',
      kind: request.kind,
      created_at: new Date(request.now_ms).toISOString(),
      instance_id: meta?.value ?? '',
      schema_version: schema?.version ?? 0,
      files,
      blobs: { count: blobs.length, bytes: blobs.reduce((sum, blob) => sum + blob.bytes, 0) },
      audit_heads: inspection.heads,
      with_key: request.with_key === true,
      warnings: [
        ...warnings(inspection),
        ...(missing > 0 ? [`${missing} originals that reports refer to are not there`] : []),
      ],
    }
  } finally {
    db.close()
  }
}

function missingBlobs(db: Database, dir: string): number {
  let missing = 0
  for (const { tenant_id, sha256 } of referredBlobs(db)) {
    if (!existsSync(join(dir, 'blobs', tenant_id, sha256))) missing += 1
  }
  return missing
}

/** A copy that runs out of room half-way would take the server's room with it. */
function requireSpace(data_dir: string, into: string): void {
  const needed = ['wardpost.db', 'wardpost.db-wal', 'intel.db']
    .map((name) => join(data_dir, name))
    .reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0)
  const { bavail, bsize } = statfsSync(into)
  if (bavail * bsize < needed * 1.2) {
    throw new Error(`not enough room in ${into}: ${Math.ceil(needed / 1e6)} MB are needed and some to spare`)
  }
}

function freeName(into: string, { now_ms, kind }: BackupRequest): string {
  const stamp = new Date(now_ms).toISOString().slice(0, 19).replaceAll(':', '-')
  for (let n = 1; ; n++) {
    const name = `${stamp}Z-${kind}${n === 1 ? '' : `-${n}`}`
    if (!existsSync(join(into, name))) return name
  }
}
