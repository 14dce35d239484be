/** The events that the audit log emits. Their data is described in `lib/event-kinds.ts`. */
import type { EventDraft } from '../db/types.ts'
import { newId } from '../lib/ids.ts'

export interface LogAnomaly {
  kind: string
  actor: { type: string; id: string | null; name: string | null }
  detail: string
  evidence: { [name: string]: string | number }
  audit_seq: number
}

export function auditLogAnomaly(now: number, data: LogAnomaly): EventDraft {
  return { id: newId('evt', now), type: 'AUDIT_LOG_ANOMALY', created_at: now, data }
}
