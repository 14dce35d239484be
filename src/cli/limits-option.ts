/** `--limits key=100000,tenant=1000000`: the short names that people type, as the limits of a tenant. */
import { RATE_LIMIT_MAX } from '../lib/limits.ts'
import type { TenantLimits } from '../lib/principal.ts'
import { UsageError } from './verb.ts'

const NAMES: Readonly<Record<string, keyof TenantLimits>> = {
  key: 'key_per_minute',
  tenant: 'tenant_per_minute',
  phishing_upload: 'phishing_upload_per_minute',
  detonate: 'detonate_per_hour',
  threats_query: 'threats_query_per_minute',
  domains: 'domains',
}

export function limitsFrom(text: string): Partial<TenantLimits> {
  const out: Partial<TenantLimits> = {}
  for (const item of text.split(',')) {
    const [short = '', value = ''] = item.split('=').map((part) => part.trim())
    const name = NAMES[short.replace(/_per_(minute|hour)$/, '')]
    if (name === undefined)
      throw new UsageError(`--limits: '${short}' is not one of ${Object.keys(NAMES).join(', ')}`)
    const number = /^\d{1,9}$/.test(value) ? Number(value) : 0
    if (number < 1 || number > RATE_LIMIT_MAX)
      throw new UsageError(`--limits: ${short} is a whole number from 1 to ${RATE_LIMIT_MAX}`)
    if (out[name] !== undefined) throw new UsageError(`--limits: ${short} is given twice`)
    out[name] = number
  }
  return out
}
