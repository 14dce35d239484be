/**
 * Lists of reports and their records. Every list names the index that serves its order, so that a page costs what the
 * page holds; narrow filters that an order cannot serve go through the filter's own index and are sorted.
 */
import type { Db, SqlValue } from '../db/types.ts'
import type { ReportSort } from './sorts.ts'
import { fails, type PackedRecord } from './rules/records.ts'
import { recordsOf } from './stored.ts'

export interface StoredReport {
  rid: number
  id: string
  state: 'current' | 'superseded'
  policy_domain: string
  domain_id: string | null
  org_name: string
  org_email: string | null
  report_id: string
  date_begin: number
  date_end: number
  policy_json: string
  extra_json: string
  records: number
  messages: number
  pass: number
  fail: number
  disp_none: number
  disp_quarantine: number
  disp_reject: number
  disp_pass: number
  repairs_json: string
  source: string
  file_name: string
  file_kind: string
  file_bytes: number
  blob_sha256: string
  revision_of: string | null
  created_at: number
}

export interface ReportFilter {
  /** Names (A-labels) and ids of domains; undefined: all. */
  domains?: readonly string[]
  from?: number
  to?: number
  org?: string
  q?: string
  unassigned?: boolean
  status?: 'current' | 'superseded'
}

export interface ReportPage {
  sort: ReportSort
  /** Sort value and rid of the last row before. */
  after: readonly SqlValue[] | null
  limit: number
}

const COLUMNS = `r.rid, r.id, r.state, r.policy_domain, p.domain_id, r.org_name, r.org_email, r.report_id, r.date_begin,
r.date_end, r.policy_json, r.extra_json, r.records, r.messages, r.pass, r.fail, r.disp_none, r.disp_quarantine,
r.disp_reject, r.disp_pass, r.repairs_json, r.source, r.file_name, r.file_kind, r.file_bytes, r.blob_sha256,
r.revision_of, r.created_at`

/** Up to this many policy domains a list by date is merged from one index range each. */
const MERGED_RANGES_MAX = 64
/** Up to this many reports of the filtered domains are fetched and sorted, whatever the order. */
const SORTED_REPORTS_MAX = 2000

const SORT_COLUMN = { date_end: 'date_end', created_at: 'rid', messages: 'messages', fail: 'fail' } as const
const SORT_INDEX = {
  date_end: 'reports_by_end',
  created_at: 'reports_by_arrival',
  messages: 'reports_by_messages',
  fail: 'reports_by_fail',
} as const

/** One page, in order. */
export async function listReports(
  db: Db,
  tenant_id: string,
  filter: ReportFilter,
  page: ReportPage,
): Promise<StoredReport[]> {
  const scope = filter.domains === undefined ? null : await policyDomainsOf(db, tenant_id, filter.domains)
  if (scope !== null && scope.length === 0) return []
  const descending = page.sort.startsWith('-')
  const field = page.sort.replace('-', '') as keyof typeof SORT_COLUMN
  const direction = descending ? 'DESC' : 'ASC'
  const order = `ORDER BY r.${SORT_COLUMN[field]} ${direction}, r.rid ${direction} LIMIT ${page.limit}`
  const { where, params } = await conditions(db, tenant_id, filter, page, field, descending)
  const ids = scope === null ? '' : JSON.stringify(scope.map((each) => each.id))
  const in_scope = 'r.policy_domain_id IN (SELECT value FROM json_each(?))'

  if (filter.status === 'superseded') {
    const narrow = scope === null ? '' : ` AND ${in_scope}`
    return await query(db, 'reports_superseded', `${where}${narrow} ${order}`, [
      ...params,
      ...(ids ? [ids] : []),
    ])
  }
  if (scope === null) {
    const index = field === 'date_end' && filter.org !== undefined ? 'reports_by_org' : SORT_INDEX[field]
    return await query(db, index, `${where} ${order}`, params)
  }
  if (field === 'date_end' && scope.length <= MERGED_RANGES_MAX) {
    const parts = await Promise.all(
      scope.map(({ id }) =>
        query(db, 'reports_by_policy_domain', `r.policy_domain_id = ? AND ${where} ${order}`, [
          id,
          ...params,
        ]),
      ),
    )
    const sign = descending ? -1 : 1
    const merged = parts.flat().sort((a, b) => sign * (a.date_end - b.date_end || a.rid - b.rid))
    return merged.slice(0, page.limit)
  }
  const few = scope.reduce((sum, each) => sum + each.reports, 0) <= SORTED_REPORTS_MAX
  const index = few ? 'reports_by_policy_domain' : SORT_INDEX[field]
  return await query(db, index, `${in_scope} AND ${where} ${order}`, [ids, ...params])
}

