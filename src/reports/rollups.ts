/**
 * The roll-ups of many reports as one set of statements. All are additive (`messages = messages + excluded.messages`),
 * so nothing is read before it is written and the order of changes does not matter. A report that is replaced is
 * taken away with sign -1; rows that reach nothing are then removed.
 */
import type { RawWrite, SqlValue } from '../db/types.ts'
import { firstDayOfMonth, monthOf } from './rules/days.ts'
import { addMeasure, type Measure, type ReportRollup, zero } from './rules/rollup.ts'

export interface RollupTarget {
  tenant_id: string
  policy_domain_id: number
  /** The policy domain that stands for all of the tenant's. */
  all_id: number
  org_name: string
  date_end: number
  messages: number
}

export interface RollupSink {
  /** Counts a report in (1) or out (-1). */
  add(target: RollupTarget, rollup: ReportRollup, sign: 1 | -1): void
  writes(): RawWrite[]
}

const MEASURE_COLUMNS = [
  'messages',
  'pass_both',
  'pass_dkim',
  'pass_spf',
  'disp_none',
  'disp_quarantine',
  'disp_reject',
  'disp_pass',
]
const MEASURE_LIST = MEASURE_COLUMNS.join(', ')
const MEASURE_MARKS = MEASURE_COLUMNS.map(() => '?').join(', ')
const MEASURE_ADDS = MEASURE_COLUMNS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')

const UPSERT_REPORT_DAY = `INSERT INTO report_days (policy_domain_id, day, tenant_id, reports, ${MEASURE_LIST})
VALUES (?, ?, ?, ?, ${MEASURE_MARKS})
ON CONFLICT DO UPDATE SET reports = reports + excluded.reports, ${MEASURE_ADDS}`

const UPSERT_REPORTER_DAY = `INSERT INTO reporter_days (tenant_id, day, org_name, reports, messages, last_end)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET reports = reports + excluded.reports, messages = messages + excluded.messages,
last_end = max(last_end, excluded.last_end)`

const UPSERT_SOURCE_DAY = `INSERT INTO source_days (policy_domain_id, day, sender, kind, tenant_id, ${MEASURE_LIST})
VALUES (?, ?, ?, ?, ?, ${MEASURE_MARKS})
ON CONFLICT DO UPDATE SET ${MEASURE_ADDS}`

const UPSERT_SOURCE_MONTH = `INSERT INTO source_months
(policy_domain_id, month, sender, kind, tenant_id, first_day, last_day, ${MEASURE_LIST})
VALUES (?, ?, ?, ?, ?, ?, ?, ${MEASURE_MARKS})
ON CONFLICT DO UPDATE SET first_day = min(first_day, excluded.first_day),
last_day = max(last_day, excluded.last_day), ${MEASURE_ADDS}`

const UPSERT_SOURCE_IP = `INSERT INTO source_ips (tenant_id, sender, kind, policy_domain_id, ip, messages)
VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET messages = messages + excluded.messages`

/** What is to be looked at for compliance: told here, so that it lands with the figures. */
const MARK_DAY = `INSERT INTO compliance_marks (policy_domain_id, day, tenant_id, report_end, marks)
VALUES (?, ?, ?, ?, 1)
ON CONFLICT DO UPDATE SET report_end = max(report_end, excluded.report_end), marks = marks + 1`

const UPDATE_POLICY_DOMAIN = `UPDATE policy_domains SET reports = reports + ?, last_end = max(last_end, ?) WHERE id = ?`

interface Sum {
  key: SqlValue[]
  reports: number
  totals: Measure
  first: number
  last: number
}

