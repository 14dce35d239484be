/** Rows of domains. What belongs to them is found through `policy_domains.domain_id`. */
import type { Db, MustWrite, RawWrite, SqlValue } from '../db/types.ts'
import { type DomainSort, SORT_VALUE } from './sorts.ts'

export interface DomainRow {
  id: string
  tenant_id: string
  name: string
  unicode_name: string
  status: 'pending' | 'verified'
  profile: 'sending' | 'receive_only' | 'parked'
  compliance_threshold: number
  outbound_ips_json: string
  dkim_selectors_json: string
  tags_json: string
  verification_token: string
  verification_checked_at: number | null
  verification_detail: string | null
  verified_at: number | null
  policy_json: string | null
  policy_checked_at: number | null
  version: number
  created_at: number
  updated_at: number
}

/** A domain with its figures over the last days. */
export interface DomainFigures extends DomainRow {
  messages: number
  pass: number
  /** Percent, or null without messages. */
  rate: number | null
  reports: number
  last_end: number | null
}

export interface DomainFilter {
  q?: string
  status?: 'pending' | 'verified'
  profile?: DomainRow['profile']
  tag?: string
}

export interface DomainPage {
  sort: DomainSort
  /** Sort value and id of the last one before. */
  after: readonly SqlValue[] | null
  limit: number
}

/** First and last day of the window figures are over, inclusive. */
export interface Window {
  first: number
  last: number
}

const WITH_FIGURES = `SELECT d.*, coalesce(f.messages, 0) AS messages, coalesce(f.pass, 0) AS pass,
CASE WHEN f.messages > 0 THEN 100.0 * f.pass / f.messages END AS rate, coalesce(p.reports, 0) AS reports,
nullif(p.last_end, 0) AS last_end
FROM domains d
LEFT JOIN (SELECT domain_id, sum(reports) AS reports, max(last_end) AS last_end FROM policy_domains
  WHERE tenant_id = ?1 AND domain_id IS NOT NULL GROUP BY domain_id) p ON p.domain_id = d.id
LEFT JOIN (SELECT pd.domain_id, sum(r.messages) AS messages, sum(r.pass_both + r.pass_dkim + r.pass_spf) AS pass
  FROM policy_domains pd CROSS JOIN report_days r ON r.policy_domain_id = pd.id AND r.day BETWEEN ?2 AND ?3
  WHERE pd.tenant_id = ?1 AND pd.domain_id IS NOT NULL GROUP BY pd.domain_id) f ON f.domain_id = d.id
WHERE d.tenant_id = ?1`

