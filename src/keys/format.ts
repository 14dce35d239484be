/**
 * API keys: `wdp_` + 10 characters that find the row + 43 of secret (256 bits) + 6 of checksum, base 62. The
 * checksum (CRC-32 over everything before it) tells a typing error or a made-up key without a look-up.
 * Pattern for secret scanners: `wdp_[0-9A-Za-z]{59}`.
 */
import { crc32 } from 'node:zlib'
import { base62, randomBase62, sha256 } from '../lib/crypto.ts'

const PREFIX = 'wdp_'
const ID_CHARS = 10
const SECRET_CHARS = 43
const CHECK_CHARS = 6
const PATTERN = new RegExp(`^${PREFIX}[0-9A-Za-z]{${ID_CHARS + SECRET_CHARS + CHECK_CHARS}}$`)

export interface NewKey {
  /** Shown once. */
  text: string
  public_id: string
  last4: string
  /** SHA-256 of the text: 256 bits of entropy need no slow hash. */
  hash: Uint8Array
}

export function makeKey(): NewKey {
  const body = PREFIX + randomBase62(ID_CHARS + SECRET_CHARS)
  const text = body + checksum(body)
  return {
    text,
    public_id: text.slice(PREFIX.length, PREFIX.length + ID_CHARS),
    last4: text.slice(-4),
    hash: sha256(text),
  }
}

/** The public id and hash of a well-formed key, or null. */
export function readKey(text: string): { public_id: string; hash: Uint8Array } | null {
  if (!PATTERN.test(text)) return null
  const body = text.slice(0, -CHECK_CHARS)
  if (checksum(body) !== text.slice(-CHECK_CHARS)) return null
  return { public_id: text.slice(PREFIX.length, PREFIX.length + ID_CHARS), hash: sha256(text) }
}

function checksum(body: string): string {
  return base62(crc32(body), CHECK_CHARS)
}
