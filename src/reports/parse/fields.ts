/** Single values of reports, put in their one form. Each reader is pure and says what it changed. */
import { getDomain } from 'tldts'
import { normalizeIp } from '../../lib/ip.ts'

const TEXT_CHARS_MAX = 4096
const COUNT_MAX = 1_000_000_000_000
const ENTITY = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi
const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** What XML 1.0 §2.2 forbids, and the C1 controls and line breaks that no value of a report has. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/g
// oxlint-disable-next-line no-control-regex
const SUSPECT = /[&\u0000-\u001f\u007f\ufffe\uffff]/

/** Decodes the predefined entities and character references (nothing else exists here). */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    ENTITY,
    (whole, hex: string | undefined, decimal: string | undefined, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()]!
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? whole : String.fromCodePoint(code)
    },
  )
}

/** The text of an element: entities decoded, forbidden characters dropped (and counted), white space trimmed. */
export function cleanText(text: string, dropped: (count: number) => void): string {
  if (!SUSPECT.test(text)) {
    const trimmed = text.trim()
    return trimmed.length > TEXT_CHARS_MAX ? trimmed.slice(0, TEXT_CHARS_MAX) : trimmed
  }
  const decoded = decodeEntities(text)
  const clean = decoded.replace(FORBIDDEN, '')
  if (clean.length !== decoded.length) dropped(decoded.length - clean.length)
  return clean.trim().slice(0, TEXT_CHARS_MAX)
}

/** `repaired`: what a person should know about; null when only the spelling is now canonical. */
export interface Read<T> {
  value: T
  repaired: 'normalised' | 'leading_zeros' | 'invalid' | null
}

const PLAIN_IPV4 = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/

/** An IP address in canonical text; null when there is none. */
export function readIp(text: string): Read<string> | null {
  if (PLAIN_IPV4.test(text)) return { value: text, repaired: null }
  if (text.length > 100) return null
  let rest = text.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^ipv6:/i, '')
  rest = rest.replace(/%[\w.-]+$/, '').replace(/\/(?:32|128)$/, '')
  rest = rest.replace(/^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/, '$1')
  const zeros = /^(?:::ffff:)?0*\d{1,3}(?:\.0*\d{1,3}){3}$/i.test(rest) && /(?:^|[.:])0\d/.test(rest)
  const plain = zeros ? rest.replaceAll(/(^|[.:])0+(?=\d)/g, '$1') : rest
  const value = normalizeIp(plain)
  if (value === null) return null
  if (zeros) return { value, repaired: 'leading_zeros' }
  // Another spelling of the same IPv6 address is no news; a mapped IPv4 address or a bracket is.
  const same = value.includes(':') && rest === text
  return { value, repaired: same ? null : 'normalised' }
}

const PLAIN_DOMAIN = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/

/**
 * A domain name as A-label in lower case without trailing dot. Of an address the part after the @ is taken. What is
 * no domain name comes back as it was, in lower case and at most 253 characters, marked `invalid`.
 */
export function readDomain(text: string): Read<string> {
  if (text.length <= 253 && PLAIN_DOMAIN.test(text)) return { value: text, repaired: null }
  if (text === '') return { value: '', repaired: null }
  let rest = text.slice(0, 1024).toLowerCase()
  const bracketed = /^<(.*)>$/.exec(rest)
  if (bracketed !== null) rest = bracketed[1]!
  const at = rest.lastIndexOf('@')
  const repaired = bracketed !== null || at >= 0 ? 'normalised' : null
  if (at >= 0) rest = rest.slice(at + 1)
  rest = rest.replaceAll(/[\u3002\uff0e\uff61]/g, '.').replace(/\.+$/, '')
  if (rest === '' && text.startsWith('<')) return { value: '', repaired: null }
  if (rest.length <= 253 && PLAIN_DOMAIN.test(rest)) return { value: rest, repaired }
  // oxlint-disable-next-line no-control-regex
  const ascii = /[^\u0000-\u007f]/.test(rest) && rest.length <= 253 ? toAscii(rest) : ''
  if (ascii !== '' && ascii.length <= 253 && PLAIN_DOMAIN.test(ascii)) return { value: ascii, repaired }
  return { value: rest.slice(0, 253), repaired: 'invalid' }
}

