/** What one receiver saw of one domain on one day: the records of its report. */
import { DAY_MS } from '../lib/clock.ts'
import type { Chance } from './random.ts'
import { DEMO_DAYS, type DemoDomain, type Flow, type Receiver } from './scenario.ts'

export interface DemoRecord {
  ip: string
  count: number
  disposition: 'none' | 'quarantine' | 'reject'
  dkim_aligned: boolean
  spf_aligned: boolean
  header_from: string
  envelope_from: string
  dkim: { domain: string; selector: string; result: 'pass' | 'fail' } | null
  spf: { domain: string; result: 'pass' | 'softfail' | 'fail' }
  reason: { type: string; comment: string } | null
}

/** Policy in force so many days ago. */
export function publishedAt(domain: DemoDomain, days_ago: number): DemoDomain['published'][number] {
  const in_force = domain.published.filter((each) => each.days_ago >= days_ago)
  return in_force.at(-1) ?? domain.published[0]!
}

/** Records of the day; empty when the receiver saw nothing. `day` is in days since 1970. */
export function recordsOf(
  domain: DemoDomain,
  receiver: Receiver,
  day: number,
  days_ago: number,
  chance: Chance,
): DemoRecord[] {
  const { p } = publishedAt(domain, days_ago)
  const records: DemoRecord[] = []
  for (const flow of domain.flows) {
    const messages = volumeOf(flow, receiver, day, days_ago, chance)
    if (messages === 0) continue
    const ips = Math.min(flow.ip_count, Math.max(1, Math.ceil(messages / 40)))
    const first = chance.between(0, flow.ip_count - 1)
    let left = messages
    for (let i = 0; i < ips && left > 0; i++) {
      const count =
        i === ips - 1 ? left : Math.max(1, Math.round((left / (ips - i)) * (0.6 + chance.next() * 0.8)))
      const taken = Math.min(left, count)
      left -= taken
      records.push(recordOf(domain, flow, p, flow.ips((first + i) % flow.ip_count), taken, days_ago, chance))
    }
  }
  return records
}

function volumeOf(flow: Flow, receiver: Receiver, day: number, days_ago: number, chance: Chance): number {
  if (flow.window !== undefined && (days_ago > flow.window[0] || days_ago < flow.window[1])) return 0
  if (!chance.hit(flow.seen ?? 1)) return 0
  const weekday = new Date(day * DAY_MS).getUTCDay()
  const weekend = weekday === 0 || weekday === 6 ? flow.weekend : 1
  const peak = flow.peaks?.includes(weekday) ? 10 : 1
  const growth = 1 + (flow.growth ?? 0) * (1 - days_ago / DEMO_DAYS)
  const swell = flow.window === undefined ? 1 : swellOf(flow.window, days_ago, flow.dkim === null)
  const expected = flow.daily * weekend * peak * growth * swell * receiver.weight
  return Math.round(expected * (0.75 + chance.next() * 0.5))
}

/** An attack rises and ebbs away; a flow that began is just there. */
function swellOf([oldest, newest]: [number, number], days_ago: number, attack: boolean): number {
  if (!attack || newest === 0) return 1
  return Math.sin(((oldest - days_ago + 0.7) / (oldest - newest + 1.4)) * Math.PI)
}

function recordOf(
  domain: DemoDomain,
  flow: Flow,
  p: 'none' | 'quarantine' | 'reject',
  ip: string,
  count: number,
  days_ago: number,
  chance: Chance,
): DemoRecord {
  const broken = flow.broken !== undefined && days_ago <= flow.broken[0] && days_ago >= flow.broken[1]
  const result = broken ? 'fail' : (flow.dkim_result ?? 'pass')
  const dkim_aligned = flow.dkim !== null && result === 'pass'
  const spf_aligned = flow.spf.result === 'pass' && belongs(flow.spf.domain, domain.name)
  const passes = dkim_aligned || spf_aligned
  const forgiven = !passes && flow.reason !== undefined && chance.hit(0.8)
  const subdomain = flow.dkim !== null && flow.dkim.domain !== domain.name && chance.hit(0.3)
  return {
    ip,
    count,
    disposition: passes || forgiven ? 'none' : p,
    dkim_aligned,
    spf_aligned,
    header_from: subdomain && belongs(flow.dkim!.domain, domain.name) ? flow.dkim!.domain : domain.name,
    envelope_from: flow.spf.domain,
    dkim: flow.dkim === null ? null : { ...flow.dkim, result },
    spf: flow.spf,
    reason: flow.reason !== undefined && (forgiven || passes) ? flow.reason : null,
  }
}

function belongs(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`)
}
