/** Timelines, sources and sums: read from the roll-ups alone, so that a year costs as little as a day. */
import type { Db, SqlValue } from '../db/types.ts'
import { DAY_MS, isoDay, isoTime } from '../lib/clock.ts'
import { ALL } from './policy-domains.ts'
import { firstDayOfMonth, monthOf } from './rules/days.ts'
import type { SenderKind } from './rules/senders.ts'
import type { SourceSort } from './sorts.ts'

/** Days since 1970-01-01 UTC, both inclusive. */
export interface DayRange {
  first: number
  last: number
}

/** null: the whole tenant; otherwise the numbers of policy domains. */
export type Scope = readonly number[] | null

interface MeasureColumns {
  messages: number
  pass_both: number
  pass_dkim: number
  pass_spf: number
  disp_none: number
  disp_quarantine: number
  disp_reject: number
  disp_pass: number
}

export interface TimelineItem {
  date: string
  messages: number
  pass: number
  fail: number
  both: number
  dkim_only: number
  spf_only: number
  neither: number
  by_disposition: { none: number; quarantine: number; reject: number; pass: number }
  reports: number
}

const SUMS = [
  'messages',
  'pass_both',
  'pass_dkim',
  'pass_spf',
  'disp_none',
  'disp_quarantine',
  'disp_reject',
  'disp_pass',
]
  .map((name) => `sum(${name}) AS ${name}`)
  .join(', ')

const IN_SCOPE = 'policy_domain_id IN (SELECT value FROM json_each(?))'

/** The last 30 days up to and with today, when nothing else is asked for. */
export function dayRange(from: number | undefined, to: number | undefined, now: number): DayRange {
  const last = to === undefined ? Math.floor(now / DAY_MS) : Math.ceil(to / DAY_MS) - 1
  const first = from === undefined ? last - 29 : Math.floor(from / DAY_MS)
  return { first, last: Math.max(last, first) }
}

/** Every day of the range, oldest first. */
export async function timelineOf(
  db: Db,
  tenant_id: string,
  scope: Scope,
  range: DayRange,
): Promise<TimelineItem[]> {
  type Row = MeasureColumns & { day: number; reports: number }
  const rows = await db.query<Row>(
    `SELECT day, sum(reports) AS reports, ${SUMS} FROM report_days
WHERE ${IN_SCOPE} AND day BETWEEN ? AND ? GROUP BY day`,
    [await idsOf(db, tenant_id, scope), range.first, range.last],
  )
  const by_day = new Map(rows.map((row) => [row.day, row]))
  const items: TimelineItem[] = []
  for (let day = range.first; day <= range.last; day++) items.push(timelineItem(day, by_day.get(day)))
  return items
}

function timelineItem(day: number, row: (MeasureColumns & { reports: number }) | undefined): TimelineItem {
  const { messages, both, dkim_only, spf_only, by_disposition } = splitMeasure(row)
  const pass = both + dkim_only + spf_only
  return {
    date: isoDay(day),
    messages,
    pass,
    fail: messages - pass,
    both,
    dkim_only,
    spf_only,
    neither: messages - pass,
    by_disposition,
    reports: row?.reports ?? 0,
  }
}

function splitMeasure(row: MeasureColumns | undefined) {
  return {
    messages: row?.messages ?? 0,
    both: row?.pass_both ?? 0,
    dkim_only: row?.pass_dkim ?? 0,
    spf_only: row?.pass_spf ?? 0,
    by_disposition: {
      none: row?.disp_none ?? 0,
      quarantine: row?.disp_quarantine ?? 0,
      reject: row?.disp_reject ?? 0,
      pass: row?.disp_pass ?? 0,
    },
  }
}

export interface SourceItem {
  sender: string
  kind: SenderKind
  messages: number
  pass: number
  fail: number
  /** Percent, two decimals. */
  pass_rate: number
  dkim_pass: number
  spf_pass: number
  by_disposition: { none: number; quarantine: number; reject: number; pass: number }
  sample_ips: string[]
  first_seen: string
  last_seen: string
}

export interface SourcePage {
  sort: SourceSort
  /** Sort value, messages, sender and kind of the last one before. */
  after: readonly SqlValue[] | null
  limit: number
  sender?: string
}

const SAMPLE_IPS = 5
/** Addresses looked at to choose the sample. */
const SAMPLED_IPS_MAX = 64

type SourceRow = MeasureColumns & { sender: string; kind: SenderKind; first: number; last: number }

