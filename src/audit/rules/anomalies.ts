/**
 * What is unusual in a log, as pure functions: an entry, and what is known so far, in; findings out. Each rule is silent
 * until it knows the habits that it judges by, and a person who roams is not reported for it.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/clock.ts'
import { formatCidr, parseCidr, parseIp } from '../../lib/ip.ts'

export type AnomalyKind = 'new_network' | 'key_new_network' | 'denial_burst' | 'mass_export' | 'out_of_hours'

/** An entry as far as the rules look at it. */
export interface WatchedEntry {
  seq: number
  ts: number
  actor: { type: string; id: string | null; key_id: string | null; name: string | null; ip: string | null }
  action: string
  target_id: string | null
  outcome: string
  /** Requests that it stands for: a counter entry stands for many. */
  count: number
}

export interface Anomaly {
  kind: AnomalyKind
  /** Who: a user's or key's id, else an address. */
  subject: string
  entry: WatchedEntry
  detail: string
  evidence: { [name: string]: string | number }
}

/** What is known of a tenant before an entry. */
export interface Habits {
  /** Networks of a user or key, `subject` first. */
  networks: ReadonlyMap<string, ReadonlySet<string>>
  /** Entries by people in each hour of the day, UTC. */
  hours: readonly number[]
  /** Time of the first entry that was ever looked at. */
  since: number
}

export const DENIALS = { window_ms: 5 * MINUTE_MS, count: 20 } as const
/** Weights: an export of a list counts ten, an original one. */
export const EXPORTS = { window_ms: 10 * MINUTE_MS, weight: 60 } as const
export const EXPORT_WEIGHTS: Readonly<Record<string, number>> = {
  'reports.export': 10,
  'reports.raw': 1,
  'audit.export': 10,
  'audit.bundle': 10,
}
const SIGN_INS = new Set(['auth.login', 'auth.recovery_code_used', 'auth.reset'])
const DENIED = new Set(['auth.denied', 'auth.denied_count', 'auth.login_failed', 'auth.totp_failed'])
/** Changes to who may do what, and to what is kept. */
const ADMIN_CHANGES =
  /^(keys\.(create|roll)|users\.|invites\.|settings\.|tenants\.|webhooks\.create|audit\.erase|me\.totp_disable)/
/** Whoever was in more networks than this is at home everywhere. */
const ROAMING_NETWORKS = 20
const HABIT_MS = 14 * DAY_MS
const HABIT_ENTRIES = 200
/** An hour and its neighbours with less than this part of all work are out of hours. */
const QUIET_SHARE = 0.02

/** Who acts, for the rules: the key, the person, or the address. Null for Wardpost itself and the command line. */
export function subjectOf({ actor }: WatchedEntry): string | null {
  if (actor.type === 'system' || actor.type === 'cli') return null
  return actor.key_id ?? actor.id ?? actor.ip
}

export const isDenied = (entry: WatchedEntry): boolean => DENIED.has(entry.action)

/** Where an address belongs: who announces it when that is known, else its /16 or /32. */
export function networkOf(ip: string, lookup: ((ip: string) => string | null) | null): string | null {
  const bytes = parseIp(ip)
  if (bytes === null) return null
  const named = lookup?.(ip) ?? null
  if (named !== null) return named
  const cidr = parseCidr(`${ip}/${bytes.length === 4 ? 16 : 32}`)
  return cidr === null ? null : formatCidr(cidr)
}

/** Whether the networks of this entry's actor are learned from it: of people their sign-ins, of keys every use. */
export function learnsNetwork(entry: WatchedEntry): boolean {
  if (entry.outcome !== 'success' || entry.actor.ip === null) return false
  return entry.actor.key_id !== null || (entry.actor.type === 'user' && SIGN_INS.has(entry.action))
}

/** Whether it is work of a person, from which the hours are learned. */
export function isWork(entry: WatchedEntry): boolean {
  return entry.actor.type === 'user' && entry.outcome === 'success'
}

/** A sign-in, or a use of a key, from a network that was never seen for it. */
export function newNetwork(entry: WatchedEntry, network: string, habits: Habits): Anomaly | null {
  const subject = subjectOf(entry)
  if (subject === null) return null
  const known = habits.networks.get(subject)
  if (known === undefined || known.size === 0 || known.has(network) || known.size > ROAMING_NETWORKS)
    return null
  const by_key = entry.actor.key_id !== null
  return {
    kind: by_key ? 'key_new_network' : 'new_network',
    subject,
    entry,
    detail: by_key
      ? `The API key ${nameOf(entry)} was used from ${network}, a network never seen for this key.`
      : `${nameOf(entry)} signed in from ${network}, a network never seen for this person.`,
    evidence: { network, known_networks: known.size },
  }
}

/** `count` refusals of one subject in the window that ends with this entry. */
export function denialBurst(entry: WatchedEntry, subject: string, count: number): Anomaly | null {
  if (count < DENIALS.count) return null
  return {
    kind: 'denial_burst',
    subject,
    entry,
    detail: `${nameOf(entry)} was refused ${count} times within ${DENIALS.window_ms / MINUTE_MS} minutes.`,
    evidence: { refusals: count, minutes: DENIALS.window_ms / MINUTE_MS },
  }
}

/** `weight` of what one subject took out in the window that ends with this entry. */
export function massExport(
  entry: WatchedEntry,
  subject: string,
  weight: number,
  exports: number,
): Anomaly | null {
  if (weight < EXPORTS.weight) return null
  return {
    kind: 'mass_export',
    subject,
    entry,
    detail: `${nameOf(entry)} exported ${exports} times within ${EXPORTS.window_ms / MINUTE_MS} minutes.`,
    evidence: { exports, minutes: EXPORTS.window_ms / MINUTE_MS },
  }
}

/** A change to rights or settings at an hour in which this tenant hardly ever works. */
export function outOfHours(entry: WatchedEntry, habits: Habits): Anomaly | null {
  const subject = subjectOf(entry)
  if (subject === null || entry.outcome !== 'success' || !ADMIN_CHANGES.test(entry.action)) return null
  const total = habits.hours.reduce((sum, each) => sum + each, 0)
  if (total < HABIT_ENTRIES || entry.ts - habits.since < HABIT_MS) return null
  const hour = Math.floor(entry.ts / HOUR_MS) % 24
  const around = [23, 0, 1].reduce((sum, step) => sum + habits.hours[(hour + step) % 24]!, 0)
  if (around / total >= QUIET_SHARE) return null
  return {
    kind: 'out_of_hours',
    subject,
    entry,
    detail: `${nameOf(entry)} did ${entry.action} at ${String(hour).padStart(2, '0')} UTC, when hardly anybody ever works here.`,
    evidence: { action: entry.action, hour_utc: hour, entries_around_this_hour: around, entries: total },
  }
}

function nameOf({ actor }: WatchedEntry): string {
  return actor.name ?? actor.key_id ?? actor.id ?? actor.ip ?? 'Somebody'
}
