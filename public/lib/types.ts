/** The shapes /v1 and /auth answer with, as far as the screens read them. Times are ISO 8601 UTC. */

export interface Page<T> {
  items: T[]
  next_cursor?: string
}

export interface AuthState {
  setup_required: boolean
  authenticated: boolean
  version: string
  base_url: string | null
}

export type Role = 'owner' | 'admin' | 'analyst' | 'viewer'

export interface Limits {
  domains: number | null
  key_per_minute: number
  tenant_per_minute: number
}

export interface Me {
  kind: 'session' | 'key'
  user: {
    id: string
    name: string
    email: string
    is_operator: boolean
    totp_enabled: boolean
    recovery_codes_left: number
  } | null
  key: { id: string; name: string; scopes: string[]; expires_at: string | null } | null
  tenant: { id: string; name: string; plan: string; status: string; limits: Limits }
  role: Role | null
  scopes: string[]
  memberships: { tenant_id: string; tenant_name: string; role: Role }[]
  session_id: string | null
}

export type Profile = 'sending' | 'receive_only' | 'parked'

export interface DmarcPolicy {
  record: string | null
  p: string | null
  sp: string | null
  np: string | null
  adkim: string | null
  aspf: string | null
  rua: string[]
  testing: boolean | null
  checked_at: string | null
  state: 'ok' | 'missing' | 'multiple' | 'invalid' | 'unknown'
  detail: string | null
}

export interface Compliance {
  /** Percent, `null` without messages. */
  rate: number | null
  messages: number
  pass: number
  fail: number
  window_days: number
  trend: { date: string; rate: number | null }[]
}

export interface Domain {
  id: string
  name: string
  unicode_name: string
  status: 'pending' | 'verified'
  profile: Profile
  compliance_threshold: number
  verification: {
    record_name: string
    record_value: string
    checked_at: string | null
    detail: string | null
  }
  policy: DmarcPolicy
  compliance: Compliance
  last_report_at: string | null
  reports: number
  outbound_ips: string[]
  dkim_selectors: string[]
  tags: string[]
  created_at: string
  updated_at: string
  version: number
}

export interface Dispositions {
  none: number
  quarantine: number
  reject: number
  pass?: number
}

export interface DayFigures {
  date: string
  messages: number
  pass: number
  fail: number
  both: number
  dkim_only: number
  spf_only: number
  neither: number
  by_disposition: Dispositions
  reports: number
}

export interface Timeline {
  domain?: string | null
  from: string
  to: string
  items: DayFigures[]
}

export interface Source {
  sender: string
  kind: 'dkim' | 'spf' | 'network' | 'prefix' | 'other'
  messages: number
  pass: number
  fail: number
  pass_rate: number | null
  dkim_pass: number
  spf_pass: number
  by_disposition: Dispositions
  sample_ips: string[]
  first_seen: string
  last_seen: string
}

/** A thing that had to be put right in a report; servers may name it by code alone. */
export type Repair = string | { code: string; detail?: string; count?: number }

export interface Report {
  id: string
  domain: string
  domain_id: string | null
  org_name: string
  org_email: string | null
  report_id: string
  date_begin: string
  date_end: string
  policy: Record<string, string | number | boolean | null>
  totals: { messages: number; pass: number; fail: number; by_disposition: Dispositions }
  source: string
  file: { name: string | null; sha256: string; bytes: number; kind: string }
  repairs: Repair[]
  revision_of?: string | null
  status: 'current' | 'superseded'
  created_at: string
}

export interface DkimResult {
  domain: string | null
  selector: string | null
  result: string
  human_result?: string | null
}

export interface SpfResult {
  domain: string | null
  scope?: string | null
  result: string
  human_result?: string | null
}

export interface ReportRecord {
  n?: number
  source_ip: string | null
  count: number
  disposition: string | null
  dkim_aligned: boolean
  spf_aligned: boolean
  reasons: { type: string; comment?: string | null }[]
  header_from: string | null
  envelope_from: string | null
  envelope_to: string | null
  dkim: DkimResult[]
  spf: SpfResult[]
}

export interface UploadEntry {
  status: 'created' | 'duplicate' | 'revision' | 'rejected'
  id?: string
  kind?: 'dmarc' | 'tls' | 'failure'
  domain?: string | null
  org_name?: string | null
  messages?: number | null
  date_begin?: string
  date_end?: string
  assigned?: boolean
  repairs?: Repair[]
  code?: string
  detail?: string
}

export interface UploadFile {
  file: string
  kind?: string
  bytes?: number
  sha256?: string
  reports: UploadEntry[]
}

export interface Summary {
  messages: number
  pass: number
  fail: number
  reports: number
  reporters: number
  domains: number
  unassigned_reports: number
  rejected_files: number
  last_report_at: string | null
}

export interface TlsReport {
  id: string
  domain: string
  domain_id?: string | null
  org_name: string
  report_id: string
  date_begin: string
  date_end: string
  totals?: { success: number; failure: number }
  policies?: unknown[]
  file?: { name: string | null; sha256: string; bytes: number; kind: string }
  repairs?: Repair[]
  created_at: string
  [member: string]: unknown
}

export interface FailureReport {
  id: string
  domain: string | null
  domain_id?: string | null
  source_ip?: string | null
  arrived_at?: string | null
  created_at: string
  [member: string]: unknown
}

export interface RejectedFile {
  id: string
  file: string | null
  sha256: string
  bytes: number
  code: string
  detail: string
  source: string
  created_at: string
  expires_at: string
}

export interface AuditEntry {
  seq: number
  ts: string
  actor: {
    type: string
    id: string | null
    name: string | null
    key_id?: string | null
    ip?: string | null
  }
  action: string
  target: { type: string; id: string | null } | null
  outcome: string
  request_id: string | null
  detail: Record<string, unknown> | null
}

export interface Backup {
  name: string
  bytes: number
  created_at: string
  verified: boolean
  kind: string
  sha256: string
}

export interface BulkResult {
  results: { id: string; status: 'ok' | 'failed'; code?: string }[]
}
