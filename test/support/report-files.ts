/** Report files made in code: one well-formed aggregate report, and the ways to spoil and to pack it. */
import { gzipSync, deflateRawSync, crc32 } from 'node:zlib'
import { inputOfBytes, parseReportFile } from '../../src/reports/parse/file.ts'
import {
  PARSE_LIMITS,
  type DmarcRow,
  type Message,
  type ParseLimits,
  type RejectionCode,
  type RepairCode,
  type TlsRow,
} from '../../src/reports/parse/types.ts'

export const NOW = Date.UTC(2026, 2, 1)
export const BEGIN = 1769990400
export const END = 1770076799

export interface RecordParts {
  ip?: string
  count?: string
  disposition?: string
  dkim?: string
  spf?: string
  reason?: string
  from?: string
  identifiers?: string
  auth?: string
}

/** A record as XML; each part is the raw text between its tags. */
export function record(parts: RecordParts = {}): string {
  const from = `<header_from>${parts.from ?? 'tenant.example'}</header_from>`
  const auth =
    '<dkim><domain>tenant.example</domain><selector>s1</selector><result>pass</result></dkim>' +
    '<spf><domain>tenant.example</domain><scope>mfrom</scope><result>pass</result></spf>'
  return (
    `<record><row><source_ip>${parts.ip ?? '192.0.2.10'}</source_ip><count>${parts.count ?? '3'}</count>` +
    `<policy_evaluated><disposition>${parts.disposition ?? 'none'}</disposition><dkim>${parts.dkim ?? 'pass'}</dkim>` +
    `<spf>${parts.spf ?? 'pass'}</spf>${parts.reason ?? ''}</policy_evaluated></row>` +
    (parts.identifiers ?? `<identifiers>${from}</identifiers>`) +
    `<auth_results>${parts.auth ?? auth}</auth_results></record>`
  )
}

export interface ReportParts {
  prolog?: string
  root?: string
  org?: string
  email?: string
  id?: string
  begin?: string
  end?: string
  metadata?: string
  policy?: string
  records?: string
  tail?: string
}

export const POLICY =
  '<policy_published><domain>tenant.example</domain><adkim>r</adkim><aspf>s</aspf><p>reject</p>' +
  '<sp>quarantine</sp><pct>100</pct><fo>1</fo></policy_published>'

/** A report as XML; without parts a good one with one record of 3 messages. */
export function report(parts: ReportParts = {}): string {
  const metadata =
    `<report_metadata><org_name>${parts.org ?? 'receiver.example'}</org_name>` +
    `<email>${parts.email ?? 'dmarc@receiver.example'}</email><report_id>${parts.id ?? 'report-1'}</report_id>` +
    `<date_range><begin>${parts.begin ?? BEGIN}</begin><end>${parts.end ?? END}</end></date_range></report_metadata>`
  return (
    `${parts.prolog ?? '<?xml version="1.0" encoding="UTF-8"?>\n'}${parts.root ?? '<feedback>'}<version>1.0</version>` +
    `${parts.metadata ?? metadata}${parts.policy ?? POLICY}${parts.records ?? record()}${parts.tail ?? '</feedback>'}`
  )
}

export type EndMessage = Extract<Message, { type: 'end' }>
export type DmarcEnd = Extract<EndMessage, { kind: 'dmarc' }>
export type Rejected = Extract<Message, { type: 'rejected' }>

export interface Outcome {
  messages: Message[]
  ends: EndMessage[]
  rejected: Rejected[]
  rows: DmarcRow[]
  tls_rows: TlsRow[]
}

/** Reads a file the way the child does. */
export function read(
  content: string | Uint8Array,
  name = 'report.xml',
  limits: Partial<ParseLimits> = {},
): Outcome {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const messages: Message[] = []
  parseReportFile(
    inputOfBytes(name, bytes),
    { now: NOW, limits: { ...PARSE_LIMITS, ...limits } },
    (message) => messages.push(message),
  )
  return sortOut(messages)
}

export function sortOut(messages: Message[]): Outcome {
  const out: Outcome = { messages, ends: [], rejected: [], rows: [], tls_rows: [] }
  for (const message of messages) {
    if (message.type === 'end') out.ends.push(message)
    else if (message.type === 'rejected') out.rejected.push(message)
    else if (message.type === 'records' && message.kind === 'dmarc') out.rows.push(...message.rows)
    else if (message.type === 'records') out.tls_rows.push(...message.rows)
  }
  return out
}

/** The one aggregate report of a file. Throws when there is not exactly one. */
export function readOne(content: string | Uint8Array, name?: string): DmarcEnd & { rows: DmarcRow[] } {
  const out = read(content, name)
  const end = out.ends[0]
  if (out.ends.length !== 1 || end?.kind !== 'dmarc' || out.rejected.length > 0) {
    throw new Error(`expected one report: ${JSON.stringify(out.rejected)} ${out.ends.length} reports`)
  }
  return { ...end, rows: out.rows }
}