export function createRollupSink(): RollupSink {
  const report_days = new Map<string, Sum>()
  const all_days = new Map<string, Sum>()
  const reporter_days = new Map<string, Sum>()
  const source_days = new Map<string, Sum>()
  const source_months = new Map<string, Sum>()
  const ips = new Map<string, Sum>()
  const policy_domains = new Map<string, Sum>()
  let takes_away = false

  return {
    add(target, rollup, sign) {
      if (sign < 0) takes_away = true
      const { tenant_id: tenant, policy_domain_id: pid, all_id: all, org_name: org } = target
      for (const [day, totals] of rollup.days) {
        const reports = day === rollup.primary_day ? sign : 0
        const of_day = bump(report_days, [pid, day, tenant], sign, totals, reports)
        of_day.last = Math.max(of_day.last, target.date_end)
        bump(all_days, [all, day, tenant], sign, totals, reports)
        const reporter = bump(reporter_days, [tenant, day, org], sign, totals, reports)
        reporter.last = Math.max(reporter.last, target.date_end)
      }
      for (const [day, senders] of rollup.sources) {
        const month = monthOf(day)
        for (const { sender, totals } of senders) {
          const { name, kind } = sender
          for (const id of [pid, all]) {
            bump(source_days, [id, day, name, kind, tenant], sign, totals, 0)
            const sum = bump(source_months, [id, month, name, kind, tenant], sign, totals, 0)
            sum.first = Math.min(sum.first, day)
            sum.last = Math.max(sum.last, day)
          }
        }
      }
      for (const { sender, ip, messages } of rollup.ips) {
        const sum = bump(ips, [tenant, sender.name, sender.kind, pid, ip], sign, null, 0)
        sum.totals[0] += sign * messages
      }
      const counter = bump(policy_domains, [pid], sign, null, sign)
      counter.last = Math.max(counter.last, target.date_end)
    },
    writes() {
      const writes: RawWrite[] = []
      const write = (sql: string, sums: Map<string, Sum>, values: (sum: Sum) => SqlValue[]): void => {
        if (sums.size > 0) writes.push({ sql, rows: [...sums.values()].map(values) })
      }
      write(UPSERT_REPORT_DAY, report_days, (sum) => [...sum.key, sum.reports, ...sum.totals])
      write(UPSERT_REPORT_DAY, all_days, (sum) => [...sum.key, sum.reports, ...sum.totals])
      write(MARK_DAY, report_days, (sum) => [...sum.key, sum.last])
      write(UPSERT_REPORTER_DAY, reporter_days, (sum) => [...sum.key, sum.reports, sum.totals[0], sum.last])
      write(UPSERT_SOURCE_DAY, source_days, (sum) => [...sum.key, ...sum.totals])
      write(UPSERT_SOURCE_MONTH, source_months, (sum) => [...sum.key, sum.first, sum.last, ...sum.totals])
      write(UPSERT_SOURCE_IP, ips, (sum) => [...sum.key, sum.totals[0]])
      write(UPDATE_POLICY_DOMAIN, policy_domains, (sum) => [sum.reports, sum.last, sum.key[0]!])
      if (takes_away)
        writes.push(...cleanUp({ report_days, all_days, reporter_days, source_days, source_months, ips }))
      return writes
    },
  }
}

function bump(
  sums: Map<string, Sum>,
  key: SqlValue[],
  sign: 1 | -1,
  totals: Measure | null,
  reports: number,
): Sum {
  const name = key.join('\u0000')
  let sum = sums.get(name)
  if (sum === undefined) {
    sum = { key, reports: 0, totals: zero(), first: Number.MAX_SAFE_INTEGER, last: 0 }
    sums.set(name, sum)
  }
  sum.reports += reports
  if (totals !== null) addMeasure(sum.totals, totals, sign)
  return sum
}

/** After something was taken away: rows that hold nothing any more go, first and last day are looked up again. */
function cleanUp(sums: Record<string, Map<string, Sum>>): RawWrite[] {
  const rows = (name: string, columns: number): SqlValue[][] =>
    [...(sums[name]?.values() ?? [])].map((sum) => sum.key.slice(0, columns))
  const writes: RawWrite[] = [
    {
      sql: 'DELETE FROM report_days WHERE policy_domain_id = ? AND day = ? AND messages = 0 AND reports = 0',
      rows: [...rows('report_days', 2), ...rows('all_days', 2)],
    },
    {
      sql: 'DELETE FROM reporter_days WHERE tenant_id = ? AND day = ? AND org_name = ? AND messages = 0 AND reports = 0',
      rows: rows('reporter_days', 3),
    },
    {
      sql: 'DELETE FROM source_days WHERE policy_domain_id = ? AND day = ? AND sender = ? AND kind = ? AND messages = 0',
      rows: rows('source_days', 4),
    },
    {
      sql: 'DELETE FROM source_months WHERE policy_domain_id = ? AND month = ? AND sender = ? AND kind = ? AND messages = 0',
      rows: rows('source_months', 4),
    },
    {
      sql: `DELETE FROM source_ips
WHERE tenant_id = ? AND sender = ? AND kind = ? AND policy_domain_id = ? AND ip = ? AND messages = 0`,
      rows: rows('ips', 5),
    },
    {
      sql: `UPDATE source_months SET
first_day = (SELECT min(day) FROM source_days d WHERE d.policy_domain_id = source_months.policy_domain_id
  AND d.day BETWEEN ? AND ? AND d.sender = source_months.sender AND d.kind = source_months.kind),
last_day = (SELECT max(day) FROM source_days d WHERE d.policy_domain_id = source_months.policy_domain_id
  AND d.day BETWEEN ? AND ? AND d.sender = source_months.sender AND d.kind = source_months.kind)
WHERE policy_domain_id = ? AND month = ? AND sender = ? AND kind = ?`,
      rows: [...(sums['source_months']?.values() ?? [])].map((sum) => monthBounds(sum)),
    },
  ]
  return writes.filter((write) => (write.rows?.length ?? 0) > 0)
}

function monthBounds(sum: Sum): SqlValue[] {
  const month = sum.key[1] as number
  const first = firstDayOfMonth(month)
  const last = firstDayOfMonth(month + 1) - 1
  return [first, last, first, last, ...sum.key.slice(0, 4)]
}
