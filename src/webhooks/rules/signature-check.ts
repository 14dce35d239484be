/**
 * Why a receiver's verification fails: what arrived, held against what we sign. Besides right and wrong it tries the
 * mistakes that people make, and names the one that explains what they see.
 */
import { equalBytes, hmacSha256 } from '../../lib/crypto.ts'
import {
  SIGNATURE_HEADER,
  type Secrets,
  serviceSignature,
  STANDARD_ID,
  STANDARD_SIGNATURE,
  STANDARD_TIMESTAMP,
  standardKey,
  standardSignature,
  TIMESTAMP_HEADER,
} from './signature.ts'

export interface Finding {
  check: string
  ok: boolean
  detail: string
}

const TOLERANCE_S = 300

export interface Received {
  /** Names in lower case. */
  headers: ReadonlyMap<string, string>
  body: string
}

/** `ok` when at least one of the two signatures is right and fresh. `now_s` is Unix time. */
export function checkSignature(received: Received, secrets: Secrets, now_s: number) {
  const service = checkService(received, secrets, now_s)
  const standard = checkStandard(received, secrets, now_s)
  const findings = [checkBody(received.body), ...service, ...standard]
  const right = (part: readonly Finding[]): boolean => part.length > 1 && part.every((each) => each.ok)
  return { ok: right(service) || right(standard), findings }
}

function checkBody(body: string): Finding {
  try {
    const parsed = JSON.parse(body) as unknown
    const exact = JSON.stringify(parsed) === body
    const detail = exact
      ? 'The body is JSON, in the form in which we send it.'
      : 'The body is JSON, but not in the form in which we send it: it was formatted or serialised again. Sign the raw bytes, before any parser.'
    return { check: 'body', ok: exact, detail }
  } catch {
    return { check: 'body', ok: false, detail: 'The body is not JSON: it is cut off or changed.' }
  }
}

function checkTime(check: string, text: string, now_s: number): Finding {
  if (!/^\d+$/.test(text)) return { check, ok: false, detail: `"${text}" is not a number of seconds.` }
  const age = now_s - Number(text)
  if (text.length === 13) {
    return { check, ok: false, detail: 'These are milliseconds; the header holds seconds.' }
  }
  const ok = Math.abs(age) <= TOLERANCE_S
  const when = age >= 0 ? `${age} s old` : `${-age} s in the future`
  const fresh = `It is ${when}; up to ${TOLERANCE_S} s are usual.`
  const stale = `It is ${when}: a receiver should refuse it as a replay, or its clock is wrong.`
  return { check, ok, detail: ok ? fresh : stale }
}

function checkService({ headers, body }: Received, secrets: Secrets, now_s: number): Finding[] {
  const time = headers.get(TIMESTAMP_HEADER.toLowerCase())
  const signature = headers.get(SIGNATURE_HEADER.toLowerCase())
  const missing = [
    time === undefined ? TIMESTAMP_HEADER : '',
    signature === undefined ? SIGNATURE_HEADER : '',
  ]
  const names = missing.filter((name) => name !== '').join(' and ')
  if (time === undefined || signature === undefined) {
    return [{ check: 'service_headers', ok: false, detail: `${names} is not among the headers.` }]
  }
  const detail = serviceMistake(time, signature.trim(), body, secrets)
  return [
    checkTime('service_timestamp', time, now_s),
    {
      check: 'service_signature',
      ok: detail === null,
      detail: detail ?? `${SIGNATURE_HEADER} is the signature of this body and time.`,
    },
  ]
}

