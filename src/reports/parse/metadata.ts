/** report_metadata and policy_published: from the texts of their elements, with what the names say as fallback. */
import { DAY_MS, HOUR_MS, isoTime } from '../../lib/clock.ts'
import { refuse } from '../../lib/refusal.ts'
import { isDomain, normalizeReportId, readDomain, reporterKey, readTime } from './fields.ts'
import type { Hints } from './hints.ts'
import { quote, type Repairs } from './repairs.ts'
import type { DmarcMeta, DmarcPolicy, PolicyValue } from './types.ts'
import { ALIGNMENT, DISCOVERY, POLICY, TESTING, type Vocabulary } from './values.ts'

const FUTURE_MAX_MS = 2 * DAY_MS
const LONG_MS = 36 * HOUR_MS
const REPORT_ID_CHARS_MAX = 1024
const ORG_CHARS_MAX = 256

/** Texts of the elements; undefined: absent. */
export interface RawMetadata {
  version: string | undefined
  org_name: string | undefined
  email: string | undefined
  extra_contact_info: string | undefined
  report_id: string | undefined
  begin: string | undefined
  end: string | undefined
  generator: string | undefined
  errors: string[]
  /** The root's namespace is that of RFC 9990. */
  new_namespace: boolean
}

export interface RawPolicy {
  domain: string | undefined
  p: string | undefined
  sp: string | undefined
  np: string | undefined
  adkim: string | undefined
  aspf: string | undefined
  pct: string | undefined
  fo: string | undefined
  testing: string | undefined
  discovery_method: string | undefined
}

export interface MetadataSources {
  raw: RawMetadata
  /** null: the report has no policy_published. */
  policy: RawPolicy | null
  hints: Hints
  /** The header_from that all records share; null when they differ or there are none. */
  common_header_from: string | null
  /** For an id when there is none. */
  fingerprint: () => string
  now: number
}

/** The metadata of a report. Throws `missing_domain` and `missing_dates`: without them nothing can be kept. */
export function readMetadata(sources: MetadataSources, repairs: Repairs): DmarcMeta {
  const { raw, hints } = sources
  const policy = readPolicy(sources, repairs)
  const org_email = (raw.email ?? '').slice(0, ORG_CHARS_MAX)
  const org_name = readOrgName(raw, org_email, hints, repairs)
  const period = readPeriod(raw, hints, sources.now, repairs)
  const report_id = readReportId(sources, repairs)
  const version = raw.version === undefined || raw.version === '' ? null : raw.version.slice(0, 32)
  if (version !== null && !/^\d{1,2}(\.\d{1,2})?$/.test(version))
    repairs.add('version_unknown', quote(version))
  if (hints.domain !== null && isDomain(policy.domain) && hints.domain !== policy.domain) {
    repairs.add('metadata_mismatch', `the name says ${hints.domain}, the report ${policy.domain}`)
  }
  const modern = raw.new_namespace || policy.discovery_method !== null || policy.testing !== null
  return {
    org_name,
    org_email,
    extra_contact_info: raw.extra_contact_info || null,
    report_id,
    report_id_norm: normalizeReportId(report_id),
    reporter_key: reporterKey(org_name, org_email),
    ...period,
    version,
    standard: modern ? 'rfc9990' : 'rfc7489',
    generator: raw.generator || null,
    errors: raw.errors,
    policy,
  }
}

/** True when nothing is missing that a fallback would have to fill: then the metadata is already final. */
export function isComplete(raw: RawMetadata, policy: RawPolicy | null): boolean {
  return Boolean(raw.org_name && raw.report_id && raw.begin && raw.end && policy?.domain && policy.p)
}

