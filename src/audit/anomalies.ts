/**
 * Watches the log for the unusual: a job that reads what is new, holds it against what is known, and tells of what it
 * finds in one change with its own progress, so nothing is told twice and nothing is skipped. What lies further back
 * than a day is learned from and not told.
 */
import type { AlertDraft, AlertRaiser, Severity } from '../alerts/types.ts'
import { type AuditDraft, Conflict, type Db, type RawWrite } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { type Clock, DAY_MS, HOUR_MS, isoTime } from '../lib/clock.ts'
import { sha256Hex } from '../lib/crypto.ts'
import type { AnomalyStore, Watched } from './anomalies.store.ts'
import { auditLogAnomaly } from './events.ts'
import {
  type Anomaly,
  type AnomalyKind,
  denialBurst,
  DENIALS,
  EXPORT_WEIGHTS,
  EXPORTS,
  type Habits,
  isDenied,
  isWork,
  learnsNetwork,
  massExport,
  networkOf,
  newNetwork,
  outOfHours,
  subjectOf,
  type WatchedEntry,
} from './rules/anomalies.ts'

export interface AnomalyDeps {
  db: Db
  store: AnomalyStore
  clock: Clock
  alerts: Pick<AlertRaiser, 'raise'>
  networks: ((ip: string) => string | null) | null
}

const PAGE_ENTRIES = 500
/** The same of the same subject is told once in this time. */
const QUIET_MS = HOUR_MS

const TITLES: Record<AnomalyKind, [title: string, severity: Severity]> = {
  new_network: ['Sign-in from a new network', 'medium'],
  key_new_network: ['API key used from a new network', 'high'],
  denial_burst: ['Many refusals', 'medium'],
  mass_export: ['Mass export', 'high'],
  out_of_hours: ['Change out of hours', 'low'],
}

/** Of one page: what is known, and what is learned on the way. */
interface Page {
  tenant_id: string
  networks: Map<string, Set<string>>
  hours: number[]
  since: number
  told: Map<string, number>
  /** Of the page and the window before it, by subject, ascending. */
  refused: Map<string, WatchedEntry[]>
  exported: Map<string, WatchedEntry[]>
  learned: [string, string, string, number][]
  worked: Map<number, number>
}

export function createAnomalies({ db, store, clock, alerts, networks }: AnomalyDeps) {
  async function openPage(chain: Watched, entries: readonly WatchedEntry[]): Promise<Page> {
    const { tenant_id } = chain
    const first = entries[0]!
    const up_to = entries.at(-1)!.seq
    const refused = entries.some(isDenied)
      ? await store.refused(tenant_id, first.ts - DENIALS.window_ms, up_to)
      : []
    const actions = Object.keys(EXPORT_WEIGHTS)
    const exported = entries.some(({ action }) => actions.includes(action))
      ? await store.acted(tenant_id, actions, first.ts - EXPORTS.window_ms, up_to)
      : []
    const known = new Map<string, Set<string>>()
    for (const { subject, network } of await store.networks(chain.tenant_id)) {
      known.set(subject, (known.get(subject) ?? new Set()).add(network))
    }
    return {
      tenant_id: chain.tenant_id,
      networks: known,
      hours: await store.hours(chain.tenant_id),
      since: chain.since ?? first.ts,
      told: await store.findings(chain.tenant_id),
      refused: bySubject(refused.filter(isDenied)),
      exported: bySubject(exported),
      learned: [],
      worked: new Map(),
    }
  }

  /** What is unusual about an entry; then it is learned from. */
  function look(page: Page, entry: WatchedEntry): Anomaly[] {
    const habits: Habits = page
    const found = [refusals(page, entry), exports(page, entry), outOfHours(entry, habits)]
    const subject = subjectOf(entry)
    const network = learnsNetwork(entry) ? networkOf(entry.actor.ip!, networks) : null
    if (subject !== null && network !== null) {
      found.push(newNetwork(entry, network, habits))
      page.networks.set(subject, (page.networks.get(subject) ?? new Set()).add(network))
      page.learned.push([page.tenant_id, subject, network, entry.ts])
    }
    if (isWork(entry)) {
      const hour = Math.floor(entry.ts / HOUR_MS) % 24
      page.hours[hour]! += 1
      page.worked.set(hour, (page.worked.get(hour) ?? 0) + 1)
    }
    return found.filter((each) => each !== null)
  }

  function refusals(page: Page, entry: WatchedEntry): Anomaly | null {
    const subject = isDenied(entry) ? subjectOf(entry) : null
    if (subject === null || isOld(entry) || wasTold(page, 'denial_burst', subject, entry)) return null
    const same = within(page.refused.get(subject), entry, DENIALS.window_ms)
    return denialBurst(
      entry,
      subject,
      same.reduce((sum, each) => sum + each.count, 0),
    )
  }

  function exports(page: Page, entry: WatchedEntry): Anomaly | null {
    const subject = EXPORT_WEIGHTS[entry.action] === undefined ? null : subjectOf(entry)
    if (subject === null || isOld(entry) || wasTold(page, 'mass_export', subject, entry)) return null
    const same = within(page.exported.get(subject), entry, EXPORTS.window_ms)
    const weight = same.reduce((sum, each) => sum + EXPORT_WEIGHTS[each.action]!, 0)
    return massExport(entry, subject, weight, same.length)
  }

  const isOld = (entry: WatchedEntry): boolean => entry.ts < clock.now() - DAY_MS

  const wasTold = ({ told }: Page, kind: AnomalyKind, subject: string, { ts }: WatchedEntry): boolean =>
    ts - (told.get(`${kind} ${subject}`) ?? -Infinity) < QUIET_MS

  /** Not what is old, and not what was told within the hour. */
  function worthTelling(page: Page, { kind, subject, entry }: Anomaly): boolean {
    if (isOld(entry) || wasTold(page, kind, subject, entry)) return false
    page.told.set(`${kind} ${subject}`, entry.ts)
    return true
  }

  async function keep(chain: Watched, page: Page, to: number, found: readonly Anomaly[]): Promise<void> {
    const now = clock.now()
    const { tenant_id } = page
    const raised = found.map((each) => alerts.raise(tenant_id, alertOf(each)))
    const writes: RawWrite[] = [
      store.learnNetworks(page.learned),
      store.learnHours([...page.worked].map(([hour, entries]) => [tenant_id, hour, entries] as const)),
      store.found(
        found.map(({ kind, subject, entry }) => [tenant_id, kind, subject, entry.ts, entry.seq] as const),
      ),
      ...raised.flatMap((each) => each.writes),
    ]
    const audit = [...found.map(entryOf), ...raised.map((each) => each.audit)]
    await db.commit(systemActor(tenant_id), {
      writes: [store.advance(tenant_id, chain.seq, to, page.since), ...writes],
      audit: audit.length === 0 ? { none: 'job' } : audit,
      events: found.map((each) => auditLogAnomaly(now, eventData(each))),
    })
  }

  return {
    /** Looks at everything that is new. Answers how much was unusual. */
    async run(signal?: AbortSignal): Promise<{ entries: number; found: number }> {
      const done = { entries: 0, found: 0 }
      for (const chain of await store.due()) {
        for (;;) {
          const entries = await store.entries(chain.tenant_id, chain.seq, PAGE_ENTRIES)
          if (entries.length === 0 || signal?.aborted === true) break
          const page = await openPage(chain, entries)
          const found: Anomaly[] = []
          for (const entry of entries)
            found.push(...look(page, entry).filter((each) => worthTelling(page, each)))
          const to = entries.at(-1)!.seq
          try {
            await keep(chain, page, to, found)
          } catch (error) {
            if (error instanceof Conflict) break
            throw error
          }
          done.entries += entries.length
          done.found += found.length
          chain.seq = to
          chain.since = page.since
          if (entries.length < PAGE_ENTRIES) break
        }
      }
      return done
    },
  }
}