/** What is wrong with `X-Service-Signature`, or null. */
function serviceMistake(time: string, signature: string, body: string, secrets: Secrets): string | null {
  const bytes = Buffer.from(body)
  if (same(signature, serviceSignature(secrets.current, time, bytes))) return null
  if (secrets.next !== null && same(signature, serviceSignature(secrets.next, time, bytes))) {
    return 'It was made with the new secret. Until that is promoted, this header is signed with the old one.'
  }
  const hex = signature.toLowerCase()
  if (hex !== signature && same(hex, serviceSignature(secrets.current, time, bytes))) {
    return 'The right signature in upper case: ours is lower-case hex.'
  }
  const decoded = hmacSha256(standardKey(secrets.current), Buffer.from(`${time}.${body}`))
  if (same(hex, decoded.toString('hex'))) {
    return 'It was made with the decoded secret. For this header the key is the text of the secret, whsec_ included.'
  }
  const plain = hmacSha256(Buffer.from(secrets.current), bytes)
  if (same(hex, plain.toString('hex'))) {
    return 'It was made over the body alone. The text is the timestamp, a full stop and the body.'
  }
  const base64 = Buffer.from(serviceSignature(secrets.current, time, bytes), 'hex').toString('base64')
  if (same(signature, base64)) return 'The right signature in base64: ours is lower-case hex.'
  return bodyMistake(body, (other) => same(hex, serviceSignature(secrets.current, time, other)))
}

function checkStandard({ headers, body }: Received, secrets: Secrets, now_s: number): Finding[] {
  const names = [STANDARD_ID, STANDARD_TIMESTAMP, STANDARD_SIGNATURE]
  const [id, time, list] = names.map((name) => headers.get(name))
  const missing = names.filter((name) => !headers.has(name))
  if (id === undefined || time === undefined || list === undefined) {
    const detail = `${missing.join(', ')} is not among the headers.`
    return [{ check: 'standard_headers', ok: false, detail }]
  }
  const detail = standardMistake(id, time, list, body, secrets)
  return [
    checkTime('standard_timestamp', time, now_s),
    {
      check: 'standard_signature',
      ok: detail === null,
      detail: detail ?? `${STANDARD_SIGNATURE} holds the signature of this id, time and body.`,
    },
  ]
}

/** What is wrong with `webhook-signature`, or null. */
function standardMistake(
  id: string,
  time: string,
  list: string,
  body: string,
  secrets: Secrets,
): string | null {
  const given = list.split(' ').filter((each) => each.startsWith('v1,'))
  if (given.length === 0) return 'It holds no signature of version v1 (`v1,` and base64).'
  const keys = secrets.next === null ? [secrets.current] : [secrets.current, secrets.next]
  const matches = (bytes: Uint8Array): boolean =>
    keys.some((key) => given.some((each) => same(each.slice(3), standardSignature(key, id, time, bytes))))
  if (matches(Buffer.from(body))) return null
  const text = hmacSha256(Buffer.from(secrets.current), Buffer.from(`${id}.${time}.${body}`))
  if (given.some((each) => same(each.slice(3), text.toString('base64')))) {
    return 'It was made with the text of the secret. Here the key is what follows whsec_, decoded from base64.'
  }
  const event_id = idOf(body)
  if (event_id !== null && event_id !== id) {
    return `${STANDARD_ID} is ${id}, but the body is the event ${event_id}.`
  }
  return bodyMistake(body, matches)
}

/** The same body as other programs make it. */
function bodyMistake(body: string, matches: (bytes: Uint8Array) => boolean): string {
  const trimmed = body.trim()
  if (trimmed !== body && matches(Buffer.from(trimmed))) {
    return 'It is the signature of the body without the white space around it: something added some.'
  }
  try {
    if (matches(Buffer.from(JSON.stringify(JSON.parse(body))))) {
      return 'It is the signature of the body as we sent it; here it was formatted or serialised again.'
    }
  } catch {
    return 'It does not fit: the body is not complete.'
  }
  return 'It does not fit: another secret, or the body or the time is not the one that was signed.'
}

function idOf(body: string): string | null {
  try {
    const { id } = JSON.parse(body) as { id?: unknown }
    return typeof id === 'string' ? id : null
  } catch {
    return null
  }
}

function same(a: string, b: string): boolean {
  return equalBytes(Buffer.from(a), Buffer.from(b))
}
