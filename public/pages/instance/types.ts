export interface Instance {
  version: string
  started_at: string
  instance_id: string
  base_url: string | null
  data: { path: string; database_bytes: number; blobs_bytes: number; free_bytes: number | null }
  tls: { mode: string; fingerprint: string | null; not_after: string | null }
  resolver: { mode: string; detail: string | null }
  settings: Setting[]
}

export interface Setting {
  name: string
  env: string
  flag: string
  value: unknown
  source: 'default' | 'environment' | 'flag'
  doc: string
  secret: boolean
}

export interface Tenant {
  id: string
  name: string
  plan: 'free' | 'pro' | 'enterprise'
  status: 'active' | 'suspended'
  limits: Record<string, number | null>
  users: number
  domains: number
  created_at: string
}

export interface InstanceUser {
  id: string
  name: string
  email: string
  is_operator: boolean
  memberships: { tenant_id: string; tenant_name?: string; role: string }[]
  created_at: string
  last_login_at: string | null
}

export type RunStatus = 'running' | 'ok' | 'failed' | 'interrupted'

export interface JobRun {
  id: string
  status: RunStatus
  detail: string | null
  started_at: string
  ended_at: string | null
  ms: number | null
}

export interface Mail {
  configured: boolean
  host: string | null
  port: number | null
  security: 'none' | 'starttls' | 'tls' | null
  username: string | null
  has_password: boolean
  from_address: string | null
  from_name: string | null
  reply_to: string | null
  version: number
  updated_at: string | null
  /** Mail about alerts, of all organisations. */
  queue: { waiting: number; failed: number; last_error: string | null; last_sent_at: string | null }
}

export interface Anchors {
  mail_to: string[]
  syslog: { host: string; port: number; protocol: 'udp' | 'tcp' } | null
  webhook_url: string | null
  targets: {
    kind: 'mail' | 'syslog' | 'webhook'
    sent_n: number
    sent_at: string | null
    tried_at: string | null
    error: string | null
  }[]
  latest: { n: number; line: string } | null
}

export interface MailTest {
  ok: boolean
  response: string | null
  error: string | null
  dialogue: string[]
  ms: number
}

export interface Job {
  name: string
  schedule: string
  last_run_at: string | null
  last_status: RunStatus | null
  last_detail: string | null
  last_ms: number | null
  next_run_at: string | null
  running: boolean
}
