/**
 * Watches compliance: ingest marks which days of which domain changed, here the domains behind the marks are looked
 * at. Event, alert and the state that keeps it from happening twice are one guarded change with the marks it came from.
 */
import type { AlertDraft, AlertRaiser } from '../alerts/types.ts'
import { type Change, Conflict, type Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { type Clock, DAY_MS, isoTime } from '../lib/clock.ts'
import {
  clearMarks,
  disarm,
  type DomainFacts,
  factsOf,
  figuresOf,
  type Mark,
  marksOf,
  note,
  rearm,
  type Seen,
  sendersOf,
} from './compliance.store.ts'
import { dmarcThresholdReached, type ThresholdReached } from './events.ts'
import { probableCause } from './rules/cause.ts'
import { isNews, judge, MESSAGES_MIN, percent, WINDOW_DAYS, windowOf } from './rules/threshold.ts'

export type Compliance = ReturnType<typeof createCompliance>

/** Marks looked at in one go, and how often at most: what is left then is left to the next look. */
const MARKS_AT_ONCE_MAX = 5000
const ROUNDS_MAX = 20
const FAILING_SOURCES_SHOWN = 5
/** Points below the threshold from which on it is urgent. */
const URGENT_POINTS = 10

export const complianceKey = (domain_id: string): string => `compliance_low:${domain_id}`

export function createCompliance(deps: { db: Db; clock: Clock; raiser: AlertRaiser }) {
  const { db, clock, raiser } = deps

  /** What the marks of one domain lead to, or null: nothing but their going. */
  async function changeFor(domain_id: string, marks: readonly Mark[]): Promise<Change | null> {
    const now = clock.now()
    if (!marks.some((mark) => isNews(mark.report_end, now))) return null
    const facts = await factsOf(db, domain_id)
    if (facts === undefined) return null
    const window = windowOf(facts.last_end, now)
    if (!isNews((window.last + 1) * DAY_MS, now)) return null
    const { messages, pass } = await figuresOf(db, domain_id, window)
    if (messages < MESSAGES_MIN) return null

    const compliance = percent(pass, messages)
    const { tenant_id } = marks[0]!
    const seen: Seen = { domain_id, tenant_id, compliance, window_day: window.last, now }
    const verdict = judge(facts.state, { compliance: (100 * pass) / messages, threshold: facts.threshold })
    if (verdict === 'note') return { writes: [note(seen)], audit: { none: 'rollup' } }
    if (verdict === 'rearm') {
      const why = `Compliance is back at ${compliance} %.`
      return {
        writes: [rearm(seen), ...raiser.settle(tenant_id, complianceKey(domain_id), why)],
        audit: {
          action: 'domains.compliance_recovered',
          target: { type: 'domain', id: domain_id },
          detail: { compliance: String(compliance) },
        },
      }
    }
    return fire(seen, facts, window, messages)
  }

  async function fire(
    seen: Seen,
    facts: DomainFacts,
    window: { first: number; last: number },
    messages: number,
  ): Promise<Change> {
    const { domain_id, tenant_id, compliance, now } = seen
    const senders = await sendersOf(db, domain_id, window, WINDOW_DAYS)
    const data: ThresholdReached = {
      domain_id,
      domain: facts.name,
      threshold: facts.threshold,
      compliance,
      previous_compliance: facts.state?.compliance ?? (await before(domain_id, window.first)),
      window_from: isoTime(window.first * DAY_MS),
      window_to: isoTime((window.last + 1) * DAY_MS),
      messages,
      top_failing_sources: senders
        .filter((sender) => sender.failing > 0)
        .slice(0, FAILING_SOURCES_SHOWN)
        .map(({ name, messages: sent, failing }) => ({ source: name, messages: sent, failing })),
      probable_cause: probableCause(senders),
    }
    const alert = raiser.raise(tenant_id, alertOf(data))
    const action = { action: 'domains.compliance_low', target: { type: 'domain', id: domain_id } }
    return {
      writes: [disarm(seen), ...alert.writes],
      audit: [
        // As text: the chain holds whole numbers only.
        {
          ...action,
          detail: { compliance: String(compliance), threshold: String(facts.threshold), messages },
        },
        alert.audit,
      ],
      events: [dmarcThresholdReached(now, data)],
    }
  }

  /** Compliance in the week before, when there was enough mail to tell. */
  async function before(domain_id: string, first: number): Promise<number | null> {
    const days = { first: first - WINDOW_DAYS, last: first - 1 }
    const { messages, pass } = await figuresOf(db, domain_id, days)
    return messages < MESSAGES_MIN ? null : percent(pass, messages)
  }

  async function evaluate(): Promise<number> {
    let looked_at = 0
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const marks = await marksOf(db, MARKS_AT_ONCE_MAX)
      looked_at += await lookAt(marks)
      if (marks.length < MARKS_AT_ONCE_MAX) break
    }
    return looked_at
  }

  async function lookAt(marks: readonly Mark[]): Promise<number> {
    const by_domain = Map.groupBy(marks, (mark) => mark.domain_id)
    for (const [domain_id, its] of by_domain) {
      const change = domain_id === null ? null : await changeFor(domain_id, its)
      const { writes, ...rest } = change ?? { writes: [], audit: { none: 'rollup' as const } }
      const { tenant_id } = its[0]!
      try {
        await db.commit(systemActor(tenant_id), { ...rest, writes: [...writes, clearMarks(its)] })
      } catch (error) {
        // Somebody else was faster, or the domain is gone. The marks stay, the next look decides anew.
        if (!(error instanceof Conflict)) throw error
      }
    }
    by_domain.delete(null)
    return by_domain.size
  }

  return {
    /** Looks at every domain that something arrived for since the last look. Says how many. */
    evaluate,
  }
}

function alertOf(data: ThresholdReached): AlertDraft {
  const { domain, compliance, threshold } = data
  return {
    kind: 'compliance_low',
    severity: compliance <= threshold - URGENT_POINTS ? 'high' : 'medium',
    title: `${domain}: ${compliance} % of its mail passed DMARC`,
    summary: `Over the seven days to ${data.window_to.slice(0, 10)} fewer messages passed than the ${threshold} % asked for. ${data.probable_cause}`,
    subject: { type: 'domain', id: data.domain_id },
    evidence: { ...data, top_failing_sources: data.top_failing_sources.map((source) => ({ ...source })) },
    dedupe_key: complianceKey(data.domain_id),
  }
}