function readOrgName(raw: RawMetadata, email: string, hints: Hints, repairs: Repairs): string {
  const name = (raw.org_name ?? '').replace(/^["'\s]+(?=[^"']*$)/, '').trim()
  if (name !== '') return name.slice(0, ORG_CHARS_MAX)
  const domain = readDomain(email.slice(email.lastIndexOf('@') + 1)).value
  const other = (isDomain(domain) ? domain : null) ?? hints.receiver ?? 'unknown'
  repairs.add('org_name_missing', `read as ${quote(other)}`)
  return other
}

function readReportId(sources: MetadataSources, repairs: Repairs): string {
  const id = (sources.raw.report_id ?? '').slice(0, REPORT_ID_CHARS_MAX)
  if (normalizeReportId(id) !== '') return id
  const other = sources.hints.report_id ?? `sha256:${sources.fingerprint().slice(0, 32)}`
  repairs.add('report_id_missing', `read as ${quote(other)}`)
  return other
}

function readPeriod(
  raw: RawMetadata,
  hints: Hints,
  now: number,
  repairs: Repairs,
): { date_begin: number; date_end: number } {
  let begin = readBound('begin', raw.begin, repairs)
  let end = readBound('end', raw.end, repairs)
  if ((begin === null || end === null) && hints.begin !== null && hints.end !== null) {
    repairs.add('dates_missing', 'taken from the file name')
    begin ??= hints.begin
    end ??= hints.end
  }
  if (begin === null && end === null) throw refuse('missing_dates', 'The report says no period')
  if (begin === null || end === null) {
    repairs.add('dates_missing', `${begin === null ? 'begin' : 'end'} taken from the other end`)
    begin ??= end!
    end ??= begin
  }
  if (begin > end) {
    repairs.add('date_swapped', `${isoTime(begin)} to ${isoTime(end)}`)
    ;[begin, end] = [end, begin]
  }
  const latest = now + FUTURE_MAX_MS
  if (end > latest) {
    repairs.add('date_clamped', `end ${isoTime(Math.min(end, 8.64e15))}`)
    end = Math.floor(latest / 1000) * 1000
    begin = Math.min(begin, end)
  }
  if (end - begin > LONG_MS) repairs.add('period_long', `${((end - begin) / DAY_MS).toFixed(1)} days`)
  return { date_begin: begin, date_end: end }
}

function readBound(field: string, text: string | undefined, repairs: Repairs): number | null {
  if (text === undefined || text === '') return null
  const read = readTime(text)
  if (read === null) {
    repairs.add('field_invalid', `${field} ${quote(text)}`)
    return null
  }
  if (read.repaired === 'milliseconds') repairs.add('date_milliseconds', `${field} ${quote(text)}`)
  else if (read.repaired !== null) repairs.add('date_normalised', `${field} ${quote(text)}`)
  return read.value
}

function readPolicy(sources: MetadataSources, repairs: Repairs): DmarcPolicy {
  const raw: Partial<RawPolicy> = sources.policy ?? {}
  const p = choose('p', POLICY, raw.p, repairs)
  if (p === null)
    repairs.add('policy_missing', raw.p ? `p ${quote(raw.p)} read as none` : 'p is absent, read as none')
  const testing = choose('testing', TESTING, raw.testing, repairs)
  return {
    domain: readPolicyDomain(sources, raw, repairs),
    p: p ?? 'none',
    sp: choose<PolicyValue>('sp', POLICY, raw.sp, repairs),
    np: choose<PolicyValue>('np', POLICY, raw.np, repairs),
    adkim: choose('adkim', ALIGNMENT, raw.adkim, repairs) ?? 'r',
    aspf: choose('aspf', ALIGNMENT, raw.aspf, repairs) ?? 'r',
    pct: readPct(raw.pct, repairs),
    fo: raw.fo ? raw.fo.slice(0, 32) : null,
    testing: testing === null ? null : testing === 'y',
    discovery_method: choose('discovery_method', DISCOVERY, raw.discovery_method, repairs),
  }
}

/** A value of the policy; null when it is absent or cannot be read. */
function choose<T extends string>(
  field: string,
  vocabulary: Vocabulary<T>,
  text: string | undefined,
  repairs: Repairs,
): T | null {
  if (text === undefined) return null
  const { value, found } = vocabulary.read(text)
  if (found === 'exact') return value
  if (found === 'empty') {
    repairs.add('field_missing', `${field} is empty, read as absent`)
    return null
  }
  repairs.add(`enum_${found}`, `${field} ${quote(text)} read as ${found === 'unknown' ? 'absent' : value}`)
  return found === 'unknown' ? null : value
}

function readPct(text: string | undefined, repairs: Repairs): number | null {
  if (text === undefined) return null
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text)
  if (text === '') {
    repairs.add('field_missing', 'pct is empty, read as absent')
    return null
  }
  const number = Number.parseInt(text, 10)
  if (Number.isNaN(number)) {
    repairs.add('field_invalid', `pct ${quote(text)}`)
    return null
  }
  const value = Math.min(100, Math.max(0, number))
  repairs.add('count_normalised', `pct ${quote(text)} read as ${value}`)
  return value
}

function readPolicyDomain(sources: MetadataSources, raw: Partial<RawPolicy>, repairs: Repairs): string {
  const stated = readDomain(raw.domain ?? '')
  if (isDomain(stated.value)) {
    if (stated.repaired !== null) repairs.add('domain_normalised', quote(raw.domain!))
    return stated.value
  }
  const other = sources.hints.domain ?? sources.common_header_from
  if (other === null || !isDomain(other)) {
    const detail = raw.domain
      ? `${quote(raw.domain)} is not a domain name`
      : 'The report names no policy domain'
    throw refuse('missing_domain', detail)
  }
  repairs.add('domain_missing', `read as ${other}`)
  return other
}
