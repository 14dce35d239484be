/** How long each kind of data is kept, in days: what a tenant may choose, and what holds when it chose nothing. Pure. */

export interface Retention {
  /** Reports with their records and originals, after the end of the period they cover. */
  reports_days: number
  /** Files that could not be read, after they came. */
  rejected_days: number
  /** Resolved alerts, after they were resolved. */
  alerts_days: number
  /** The history of deliveries. Their bodies and attempts go after 90 days in any case. */
  deliveries_days: number
  /** Entries of the audit log; null keeps them for ever. */
  audit_days: number | null
}

export interface Bounds {
  /** Nothing less may be chosen: the floor. */
  min: number
  max: number
  default: number | null
}

/** Ten years are for ever enough, and fit every calendar. */
const DAYS_MAX = 3650

export const RETENTION: Readonly<Record<keyof Retention, Bounds>> = {
  reports_days: { min: 90, max: DAYS_MAX, default: 1095 },
  rejected_days: { min: 1, max: 30, default: 30 },
  alerts_days: { min: 30, max: DAYS_MAX, default: 365 },
  // Receivers may be sent again what failed up to 90 days ago: promised, so it cannot be less.
  deliveries_days: { min: 90, max: 180, default: 180 },
  audit_days: { min: 365, max: DAYS_MAX, default: null },
}

/** With the defaults for what the tenant did not choose. `own` is what is stored: only what was chosen. */
export function retentionOf(own: Partial<Retention>): Retention {
  const defaults = Object.entries(RETENTION).map(([name, bounds]) => [name, bounds.default])
  return { ...(Object.fromEntries(defaults) as unknown as Retention), ...own }
}
