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
  verdicts: {
    integrity: 'ok' | 'failed'
    completeness: 'ok' | 'restored' | 'failed'
    anchoring: 'full' | 'partial' | 'none' | 'failed'
    redaction: 'none' | 'redacted'
  }
  redacted?: number
  first_bad?: { seq: number; kind: string; detail?: string }
  checkpoint: { seq: number; signed_at: string; key: string } | null
  /** Entries after the newest checkpoint. */
  unanchored?: number
  /** Entries up to this one were removed because they were past keeping. */
  starts_after?: number | null
  restored?: { seq: number; signed_at: string; lost: { from_seq: number; to_seq: number } | null }[]
}
