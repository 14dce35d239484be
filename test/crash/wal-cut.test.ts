/**
 * The write-ahead log, cut where a power failure could cut it. With synchronous FULL a commit is synced before it is
 * acknowledged, so what is on the disk is at least the log as it was at the last acknowledgement, perhaps with a
 * torn piece of the next. For each such point the folder is started from the database file and the log cut there:
 * everything acknowledged by then must be there. `WAL_CUTS=200` for the long form; the suite does thirty.
 */
import { expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDb } from '../../src/db/open.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { tempDir } from '../support/db.ts'
import { openAfterCrash, randomWrite } from './support.ts'

const CUTS = Number(process.env['WAL_CUTS'] ?? 30)
const CLIENTS = 4

interface Point {
  /** Bytes of the log when these were acknowledged. */
  size: number
  ids: string[]
}

/** Writes through the door and notes how long the log was at each acknowledgement. */
async function writeAndNote(data_dir: string): Promise<Point[]> {
  const db = openDb({ data_dir, clock: systemClock, reserve_bytes: 0 })
  const wal = join(data_dir, 'wardpost.db-wal')
  // A reader that never ends keeps checkpoints from starting the log over: all of it stays to be cut.
  const reader = new Database(join(data_dir, 'wardpost.db'), { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT * FROM meta').all()

  const points: Point[] = []
  let next = 0
  const client = async () => {
    while (points.length < CUTS) {
      const id = `w${next++}`
      await db.commit(...randomWrite(id))
      const { size } = statSync(wal)
      const last = points.at(-1)
      if (last?.size === size) last.ids.push(id)
      else points.push({ size, ids: [id] })
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))

  // What a dead machine leaves: the files as they are, without a last checkpoint.
  mkdirSync(join(data_dir, 'dead'))
  for (const name of ['wardpost.db', 'wardpost.db-wal']) {
    copyFileSync(join(data_dir, name), join(data_dir, 'dead', name))
  }
  reader.close()
  await db.close()
  return points
}

test(
  `a log cut at ${CUTS} commits, or torn behind them, loses nothing that was acknowledged`,
  async () => {
    const data_dir = tempDir()
    try {
      const points = await writeAndNote(data_dir)
      expect(points.length).toBeGreaterThanOrEqual(CUTS)
      const log = readFileSync(join(data_dir, 'dead/wardpost.db-wal'))
      const expected = new Set<string>()
      for (const [index, { size, ids }] of points.entries()) {
        for (const id of ids) expected.add(id)
        const following = (points[index + 1]?.size ?? log.length) - size
        const torn = size + Math.floor(Math.random() * following)
        for (const cut of new Set([size, Math.min(size + 1, torn), torn])) {
          const folder = join(data_dir, `cut-${index}-${cut}`)
          mkdirSync(folder)
          copyFileSync(join(data_dir, 'dead/wardpost.db'), join(folder, 'wardpost.db'))
          writeFileSync(join(folder, 'wardpost.db-wal'), log.subarray(0, cut))
          const { ids: survived } = await openAfterCrash(folder)
          expect([...expected].filter((id) => !survived.has(id))).toEqual([])
          // Whatever came later was not there yet: the cut was a real one.
          expect(survived.size).toBe(expected.size)
          rmSync(folder, { recursive: true })
        }
      }
    } finally {
      rmSync(data_dir, { recursive: true })
    }
  },
  CUTS * 5000,
)
