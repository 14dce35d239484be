/**
 * How a delivery is signed, twice: by the contract's two headers, and as Standard Webhooks has it (specification 1.0,
 * symmetric signatures). Both are over the exact bytes that are sent.
 */
import { hmacSha256 } from '../../lib/crypto.ts'

export interface Secrets {
  current: string
  /** While a rotation runs: the one that takes over. Receivers of Standard Webhooks are given both signatures. */
  next: string | null
}

/** Header names as they are sent. */
export const TIMESTAMP_HEADER = 'X-Service-Signature-Timestamp'
export const SIGNATURE_HEADER = 'X-Service-Signature'
export const STANDARD_ID = 'webhook-id'
export const STANDARD_TIMESTAMP = 'webhook-timestamp'
export const STANDARD_SIGNATURE = 'webhook-signature'

/** The signature headers of one attempt. `seconds` is when it is sent, Unix time. */
export function signatureHeaders(
  secrets: Secrets,
  event_id: string,
  seconds: number,
  body: Uint8Array,
): Record<string, string> {
  const keys = secrets.next === null ? [secrets.current] : [secrets.current, secrets.next]
  return {
    [TIMESTAMP_HEADER]: String(seconds),
    [SIGNATURE_HEADER]: serviceSignature(secrets.current, seconds, body),
    [STANDARD_ID]: event_id,
    [STANDARD_TIMESTAMP]: String(seconds),
    [STANDARD_SIGNATURE]: keys
      .map((secret) => `v1,${standardSignature(secret, event_id, seconds, body)}`)
      .join(' '),
  }
}

/** Lower-case hex of HMAC-SHA256 over `<timestamp>.<body>`; the key is the text of the secret. */
export function serviceSignature(secret: string, seconds: number | string, body: Uint8Array): string {
  return hmacSha256(Buffer.from(secret), signedText(`${seconds}.`, body)).toString('hex')
}

/** Base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`. */
export function standardSignature(
  secret: string,
  id: string,
  seconds: number | string,
  body: Uint8Array,
): string {
  return hmacSha256(standardKey(secret), signedText(`${id}.${seconds}.`, body)).toString('base64')
}

const PREFIX = 'whsec_'
const KEY_BYTES_MIN = 24
const KEY_BYTES_MAX = 64

/** The bytes behind `whsec_` when they are 24 to 64 in base64; otherwise the text itself (the libraries' raw format). */
export function standardKey(secret: string): Uint8Array {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : null
  if (encoded !== null && /^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    const bytes = Buffer.from(encoded, 'base64')
    const exact = bytes.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '')
    if (exact && bytes.length >= KEY_BYTES_MIN && bytes.length <= KEY_BYTES_MAX) return bytes
  }
  return Buffer.from(secret)
}

function signedText(prefix: string, body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(prefix), body])
}
