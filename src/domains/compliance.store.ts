/** What the compliance rule reads and writes: marks of ingest, the figures of a window, and whether a domain may fire. */
import type { Db, MustWrite, RawWrite } from '../db/types.ts'
import type { SenderFigures } from './rules/cause.ts'
import type { ComplianceState, WINDOW_DAYS } from './rules/threshold.ts'

export interface Mark {
  policy_domain_id: number
  day: number
  report_end: number
  marks: number
  tenant_id: string
  /** Whose reports these are; null when no domain of the tenant has them. */
  domain_id: string | null
}

export interface DomainFacts {
  name: string
  threshold: number
  /** The latest end of its reports. */
  last_end: number
  state: ComplianceState | null
}

export interface Figures {
  messages: number
  pass: number
}

interface Days {
  first: number
  last: number
}

/** Compliance of a domain as it is written down. */
export interface Seen {
  domain_id: string
  tenant_id: string
  compliance: number
  window_day: number
  now: number
}

export function marksOf(db: Pick<Db, 'query'>, limit: number): Promise<Mark[]> {
  return db.query<Mark>(
    `SELECT m.policy_domain_id, m.day, m.report_end, m.marks, m.tenant_id, p.domain_id
FROM compliance_marks m JOIN policy_domains p ON p.id = m.policy_domain_id LIMIT ?`,
    [limit],
  )
}

/** Takes the marks away that were seen, but for those that were set again meanwhile. */
export function clearMarks(marks: readonly Mark[]): RawWrite {
  return {
    sql: 'DELETE FROM compliance_marks WHERE policy_domain_id = ? AND day = ? AND marks = ?',
    rows: marks.map((mark) => [mark.policy_domain_id, mark.day, mark.marks]),
  }
}

/** The reports that a domain has are looked at like reports that arrive: it is new, or asks for more than before. */
export function markDomain(tenant_id: string, domain_id: string): RawWrite {
  return {
    sql: `INSERT INTO compliance_marks (policy_domain_id, day, tenant_id, report_end, marks)
SELECT id, last_end / 86400000, tenant_id, last_end, 1 FROM policy_domains WHERE tenant_id = ? AND domain_id = ?
ON CONFLICT DO UPDATE SET report_end = max(report_end, excluded.report_end), marks = marks + 1`,
    params: [tenant_id, domain_id],
  }
}

export async function factsOf(db: Pick<Db, 'query'>, id: string): Promise<DomainFacts | undefined> {
  const [row] = await db.query<{
    name: string
    threshold: number
    last_end: number
    armed: number | null
    compliance: number | null
  }>(
    `SELECT d.name, d.compliance_threshold AS threshold, s.armed, s.compliance,
coalesce((SELECT max(last_end) FROM policy_domains WHERE domain_id = d.id), 0) AS last_end
FROM domains d LEFT JOIN compliance_state s ON s.domain_id = d.id WHERE d.id = ?`,
    [id],
  )
  if (row === undefined) return undefined
  const { name, threshold, last_end } = row
  const state = row.armed === null ? null : { armed: row.armed === 1, compliance: row.compliance! }
  return { name, threshold, last_end, state }
}

export async function figuresOf(db: Pick<Db, 'query'>, id: string, days: Days): Promise<Figures> {
  const [row] = await db.query<Figures>(
    `SELECT coalesce(sum(r.messages), 0) AS messages, coalesce(sum(r.pass_both + r.pass_dkim + r.pass_spf), 0) AS pass
FROM policy_domains p CROSS JOIN report_days r ON r.policy_domain_id = p.id AND r.day BETWEEN ? AND ?
WHERE p.domain_id = ?`,
    [days.first, days.last, id],
  )
  return row!
}

/** Senders of a window with what they did in the same time before it, those that fail most first. */
export function sendersOf(
  db: Pick<Db, 'query'>,
  id: string,
  window: Days,
  length: typeof WINDOW_DAYS,
): Promise<SenderFigures[]> {
  return db.query<SenderFigures>(
    `SELECT s.sender AS name, s.kind,
sum(iif(s.day >= ?1, s.messages, 0)) AS messages,
sum(iif(s.day >= ?1, s.messages - s.pass_both - s.pass_dkim - s.pass_spf, 0)) AS failing,
sum(iif(s.day < ?1, s.messages, 0)) AS messages_before,
sum(iif(s.day < ?1, s.messages - s.pass_both - s.pass_dkim - s.pass_spf, 0)) AS failing_before
FROM policy_domains p CROSS JOIN source_days s ON s.policy_domain_id = p.id AND s.day BETWEEN ?1 - ?2 AND ?3
WHERE p.domain_id = ?4 GROUP BY s.sender, s.kind
HAVING sum(iif(s.day >= ?1, s.messages, 0)) > 0 ORDER BY failing DESC, messages DESC, s.sender`,
    [window.first, length, window.last, id],
  )
}

/** Only one can disarm a domain that is armed, so an event is made once. */
export function disarm(seen: Seen): MustWrite {
  return {
    must: {
      sql: `INSERT INTO compliance_state (domain_id, tenant_id, armed, compliance, window_day, fired_at, updated_at)
VALUES (?1, ?2, 0, ?3, ?4, ?5, ?5) ON CONFLICT (domain_id) DO UPDATE SET armed = 0, compliance = excluded.compliance,
window_day = excluded.window_day, fired_at = excluded.fired_at, updated_at = excluded.updated_at
WHERE compliance_state.armed = 1`,
      params: [seen.domain_id, seen.tenant_id, seen.compliance, seen.window_day, seen.now],
    },
    label: 'fired already',
  }
}

export function rearm(seen: Seen): MustWrite {
  return {
    must: {
      sql: `UPDATE compliance_state SET armed = 1, compliance = ?, window_day = ?, updated_at = ?
WHERE domain_id = ? AND armed = 0`,
      params: [seen.compliance, seen.window_day, seen.now, seen.domain_id],
    },
    label: 'armed already',
  }
}

/** Keeps what was seen, for the next comparison. */
export function note(seen: Seen): RawWrite {
  return {
    sql: `INSERT INTO compliance_state (domain_id, tenant_id, armed, compliance, window_day, updated_at)
VALUES (?, ?, 1, ?, ?, ?) ON CONFLICT (domain_id) DO UPDATE SET compliance = excluded.compliance,
window_day = excluded.window_day, updated_at = excluded.updated_at`,
    params: [seen.domain_id, seen.tenant_id, seen.compliance, seen.window_day, seen.now],
  }
}
