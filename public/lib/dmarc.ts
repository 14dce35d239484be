/** What a published policy, a result or a repair means, in words for people. */
import { count, day, percent, share } from './format.ts'
import type { DmarcPolicy, Domain, Profile, Repair, Report, Source } from './types.ts'

export const PROFILE_WORDS: Record<Profile, string> = {
  sending: 'sending',
  receive_only: 'receive only',
  parked: 'parked',
}

export const PROFILE_CHOICES = [
  { value: 'sending', label: 'Sending mail' },
  { value: 'receive_only', label: 'Receiving only' },
  { value: 'parked', label: 'No mail' },
] as const

const P_WORDS: Record<string, string> = {
  none: 'Receivers deliver what fails and only report it.',
  quarantine: 'Receivers treat what fails as suspicious: it goes to the spam folder.',
  reject: 'Receivers refuse what fails.',
}

/** One line per member of the record that changes something. */
export function explainPolicy(policy: DmarcPolicy): string[] {
  const lines: string[] = []
  if (policy.p !== null) lines.push(P_WORDS[policy.p] ?? `Policy ${policy.p}.`)
  if (policy.testing === true) lines.push('It is in testing (t=y): receivers apply one step less.')
  if (policy.sp !== null && policy.sp !== policy.p) lines.push(`Subdomains: ${policy.sp}.`)
  if (policy.np !== null) lines.push(`Subdomains that do not exist: ${policy.np}.`)
  if (policy.adkim === 's') lines.push('DKIM must be signed by exactly this domain (adkim=s).')
  if (policy.aspf === 's') lines.push('SPF must pass for exactly this domain (aspf=s).')
  if (policy.p !== null && policy.rua.length === 0)
    lines.push('It asks for no reports: nothing will come in (no rua).')
  return lines
}

export const POLICY_STATE_WORDS: Record<DmarcPolicy['state'], string> = {
  ok: 'Published',
  missing: 'No record',
  multiple: 'More than one record',
  invalid: 'Not valid',
  unknown: 'Not checked',
}

/** True when there is enough to judge and it is below the domain's limit. */
export function isBelow(domain: Domain): boolean {
  return (
    domain.profile === 'sending' &&
    domain.compliance.rate !== null &&
    domain.compliance.messages > 0 &&
    domain.compliance.rate < domain.compliance_threshold
  )
}

/** Days at each end of the trend that are compared: one day alone says little. */
const TREND_DAYS = 7

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** How compliance moved, in points: the last known days against the first; null when too few are known. */
export function trendPoints(domain: Domain): number | null {
  const known = domain.compliance.trend.flatMap((entry) => (entry.rate === null ? [] : [entry.rate]))
  if (known.length < 4) return null
  const days = Math.min(TREND_DAYS, Math.floor(known.length / 2))
  return mean(known.slice(-days)) - mean(known.slice(0, days))
}

/** `−2.1 in 30 d` */
export function trendWords(domain: Domain): string {
  const points = trendPoints(domain)
  if (points === null) return domain.compliance.messages === 0 ? 'no traffic' : 'too few days'
  if (Math.abs(points) < 0.05) return 'no change'
  return `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(1)} in ${domain.compliance.window_days} d`
}

/** The day or days a report covers; its end is not part of it. */
export function coveredDays(report: { date_begin: string; date_end: string }): string {
  const begin = new Date(report.date_begin).getTime()
  const end = Math.max(begin, new Date(report.date_end).getTime() - 1)
  const first = day(report.date_begin)
  const last = day(new Date(end).toISOString())
  if (first === last) return first
  // 20–21 Nov, but 30 Nov to 1 Dec.
  const [number, ...month] = last.split(' ')
  return first.endsWith(month.join(' '))
    ? `${first.split(' ')[0]}–${number} ${month.join(' ')}`
    : `${first} to ${last}`
}

export function passRate(report: Report): number | null {
  return share(report.totals.pass, report.totals.messages)
}

const REPAIR_WORDS: Record<string, string> = {
  encoding_fallback: 'Bytes that are not in the declared encoding were read as windows-1252',
  control_characters: 'Characters that XML forbids were dropped',
  bare_markup: 'Bare < or & in text was taken as text',
  unclosed_tag: 'An element without its end was closed',
  stray_close_tag: 'An end without its element was ignored',
  completed_end: 'The cut end of the file was completed',
  doctype_ignored: 'A document type declaration was ignored',
  text_truncated: 'An overlong text was cut',
  trailing_garbage: 'Bytes after the end of the archive were ignored',
  zip_directory_rebuilt: 'The directory of the ZIP archive was missing or broken',
  record_skipped: 'A record that cannot be used was left out',
  results_truncated: 'More results in a record than are kept',
  repeated_element: 'An element that may appear once appeared again; the first counts',
  misnamed_element: 'An element has a wrong name',
  enum_unknown: 'A value that is not in the standard was replaced by the nearest one',
  enum_alias: 'A value was written in another way',
  ip_normalised: 'An IP address was rewritten',
  ip_leading_zeros: 'An IP address has leading zeros; they were dropped',
  count_normalised: 'A number was rewritten',
  count_clamped: 'A number was too large and was clamped',
  date_normalised: 'A date was not in whole seconds since 1970',
  date_milliseconds: 'Dates in milliseconds were taken as such',
  date_swapped: 'The period ended before it began; the ends were swapped',
  date_clamped: 'The end of the period was too far in the future',
  period_long: 'The period is longer than 36 hours',
  domain_normalised: 'A domain name was rewritten',
  domain_invalid: 'A value is not a domain name; it is shown as it came',
  org_name_missing: 'The name of the reporter was taken from its address',
  report_id_missing: 'The report has no id; one was taken from elsewhere',
  domain_missing: 'The policy domain was taken from elsewhere',
  dates_missing: 'The period was taken from the file name',
  policy_missing: 'The published policy is missing or has no p',
  metadata_mismatch: 'File name or subject contradict the report',
  no_records: 'The report has no records',
  version_unknown: 'The version of the report format is unknown',
  field_missing: 'A field that should be there is missing',
  field_invalid: 'A field could not be understood and was left out',
}

/** A repair in words, with the case at hand where there is one. */
export function repairWords(repair: Repair): string {
  const words = REPAIR_WORDS[repair.code] ?? repair.code.replaceAll('_', ' ')
  const text = repair.detail === '' || repair.detail === words ? words : `${words}: ${repair.detail}`
  return repair.count > 1 ? `${text} (${count(repair.count)} times)` : text
}

const SOURCE_WORDS: Record<Source['kind'], string> = {
  dkim: 'signs with DKIM',
  spf: 'passes SPF',
  network: 'network',
  prefix: 'address range',
  other: 'other',
}

export function sourceKind(source: Source): string {
  return SOURCE_WORDS[source.kind]
}

/** `1,296 quarantined, 98 delivered` of what failed. */
export function dispositionWords(failed: number, by: { quarantine: number; reject: number }): string {
  const parts: string[] = []
  if (by.reject > 0) parts.push(`${count(by.reject)} rejected`)
  if (by.quarantine > 0) parts.push(`${count(by.quarantine)} quarantined`)
  const delivered = failed - by.reject - by.quarantine
  if (delivered > 0) parts.push(`${count(delivered)} delivered`)
  return parts.join(', ')
}

/** `94.1 % of 206,418 messages` */
export function complianceWords(rate: number | null, messages: number): string {
  return rate === null ? 'no messages' : `${percent(rate)} of ${count(messages)} messages`
}