/** Senders with their sums over the range, one page. `first_seen` and `last_seen` are days inside the range. */
export async function sourcesOf(
  db: Db,
  tenant_id: string,
  scope: Scope,
  range: DayRange,
  page: SourcePage,
): Promise<SourceItem[]> {
  const pids = await idsOf(db, tenant_id, scope)
  const { sql, params } = rangeParts(pids, range, await nothingAfter(db, pids, range.last))
  const narrow = page.sender === undefined ? '' : 'WHERE sender = ?'
  if (page.sender !== undefined) params.push(page.sender)
  const fail = '(messages - pass_both - pass_dkim - pass_spf)'
  const value = page.sort === '-fail' ? fail : 'messages'
  let having = ''
  if (page.after !== null) {
    // Largest first, then by name: one row value cannot mix directions.
    having = `WHERE -${value} > ? OR (-${value} = ? AND (-messages, sender, kind) > (?, ?, ?))`
    const [sorted, messages, sender, kind] = page.after
    const negated = -Number(sorted)
    params.push(negated, negated, -Number(messages), sender!, kind!)
  }
  params.push(page.limit)
  const rows = await db.query<SourceRow>(
    `SELECT * FROM (SELECT sender, kind, min(first) AS first, max(last) AS last, ${SUMS} FROM (${sql})
${narrow} GROUP BY sender, kind) ${having} ORDER BY ${value} DESC, messages DESC, sender, kind LIMIT ?`,
    params,
  )
  const ips = await sampleIps(db, tenant_id, scope, rows)
  return rows.map((row, i) => sourceItem(row, ips[i]!))
}

/** True when the month that the range ends in holds nothing beyond it: then the whole month can be taken. */
async function nothingAfter(db: Db, pids: string, last: number): Promise<boolean> {
  const found = await db.query(
    `SELECT 1 FROM json_each(?) AS scope WHERE EXISTS (
  SELECT 1 FROM report_days WHERE policy_domain_id = scope.value AND day > ? AND messages > 0) LIMIT 1`,
    [pids, last],
  )
  return found.length === 0
}

/** Whole months from the months, what is left at both ends from the days. */
function rangeParts(pids: string, range: DayRange, open_end: boolean): { sql: string; params: SqlValue[] } {
  const columns = SUMS.replaceAll(/sum\((\w+)\) AS \w+/g, '$1')
  const days = `SELECT sender, kind, day AS first, day AS last, ${columns} FROM source_days
WHERE ${IN_SCOPE} AND day BETWEEN ? AND ?`
  const months = `SELECT sender, kind, first_day AS first, last_day AS last, ${columns} FROM source_months
WHERE ${IN_SCOPE} AND month BETWEEN ? AND ?`
  const starts_whole = firstDayOfMonth(monthOf(range.first)) === range.first
  const ends_whole = open_end || firstDayOfMonth(monthOf(range.last) + 1) - 1 === range.last
  const month_first = monthOf(range.first) + (starts_whole ? 0 : 1)
  const month_last = monthOf(range.last) - (ends_whole ? 0 : 1)
  if (month_first > month_last) return { sql: days, params: [pids, range.first, range.last] }
  const parts = [months]
  const params: SqlValue[] = [pids, month_first, month_last]
  if (!starts_whole) {
    parts.push(days)
    params.push(pids, range.first, firstDayOfMonth(month_first) - 1)
  }
  if (!ends_whole) {
    parts.push(days)
    params.push(pids, firstDayOfMonth(month_last + 1), range.last)
  }
  return { sql: parts.join(' UNION ALL '), params }
}

async function sampleIps(
  db: Db,
  tenant_id: string,
  scope: Scope,
  rows: readonly SourceRow[],
): Promise<string[][]> {
  if (rows.length === 0) return []
  const narrow = scope === null ? '' : 'AND policy_domain_id IN (SELECT value FROM json_each(?3))'
  const found = await db.query<{ ips: string }>(
    `SELECT (SELECT json_group_array(ip) FROM (
  SELECT ip FROM (SELECT ip, messages FROM source_ips
    WHERE tenant_id = ?1 AND sender = wanted.value ->> 0 AND kind = wanted.value ->> 1 ${narrow}
    LIMIT ${SAMPLED_IPS_MAX})
  GROUP BY ip ORDER BY sum(messages) DESC, ip LIMIT ${SAMPLE_IPS})) AS ips
FROM json_each(?2) AS wanted ORDER BY wanted.key`,
    [
      tenant_id,
      JSON.stringify(rows.map((row) => [row.sender, row.kind])),
      ...(scope === null ? [] : [JSON.stringify(scope)]),
    ],
  )
  return found.map((row) => JSON.parse(row.ips) as string[])
}

