/**
 * Forgets reports that are past keeping: the report and what it added to the roll-ups in one change, its records in
 * pieces after it. Between the two stands a note, by which a start after a crash finishes what was begun. Originals that
 * nothing refers to any more are swept later (maintenance.ts).
 */
import type { Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { ALL } from './policy-domains.ts'
import { createRollupSink } from './rollups.ts'
import { dropRecords, rollupOfStored } from './stored.ts'

interface Old {
  rid: number
  state: 'current' | 'superseded'
  policy_domain_id: number
  org_name: string
  date_begin: number
  date_end: number
  messages: number
}

/** Reports looked up at once; each is a change of its own, since one may have many records. */
const REPORTS_AT_ONCE = 50
const ROWS_AT_ONCE = 500

const OLD = `SELECT rid, state, policy_domain_id, org_name, date_begin, date_end, messages FROM reports
  WHERE tenant_id = ? AND date_end < ? AND state = ? ORDER BY date_end, rid LIMIT ?`

/** Removes what ended before a time (milliseconds). Answers how many reports of all kinds. */
export async function forgetReports(
  db: Db,
  tenant_id: string,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  let forgotten = 0
  const all_id = await allId(db, tenant_id)
  for (const state of ['current', 'superseded'] as const) {
    for (;;) {
      const rows = await db.query<Old>(OLD, [tenant_id, before, state, REPORTS_AT_ONCE])
      for (const old of rows) {
        if (signal.aborted) return forgotten
        await forgetOne(db, tenant_id, all_id, old)
        forgotten += 1
      }
      if (rows.length < REPORTS_AT_ONCE) break
    }
  }
  for (const where of [
    'tls_reports WHERE tenant_id = ?1 AND date_end < ?2',
    'failure_reports WHERE tenant_id = ?1 AND created_at < ?2',
  ]) {
    forgotten += await forgetRows(db, where, tenant_id, before, signal)
  }
  return forgotten
}

async function forgetOne(db: Db, tenant_id: string, all_id: number, old: Old): Promise<void> {
  const { rid } = old
  const sink = createRollupSink()
  if (old.state === 'current') {
    const rollup = await rollupOfStored(db, rid, old.date_begin, old.date_end)
    const { policy_domain_id, org_name, messages } = old
    sink.add({ tenant_id, policy_domain_id, all_id, org_name, messages, date_end: 0 }, rollup, -1)
  }
  const remove = {
    sql: 'DELETE FROM reports WHERE rid = ? AND tenant_id = ? AND state = ?',
    params: [rid, tenant_id, old.state],
  }
  await db.commit(systemActor(tenant_id), {
    writes: [
      { must: remove, label: 'the report changed meanwhile' },
      {
        sql: 'INSERT INTO report_loads (rid, tenant_id, created_at) VALUES (?, ?, 0)',
        params: [rid, tenant_id],
      },
      ...sink.writes(),
    ],
    audit: { none: 'job' },
  })
  await dropRecords(db, systemActor(tenant_id), rid)
}

async function allId(db: Db, tenant_id: string): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    'SELECT id FROM policy_domains WHERE tenant_id = ? AND name = ?',
    [tenant_id, ALL],
  )
  return row?.id ?? 0
}

async function forgetRows(
  db: Db,
  where: string,
  tenant_id: string,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  const table = where.slice(0, where.indexOf(' '))
  let forgotten = 0
  while (!signal.aborted) {
    const [rows] = await db.commit(systemActor(tenant_id), {
      writes: [
        {
          sql: `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${where} LIMIT ?3) RETURNING 1`,
          params: [tenant_id, before, ROWS_AT_ONCE],
        },
      ],
      audit: { none: 'job' },
    })
    forgotten += rows!.length
    if (rows!.length < ROWS_AT_ONCE) break
  }
  return forgotten
}
