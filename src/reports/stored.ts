/** The rows of stored reports, read and removed in pieces so that a large one never holds up the others. */
import type { Actor, Db } from '../db/types.ts'
import { columnsKey, RECORD_COLUMNS, type RecordColumns } from './rules/records.ts'
import { createRollup, type ReportRollup } from './rules/rollup.ts'
import { senderOf } from './rules/senders.ts'

const PIECE_RECORDS = 1000

/** All rows of a report in order. */
export async function* recordsOf(db: Db, rid: number): AsyncGenerator<RecordColumns[]> {
  let after = 0
  for (;;) {
    const rows = await db.query<RecordColumns>(
      `SELECT ${RECORD_COLUMNS} FROM report_records WHERE rid = ? AND n > ? ORDER BY n LIMIT ?`,
      [rid, after, PIECE_RECORDS],
    )
    if (rows.length > 0) yield rows
    if (rows.length < PIECE_RECORDS) return
    after = rows.at(-1)!.n
    await new Promise((resolve) => setImmediate(resolve))
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
  for await (const rows of recordsOf(db, rid)) {
    for (const row of rows) {
      rollup.add(
        {
          source_ip: row.source_ip,
          count: row.messages,
          disposition: row.disposition,
          dkim_aligned: row.dkim_aligned === 1,
          spf_aligned: row.spf_aligned === 1,
        },
        senderOf(row.sender_kind, row.sender),
      )
    }
  }
  return rollup.finish()
}

/** Messages by what makes a record distinct. */
export async function contentOf(db: Db, rid: number): Promise<Map<string, number>> {
  const content = new Map<string, number>()
  for await (const rows of recordsOf(db, rid)) {
    for (const row of rows) {
      const key = columnsKey(row)
      content.set(key, (content.get(key) ?? 0) + row.messages)
    }
  }
  return content
}

/** Removes rows that no report stands for, in pieces, and the note that they were on their way. */
export async function dropRecords(db: Db, actor: Actor, rid: number): Promise<void> {
  for (;;) {
    const [mark] = await db.query<{ n: number }>(
      'SELECT n FROM report_records WHERE rid = ? ORDER BY n LIMIT 1 OFFSET ?',
      [rid, PIECE_RECORDS],
    )
    if (mark === undefined) break
    await db.commit(actor, {
      writes: [{ sql: 'DELETE FROM report_records WHERE rid = ? AND n < ?', params: [rid, mark.n] }],
      audit: { none: 'staging' },
    })
  }
  await db.commit(actor, {
    writes: [
      { sql: 'DELETE FROM report_records WHERE rid = ?', params: [rid] },
      { sql: 'DELETE FROM report_loads WHERE rid = ?', params: [rid] },
    ],
    audit: { none: 'staging' },
  })
}
