/** Rows of notification settings, of alerts that nobody was told of yet, and of the mails on their way. */
import type { AlertStatus, Severity } from '../alerts/types.ts'
import type { Db, MustWrite, RawWrite } from '../db/types.ts'

export interface SettingsRow {
  settings_json: string
  version: number
  updated_at: number
}

/** An alert that mail is to be decided about. */
export interface UntoldAlert {
  id: string
  tenant_id: string
  severity: Severity
  status: AlertStatus
  title: string
  summary: string
  evidence_json: string
  first_at: number
  count: number
}

export interface OutboxRow {
  id: string
  tenant_id: string
  alert_id: string | null
  recipient: string
  subject: string
  body_text: string
  body_html: string
  status: 'pending' | 'sending'
  attempts: number
  next_at: number
  /** Of the alert it is about. */
  alert_status: AlertStatus | null
}

export interface NewMail {
  id: string
  tenant_id: string
  kind: 'alert' | 'digest'
  alert_id: string | null
  recipient: string
  subject: string
  text: string
  html: string
  now: number
}

const ALERT = 'id, tenant_id, severity, status, title, summary, evidence_json, first_at, count'

export type NotificationStore = ReturnType<typeof createNotificationStore>

export function createNotificationStore(db: Pick<Db, 'query'>) {
  return {
    async settings(tenantId: string): Promise<SettingsRow | undefined> {
      const rows = await db.query<SettingsRow>(
        'SELECT settings_json, version, updated_at FROM notification_settings WHERE tenant_id = ?',
        [tenantId],
      )
      return rows[0]
    },

    /** The address of a user of the tenant; undefined when there is no such user in it. */
    async addressOf(tenantId: string, userId: string): Promise<string | undefined> {
      const [row] = await db.query<{ email: string }>(
        `SELECT u.email FROM memberships m JOIN users u ON u.id = m.user_id
WHERE m.tenant_id = ? AND m.user_id = ?`,
        [tenantId, userId],
      )
      return row?.email
    },

    async admins(tenantId: string): Promise<string[]> {
      const rows = await db.query<{ user_id: string }>(
        `SELECT user_id FROM memberships WHERE tenant_id = ? AND role IN ('owner', 'admin') ORDER BY user_id`,
        [tenantId],
      )
      return rows.map((row) => row.user_id)
    },

    /** Alerts of all tenants, oldest first. */
    untold(limit: number): Promise<UntoldAlert[]> {
      return db.query(`SELECT ${ALERT} FROM alerts WHERE mail = 'new' ORDER BY id LIMIT ?`, [limit])
    },

    async tenantsWithDigest(): Promise<string[]> {
      const rows = await db.query<{ tenant_id: string }>(
        `SELECT DISTINCT tenant_id FROM alerts WHERE mail = 'digest'`,
      )
      return rows.map((row) => row.tenant_id)
    },

    /** What the summary tells of: alerts that began before it, worst first. */
    forDigest(tenantId: string, before: number, limit: number): Promise<UntoldAlert[]> {
      return db.query(
        `SELECT ${ALERT} FROM alerts WHERE mail = 'digest' AND tenant_id = ? AND first_at < ?
ORDER BY status = 'resolved', severity_rank DESC, id LIMIT ?`,
        [tenantId, before, limit],
      )
    },

    /** Mails that are to go now, and those whose sender did not come back. */
    due(now: number, limit: number): Promise<OutboxRow[]> {
      return db.query(
        `SELECT o.id, o.tenant_id, o.alert_id, o.recipient, o.subject, o.body_text, o.body_html, o.status, o.attempts,
o.next_at, (SELECT status FROM alerts a WHERE a.id = o.alert_id) AS alert_status
FROM mail_outbox o WHERE o.status IN ('pending', 'sending') AND o.next_at <= ? ORDER BY o.next_at, o.id LIMIT ?`,
        [now, limit],
      )
    },
  }
}

