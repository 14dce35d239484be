/** Looks for what is wrong with an installation, in words for the person who runs it. Changes nothing. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { OpenedDb } from '../db/open.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { ChainCheck, Finding } from './care.verbs.ts'
import { freeBytes } from './instance.ts'
import { VERSION } from './version.ts'

export interface DoctorDeps {
  config: Config
  clock: Clock
  db: OpenedDb
  chains: ChainCheck[]
}

const FREE_BYTES_MIN = 1_000_000_000
/** Before the year in which this was written, the clock of the machine is wrong. */
const CLOCK_FLOOR_MS = Date.UTC(2026, 0, 1)

export async function examine({ config, clock, db, chains }: DoctorDeps): Promise<Finding[]> {
  return [
    finding('version', true, `Wardpost ${VERSION}, schema ${db.schema_version}, instance ${db.instance_id}`),
    finding('clock', clock.now() > CLOCK_FLOOR_MS, isoTime(clock.now())),
    await rights(config.data, 'data folder', 0o077),
    await rights(join(config.data, 'instance.key'), 'instance key', 0o177),
    await disk(config.data),
    await database(db),
    await originals(config.data, db),
    ...chains.map(chainFinding),
  ]
}

function finding(check: string, ok: boolean, detail: string): Finding {
  return { check, ok, detail }
}

/** Nobody but the owner may look. Where the system has no such rights there is nothing to see. */
async function rights(path: string, check: string, forbidden: number): Promise<Finding> {
  const found = await stat(path).catch(() => null)
  if (found === null) return finding(check, false, `${path} is missing`)
  const open = process.platform !== 'win32' && (found.mode & forbidden) !== 0
  const mode = (found.mode & 0o777).toString(8)
  return finding(
    check,
    !open,
    open ? `${path} has mode ${mode}: others can read it` : `${path}, mode ${mode}`,
  )
}

async function disk(path: string): Promise<Finding> {
  const free = await freeBytes(path)
  if (free === null) return finding('disk', true, 'the system does not say how much is free')
  return finding('disk', free >= FREE_BYTES_MIN, `${(free / 1e9).toFixed(1)} GB free`)
}

async function database(db: OpenedDb): Promise<Finding> {
  const rows = await db.query<{ quick_check: string }>('PRAGMA quick_check(5)')
  const complaints = rows.map((row) => row.quick_check).filter((text) => text !== 'ok')
  return finding('database', complaints.length === 0, complaints.join('; ') || 'sound')
}

/** Every report's original is there, in its size. */
async function originals(data_dir: string, db: OpenedDb): Promise<Finding> {
  const rows = await db.query<{ tenant_id: string; blob_sha256: string }>(
    `SELECT tenant_id, blob_sha256 FROM reports UNION SELECT tenant_id, blob_sha256 FROM tls_reports
     UNION SELECT tenant_id, blob_sha256 FROM failure_reports UNION SELECT tenant_id, blob_sha256 FROM rejected_files`,
  )
  let missing = 0
  for (const { tenant_id, blob_sha256 } of rows) {
    const found = await stat(join(data_dir, 'blobs', tenant_id, blob_sha256)).catch(() => null)
    if (found === null) missing++
  }
  const detail = missing === 0 ? `${rows.length} there` : `${missing} of ${rows.length} are missing`
  return finding('originals', missing === 0, detail)
}

function chainFinding({ tenant_id, ok, checked, first_bad }: ChainCheck): Finding {
  const detail =
    first_bad === undefined ? `${checked} entries` : `entry ${first_bad.seq} is ${first_bad.kind}`
  return finding(`audit chain ${tenant_id}`, ok, detail)
}
