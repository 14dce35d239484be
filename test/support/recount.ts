/**
 * An independent count of the roll-ups: from the records of current reports, in plain loops, sharing no code with the
 * product but the rule for days, which has tests of its own.
 */
import type { Db } from '../../src/db/types.ts'
import { spreadOf, splitCount } from '../../src/reports/rules/days.ts'

type Counts = Record<string, number[]>
export interface Rollups {
  report_days: Counts
  reporter_days: Counts
  source_days: Counts
  source_months: Counts
  policy_domains: Counts
}

const MEASURES =
  'messages, pass_both, pass_dkim, pass_spf, disp_none, disp_quarantine, disp_reject, disp_pass'

/** The roll-ups as they stand. */
export async function rollupRows(db: Db): Promise<Rollups> {
  const read = async (sql: string, keys: number): Promise<Counts> => {
    const out: Counts = {}
    for (const row of await db.query<Record<string, string | number>>(sql)) {
      const values = Object.values(row)
      out[values.slice(0, keys).join('|')] = values.slice(keys) as number[]
    }
    return out
  }
  return {
    report_days: await read(`SELECT policy_domain_id, day, reports, ${MEASURES} FROM report_days`, 2),
    reporter_days: await read('SELECT tenant_id, day, org_name, reports, messages FROM reporter_days', 3),
    source_days: await read(`SELECT policy_domain_id, day, sender, kind, ${MEASURES} FROM source_days`, 4),
    source_months: await read(
      `SELECT policy_domain_id, month, sender, kind, first_day, last_day, ${MEASURES} FROM source_months`,
      4,
    ),
    policy_domains: await read('SELECT id, reports FROM policy_domains WHERE reports > 0', 1),
  }
}

/** What they should be. Reports with more than 500 senders a day are not in its reach. */
export async function recount(db: Db): Promise<Rollups> {
  const out: Rollups = {
    report_days: {},
    reporter_days: {},
    source_days: {},
    source_months: {},
    policy_domains: {},
  }
  const add = (table: Counts, key: unknown[], values: number[]): void => {
    const row = (table[key.join('|')] ??= values.map(() => 0))
    for (const [i, value] of values.entries()) row[i]! += value
  }
  type Report = {
    rid: number
    tenant_id: string
    policy_domain_id: number
    org_name: string
    date_begin: number
    date_end: number
  }
  const stars = await db.query<{ id: number; tenant_id: string }>(
    `SELECT id, tenant_id FROM policy_domains WHERE name = '*'`,
  )
  const everything = new Map(stars.map(({ id, tenant_id }) => [tenant_id, id]))
  const reports = await db.query<Report>(`SELECT * FROM reports WHERE state = 'current'`)
  for (const report of reports) {
    const { tenant_id, policy_domain_id: pid, org_name } = report
    const all = everything.get(tenant_id)!
    const { days, shares, primary } = spreadOf(report.date_begin, report.date_end)
    add(out.policy_domains, [pid], [1])
    add(out.report_days, [pid, primary], [1, 0, 0, 0, 0, 0, 0, 0, 0])
    add(out.report_days, [all, primary], [1, 0, 0, 0, 0, 0, 0, 0, 0])
    add(out.reporter_days, [tenant_id, primary, org_name], [1, 0])
    for (const row of await recordsOf(db, report.rid)) {
      const parts = shares === null ? [row.messages] : splitCount(row.messages, shares)
      for (const [i, count] of parts.entries()) {
        if (count === 0) continue
        const day = days[i]!
        const both = row.dkim_aligned === 1 && row.spf_aligned === 1
        const measure = [
          count,
          both ? count : 0,
          row.dkim_aligned === 1 && !both ? count : 0,
          row.spf_aligned === 1 && !both ? count : 0,
          ...['none', 'quarantine', 'reject', 'pass'].map((each) => (row.disposition === each ? count : 0)),
        ]
        add(out.report_days, [pid, day], [0, ...measure])
        add(out.report_days, [all, day], [0, ...measure])
        add(out.source_days, [all, day, row.sender, row.sender_kind], measure)
        addMonth(out.source_months, [all, row.sender, row.sender_kind], day, measure)
        add(out.reporter_days, [tenant_id, day, org_name], [0, count])
        add(out.source_days, [pid, day, row.sender, row.sender_kind], measure)
        addMonth(out.source_months, [pid, row.sender, row.sender_kind], day, measure)
      }
    }
  }
  return out
}

interface Row {
  messages: number
  disposition: string
  dkim_aligned: number
  spf_aligned: number
  sender: string
  sender_kind: string
}

/** Reads the stored form itself: number, address, count, disposition, alignment (1 DKIM, 2 SPF), …, sender. */
async function recordsOf(db: Db, rid: number): Promise<Row[]> {
  const chunks = await db.query<{ records: string }>('SELECT records FROM report_chunks WHERE rid = ?', [rid])
  type Stored = [number, string, number, string, number, ...unknown[]]
  return chunks
    .flatMap((chunk) => JSON.parse(chunk.records) as Stored[])
    .map((stored) => ({
      messages: stored[2],
      disposition: stored[3],
      dkim_aligned: stored[4] % 2,
      spf_aligned: stored[4] >= 2 ? 1 : 0,
      sender_kind: stored.at(-2) as string,
      sender: stored.at(-1) as string,
    }))
}

function addMonth(table: Counts, [pid, sender, kind]: unknown[], day: number, measure: number[]): void {
  const date = new Date(day * 86_400_000)
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth()
  const row = (table[[pid, month, sender, kind].join('|')] ??= [day, day, ...measure.map(() => 0)])
  row[0] = Math.min(row[0]!, day)
  row[1] = Math.max(row[1]!, day)
  for (const [i, value] of measure.entries()) row[i + 2]! += value
}
