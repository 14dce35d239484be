/** What `/v1/instance` shows of this installation. */
import { readdir, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config, SettingView } from '../config.ts'
import type { Backups } from '../db/backup.ts'
import type { BackupInfo } from '../db/backup-files.ts'
import type { OpenedDb } from '../db/open.ts'
import type { InstancePorts } from '../instance/routes.ts'
import type { BackupDto } from '../instance/schema.ts'
import type { Scheduler } from '../jobs/scheduler.ts'
import { operatorActor } from '../lib/actors.ts'
import { type Clock, isoTime, MINUTE_MS } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import type { DnsResolver } from '../net/dns.ts'
import type { TlsSource } from '../net/tls.ts'

export interface InstanceDeps {
  config: Config
  settings: SettingView[]
  clock: Clock
  db: OpenedDb
  backups: Backups
  scheduler: Scheduler
  version: string
  baseUrl(): string
  tls(): TlsSource | null
  resolver: Pick<DnsResolver, 'mode' | 'detail'>
}

/** Counting the originals takes a while on a large installation. */
const BLOBS_COUNTED_EVERY_MS = 10 * MINUTE_MS

export function createInstance(deps: InstanceDeps): InstancePorts {
  const { config, clock } = deps
  const started_at = isoTime(clock.now())
  let blobs: { at: number; bytes: Promise<number> } | null = null
  const blobsBytes = (): Promise<number> => {
    if (blobs === null || clock.now() - blobs.at > BLOBS_COUNTED_EVERY_MS) {
      blobs = { at: clock.now(), bytes: bytesBelow(join(config.data, 'blobs')) }
    }
    return blobs.bytes
  }
  return {
    async show() {
      const tls = deps.tls()?.current() ?? null
      return {
        version: deps.version,
        started_at,
        instance_id: deps.db.instance_id,
        base_url: deps.baseUrl(),
        data: {
          path: resolve(config.data),
          database_bytes: await databaseBytes(config.data),
          blobs_bytes: await blobsBytes(),
          free_bytes: await freeBytes(config.data),
        },
        tls: {
          mode: config.tls.mode,
          fingerprint: tls?.fingerprint ?? null,
          not_after: tls === null ? null : isoTime(tls.not_after),
        },
        resolver: { mode: deps.resolver.mode, detail: deps.resolver.detail },
        settings: deps.settings,
      }
    },
    backups: {
      list: () => Promise.resolve(deps.backups.list().map(backupDto)),
      async create(principal) {
        const made = backupDto(await deps.backups.create('manual'))
        const actor = operatorActor(principal)
        await deps.db.commit(actor, {
          writes: [],
          audit: {
            action: 'backups.create',
            target: { type: 'backup', id: made.name },
            detail: { bytes: made.bytes },
          },
          ...(actor.reply === undefined ? {} : { idempotency: actor.reply(201, made) }),
        })
        return made
      },
    },
    jobs: createJobPort(deps),
  }
}

/** Jobs as operators see and start them. */
export function createJobPort({
  scheduler,
  db,
}: Pick<InstanceDeps, 'scheduler' | 'db'>): InstancePorts['jobs'] {
  return {
    list: () => scheduler.list(),
    async run(principal, name) {
      const status = scheduler.begin(name)
      if (status === 'unknown') throw problem('not_found', 'There is no such job.')
      if (status === 'running') throw problem('conflict', 'The job is running.')
      const answer = { name, status }
      const actor = operatorActor(principal)
      await db.commit(actor, {
        writes: [],
        audit: { action: 'jobs.run', target: { type: 'job', id: name } },
        ...(actor.reply === undefined ? {} : { idempotency: actor.reply(202, answer) }),
      })
      return answer
    },
    async runs(name, page) {
      const runs = await scheduler.runs(name, page)
      if (runs === null) throw problem('not_found', 'There is no such job.')
      return runs
    },
  }
}

function backupDto({ name, bytes, created_at, verified, kind, sha256 }: BackupInfo): BackupDto {
  return { name, bytes, created_at, verified, kind, sha256 }
}

async function databaseBytes(data_dir: string): Promise<number> {
  const names = ['wardpost.db', 'wardpost.db-wal', 'intel.db', 'intel.db-wal']
  const sizes = names.map((name) =>
    stat(join(data_dir, name)).then(
      (found) => found.size,
      () => 0,
    ),
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

async function bytesBelow(dir: string): Promise<number> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => [])
  let bytes = 0
  for (const entry of entries) {
    const path = join(dir, entry.name)
    bytes += entry.isDirectory() ? await bytesBelow(path) : ((await stat(path).catch(() => null))?.size ?? 0)
  }
  return bytes
}

/** For this user; null where the system does not say. */
export async function freeBytes(dir: string): Promise<number | null> {
  const found = await statfs(dir).catch(() => null)
  return found === null ? null : found.bavail * found.bsize
}
