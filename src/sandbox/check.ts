/**
 * Nothing a child says is believed before it has the right shape: it has read hostile input. Hand-written, since
 * every row of every report passes here.
 */
import {
  REJECTIONS,
  REPAIRS,
  type DmarcMeta,
  type FailureMeta,
  type Origin,
  type TlsMeta,
  type TlsRow,
} from '../reports/parse/types.ts'
import { unpackRows } from '../reports/parse/wire.ts'
import type { Answer } from './protocol.ts'

type Fields = Record<string, unknown>

const TEXT_MAX = 4096
const ROWS_MAX = 500
const TIME_MAX = 8.64e15
const DISPOSITIONS = new Set(['none', 'pass', 'quarantine', 'reject'])
const POLICIES = new Set(['none', 'quarantine', 'reject'])
const CONTAINERS = new Set(['gzip', 'zip', 'mail'])
const INPUT_KINDS = new Set(['xml', 'json', 'mail', 'gzip', 'zip', 'unknown'])
const TLS_TYPES = new Set(['tlsa', 'sts', 'no-policy-found', 'unknown'])

/** The answer, when it is one; null when it is not. */
export function checkAnswer(value: unknown): Answer | null {
  if (!isObject(value) || !isCount(value['job'])) return null
  if (value['type'] === 'progress') return isCount(value['unpacked']) ? (value as unknown as Answer) : null
  if (value['type'] !== 'rows') return isMessage(value) ? (value as unknown as Answer) : null
  const rows = unpackRows(value['rows'])
  if (rows === null || !isCount(value['index'])) return null
  return {
    type: 'records',
    job: value['job'] as number,
    index: value['index'] as number,
    kind: 'dmarc',
    rows,
  }
}

function isMessage(value: Fields): boolean {
  switch (value['type']) {
    case 'report':
      return (
        isCount(value['index']) && isOrigin(value['origin']) && isMeta(value['kind'], value['meta'], true)
      )
    case 'records':
      return isCount(value['index']) && isRows(value['kind'], value['rows'])
    case 'end':
      return isEnd(value)
    case 'rejected':
      return (
        (value['index'] === null || isCount(value['index'])) &&
        (value['origin'] === null || isOrigin(value['origin'])) &&
        Object.hasOwn(REJECTIONS, String(value['code'])) &&
        isText(value['detail'])
      )
    case 'done':
      return (
        isCount(value['reports']) &&
        isCount(value['rejected']) &&
        isCount(value['unpacked_bytes']) &&
        isOneOf(INPUT_KINDS, value['input_kind'])
      )
    default:
      return false
  }
}

function isEnd(value: Fields): boolean {
  const kind = value['kind']
  return (
    isCount(value['index']) &&
    isHash(value['content_sha256']) &&
    isCount(value['content_bytes']) &&
    isOrigin(value['origin']) &&
    isRepairs(value['repairs']) &&
    isMeta(kind, value['meta'], false) &&
    (kind === 'failure' || (isHash(value['rows_sha256']) && isTotals(kind, value['totals'])))
  )
}

function isMeta(kind: unknown, meta: unknown, optional: boolean): boolean {
  if (optional && meta === null) return kind === 'dmarc' || kind === 'tls' || kind === 'failure'
  if (!isObject(meta)) return false
  if (kind === 'dmarc') return isDmarcMeta(meta)
  if (kind === 'tls') return isTlsMeta(meta)
  return kind === 'failure' && isFailureMeta(meta)
}

function isDmarcMeta(meta: Fields & Partial<DmarcMeta>): boolean {
  const policy: unknown = meta.policy
  return (
    isText(meta.org_name) &&
    isText(meta.org_email) &&
    isTextOrNull(meta.extra_contact_info) &&
    isText(meta.report_id) &&
    isText(meta.report_id_norm) &&
    isText(meta.reporter_key) &&
    isPeriod(meta) &&
    isTextOrNull(meta.version) &&
    (meta.standard === 'rfc7489' || meta.standard === 'rfc9990') &&
    isTextOrNull(meta.generator) &&
    isTexts(meta.errors, 10) &&
    isObject(policy) &&
    isPolicy(policy)
  )
}

function isPolicy(policy: Fields): boolean {
  return (
    isText(policy['domain']) &&
    isOneOf(POLICIES, policy['p']) &&
    (policy['sp'] === null || isOneOf(POLICIES, policy['sp'])) &&
    (policy['np'] === null || isOneOf(POLICIES, policy['np'])) &&
    (policy['adkim'] === 'r' || policy['adkim'] === 's') &&
    (policy['aspf'] === 'r' || policy['aspf'] === 's') &&
    (policy['pct'] === null || (isCount(policy['pct']) && (policy['pct'] as number) <= 100)) &&
    isTextOrNull(policy['fo']) &&
    (policy['testing'] === null || typeof policy['testing'] === 'boolean') &&
    (policy['discovery_method'] === null ||
      policy['discovery_method'] === 'psl' ||
      policy['discovery_method'] === 'treewalk')
  )
}

