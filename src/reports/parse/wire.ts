/**
 * Rows of aggregate reports between child and parent: arrays without names, which the parent reads in half the time.
 * Reading is checking: what has not the right shape is no row.
 */
import type { DkimAuth, DmarcRow, Reason, SpfAuth } from './types.ts'

const TEXT_MAX = 4096
const ROWS_MAX = 500
const IP_MAX = 45
const DKIM_MAX = 100
const SPF_MAX = 20
const REASONS_MAX = 20
const RAW_TEXT_MAX = 64
const DKIM_ALIGNED = 1
const SPF_ALIGNED = 2

const DISPOSITIONS: ReadonlySet<unknown> = new Set(['none', 'pass', 'quarantine', 'reject'])
const DKIM_RESULTS: ReadonlySet<unknown> = new Set([
  'none',
  'pass',
  'fail',
  'policy',
  'neutral',
  'temperror',
  'permerror',
])
const SPF_RESULTS: ReadonlySet<unknown> = new Set(['softfail', ...DKIM_RESULTS])
const SCOPES: ReadonlySet<unknown> = new Set(['mfrom', 'helo', null])
const REASON_TYPES: ReadonlySet<unknown> = new Set([
  'forwarded',
  'sampled_out',
  'trusted_forwarder',
  'mailing_list',
  'local_policy',
  'policy_test_mode',
  'other',
])

/** Rows as JSON text: the same rows always give the same text. */
export function packRows(rows: readonly DmarcRow[]): string {
  const out: string[] = []
  for (const row of rows) out.push(packRow(row))
  return `[${out.join(',')}]`
}

/** Written by hand: numbers and enumerations need no quoting, and no arrays have to be made first. */
function packRow(row: DmarcRow): string {
  const flags = (row.dkim_aligned ? DKIM_ALIGNED : 0) | (row.spf_aligned ? SPF_ALIGNED : 0)
  let dkim = ''
  for (const auth of row.dkim) {
    const item = `[${text(auth.domain)},${text(auth.selector)},"${auth.result}",${text(auth.human_result)}]`
    dkim = dkim === '' ? item : `${dkim},${item}`
  }
  let spf = ''
  for (const auth of row.spf) {
    const item = `[${text(auth.domain)},${text(auth.scope)},"${auth.result}",${text(auth.human_result)}]`
    spf = spf === '' ? item : `${spf},${item}`
  }
  const reasons = row.reasons.map((reason) => `["${reason.type}",${text(reason.comment)}]`).join(',')
  const raw = row.raw === undefined ? '' : `,${JSON.stringify(row.raw)}`
  return (
    `[${row.n},"${row.source_ip}",${row.count},"${row.disposition}",${flags},${text(row.header_from)},` +
    `${text(row.envelope_from)},${text(row.envelope_to)},[${dkim}],[${spf}],[${reasons}]${raw}]`
  )
}

function text(value: string | null): string {
  return value === null ? 'null' : JSON.stringify(value)
}

/** The rows, or null when one of them is not as it must be. */
export function unpackRows(value: unknown): DmarcRow[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > ROWS_MAX) return null
  const rows: DmarcRow[] = []
  for (const item of value as unknown[]) {
    const row = unpackRow(item)
    if (row === null) return null
    rows.push(row)
  }
  return rows
}

function unpackRow(value: unknown): DmarcRow | null {
  if (!Array.isArray(value) || value.length < 11 || value.length > 12) return null
  const [n, ip, count, disposition, flags, from, envelope_from, envelope_to, dkim, spf, reasons, raw] =
    value as unknown[]
  const plain =
    isCount(n) &&
    isText(ip, IP_MAX) &&
    isCount(count) &&
    count > 0 &&
    DISPOSITIONS.has(disposition) &&
    isCount(flags) &&
    flags <= (DKIM_ALIGNED | SPF_ALIGNED) &&
    isText(from) &&
    isTextOrNull(envelope_from) &&
    isTextOrNull(envelope_to)
  if (!plain) return null
  const row: DmarcRow = {
    n,
    source_ip: ip,
    count,
    disposition: disposition as DmarcRow['disposition'],
    dkim_aligned: (flags & DKIM_ALIGNED) !== 0,
    spf_aligned: (flags & SPF_ALIGNED) !== 0,
    reasons: [],
    header_from: from,
    envelope_from,
    envelope_to,
    dkim: [],
    spf: [],
  }
  const lists =
    unpackList(dkim, DKIM_MAX, row.dkim, unpackDkim) &&
    unpackList(spf, SPF_MAX, row.spf, unpackSpf) &&
    unpackList(reasons, REASONS_MAX, row.reasons, unpackReason)
  if (!lists) return null
  if (raw === undefined) return row
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return null
  if (!Object.values(raw).every((text) => isText(text, RAW_TEXT_MAX))) return null
  row.raw = raw as Record<string, string>
  return row
}

function unpackList<T>(
  list: unknown,
  max: number,
  into: T[],
  unpack: (item: unknown[]) => T | null,
): boolean {
  if (!Array.isArray(list) || list.length > max) return false
  for (const item of list as unknown[]) {
    const value = Array.isArray(item) ? unpack(item) : null
    if (value === null) return false
    into.push(value)
  }
  return true
}

function unpackDkim(item: unknown[]): DkimAuth | null {
  const [domain, selector, result, human_result] = item
  if (
    !isText(domain) ||
    !isTextOrNull(selector) ||
    !DKIM_RESULTS.has(result) ||
    !isTextOrNull(human_result)
  ) {
    return null
  }
  return { domain, selector, result: result as DkimAuth['result'], human_result }
}

function unpackSpf(item: unknown[]): SpfAuth | null {
  const [domain, scope, result, human_result] = item
  if (!isText(domain) || !SCOPES.has(scope) || !SPF_RESULTS.has(result) || !isTextOrNull(human_result))
    return null
  return { domain, scope: scope as SpfAuth['scope'], result: result as SpfAuth['result'], human_result }
}

function unpackReason(item: unknown[]): Reason | null {
  const [type, comment] = item
  return REASON_TYPES.has(type) && isTextOrNull(comment) ? { type: type as Reason['type'], comment } : null
}

function isText(value: unknown, max = TEXT_MAX): value is string {
  return typeof value === 'string' && value.length <= max
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)
}
