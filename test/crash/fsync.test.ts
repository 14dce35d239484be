/**
 * That an acknowledgement really waits for the disk, seen from outside: under strace, between the last write to the
 * log and the line that acknowledges, there is a sync of the log. Skipped where strace is missing or not allowed.
 */
import { expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../support/db.ts'

const STRACE = ['strace', '-f', '-y', '-qq', '-e', 'trace=pwrite64,fdatasync,fsync,write']
const WRITES = 50

const works = Bun.which('strace') !== null && Bun.spawnSync(['strace', '-qq', 'true']).exitCode === 0

test.skipIf(!works)(
  'every acknowledgement comes after a sync of the log',
  () => {
    const data_dir = tempDir()
    const trace = join(data_dir, 'trace')
    const command = [process.execPath, join(import.meta.dir, 'writer.ts'), data_dir, '1', String(WRITES)]
    const writer = Bun.spawnSync([...STRACE, '-o', trace, ...command])
    expect(writer.exitCode).toBe(0)

    let written = 0
    let synced = 0
    const unsynced: string[] = []
    let acknowledged = 0
    for (const line of readFileSync(trace, 'utf8').split('\n')) {
      if (line.includes('wardpost.db-wal>')) {
        if (line.includes('pwrite64(')) written += 1
        else synced = written
      } else if (/ write\(1<[^>]*>, "w/.test(line)) {
        acknowledged += 1
        if (synced !== written || written === 0) unsynced.push(line)
      }
    }
    expect(unsynced).toEqual([])
    expect(acknowledged).toBe(WRITES)
    rmSync(data_dir, { recursive: true })
  },
  60_000,
)
