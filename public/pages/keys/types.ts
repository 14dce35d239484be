export interface Key {
  id: string
  name: string
  prefix: string
  last4: string
  scopes: string[]
  allowed_cidrs: string[]
  status: 'active' | 'expired' | 'revoked'
  created_by: { id: string; name: string | null } | null
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  last_used_ip: string | null
  revoked_at: string | null
  replaced_by: string | null
}

export type NewKey = Key & { api_key: string }

/** wdp_4kd0…vE7h: enough to find it in a script, useless to anybody else. */
export const maskedKey = (key: Pick<Key, 'prefix' | 'last4'>): string => `${key.prefix}…${key.last4}`

/** One network per line, comma or space. */
export const readNetworks = (text: string): string[] => text.split(/[\s,;]+/).filter((part) => part !== '')