export async function listDomains(
  db: Db,
  tenant_id: string,
  filter: DomainFilter,
  window: Window,
  page: DomainPage,
): Promise<DomainFigures[]> {
  const params: SqlValue[] = [tenant_id, window.first, window.last]
  const where: string[] = []
  const add = (sql: (mark: string) => string, value: SqlValue): void => {
    params.push(value)
    where.push(sql(`?${params.length}`))
  }
  if (filter.q !== undefined) {
    const like = `%${filter.q.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
    add((m) => `(name LIKE ${m} ESCAPE '\\' OR unicode_name LIKE ${m} ESCAPE '\\')`, like)
  }
  if (filter.status !== undefined) add((m) => `status = ${m}`, filter.status)
  if (filter.profile !== undefined) add((m) => `profile = ${m}`, filter.profile)
  if (filter.tag !== undefined) {
    add((m) => `EXISTS (SELECT 1 FROM json_each(tags_json) WHERE value = ${m})`, filter.tag)
  }
  const descending = page.sort.startsWith('-')
  const value = SORT_VALUE[page.sort.replace('-', '') as keyof typeof SORT_VALUE]
  const direction = descending ? 'DESC' : 'ASC'
  if (page.after !== null) {
    params.push(page.after[0]!, page.after[1]!)
    const last = params.length
    where.push(`(${value}, id) ${descending ? '<' : '>'} (?${last - 1}, ?${last})`)
  }
  params.push(page.limit)
  const narrow = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`
  return await db.query<DomainFigures>(
    `SELECT * FROM (${WITH_FIGURES}) ${narrow} ORDER BY ${value} ${direction}, id ${direction} LIMIT ?${params.length}`,
    params,
  )
}

export async function findDomain(
  db: Db,
  tenant_id: string,
  id: string,
  window: Window,
): Promise<DomainFigures | null> {
  const [row] = await db.query<DomainFigures>(
    `SELECT d.*, coalesce(f.messages, 0) AS messages, coalesce(f.pass, 0) AS pass,
CASE WHEN f.messages > 0 THEN 100.0 * f.pass / f.messages END AS rate, coalesce(p.reports, 0) AS reports,
nullif(p.last_end, 0) AS last_end
FROM domains d,
(SELECT sum(reports) AS reports, max(last_end) AS last_end FROM policy_domains WHERE domain_id = ?2) p,
(SELECT sum(r.messages) AS messages, sum(r.pass_both + r.pass_dkim + r.pass_spf) AS pass
  FROM policy_domains pd CROSS JOIN report_days r ON r.policy_domain_id = pd.id AND r.day BETWEEN ?3 AND ?4
  WHERE pd.domain_id = ?2) f
WHERE d.tenant_id = ?1 AND d.id = ?2`,
    [tenant_id, id, window.first, window.last],
  )
  return row ?? null
}

/** Days with messages of the named domains, for their trends. */
export async function trendsOf(
  db: Db,
  ids: readonly string[],
  window: Window,
): Promise<{ domain_id: string; day: number; messages: number; pass: number }[]> {
  return await db.query(
    `SELECT pd.domain_id, r.day, sum(r.messages) AS messages, sum(r.pass_both + r.pass_dkim + r.pass_spf) AS pass
FROM policy_domains pd CROSS JOIN report_days r ON r.policy_domain_id = pd.id AND r.day BETWEEN ? AND ?
WHERE pd.domain_id IN (SELECT value FROM json_each(?)) GROUP BY pd.domain_id, r.day`,
    [window.first, window.last, JSON.stringify(ids)],
  )
}

/** Numbers of the policy domains that belong to a domain. */
export async function policyDomainsOfDomain(db: Db, id: string): Promise<number[]> {
  const rows = await db.query<{ id: number }>('SELECT id FROM policy_domains WHERE domain_id = ?', [id])
  return rows.map((row) => row.id)
}

/** The insert says itself whether there is room: two at once cannot both take the last place. */
export function insertDomain(
  row: Omit<DomainRow, 'status' | 'compliance_threshold'>,
  max: number | null,
  threshold: number | null,
): MustWrite {
  return {
    must: {
      sql: `INSERT INTO domains (id, tenant_id, name, unicode_name, profile, compliance_threshold, outbound_ips_json,
dkim_selectors_json, tags_json, verification_token, created_at, updated_at)
SELECT ?1, ?2, ?3, ?4, ?5, coalesce(?6, (SELECT default_compliance_threshold FROM tenants WHERE id = ?2)), ?7, ?8, ?9,
?10, ?11, ?11 WHERE ?12 IS NULL OR (SELECT count(*) FROM domains WHERE tenant_id = ?2) < ?12`,
      params: [
        row.id,
        row.tenant_id,
        row.name,
        row.unicode_name,
        row.profile,
        threshold,
        row.outbound_ips_json,
        row.dkim_selectors_json,
        row.tags_json,
        row.verification_token,
        row.created_at,
        max,
      ],
    },
    label: 'domain limit',
  }
}

/** Takes the reports about the name and the names below it, but for those that a nearer domain has. */
export function adoptReports(tenant_id: string, id: string, name: string): RawWrite {
  return {
    sql: `UPDATE policy_domains SET domain_id = ?2 WHERE tenant_id = ?1
AND (name = ?3 OR substr(name, -length(?3) - 1) = '.' || ?3)
AND (domain_id IS NULL OR length((SELECT d.name FROM domains d WHERE d.id = domain_id)) < length(?3))`,
    params: [tenant_id, id, name],
  }
}

/** Gives the reports of a domain that goes to the next nearest, or to nobody. */
export function releaseReports(tenant_id: string, id: string): RawWrite {
  return {
    sql: `UPDATE policy_domains SET domain_id = (SELECT d.id FROM domains d
  WHERE d.tenant_id = ?1 AND d.id <> ?2
  AND (policy_domains.name = d.name OR substr(policy_domains.name, -length(d.name) - 1) = '.' || d.name)
  ORDER BY length(d.name) DESC LIMIT 1)
WHERE tenant_id = ?1 AND domain_id = ?2`,
    params: [tenant_id, id],
  }
}

export function deleteDomain(tenant_id: string, id: string): MustWrite {
  return {
    must: { sql: 'DELETE FROM domains WHERE tenant_id = ? AND id = ?', params: [tenant_id, id] },
    label: 'domain',
  }
}

/** Sets columns of a domain that still has the version; every change makes the next version. */
export function updateDomain(
  row: Pick<DomainRow, 'id' | 'tenant_id' | 'version'>,
  columns: Partial<DomainRow>,
  now: number,
): MustWrite {
  const names = Object.keys(columns)
  const sets = names.map((name) => `${name} = ?`)
  return {
    must: {
      sql: `UPDATE domains SET ${[...sets, 'version = version + 1', 'updated_at = ?'].join(', ')}
WHERE tenant_id = ? AND id = ? AND version = ?`,
      params: [...(Object.values(columns) as SqlValue[]), now, row.tenant_id, row.id, row.version],
    },
    label: 'domain version',
  }
}

/** What a new domain would take over: for the answer that is written before it does. */
export async function adoptableFigures(
  db: Db,
  tenant_id: string,
  name: string,
  window: Window,
): Promise<{ messages: number; pass: number; reports: number; last_end: number | null }> {
  const [row] = await db.query<{ messages: number; pass: number; reports: number; last_end: number | null }>(
    `WITH mine AS (SELECT id, reports, last_end FROM policy_domains WHERE tenant_id = ?1
  AND (name = ?2 OR substr(name, -length(?2) - 1) = '.' || ?2)
  AND (domain_id IS NULL OR length((SELECT d.name FROM domains d WHERE d.id = domain_id)) < length(?2)))
SELECT (SELECT coalesce(sum(reports), 0) FROM mine) AS reports, (SELECT nullif(max(last_end), 0) FROM mine) AS last_end,
coalesce(sum(r.messages), 0) AS messages, coalesce(sum(r.pass_both + r.pass_dkim + r.pass_spf), 0) AS pass
FROM mine CROSS JOIN report_days r ON r.policy_domain_id = mine.id AND r.day BETWEEN ?3 AND ?4`,
    [tenant_id, name, window.first, window.last],
  )
  return row!
}

export async function domainExists(db: Db, tenant_id: string, name: string): Promise<boolean> {
  const rows = await db.query('SELECT 1 FROM domains WHERE tenant_id = ? AND name = ?', [tenant_id, name])
  return rows.length > 0
}

/** Domains of all tenants whose records were not looked at since `before`. */
export async function dueForCheck(
  db: Db,
  before: number,
  limit: number,
): Promise<{ id: string; tenant_id: string; name: string }[]> {
  return await db.query(
    `SELECT id, tenant_id, name FROM domains WHERE policy_checked_at IS NULL OR policy_checked_at < ?
ORDER BY policy_checked_at LIMIT ?`,
    [before, limit],
  )
}
