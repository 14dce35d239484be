import type { Severity } from '../../lib/types.ts'

export const NOTIFICATIONS_PATH = '/v1/settings/notifications'

export interface Notifications {
  email_enabled: boolean
  recipients: string[]
  immediate: Severity[]
  digest: { enabled: boolean; at: string; severities: Severity[] }
  quiet_hours: { enabled: boolean; from: string; to: string; timezone: string }
  mail_configured: boolean
  version: number
  updated_at: string | null
}

export const SEVERITIES: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'info']

/** All zones the browser knows, with the one that is set even if it does not know it. */
export function timeZones(current: string): string[] {
  return [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])]
}
