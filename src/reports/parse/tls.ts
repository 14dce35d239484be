/**
 * TLS reports (RFC 8460 §4.4), read leniently: numbers as text, a string where a list should be, unknown result
 * types, dates in other forms. A file may hold one report or a list of them.
 */
import { createHash } from 'node:crypto'
import { DAY_MS, isoTime } from '../../lib/clock.ts'
import { refuse } from '../../lib/refusal.ts'
import { normalizeReportId, readDomain, readIp, reporterKey, readTime } from './fields.ts'
import { createRepairs, quote, type Repairs } from './repairs.ts'
import type { Emit, Origin, TlsFailure, TlsMeta, TlsRow, TlsTotals } from './types.ts'

const TEXT_CHARS_MAX = 1024
const POLICIES_MAX = 1000
const FAILURES_MAX = 1000
const FAILURES_TOTAL_MAX = 20_000
const LINES_MAX = 64
const REPORTS_MAX = 100
const CHUNK_FAILURES = 200
const DEPTH_MAX = 32
const THINGS_MAX = 500_000
const CHUNK_ROWS = 100

interface TlsOptions {
  origin: Origin
  content_sha256: string
  content_bytes: number
  repairs: Repairs
  now: number
  nextIndex(): number
  emit: Emit
}

type Json = Record<string, unknown>

/** Emits the reports of a JSON text. Throws `malformed_json` or `not_a_report`. */
export function parseTlsReport(text: string, options: TlsOptions): void {
  checkShape(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refuse('malformed_json', 'The JSON cannot be read')
  }
  const list = (Array.isArray(value) ? value : [value]).slice(0, REPORTS_MAX)
  const reports = list.filter(isTlsReport)
  if (reports.length === 0) throw refuse('not_a_report', 'The JSON is no TLS report')
  for (const report of reports) {
    const content = reports.length === 1 ? options.content_sha256 : sha256(JSON.stringify(report))
    readReport(report, { ...options, content_sha256: content })
  }
}

/** JSON.parse builds everything at once: what would become millions of things is refused before. */
function checkShape(text: string): void {
  let depth = 0
  let things = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (quoted) {
      if (code === 92) i++
      else if (code === 34) quoted = false
    } else if (code === 34) quoted = true
    else if (code === 44) things++
    else if (code === 91 || code === 123) {
      things++
      if (++depth > DEPTH_MAX)
        throw refuse('malformed_json', `The JSON is nested more than ${DEPTH_MAX} deep`)
    } else if (code === 93 || code === 125) depth--
  }
  if (things > THINGS_MAX) throw refuse('malformed_json', `The JSON holds more than ${THINGS_MAX} values`)
}

function isTlsReport(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null) return false
  const report = value as Json
  return Array.isArray(report['policies']) && ('report-id' in report || 'date-range' in report)
}

function readReport(json: Json, options: TlsOptions): void {
  const repairs = createRepairs()
  for (const repair of options.repairs.list()) repairs.add(repair.code, repair.detail, repair.count)
  const index = options.nextIndex()
  const rows = readPolicies(json['policies'] as unknown[], repairs)
  const meta = readMeta(json, rows, options, repairs)
  const { emit, origin } = options
  emit({ type: 'report', index, kind: 'tls', origin, meta })
  const hash = createHash('sha256')
  for (const chunk of chunksOf(rows)) {
    const rows_json = JSON.stringify(chunk)
    hash.update(rows_json.slice(1, -1)).update(',')
    emit({ type: 'records', index, kind: 'tls', rows: chunk })
  }
  const totals: TlsTotals = { policies: rows.length, successful_sessions: 0, failed_sessions: 0 }
  for (const row of rows) {
    totals.successful_sessions += row.successful_sessions
    totals.failed_sessions += row.failed_sessions
  }
  if (rows.length === 0) repairs.add('no_records')
  emit({
    type: 'end',
    index,
    kind: 'tls',
    meta,
    totals,
    rows_sha256: hash.digest('hex'),
    content_sha256: options.content_sha256,
    content_bytes: options.content_bytes,
    origin,
    repairs: repairs.list(),
  })
}

function readMeta(json: Json, rows: TlsRow[], options: TlsOptions, repairs: Repairs): TlsMeta {
  const contact = textOf(json['contact-info'])
  let name = textOf(json['organization-name']) ?? ''
  if (name === '') {
    name = contact?.split('@').at(-1) ?? 'unknown'
    repairs.add('org_name_missing', `read as ${quote(name)}`)
  }
  let report_id = textOf(json['report-id']) ?? ''
  if (normalizeReportId(report_id) === '') {
    report_id = `sha256:${options.content_sha256.slice(0, 32)}`
    repairs.add('report_id_missing', `read as ${quote(report_id)}`)
  }
  const period = readPeriod(json['date-range'], options.now, repairs)
  return {
    organization_name: name,
    contact_info: contact,
    report_id,
    report_id_norm: normalizeReportId(report_id),
    reporter_key: reporterKey(name, contact?.replace(/^mailto:/i, '') ?? ''),
    ...period,
    domain: rows.find((row) => row.policy_domain !== '')?.policy_domain ?? '',
  }
}