async function query(db: Db, index: string, tail: string, params: SqlValue[]): Promise<StoredReport[]> {
  return await db.query<StoredReport>(
    `SELECT ${COLUMNS} FROM reports r INDEXED BY ${index} CROSS JOIN policy_domains p ON p.id = r.policy_domain_id
WHERE ${tail}`,
    params,
  )
}

async function conditions(
  db: Db,
  tenant_id: string,
  filter: ReportFilter,
  page: ReportPage,
  field: keyof typeof SORT_COLUMN,
  descending: boolean,
): Promise<{ where: string; params: SqlValue[] }> {
  const where = ['r.tenant_id = ?', `r.state = '${filter.status ?? 'current'}'`]
  const params: SqlValue[] = [tenant_id]
  const add = (sql: string, ...values: SqlValue[]): void => {
    where.push(sql)
    params.push(...values)
  }
  if (page.after !== null) {
    const operator = descending ? '<' : '>'
    const [value, rid] = page.after
    if (field === 'created_at') add(`r.rid ${operator} ?`, rid!)
    else add(`(r.${SORT_COLUMN[field]}, r.rid) ${operator} (?, ?)`, value!, rid!)
  }
  if (filter.from !== undefined) add('r.date_end >= ?', filter.from)
  if (filter.to !== undefined) {
    // The second bound is implied by the first and the longest period; it is what lets the index stop.
    add('r.date_begin < ? AND r.date_end <= ?', filter.to, filter.to + (await longestSpan(db, tenant_id)))
  }
  if (filter.org !== undefined) add('r.org_name = ?', filter.org)
  if (filter.unassigned === true) add('p.domain_id IS NULL')
  if (filter.unassigned === false) add('p.domain_id IS NOT NULL')
  if (filter.q !== undefined) {
    const like = `%${filter.q.replaceAll(/[\\%_]/g, '\\$&')}%`
    add(
      `(r.org_name LIKE ? ESCAPE '\\' OR r.policy_domain LIKE ? ESCAPE '\\' OR r.report_id LIKE ? ESCAPE '\\')`,
      like,
      like,
      like,
    )
  }
  return { where: where.join(' AND '), params }
}

async function longestSpan(db: Db, tenant_id: string): Promise<number> {
  const [row] = await db.query<{ span: number | null }>(
    'SELECT max(span_max) AS span FROM policy_domains WHERE tenant_id = ?',
    [tenant_id],
  )
  return row?.span ?? 0
}

export interface PolicyDomainRef {
  id: number
  reports: number
}

/** Policy domains that belong to the named domains (by id or A-label), or have one of the names themselves. */
export async function policyDomainsOf(
  db: Db,
  tenant_id: string,
  names: readonly string[],
): Promise<PolicyDomainRef[]> {
  return await db.query<PolicyDomainRef>(
    `SELECT id, reports FROM policy_domains WHERE tenant_id = ?1 AND name <> '*' AND (
  name IN (SELECT value FROM json_each(?2)) OR domain_id IN (
    SELECT id FROM domains WHERE tenant_id = ?1 AND (
      name IN (SELECT value FROM json_each(?2)) OR id IN (SELECT value FROM json_each(?2)))))`,
    [tenant_id, JSON.stringify(names)],
  )
}

export async function findReport(db: Db, tenant_id: string, id: string): Promise<StoredReport | null> {
  const [row] = await db.query<StoredReport>(
    `SELECT ${COLUMNS} FROM reports r JOIN policy_domains p ON p.id = r.policy_domain_id
WHERE r.id = ? AND r.tenant_id = ?`,
    [id, tenant_id],
  )
  return row ?? null
}

/**
 * Records of a report after number `after`, in order; with `failing` only those that passed neither check. The caller
 * has found the report among the tenant's own.
 */
export async function listRecords(
  db: Db,
  rid: number,
  page: { after: number; limit: number; failing: boolean },
): Promise<PackedRecord[]> {
  const found: PackedRecord[] = []
  for await (const records of recordsOf(db, rid, page.after)) {
    for (const record of records) if (!page.failing || fails(record)) found.push(record)
    if (found.length >= page.limit) break
  }
  return found.slice(0, page.limit)
}