function isTlsMeta(meta: Fields & Partial<TlsMeta>): boolean {
  return (
    isText(meta.organization_name) &&
    isTextOrNull(meta.contact_info) &&
    isText(meta.report_id) &&
    isText(meta.report_id_norm) &&
    isText(meta.reporter_key) &&
    isPeriod(meta) &&
    isText(meta.domain)
  )
}

function isFailureMeta(meta: Fields & Partial<FailureMeta>): boolean {
  const nullable = [
    'auth_failure',
    'user_agent',
    'source_ip',
    'original_mail_from',
    'identity_alignment',
    'delivery_result',
    'dkim_domain',
    'dkim_selector',
    'spf_dns',
    'authentication_results',
    'header_from',
    'subject',
    'message_id',
    'report_subject',
  ]
  return (
    isText(meta.feedback_type) &&
    isText(meta.reporter) &&
    isText(meta.reported_domain) &&
    nullable.every((key) => isTextOrNull(meta[key])) &&
    (meta.arrival_date === null || isTime(meta.arrival_date)) &&
    (meta.message_date === null || isTime(meta.message_date)) &&
    isTexts(meta.original_rcpt_to, 20) &&
    isCount(meta.incidents) &&
    isText(meta.original_headers, 16_384) &&
    Array.isArray(meta.fields) &&
    meta.fields.length <= 64 &&
    meta.fields.every((field: unknown) => isObject(field) && isText(field['name']) && isText(field['value']))
  )
}

function isPeriod(meta: { date_begin?: unknown; date_end?: unknown }): boolean {
  return (
    isTime(meta.date_begin) &&
    isTime(meta.date_end) &&
    (meta.date_begin as number) <= (meta.date_end as number)
  )
}

function isRows(kind: unknown, rows: unknown): boolean {
  if (!Array.isArray(rows) || rows.length === 0 || rows.length > ROWS_MAX) return false
  return kind === 'tls' && rows.every(isTlsRow)
}

function isTlsRow(value: unknown): boolean {
  if (!isObject(value)) return false
  const row = value as Fields & Partial<TlsRow>
  return (
    isCount(row.n) &&
    isOneOf(TLS_TYPES, row.policy_type) &&
    isText(row.policy_domain) &&
    isTexts(row.policy_string, 64) &&
    isTexts(row.mx_host, 64) &&
    isCount(row.successful_sessions) &&
    isCount(row.failed_sessions) &&
    isList(row.failures, 1000, isTlsFailure)
  )
}

function isTlsFailure(failure: Fields): boolean {
  return (
    isText(failure['result_type']) &&
    isTextOrNull(failure['sending_mta_ip']) &&
    isTextOrNull(failure['receiving_mx_hostname']) &&
    isTextOrNull(failure['receiving_mx_helo']) &&
    isTextOrNull(failure['receiving_ip']) &&
    isCount(failure['failed_session_count']) &&
    isTextOrNull(failure['additional_information']) &&
    isTextOrNull(failure['failure_reason_code'])
  )
}

function isTotals(kind: unknown, totals: unknown): boolean {
  if (!isObject(totals)) return false
  if (kind === 'tls') {
    return ['policies', 'successful_sessions', 'failed_sessions'].every((key) => isCount(totals[key]))
  }
  const keys = ['records', 'skipped', 'messages', 'pass', 'fail', 'both', 'dkim_only', 'spf_only', 'neither']
  const by = totals['by_disposition']
  return (
    keys.every((key) => isCount(totals[key])) &&
    isObject(by) &&
    [...DISPOSITIONS].every((key) => isCount(by[key]))
  )
}

function isRepairs(list: unknown): boolean {
  return isList(
    list,
    1000,
    (repair) =>
      Object.hasOwn(REPAIRS, String(repair['code'])) && isText(repair['detail']) && isCount(repair['count']),
  )
}

function isOrigin(value: unknown): value is Origin {
  return (
    isObject(value) &&
    isText(value['name']) &&
    Array.isArray(value['containers']) &&
    value['containers'].length <= 32 &&
    value['containers'].every((kind) => isOneOf(CONTAINERS, kind))
  )
}

function isList(list: unknown, max: number, check: (item: Fields) => boolean): boolean {
  if (!Array.isArray(list) || list.length > max) return false
  for (const item of list as unknown[]) if (!isObject(item) || !check(item)) return false
  return true
}

function isTexts(list: unknown, max: number): boolean {
  return Array.isArray(list) && list.length <= max && list.every((text) => isText(text))
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown, max = TEXT_MAX): boolean {
  return typeof value === 'string' && value.length <= max
}

function isTextOrNull(value: unknown): boolean {
  return value === null || isText(value)
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && Math.abs(value) <= TIME_MAX
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

function isOneOf(values: ReadonlySet<string>, value: unknown): boolean {
  return typeof value === 'string' && values.has(value)
}
