/**
 * Room put by for the day the disk is full. SQLite needs room even to delete, and an administrator needs a session to
 * delete anything, so `DATA/reserve` is a file of nothing but zeros: the first write that finds the disk full gives
 * it back. From then on only small changes are taken, until there is room enough to put it by again.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Change, Write } from './types.ts'

/** About three thousand small changes. */
export const RESERVE_BYTES = 32 * 1024 * 1024
/** Room is looked for at most this often while the reserve is in use. */
const RECHECK_MS = 5000
/** What still counts as a small change. */
const SMALL_ROWS = 100
const SMALL_BYTES = 64 * 1024

export interface Reserve {
  /** True while it has been given back: only small changes are to be taken. */
  inUse(): boolean
  /** Gives it back. False when it was in use already. */
  release(): boolean
}

/** Puts the room by, now if there is any. */
export function createReserve(path: string, clock: Clock, bytes = RESERVE_BYTES): Reserve {
  let checked_at = clock.monotonic()
  let held = existsSync(path) || putBy(path, bytes)
  return {
    inUse() {
      if (held || clock.monotonic() - checked_at < RECHECK_MS) return !held
      checked_at = clock.monotonic()
      held = putBy(path, bytes)
      return !held
    },
    release() {
      if (!held) return false
      rmSync(path, { force: true })
      held = false
      checked_at = clock.monotonic()
      return true
    },
  }
}

/** Zeros that are written, not a hole: a hole keeps no room. Only where as much again stays free. */
function putBy(path: string, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(dirname(path))
  if (bavail * bsize < 3 * bytes) return false
  const zeros = new Uint8Array(1024 * 1024)
  const fd = openSync(path, 'w', 0o600)
  try {
    for (let written = 0; written < bytes;) {
      written += writeSync(fd, zeros, 0, Math.min(zeros.length, bytes - written))
    }
    fsyncSync(fd)
    return true
  } catch {
    rmSync(path, { force: true })
    return false
  } finally {
    closeSync(fd)
  }
}

/** Small enough to be taken out of the reserve. */
export function isSmall(change: Change): boolean {
  let rows = 0
  let bytes = 0
  for (const write of change.writes) {
    for (const params of rowsOf('must' in write ? write.must : write)) {
      rows += 1
      for (const value of params) {
        if (typeof value === 'string') bytes += value.length
        else if (value instanceof Uint8Array) bytes += value.length
      }
    }
  }
  return rows <= SMALL_ROWS && bytes <= SMALL_BYTES
}

function rowsOf(write: Write): readonly (readonly unknown[])[] {
  if ('toSQL' in write) return [write.toSQL().params]
  return write.rows ?? [write.params ?? []]
}
