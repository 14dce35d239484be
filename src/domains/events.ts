/** The events that domains emit. Their data is described in `lib/event-kinds.ts`. */
import type { EventDraft } from '../db/types.ts'
import { newId } from '../lib/ids.ts'

export interface FailingSource {
  source: string
  messages: number
  failing: number
}

/** Percentages are 0 to 100, times ISO 8601. */
export interface ThresholdReached {
  domain_id: string
  domain: string
  threshold: number
  compliance: number
  previous_compliance: number | null
  window_from: string
  window_to: string
  messages: number
  top_failing_sources: FailingSource[]
  probable_cause: string
}

export function dmarcThresholdReached(now: number, data: ThresholdReached): EventDraft {
  return { id: newId('evt', now), type: 'DMARC_THRESHOLD_REACHED', created_at: now, data }
}
