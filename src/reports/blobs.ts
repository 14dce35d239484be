/**
 * Originals, as they were sent: `DATA/blobs/<tenant>/<sha256>`. A file is written and synced under `DATA/tmp` and
 * moved to its place before the commit that refers to it; so a committed report always has its original, and what a
 * crash leaves behind are files nobody refers to, which the sweep removes.
 */
import { createHash } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomToken } from '../lib/crypto.ts'
import type { Clock } from '../lib/clock.ts'
import { HOUR_MS } from '../lib/clock.ts'

/** Orphans younger than this may belong to a change that is about to commit. */
const ORPHAN_AGE_MS = HOUR_MS

/** Bytes on their way in: in memory, a temporary file of ours (which is moved), or somebody else's (copied). */
export type BlobInput =
  | { sha256: string; bytes: Uint8Array }
  | { sha256: string; path: string; owned: boolean }

export interface Blobs {
  /** A fresh name under `DATA/tmp`. */
  tempPath(): string
  /** Puts files in their place, durable when it resolves. */
  keep(tenant_id: string, inputs: readonly BlobInput[]): Promise<void>
  /** The size in bytes, or null when it is not there. */
  size(tenant_id: string, sha256: string): Promise<number | null>
  path(tenant_id: string, sha256: string): string
  read(tenant_id: string, sha256: string): ReadStream
  /** Removes files of a tenant that `referred` does not hold and that are older than an hour; says how many. */
  sweep(tenant_id: string, referred: ReadonlySet<string>): Promise<number>
}

export function createBlobs(data_dir: string, clock: Clock): Blobs {
  const temp_dir = join(data_dir, 'tmp')
  const ready = new Map<string, Promise<string>>()
  const dirOf = (tenant_id: string): Promise<string> => {
    let dir = ready.get(tenant_id)
    if (dir === undefined) {
      const path = join(data_dir, 'blobs', tenant_id)
      dir = Promise.all([mkdir(path, { recursive: true }), mkdir(temp_dir, { recursive: true })]).then(
        () => path,
      )
      ready.set(tenant_id, dir)
    }
    return dir
  }
  const path = (tenant_id: string, sha256: string): string => join(data_dir, 'blobs', tenant_id, sha256)
  const tempPath = (): string => join(temp_dir, `blob-${randomToken()}`)

  return {
    tempPath,
    path,
    async keep(tenant_id, inputs) {
      if (inputs.length === 0) return
      const dir = await dirOf(tenant_id)
      const known = new Set<string>()
      const place = async (input: BlobInput): Promise<void> => {
        const target = join(dir, input.sha256)
        if ('bytes' in input && (await createSynced(target, input.bytes))) return
        // There already, perhaps cut off by a crash: the same content, whole, takes its place in one step.
        const temp = tempPath()
        if ('bytes' in input) await createSynced(temp, input.bytes)
        else {
          if (!input.owned) await copyFile(input.path, temp)
          // A change that is tried again finds its file moved already.
          else if (!(await renamed(input.path, temp)) && (await exists(target))) return
          await syncFile(temp)
        }
        await rename(temp, target)
      }
      const distinct = inputs.filter(({ sha256 }) => !known.has(sha256) && known.add(sha256))
      await inParallel(distinct, 32, place)
      // The names too must survive a power cut.
      await syncFile(dir)
    },
    async size(tenant_id, sha256) {
      return await stat(path(tenant_id, sha256)).then(
        (found) => found.size,
        () => null,
      )
    },
    read: (tenant_id, sha256) => createReadStream(path(tenant_id, sha256)),
    async sweep(tenant_id, referred) {
      const dir = await dirOf(tenant_id)
      let removed = 0
      for (const name of await readdir(dir)) {
        if (referred.has(name)) continue
        const age = clock.now() - (await stat(join(dir, name))).mtimeMs
        if (age < ORPHAN_AGE_MS) continue
        await rm(join(dir, name), { force: true })
        removed++
      }
      return removed
    },
  }
}

/** SHA-256 of a file (hex) and its size, read in pieces. */
export async function digestFile(path: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { sha256: hash.digest('hex'), bytes }
}

export async function inParallel<T>(
  items: readonly T[],
  width: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) await run(items[next++]!)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker))
}

/** False when the file is there already. */
async function createSynced(path: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await writeFile(path, bytes, { flag: 'wx', mode: 0o600, flush: true })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** False when there is nothing to rename. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
