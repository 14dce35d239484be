export interface Entry {
  seq: number
  ts: string
  actor: { type: string; id: string | null; name: string | null; key_id: string | null; ip: string | null }
  action: string
  target: { type: string; id: string | null } | null
  outcome: string
  request_id: string | null
  detail: Record<string, unknown>
  personal?: Record<string, unknown> | null
  hash: string
  prev_hash: string | null
}

export type FullEntry = Entry & { canonical: string; entry_hash: string }

export interface Verification {
  ok: boolean
  from_seq: number | null
  to_seq: number | null
  checked: number
  head: { seq: number; hash: string } | null
  verdicts: { integrity: string; completeness: string; anchoring: string; redaction: string }
  redacted?: number
  first_bad?: { seq: number; kind: string }
  checkpoint: { seq: number; signed_at: string; key: string } | null
}
