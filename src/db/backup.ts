/**
 * Backups while the server runs: made by a process of our own executable, because VACUUM INTO holds its thread for
 * as long as it takes. Kept: the nightly ones of 7 days and of 4 weeks, the last 3 from before a migration, and
 * every one that a person asked for.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, DAY_MS } from '../lib/clock.ts'
import { type BackupInfo, type BackupKind, listBackups } from './backup-files.ts'
import { type BackupRequest, writeBackup } from './backup-write.ts'

const DAILY_KEPT = 7
const WEEKLY_KEPT = 4
const MIGRATION_KEPT = 3

export interface BackupOptions {
  /** Another place than `DATA/backups`. */
  into?: string
  with_key?: boolean
  without_intel?: boolean
}

export interface Backups {
  list(): BackupInfo[]
  /** One at a time: a second call while one runs waits for that one and gets its result. */
  create(kind: BackupKind, options?: BackupOptions): Promise<BackupInfo>
  /** Removes what is past keeping; returns their names. */
  rotate(): string[]
}

export interface BackupDeps {
  data_dir: string
  clock: Clock
  /** How to start this executable with the verb `backup-worker`: everything before its argument. */
  worker_command: readonly string[]
}

type WorkerAnswer = { ok: true; backup: BackupInfo } | { ok: false; error: string }

export function createBackups({ data_dir, clock, worker_command }: BackupDeps): Backups {
  const dir = join(data_dir, 'backups')
  let running: Promise<BackupInfo> | null = null

  async function start(kind: BackupKind, options: BackupOptions): Promise<BackupInfo> {
    const request: BackupRequest = { data_dir, kind, now_ms: clock.now(), ...options }
    const child = Bun.spawn([...worker_command, JSON.stringify(request)], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const text = await new Response(child.stdout).text()
    await child.exited
    const answer = readAnswer(text)
    if (!answer.ok) throw new Error(`backup failed: ${answer.error}`)
    return answer.backup
  }

  return {
    list: () => listBackups(dir),
    create(kind, options = {}) {
      running ??= start(kind, options).finally(() => {
        running = null
      })
      return running
    },
    rotate() {
      const gone = pastKeeping(listBackups(dir))
      for (const { path } of gone) rmSync(path, { recursive: true, force: true })
      return gone.map(({ name }) => name)
    },
  }
}

function readAnswer(text: string): WorkerAnswer {
  try {
    return JSON.parse(text) as WorkerAnswer
  } catch {
    return { ok: false, error: 'its process ended early' }
  }
}

/** The hidden verb: makes the backup that the JSON argument asks for, answers in JSON, returns the exit code. */
export function runBackupWorker(argv: readonly string[]): number {
  let answer: WorkerAnswer
  try {
    answer = { ok: true, backup: writeBackup(JSON.parse(argv[0] ?? '') as BackupRequest) }
  } catch (error) {
    answer = { ok: false, error: error instanceof Error ? error.message : String(error) }
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
  return answer.ok ? 0 : 1
}

/** Which of these (newest first) need not be kept. */
export function pastKeeping(backups: readonly BackupInfo[]): BackupInfo[] {
  const kept = new Set<BackupInfo>()
  const nightly = backups.filter((backup) => backup.kind === 'nightly')
  for (const backup of newestOfEach(nightly, dayOf, DAILY_KEPT)) kept.add(backup)
  for (const backup of newestOfEach(nightly, weekOf, WEEKLY_KEPT)) kept.add(backup)
  for (const backup of backups.filter(({ kind }) => kind === 'migration').slice(0, MIGRATION_KEPT)) {
    kept.add(backup)
  }
  return backups.filter((backup) => backup.kind !== 'manual' && !kept.has(backup))
}

function newestOfEach(
  backups: readonly BackupInfo[],
  period: (backup: BackupInfo) => number,
  count: number,
): BackupInfo[] {
  const newest = new Map<number, BackupInfo>()
  for (const backup of backups) if (!newest.has(period(backup))) newest.set(period(backup), backup)
  return [...newest.values()].slice(0, count)
}

const dayOf = (backup: BackupInfo) => Math.floor(Date.parse(backup.created_at) / DAY_MS)
/** Weeks begin on Monday; day 0 was a Thursday. */
const weekOf = (backup: BackupInfo) => Math.floor((dayOf(backup) + 3) / 7)