export function saveSettings(tenantId: string, json: string, expected: number, now: number): MustWrite {
  return {
    must: {
      sql: `INSERT INTO notification_settings (tenant_id, settings_json, version, updated_at) VALUES (?1, ?2, ?3 + 1, ?4)
ON CONFLICT (tenant_id) DO UPDATE SET settings_json = ?2, version = ?3 + 1, updated_at = ?4
WHERE notification_settings.version = ?3`,
      params: [tenantId, json, expected, now],
    },
    label: 'notification settings',
  }
}

/** Decides about an alert, once. */
export function decide(alert: UntoldAlert, mail: 'queued' | 'digest' | 'none'): MustWrite {
  return {
    must: {
      sql: `UPDATE alerts SET mail = ? WHERE tenant_id = ? AND id = ? AND mail = 'new'`,
      params: [mail, alert.tenant_id, alert.id],
    },
    label: 'decided already',
  }
}

export function queue(mails: readonly NewMail[]): RawWrite {
  return {
    sql: `INSERT INTO mail_outbox
(id, tenant_id, kind, alert_id, recipient, subject, body_text, body_html, next_at, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?9, ?9)`,
    rows: mails.map((mail) => [
      mail.id,
      mail.tenant_id,
      mail.kind,
      mail.alert_id,
      mail.recipient,
      mail.subject,
      mail.text,
      mail.html,
      mail.now,
    ]),
  }
}

/** The summary that is due at a time is sent once. */
export function claimDigest(tenantId: string, due_at: number): MustWrite {
  return {
    must: {
      sql: `INSERT INTO notification_digests (tenant_id, last_at) VALUES (?1, ?2)
ON CONFLICT (tenant_id) DO UPDATE SET last_at = ?2 WHERE last_at < ?2`,
      params: [tenantId, due_at],
    },
    label: 'sent already',
  }
}

export function toldInDigest(tenantId: string, ids: readonly string[], mail: 'queued' | 'none'): RawWrite {
  return {
    sql: `UPDATE alerts SET mail = ? WHERE tenant_id = ? AND id = ? AND mail = 'digest'`,
    rows: ids.map((id) => [mail, tenantId, id]),
  }
}

/** Nobody wants the summary any more. */
export function dropDigest(tenantId: string): RawWrite {
  return {
    sql: `UPDATE alerts SET mail = 'none' WHERE tenant_id = ? AND mail = 'digest'`,
    params: [tenantId],
  }
}

/** Takes a mail for sending; whoever dies over it gives it free at `until`. */
export function claimMail(row: OutboxRow, until: number): MustWrite {
  return {
    must: {
      sql: `UPDATE mail_outbox SET status = 'sending', attempts = attempts + 1, next_at = ?
WHERE id = ? AND status = ? AND attempts = ?`,
      params: [until, row.id, row.status, row.attempts],
    },
    label: 'claimed already',
  }
}

export function postponeMail(row: OutboxRow, until: number): RawWrite {
  return {
    sql: `UPDATE mail_outbox SET status = 'pending', next_at = ? WHERE id = ? AND status = ? AND attempts = ?`,
    params: [until, row.id, row.status, row.attempts],
  }
}

/** The end of a mail. `error` says why it was not sent. */
export function endMail(
  id: string,
  status: 'sent' | 'failed' | 'dropped',
  error: string | null,
  now: number,
): RawWrite {
  return {
    sql: `UPDATE mail_outbox SET status = ?, last_error = ?, done_at = ?
WHERE id = ? AND status IN ('pending', 'sending')`,
    params: [status, error, now, id],
  }
}

export function retryMail(id: string, error: string, at: number): RawWrite {
  return {
    sql: `UPDATE mail_outbox SET status = 'pending', last_error = ?, next_at = ? WHERE id = ? AND status = 'sending'`,
    params: [error, at, id],
  }
}

export function forgetMails(before: number): RawWrite {
  return { sql: 'DELETE FROM mail_outbox WHERE done_at < ? RETURNING 1', params: [before] }
}
