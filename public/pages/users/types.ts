import type { Role } from '../../lib/types.ts'

export interface User {
  id: string
  name: string
  email: string
  role: Role
  is_operator: boolean
  totp_enabled: boolean
  last_login_at: string | null
  created_at: string
  status: string
}

export interface Invite {
  id: string
  email: string
  role: Role
  created_by: { id: string; name: string | null } | string | null
  created_at: string
  expires_at: string
}
