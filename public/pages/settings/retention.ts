/** How long each kind of data is kept: names, limits and words. */
export interface Retention {
  reports_days: number
  rejected_days: number
  alerts_days: number
  deliveries_days: number
  audit_days: number | null
}

export interface Kept {
  name: keyof Retention
  label: string
  hint: string
  min: number
  max: number
}

export const KEPT: readonly Kept[] = [
  {
    name: 'reports_days',
    label: 'Reports',
    hint: 'with records and originals, after the period they cover',
    min: 90,
    max: 3650,
  },
  { name: 'rejected_days', label: 'Rejected files', hint: 'after they came', min: 1, max: 30 },
  { name: 'alerts_days', label: 'Resolved alerts', hint: 'after they were resolved', min: 30, max: 3650 },
  {
    name: 'deliveries_days',
    label: 'Webhook deliveries',
    hint: 'their history; bodies go after 90 days',
    min: 90,
    max: 180,
  },
  {
    name: 'audit_days',
    label: 'Audit log',
    hint: 'entries; a signed line stands for older ones',
    min: 365,
    max: 3650,
  },
]
