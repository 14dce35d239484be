/** The shapes /v1 and /auth answer with, as far as the screens read them. Times are ISO 8601 UTC. */

export interface Page<T> {
  items: T[]
  next_cursor?: string
}

export interface AuthState {
  setup_required: boolean
  authenticated: boolean
  version: string
  base_url: string
}

export type Severity = 'critical' | 'high' | 'medium' | 'low' | 'info'

export interface AlertSummary {
  open: number
  acknowledged: number
  silenced: number
  /** Of the open ones. */
  by_severity: Record<Severity, number>
}

export interface Alert {
  id: string
  kind: string
  severity: Severity
  status: 'open' | 'acknowledged' | 'silenced' | 'resolved'
  title: string
  summary: string
  subject: { type: string; id: string }
  evidence: Record<string, unknown>
  dedupe_key: string
  count: number
  silenced_until: string | null
  assigned_to: { id: string; name: string | null } | null
  history: AlertEvent[]
  first_at: string
  last_at: string
}

export interface AlertEvent {
  at: string
  action: string
  actor: { type: string; id: string | null; name: string | null }
  note: string | null
  until: string | null
  user: { id: string; name: string | null } | null
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

/** A thing that had to be put right in a report. */
export interface Repair {
  code: string
  detail: string
  count: number
}

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
  /** Name inside an archive or mail. */
  entry?: string
  revision_of?: string
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

export interface Origin {
  source: string
  file: { name: string; sha256: string; bytes: number; kind: string }
  repairs: Repair[]
  created_at: string
}

export interface TlsReport extends Origin {
  id: string
  org_name: string
  contact: string | null
  report_id: string
  domains: string[]
  date_begin: string
  date_end: string
  successful_sessions: number
  failed_sessions: number
  revision_of?: string
}

export interface TlsFailure {
  result_type: string
  sending_mta_ip: string | null
  receiving_mx_hostname: string | null
  receiving_ip: string | null
  failed_session_count: number
  failure_reason_code: string | null
}

export interface TlsPolicy {
  policy_type: string
  policy_domain: string
  mx_host: string[]
  successful_sessions: number
  failed_sessions: number
  failures: TlsFailure[]
}

export interface FailureReport extends Origin {
  id: string
  reported_domain: string
  source_ip: string | null
  auth_failure: string | null
  arrived_at: string | null
  subject: string | null
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
