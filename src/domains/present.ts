/** A stored domain as the API shows it. */
import { DAY_MS, isoDay, isoTime } from '../lib/clock.ts'
import type { DomainPolicy } from './policy-lookup.ts'
import type { DomainDto } from './schema.ts'
import type { DomainFigures, Window } from './store.ts'

export const WINDOW_DAYS = 30

/** The last 30 days, today included. */
export function windowAt(now: number): Window {
  const last = Math.floor(now / DAY_MS)
  return { first: last - WINDOW_DAYS + 1, last }
}

export interface TrendDay {
  day: number
  messages: number
  pass: number
}

const NOT_CHECKED: DomainPolicy = {
  state: 'unknown',
  detail: 'Not checked yet.',
  text: null,
  found_at: null,
  parsed: null,
}

/** The same thirty dates stand in every domain of a list. */
const dates = new Map<number, string>()

function dateOf(day: number): string {
  const known = dates.get(day)
  if (known !== undefined) return known
  if (dates.size > 10 * WINDOW_DAYS) dates.clear()
  const date = isoDay(day)
  dates.set(day, date)
  return date
}

export function presentDomain(row: DomainFigures, trend: readonly TrendDay[], window: Window): DomainDto {
  const policy = row.policy_json === null ? NOT_CHECKED : (JSON.parse(row.policy_json) as DomainPolicy)
  const by_day = new Map(trend.map((each) => [each.day, each]))
  const days = Array.from({ length: WINDOW_DAYS }, (_, i) => window.first + i)
  const checked_at = row.policy_checked_at === null ? null : isoTime(row.policy_checked_at)
  return {
    id: row.id,
    name: row.name,
    unicode_name: row.unicode_name,
    status: row.status,
    profile: row.profile,
    compliance_threshold: row.compliance_threshold,
    score: null,
    grade: null,
    compliance: {
      rate: percent(row.pass, row.messages),
      messages: row.messages,
      pass: row.pass,
      fail: row.messages - row.pass,
      window_days: WINDOW_DAYS,
      trend: days.map((day) => {
        const of_day = by_day.get(day)
        return { date: dateOf(day), rate: percent(of_day?.pass ?? 0, of_day?.messages ?? 0) }
      }),
    },
    dns: {
      dmarc: {
        record: policy.text,
        state: policy.state,
        found_at: policy.found_at,
        detail: policy.detail,
      },
      spf: null,
      dkim: [],
      mx: null,
      mta_sts: null,
      tls_rpt: null,
      bimi: null,
      dnssec: null,
      checked_at,
    },
    findings: [],
    outbound_ips: JSON.parse(row.outbound_ips_json) as string[],
    dkim_selectors: JSON.parse(row.dkim_selectors_json) as string[],
    tags: JSON.parse(row.tags_json) as string[],
    verification: {
      record_name: verificationName(row.name),
      record_value: verificationValue(row.verification_token),
      checked_at: row.verification_checked_at === null ? null : isoTime(row.verification_checked_at),
      detail: row.verification_detail,
    },
    policy: {
      record: policy.text,
      p: policy.parsed?.p ?? null,
      sp: policy.parsed?.sp ?? null,
      np: policy.parsed?.np ?? null,
      adkim: policy.parsed?.adkim ?? null,
      aspf: policy.parsed?.aspf ?? null,
      rua: policy.parsed?.rua ?? [],
      testing: policy.parsed?.testing ?? null,
      checked_at,
      state: policy.state,
      detail: policy.detail,
    },
    reports: row.reports,
    last_report_at: row.last_end === null ? null : isoTime(row.last_end),
    version: row.version,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  }
}

export function verificationName(name: string): string {
  return `_wardpost.${name}`
}

export function verificationValue(token: string): string {
  return `wardpost-verification=${token}`
}

/** Percent with two decimals; a failure never rounds away to 100. */
function percent(pass: number, messages: number): number | null {
  if (messages === 0) return null
  const rate = Math.round((pass / messages) * 10_000) / 100
  return rate === 100 && pass < messages ? 99.99 : rate
}
