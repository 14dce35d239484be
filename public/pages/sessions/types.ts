export interface Session {
  id: string
  current: boolean
  created_at: string
  last_seen_at: string
  expires_at: string
  ip: string | null
  user_agent: string | null
}

export interface TenantSession extends Session {
  user_id: string
  user_name: string
  user_email: string
}
