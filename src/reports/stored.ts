/** The records of stored reports, read and removed in pieces so that a large one never holds up the others. */
import type { Actor, Db, RawWrite } from '../db/types.ts'
import { CHUNK_RECORDS, type PackedRecord, recordKey, unpackRecord } from './rules/records.ts'
import { createRollup, type ReportRollup } from './rules/rollup.ts'

/** Chunks removed in one change. */
const CHUNKS_AT_ONCE = 20

const INSERT_CHUNK = 'INSERT INTO report_chunks (rid, last_n, tenant_id, records) VALUES (?, ?, ?, ?)'

export interface ReportRecords {
  rid: number
  tenant_id: string
  records: readonly PackedRecord[]
}

/** Stores the records of reports; each list is in ascending order of `n`. */
export function chunksInsert(lists: readonly ReportRecords[]): RawWrite {
  const rows: [number, number, string, string][] = []
  for (const { rid, tenant_id, records } of lists) {
    for (let at = 0; at < records.length; at += CHUNK_RECORDS) {
      const chunk = records.length <= CHUNK_RECORDS ? records : records.slice(at, at + CHUNK_RECORDS)
      rows.push([rid, chunk.at(-1)![0], tenant_id, JSON.stringify(chunk)])
    }
  }
  return { sql: INSERT_CHUNK, rows }
}

/** The records of a report after number `after`, in order, chunk by chunk. */
export async function* recordsOf(db: Db, rid: number, after = 0): AsyncGenerator<PackedRecord[]> {
  for (let last = after; ;) {
    const [chunk] = await db.query<{ last_n: number; records: string }>(
      'SELECT last_n, records FROM report_chunks WHERE rid = ? AND last_n > ? ORDER BY last_n LIMIT 1',
      [rid, last],
    )
    if (chunk === undefined) return
    const records = JSON.parse(chunk.records) as PackedRecord[]
    yield last === after ? records.filter(([n]) => n > after) : records
    last = chunk.last_n
    if (records.length >= CHUNK_RECORDS) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** What a stored report once added to the roll-ups. */
export async function rollupOfStored(
  db: Db,
  rid: number,
  begin_ms: number,
  end_ms: number,
): Promise<ReportRollup> {
  const rollup = createRollup(begin_ms, end_ms)
  for await (const records of recordsOf(db, rid)) {
    for (const packed of records) {
      const { row, sender } = unpackRecord(packed)
      rollup.add(row, sender)
    }
  }
  return rollup.finish()
}

/** Messages by what makes a record distinct. */
export async function contentOf(db: Db, rid: number): Promise<Map<string, number>> {
  const content = new Map<string, number>()
  for await (const records of recordsOf(db, rid)) addContent(content, records)
  return content
}

export function addContent(content: Map<string, number>, records: readonly PackedRecord[]): void {
  for (const packed of records) {
    const key = recordKey(packed)
    content.set(key, (content.get(key) ?? 0) + packed[2])
  }
}

/** Removes records that no report stands for, in pieces, and the note that they were on their way. */
export async function dropRecords(db: Db, actor: Actor, rid: number): Promise<void> {
  for (;;) {
    const [mark] = await db.query<{ last_n: number }>(
      'SELECT last_n FROM report_chunks WHERE rid = ? ORDER BY last_n LIMIT 1 OFFSET ?',
      [rid, CHUNKS_AT_ONCE],
    )
    if (mark === undefined) break
    await db.commit(actor, {
      writes: [{ sql: 'DELETE FROM report_chunks WHERE rid = ? AND last_n < ?', params: [rid, mark.last_n] }],
      audit: { none: 'staging' },
    })
  }
  await db.commit(actor, {
    writes: [
      { sql: 'DELETE FROM report_chunks WHERE rid = ?', params: [rid] },
      { sql: 'DELETE FROM report_loads WHERE rid = ?', params: [rid] },
    ],
    audit: { none: 'staging' },
  })
}