/** The one reason why nothing of a file was accepted. Throws when something was. */
export function readRefused(content: string | Uint8Array, limits: Partial<ParseLimits> = {}): RejectionCode {
  const out = read(content, 'report.xml', limits)
  if (out.ends.length > 0 || out.rejected.length !== 1) {
    throw new Error(`expected one rejection: ${JSON.stringify(out.rejected)} ${out.ends.length} reports`)
  }
  return out.rejected[0]!.code
}

export function repairsOf(end: { repairs: { code: RepairCode }[] }): RepairCode[] {
  return [...new Set(end.repairs.map((repair) => repair.code))]
}

export interface ZipFile {
  name: string
  content: string | Uint8Array
  method?: number
  /** General purpose flags: 1 encrypted, 8 sizes follow the data. */
  flags?: number
  /** Lies about the checksum. */
  crc?: number
}

/** A ZIP archive, byte by byte, so that every oddity can be made. */
export function zip(
  files: readonly ZipFile[],
  options: { directory?: boolean; prefix?: string } = {},
): Uint8Array {
  const parts: Buffer[] = [Buffer.from(options.prefix ?? '')]
  const central: Buffer[] = []
  let offset = parts[0]!.length
  for (const file of files) {
    const content = typeof file.content === 'string' ? Buffer.from(file.content) : Buffer.from(file.content)
    const method = file.method ?? 8
    const data = method === 8 ? deflateRawSync(content) : content
    const flags = file.flags ?? 0
    const name = Buffer.from(file.name)
    const crc = file.crc ?? crc32(content)
    const sizes = [crc, data.length, content.length]
    const local = header(0x04034b50, method, flags, (flags & 8) === 0 ? sizes : [0, 0, 0], name.length)
    parts.push(local, name, data)
    if ((flags & 8) !== 0) parts.push(words(0x08074b50, ...sizes))
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(flags, 8)
    entry.writeUInt16LE(method, 10)
    for (const [i, value] of sizes.entries()) entry.writeUInt32LE(value, 16 + i * 4)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(offset - parts[0]!.length, 42)
    central.push(entry, name)
    offset = parts.reduce((sum, part) => sum + part.length, 0)
  }
  if (options.directory === false) return Buffer.concat(parts)
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset - parts[0]!.length, 16)
  return Buffer.concat([...parts, directory, end])
}

function header(
  signature: number,
  method: number,
  flags: number,
  sizes: number[],
  name_length: number,
): Buffer {
  const out = Buffer.alloc(30)
  out.writeUInt32LE(signature, 0)
  out.writeUInt16LE(20, 4)
  out.writeUInt16LE(flags, 6)
  out.writeUInt16LE(method, 8)
  for (const [i, value] of sizes.entries()) out.writeUInt32LE(value, 14 + i * 4)
  out.writeUInt16LE(name_length, 26)
  return out
}

function words(...values: number[]): Buffer {
  const out = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) out.writeUInt32LE(value, i * 4)
  return out
}

export function gzip(content: string | Uint8Array): Uint8Array {
  return gzipSync(content)
}

export interface Attachment {
  type?: string
  disposition?: string
  encoding?: string
  headers?: string[]
  /** Written as it is. */
  body?: string
  /** Encoded by `encoding`. */
  content?: string | Uint8Array
}

/** A mail with parts, CRLF line ends. */
export function mail(
  parts: readonly Attachment[],
  options: { headers?: string[]; boundary?: string } = {},
): string {
  const boundary = options.boundary ?? 'b0undary'
  const lines = [
    ...(options.headers ?? ['From: reporter@receiver.example', 'Subject: Report Domain: tenant.example']),
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    'This is a multi-part message.',
  ]
  for (const part of parts) {
    lines.push(`--${boundary}`, ...(part.headers ?? []))
    if (part.type !== undefined) lines.push(`Content-Type: ${part.type}`)
    if (part.disposition !== undefined) lines.push(`Content-Disposition: ${part.disposition}`)
    if (part.encoding !== undefined) lines.push(`Content-Transfer-Encoding: ${part.encoding}`)
    lines.push('', part.body ?? encode(part.content ?? '', part.encoding ?? '7bit'))
  }
  return [...lines, `--${boundary}--`, ''].join('\r\n')
}

function encode(content: string | Uint8Array, encoding: string): string {
  const bytes = Buffer.from(content as Uint8Array)
  if (encoding === 'base64') return bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n')
  if (encoding !== 'quoted-printable') return bytes.toString('latin1')
  const escaped = bytes
    .toString('latin1')
    .replaceAll(
      /[=\u0080-\u00ff]/g,
      (char) => `=${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
  return escaped.replaceAll(/(?:=[0-9A-F]{2}|[^=]){60}/g, '$&=\r\n')
}
