/** Alerts as they go over HTTP, and as rows of a table. */
import type { CsvCell } from '../lib/csv.ts'
import { isoTime } from '../lib/clock.ts'
import { statusAt } from './rules/transitions.ts'
import type { AlertDto } from './schema.ts'
import type { AlertRow, HistoryRow } from './store.ts'

const iso = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

export function presentAlert(row: AlertRow, history: readonly HistoryRow[], now: number): AlertDto {
  const status = statusAt(row, now)
  const entries = history.map(presentEntry)
  // The silence is over, and nobody has written it down yet.
  if (status !== row.status) entries.push(reopened(row.silenced_until!))
  return {
    id: row.id,
    kind: row.kind,
    severity: row.severity,
    status,
    title: row.title,
    summary: row.summary,
    subject: { type: row.subject_type, id: row.subject_id },
    evidence: JSON.parse(row.evidence_json) as AlertDto['evidence'],
    dedupe_key: row.dedupe_key,
    count: row.count,
    silenced_until: status === 'silenced' ? iso(row.silenced_until) : null,
    assigned_to: row.assigned_to === null ? null : { id: row.assigned_to, name: row.assigned_name },
    history: entries,
    first_at: isoTime(row.first_at),
    last_at: isoTime(row.last_at),
  }
}

function presentEntry(row: HistoryRow): AlertDto['history'][number] {
  return {
    at: isoTime(row.at),
    action: row.action,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    note: row.note,
    until: iso(row.until),
    user: row.user_id === null ? null : { id: row.user_id, name: row.user_name },
  }
}

function reopened(at: number): AlertDto['history'][number] {
  const actor = { type: 'system', id: null, name: 'Wardpost' }
  return { at: isoTime(at), action: 'reopened', actor, note: null, until: null, user: null }
}

export const ALERT_CSV_COLUMNS = [
  'id',
  'kind',
  'severity',
  'status',
  'title',
  'summary',
  'subject_type',
  'subject_id',
  'count',
  'silenced_until',
  'assigned_to',
  'first_at',
  'last_at',
]

export function alertCsvCells(alert: AlertDto): CsvCell[] {
  return [
    alert.id,
    alert.kind,
    alert.severity,
    alert.status,
    alert.title,
    alert.summary,
    alert.subject.type,
    alert.subject.id,
    alert.count,
    alert.silenced_until,
    alert.assigned_to?.name ?? alert.assigned_to?.id,
    alert.first_at,
    alert.last_at,
  ]
}