function sourceItem(row: SourceRow, sample_ips: string[]): SourceItem {
  const { messages, both, dkim_only, spf_only, by_disposition } = splitMeasure(row)
  const pass = both + dkim_only + spf_only
  return {
    sender: row.sender,
    kind: row.kind,
    messages,
    pass,
    fail: messages - pass,
    pass_rate: rateOf(pass, messages) ?? 0,
    dkim_pass: both + dkim_only,
    spf_pass: both + spf_only,
    by_disposition,
    sample_ips,
    first_seen: isoTime(row.first * DAY_MS),
    last_seen: isoTime(row.last * DAY_MS),
  }
}

/** Percent with two decimals; null when there is nothing to divide. A failure never rounds away to 100. */
export function rateOf(pass: number, messages: number): number | null {
  if (messages === 0) return null
  const rate = Math.round((pass / messages) * 10_000) / 100
  return rate === 100 && pass < messages ? 99.99 : rate
}

/** The policy domains to add up, as JSON; for the whole tenant the one row that stands for all. */
async function idsOf(db: Db, tenant_id: string, scope: Scope): Promise<string> {
  if (scope !== null) return JSON.stringify(scope)
  const rows = await db.query<{ id: number }>(
    'SELECT id FROM policy_domains WHERE tenant_id = ? AND name = ?',
    [tenant_id, ALL],
  )
  return JSON.stringify(rows.map((row) => row.id))
}

export interface Summary {
  messages: number
  pass: number
  fail: number
  reports: number
  reporters: number
  domains: number
  unassigned_reports: number
  rejected_files: number
  last_report_at: string | null
}

export async function summaryOf(db: Db, tenant_id: string, range: DayRange, now: number): Promise<Summary> {
  const [row] = await db.query<Omit<Summary, 'last_report_at' | 'fail'> & { last_report_at: number | null }>(
    `SELECT coalesce(sum(messages), 0) AS messages, coalesce(sum(pass_both + pass_dkim + pass_spf), 0) AS pass,
coalesce(sum(reports), 0) AS reports,
(SELECT count(DISTINCT org_name) FROM reporter_days WHERE tenant_id = ?1 AND day BETWEEN ?2 AND ?3) AS reporters,
(SELECT count(*) FROM domains WHERE tenant_id = ?1) AS domains,
(SELECT coalesce(sum(reports), 0) FROM policy_domains WHERE tenant_id = ?1 AND domain_id IS NULL) AS unassigned_reports,
(SELECT count(*) FROM rejected_files WHERE tenant_id = ?1 AND expires_at > ?4) AS rejected_files,
(SELECT created_at FROM reports WHERE tenant_id = ?1 AND state = 'current' ORDER BY rid DESC LIMIT 1) AS last_report_at
FROM report_days WHERE policy_domain_id = (SELECT id FROM policy_domains WHERE tenant_id = ?1 AND name = '${ALL}')
AND day BETWEEN ?2 AND ?3`,
    [tenant_id, range.first, range.last, now],
  )
  const { last_report_at, ...sums } = row!
  return {
    ...sums,
    fail: sums.messages - sums.pass,
    last_report_at: last_report_at === null ? null : isoTime(last_report_at),
  }
}

export interface ReporterItem {
  org_name: string
  reports: number
  messages: number
  last_report_at: string
}

const REPORTERS_MAX = 500

/** Who sent reports about the days of the range, most messages first. */
export async function reportersOf(db: Db, tenant_id: string, range: DayRange): Promise<ReporterItem[]> {
  const rows = await db.query<{ org_name: string; reports: number; messages: number; last_end: number }>(
    `SELECT org_name, sum(reports) AS reports, sum(messages) AS messages, max(last_end) AS last_end
FROM reporter_days WHERE tenant_id = ? AND day BETWEEN ? AND ?
GROUP BY org_name ORDER BY messages DESC, org_name LIMIT ?`,
    [tenant_id, range.first, range.last, REPORTERS_MAX],
  )
  return rows.map(({ last_end, ...row }) => ({ ...row, last_report_at: isoTime(last_end) }))
}