function readPeriod(range: unknown, now: number, repairs: Repairs): { date_begin: number; date_end: number } {
  const bounds = (typeof range === 'object' && range !== null ? range : {}) as Json
  const read = (key: string): number | null => {
    const text = textOf(bounds[key]) ?? ''
    if (text === '') return null
    const time = readTime(text)
    if (time === null) repairs.add('field_invalid', `${key} ${quote(text)}`)
    else if (/^\d+$/.test(text)) repairs.add('date_normalised', `${key} ${quote(text)}`)
    return time?.value ?? null
  }
  let begin = read('start-datetime')
  let end = read('end-datetime')
  if (begin === null && end === null) throw refuse('missing_dates', 'The report says no period')
  if (begin === null || end === null) repairs.add('dates_missing', 'taken from the other end')
  begin ??= end!
  end ??= begin
  if (begin > end) {
    repairs.add('date_swapped', `${isoTime(begin)} to ${isoTime(end)}`)
    ;[begin, end] = [end, begin]
  }
  const latest = now + 2 * DAY_MS
  if (end > latest) {
    repairs.add('date_clamped', `end ${isoTime(Math.min(end, 8.64e15))}`)
    end = latest
    begin = Math.min(begin, end)
  }
  return { date_begin: begin, date_end: end }
}

function readPolicies(list: unknown[], repairs: Repairs): TlsRow[] {
  const rows: TlsRow[] = []
  let failures_left = FAILURES_TOTAL_MAX
  if (list.length > POLICIES_MAX) repairs.add('results_truncated', `more than ${POLICIES_MAX} policies`)
  for (const [i, item] of list.slice(0, POLICIES_MAX).entries()) {
    if (typeof item !== 'object' || item === null) {
      repairs.add('record_skipped', 'a policy is no object')
      continue
    }
    const row = readPolicy(item as Json, i + 1, Math.min(FAILURES_MAX, failures_left), repairs)
    failures_left -= row.failures.length
    rows.push(row)
  }
  return rows
}

function readPolicy(item: Json, n: number, failures_max: number, repairs: Repairs): TlsRow {
  const policy = (typeof item['policy'] === 'object' && item['policy'] !== null ? item['policy'] : {}) as Json
  const summary = (
    typeof item['summary'] === 'object' && item['summary'] !== null ? item['summary'] : {}
  ) as Json
  const details = listOf(item['failure-details'])
  if (details.length > failures_max) repairs.add('results_truncated', 'more failure details than are kept')
  const domain = readDomain(textOf(policy['policy-domain']) ?? '')
  if (domain.value === '') repairs.add('field_missing', 'policy-domain is empty')
  else if (domain.repaired !== null) repairs.add('domain_invalid', `policy-domain ${quote(domain.value)}`)
  return {
    n,
    policy_type: readPolicyType(policy['policy-type'], repairs),
    policy_domain: domain.value,
    policy_string: linesOf(policy['policy-string'], 'policy-string', repairs),
    // RFC 8460 says mx-host; its own example says mx-host-pattern.
    mx_host: linesOf(policy['mx-host'] ?? policy['mx-host-pattern'], null, repairs),
    successful_sessions: readSessions(summary, 'total-successful-session-count', repairs),
    failed_sessions: readSessions(summary, 'total-failure-session-count', repairs),
    failures: details
      .slice(0, failures_max)
      .filter((detail): detail is Json => typeof detail === 'object' && detail !== null)
      .map((detail) => readFailure(detail, repairs)),
  }
}

function readPolicyType(value: unknown, repairs: Repairs): TlsRow['policy_type'] {
  const text = textOf(value) ?? ''
  const folded = text.toLowerCase().replaceAll('_', '-')
  if (folded === 'tlsa' || folded === 'sts' || folded === 'no-policy-found') {
    if (folded !== text) repairs.add('enum_alias', `policy-type ${quote(text)} read as ${folded}`)
    return folded
  }
  repairs.add('enum_unknown', `policy-type ${quote(text)}`)
  return 'unknown'
}

function readFailure(json: Json, repairs: Repairs): TlsFailure {
  const ip = (key: string): string | null => {
    const text = textOf(json[key])
    if (text === null) return null
    return readIp(text)?.value ?? text
  }
  const host = (key: string): string | null => {
    const text = textOf(json[key])
    return text === null ? null : readDomain(text).value
  }
  return {
    result_type: (textOf(json['result-type']) ?? 'unknown').toLowerCase(),
    sending_mta_ip: ip('sending-mta-ip'),
    receiving_mx_hostname: host('receiving-mx-hostname'),
    receiving_mx_helo: textOf(json['receiving-mx-helo']),
    receiving_ip: ip('receiving-ip'),
    failed_session_count: readSessions(json, 'failed-session-count', repairs),
    additional_information: textOf(json['additional-information']),
    failure_reason_code: textOf(json['failure-reason-code']),
  }
}

function readSessions(json: Json, key: string, repairs: Repairs): number {
  const value = json[key]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  const text = typeof value === 'string' ? value.trim() : ''
  if (/^\d{1,15}$/.test(text)) {
    repairs.add('count_normalised', `${key} ${quote(text)}`)
    return Number(text)
  }
  if (value === undefined || value === null) repairs.add('field_missing', `${key} is absent, read as 0`)
  else repairs.add('field_invalid', `${key} ${quote(JSON.stringify(value))}, read as 0`)
  return 0
}

function textOf(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  // oxlint-disable-next-line no-control-regex
  const text = String(value)
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
    .trim()
  return text === '' ? null : text.slice(0, TEXT_CHARS_MAX)
}

function linesOf(value: unknown, field: string | null, repairs: Repairs): string[] {
  if (typeof value === 'string' && field !== null)
    repairs.add('field_invalid', `${field} is a text, not a list`)
  return listOf(value)
    .slice(0, LINES_MAX)
    .map(textOf)
    .filter((line): line is string => line !== null)
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : [value]
}

function* chunksOf(rows: TlsRow[]): Generator<TlsRow[]> {
  let chunk: TlsRow[] = []
  let failures = 0
  for (const row of rows) {
    chunk.push(row)
    failures += row.failures.length
    if (chunk.length >= CHUNK_ROWS || failures >= CHUNK_FAILURES) {
      yield chunk
      chunk = []
      failures = 0
    }
  }
  if (chunk.length > 0) yield chunk
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