/** The A-label form of a name (UTS #46, as URLs have it), or ''. */
function toAscii(name: string): string {
  if (/[\s/?#@:%\\[\]]/.test(name)) return ''
  try {
    return new URL(`http://${name}`).hostname
  } catch {
    return ''
  }
}

/** True when the text is a usable domain name in its canonical form. */
export function isDomain(text: string): boolean {
  if (text.length > 253 || !PLAIN_DOMAIN.test(text)) return false
  return text.split('.').every((label) => label.length <= 63) && !PLAIN_IPV4.test(text)
}

/** A number of messages: 1 or more. null: not usable, `why` says so. */
export function readCount(text: string): { value: number; changed: boolean } | { value: null; why: string } {
  if (/^[1-9]\d{0,11}$/.test(text)) return { value: Number(text), changed: false }
  let digits = text.slice(0, 64).replaceAll(/[\s\u00a0\u202f'_]/g, '')
  // Thousands separators: 1,234 and 1.234.567; a lone fraction is cut off: 3.0.
  if (/^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$/.test(digits)) digits = digits.replaceAll(',', '')
  else if (/^[+-]?\d{1,3}(?:\.\d{3})+$/.test(digits)) digits = digits.replaceAll('.', '')
  if (!/^[+-]?\d+(?:\.\d*)?$/.test(digits)) return { value: null, why: 'is not a number' }
  const value = Math.floor(Number(digits))
  if (value < 1) return { value: null, why: value < 0 ? 'is negative' : 'is zero' }
  if (value > COUNT_MAX) return { value: null, why: 'is impossibly large' }
  return { value, changed: true }
}

/** A time in milliseconds. null: not a time. */
export function readTime(
  text: string,
): { value: number; repaired: 'normalised' | 'milliseconds' | null } | null {
  if (/^\d{1,10}$/.test(text)) {
    const seconds = Number(text)
    return seconds === 0 ? null : { value: seconds * 1000, repaired: null }
  }
  if (text.length > 64) return null
  if (/^\d+(?:[.,]\d*)?(?:e\+?\d{1,2})?$/i.test(text)) return readEpoch(Number(text.replace(',', '.')))
  const iso =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*(z|utc|gmt|[+-]\d\d:?\d\d)?)?$/i.exec(
      text,
    )
  const zone =
    iso?.[3] === undefined || !/^[+-]/.test(iso[3]) ? 'Z' : iso[3].replace(/^(...):?(..)$/, '$1:$2')
  const time = iso === null ? readMailDate(text) : Date.parse(`${iso[1]}T${iso[2] ?? '00:00:00'}${zone}`)
  return time === null || Number.isNaN(time) || time <= 0 ? null : { value: time, repaired: 'normalised' }
}

function readEpoch(number: number): { value: number; repaired: 'normalised' | 'milliseconds' } | null {
  if (!Number.isFinite(number) || number <= 0) return null
  // Seconds reach 1e11 in the year 5138; thousands of them are milliseconds, then micro-, then nanoseconds.
  if (number <= 1e11) return { value: Math.floor(number) * 1000, repaired: 'normalised' }
  let value = number
  while (value > 1e14) value /= 1000
  return { value: Math.floor(value / 1000) * 1000, repaired: 'milliseconds' }
}

/** RFC 5322 date; null when it is none. */
export function readMailDate(text: string): number | null {
  const bare = text
    .slice(0, 100)
    .replaceAll(/\([^()]*\)/g, ' ')
    .trim()
  if (!/\d{1,2}[ -][A-Za-z]{3}[a-z]*[ -]\d{2,4}/.test(bare)) return null
  const time = Date.parse(bare)
  return Number.isNaN(time) ? null : time
}

/** Who reports, for comparing: registrable domain of the address, else of the name, else the name in lower case. */
export function reporterKey(org_name: string, email: string): string {
  const domain = readDomain(email.slice(email.lastIndexOf('@') + 1).replace(/[>\s].*$/s, '')).value
  const of_email = email.includes('@') && isDomain(domain) ? getDomain(domain) : null
  if (of_email !== null) return of_email
  const name = org_name.trim().toLowerCase()
  const of_name = isDomain(name) ? getDomain(name) : null
  return of_name ?? name
}

/** A report id for comparing: no angle brackets, no white space. */
export function normalizeReportId(id: string): string {
  return id.replaceAll(/[<>\s]/g, '')
}
