/**
 * What every area needs to raise an alert: the draft, and the pieces that make it land in the change that found the
 * problem. Whoever sees that the cause is gone settles the alert by the same `dedupe_key`.
 */
import type { Actor, AuditDraft, AuditValue, RawWrite } from '../db/types.ts'

export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

export const ALERT_STATUSES = ['open', 'acknowledged', 'silenced', 'resolved'] as const
export type AlertStatus = (typeof ALERT_STATUSES)[number]

/** Every kind of alert, with the words that people see. */
export const ALERT_KINDS = {
  compliance_low: 'Compliance fell below the threshold',
  reports_stopped: 'Reports stopped',
  import_failures: 'Files could not be read',
  webhook_disabled: 'A webhook was disabled',
  audit_anomaly: 'Unusual activity',
  disk_low: 'Disk space is low',
  job_failed: 'A job keeps failing',
  backup_failed: 'The backup failed',
  mail_failed: 'Mail could not be sent',
} as const
export type AlertKind = keyof typeof ALERT_KINDS

export interface AlertDraft {
  kind: AlertKind
  severity: Severity
  /** One line, with the name of what it is about. */
  title: string
  /** What is wrong and what to do about it, in a few sentences. */
  summary: string
  /** What it is about: `{type: 'domain', id: 'dom_…'}`. */
  subject: { type: string; id: string }
  evidence: { [key: string]: AuditValue }
  /**
   * The same problem has the same key: while an alert with it is not resolved, raising adds to its count; the latest
   * title, summary and evidence are kept, and the worst severity.
   */
  dedupe_key: string
}

/** Goes into any change: `writes: [...own, ...pieces.writes], audit: [own, pieces.audit]`. */
export interface AlertPieces {
  writes: RawWrite[]
  audit: AuditDraft
}

export interface AlertRaiser {
  /** The pieces of raising an alert, for the change that finds the problem. The door applies them with it. */
  raise(tenant_id: string, draft: AlertDraft): AlertPieces
  /** Raises in a change of its own, in the actor's tenant. `created` is false when it added to one that is there. */
  raiseNow(actor: Actor, draft: AlertDraft): Promise<{ id: string; created: boolean }>
  /** What resolves the alert of a key, if there is one that is not resolved: for the change that sees it gone. */
  settle(tenant_id: string, dedupe_key: string, why: string): RawWrite[]
  /** The same in a change of its own. True when there was one. */
  settleNow(tenant_id: string, dedupe_key: string, why: string): Promise<boolean>
  /** About the installation itself: in every tenant that an operator belongs to, else in the oldest. */
  raiseForOperators(draft: AlertDraft): Promise<void>
  settleForOperators(dedupe_key: string, why: string): Promise<void>
}