function bySubject(entries: readonly WatchedEntry[]): Map<string, WatchedEntry[]> {
  const subjects = new Map<string, WatchedEntry[]>()
  for (const entry of entries) {
    const subject = subjectOf(entry)
    if (subject === null) continue
    const list = subjects.get(subject)
    if (list === undefined) subjects.set(subject, [entry])
    else list.push(entry)
  }
  return subjects
}

/** Those up to an entry, in the window that ends with it. */
function within(
  list: readonly WatchedEntry[] | undefined,
  entry: WatchedEntry,
  window_ms: number,
): WatchedEntry[] {
  return (list ?? []).filter(({ seq, ts }) => seq <= entry.seq && ts >= entry.ts - window_ms)
}

function eventData({ kind, entry, detail, evidence }: Anomaly) {
  const { type, id, name, key_id } = entry.actor
  return { kind, actor: { type, id: id ?? key_id, name }, detail, evidence, audit_seq: entry.seq }
}

function alertOf({ kind, subject, entry, detail, evidence }: Anomaly): AlertDraft {
  const [title, severity] = TITLES[kind]
  const { key_id, id } = entry.actor
  // Title, subject and key become part of an entry of the log, from which nothing can be erased: no name, no address.
  const about =
    key_id !== null
      ? { type: 'key', id: key_id }
      : id !== null
        ? { type: 'user', id }
        : { type: 'audit_entry', id: String(entry.seq) }
  return {
    kind: 'audit_anomaly',
    severity,
    title,
    summary: `${detail} If nobody knows of it, end the sessions, revoke the key and look at what was done since entry ${entry.seq} of the audit log.`,
    subject: about,
    evidence: { ...evidence, audit_seq: entry.seq, at: isoTime(entry.ts) },
    dedupe_key: `audit:${kind}:${key_id ?? id ?? sha256Hex(subject).slice(0, 16)}`,
  }
}

function entryOf({ kind, subject, entry, detail }: Anomaly): AuditDraft {
  const type = entry.actor.key_id !== null ? 'key' : entry.actor.id !== null ? 'user' : null
  return {
    action: 'audit.anomaly',
    target: type === null ? null : { type, id: subject },
    detail: { kind, audit_seq: entry.seq },
    personal: { detail },
  }
}
