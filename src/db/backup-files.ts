/**
 * What a backup is: a folder of its own under `DATA/backups` (or wherever it was asked for) with `wardpost.db`,
 * `intel.db`, the originals and a manifest with the SHA-256 of each file. A folder without a manifest is none: it
 * is written last, and the folder is named at the very end.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Head } from './inspect.ts'

export const BACKUP_KINDS = ['nightly', 'manual', 'migration'] as const
export type BackupKind = (typeof BACKUP_KINDS)[number]

export interface BackupFile {
  name: string
  bytes: number
  sha256: string
}

export interface Manifest {
  format: 1
  product: 'wardpost'
  kind: BackupKind
  created_at: string
  instance_id: string
  schema_version: number
  files: BackupFile[]
  blobs: { count: number; bytes: number }
  /** Where every audit chain ended: evidence outside of the database. */
  audit_heads: Head[]
  with_key: boolean
  /** What was found wrong with the data itself. A damaged file is no backup; damaged data is better than none. */
  warnings: string[]
}

export interface BackupInfo {
  name: string
  path: string
  kind: BackupKind
  created_at: string
  bytes: number
  /** Of the manifest, which holds those of the files. */
  sha256: string
  /** The copy was read back and checked when it was made, and nothing was found. */
  verified: boolean
  warnings: string[]
}

export const MANIFEST = 'manifest.json'
/** A folder of this prefix is a backup being made, or one that never came to its end. */
export const PARTIAL_PREFIX = '.partial-'

export function backupInfo(path: string, name: string): BackupInfo {
  const text = readFileSync(join(path, MANIFEST), 'utf8')
  const { kind, created_at, files, blobs, warnings } = JSON.parse(text) as Manifest
  const bytes = files.reduce((sum, file) => sum + file.bytes, blobs.bytes)
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { name, path, kind, created_at, bytes, sha256, verified: warnings.length === 0, warnings }
}

/** The backups in a folder, newest first. */
export function listBackups(dir: string): BackupInfo[] {
  if (!existsSync(dir)) return []
  return readdirSync(dir)
    .filter((name) => !name.startsWith('.') && existsSync(join(dir, name, MANIFEST)))
    .map((name) => backupInfo(join(dir, name), name))
    .sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0))
}

/** Size and SHA-256 of a file, read in pieces. Never of a database file that this process has open (see lock.ts). */
export function digestOf(path: string): { bytes: number; sha256: string } {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(1 << 20)
  const fd = openSync(path, 'r')
  try {
    let bytes = 0
    for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
      hash.update(buffer.subarray(0, read))
      bytes += read
    }
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    closeSync(fd)
  }
}

/** Every file below `dir`, as paths relative to it. */
export function filesBelow(dir: string): { name: string; bytes: number }[] {
  if (!existsSync(dir)) return []
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ name: path.slice(dir.length + 1), bytes: statSync(path).size }))
}

/** Makes a file, or the names in a folder, survive a power cut. Windows cannot sync folders, and need not. */
export function syncPath(path: string): void {
  const folder = statSync(path).isDirectory()
  if (folder && process.platform === 'win32') return
  const fd = openSync(path, folder ? 'r' : 'r+')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
