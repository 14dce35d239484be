/** Resolving alerts whose cause is gone: pieces for the change that sees it go. */
import type { RawWrite } from '../db/types.ts'

/** The alert of a key, if there is one that is not resolved. */
export function settleKey(tenant_id: string, dedupe_key: string, why: string, now: number): RawWrite[] {
  return settle('tenant_id = ? AND dedupe_key = ?', [tenant_id, dedupe_key], why, now)
}

/** All alerts about something that is no longer there. */
export function settleSubject(
  tenant_id: string,
  subject: { type: string; id: string },
  why: string,
  now: number,
): RawWrite[] {
  const params = [tenant_id, subject.type, subject.id]
  return settle('tenant_id = ? AND subject_type = ? AND subject_id = ?', params, why, now)
}

function settle(where: string, params: readonly string[], why: string, now: number): RawWrite[] {
  return [
    {
      sql: `INSERT INTO alert_history (alert_id, n, tenant_id, at, action, actor_type, note)
SELECT id, (SELECT coalesce(max(n), 0) + 1 FROM alert_history h WHERE h.alert_id = alerts.id), tenant_id,
?, 'resolved', 'system', ? FROM alerts WHERE ${where} AND status <> 'resolved'`,
      params: [now, why, ...params],
    },
    {
      sql: `UPDATE alerts SET status = 'resolved', resolved_at = ?, silenced_until = NULL
WHERE ${where} AND status <> 'resolved'`,
      params: [now, ...params],
    },
  ]
}
