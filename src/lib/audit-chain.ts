/**
 * The hash chain of the audit log, as pure functions. Each tenant has one chain:
 *
 *     h_0   = SHA256("wardpost/audit/v1/genesis\0" || instance_id || "\0" || tenant_id)
 *     h_n   = SHA256("wardpost/audit/v1/entry\0" || h_{n-1} || SHA256(entry_n))
 *     pii_h = SHA256(salt || personal)
 *
 * `entry_n` are the UTF-8 bytes of the canonical JSON of entry n, `personal` those of the personal values kept
 * beside the chain. The salt keeps erased values from being guessed. These formulas are final: a chain written
 * today is verified by every later version.
 */
import { canonicalJson } from './canonical-json.ts'

export const HASH_BYTES = 32
export const SALT_BYTES = 16

/** What is hashed of an entry; the member order here is of no matter, the canonical form sorts. */
export interface ChainEntry {
  v: 1
  tenant_id: string
  seq: number
  /** Integer milliseconds UTC; never smaller than that of the entry before. */
  ts: number
  actor: { type: string; id: string | null; key_id: string | null }
  action: string
  target: { type: string; id: string } | null
  outcome: string
  request_id: string | null
  detail: object
  /** Hex of the hash of the personal values, or null when the entry has none. */
  pii_h: string | null
}

const utf8 = new TextEncoder()
const GENESIS_PREFIX = 'wardpost/audit/v1/genesis\0'
const ENTRY_PREFIX = utf8.encode('wardpost/audit/v1/entry\0')

/** The hash before the first entry of a chain. */
export function genesisHash(instance_id: string, tenant_id: string): Uint8Array {
  return sha256(`${GENESIS_PREFIX}${instance_id}\0${tenant_id}`)
}

/** The canonical text of an entry: what is stored, hashed and exported. */
export function entryText(entry: ChainEntry): string {
  return canonicalJson(entry)
}

// One scratch buffer: prefix, previous hash, hash of the entry. Hashing is synchronous, so it is never shared.
const link = new Uint8Array(ENTRY_PREFIX.length + 2 * HASH_BYTES)
link.set(ENTRY_PREFIX)
const link_entry = link.subarray(ENTRY_PREFIX.length + HASH_BYTES)

/** The hash of an entry that follows `previous`, in `out` or a new array. `text` is its canonical text. */
export function nextHash(previous: Uint8Array, text: string, out = new Uint8Array(HASH_BYTES)): Uint8Array {
  link.set(previous, ENTRY_PREFIX.length)
  Bun.SHA256.hash(text, link_entry)
  Bun.SHA256.hash(link, out)
  return out
}

// Short values are put behind their salt here: one call of the hash is cheaper than a hash object. The views of it that
// are hashed are kept by their length.
const salted = new Uint8Array(1024)
const after_salt = salted.subarray(SALT_BYTES)
const views: Uint8Array[] = []

/** Hex hash of the personal values of an entry: canonical JSON text and its random salt. */
export function personalHash(salt: Uint8Array, text: string): string {
  if (salt.length !== SALT_BYTES || 3 * text.length > after_salt.length) {
    return new Bun.SHA256().update(salt).update(text).digest('hex')
  }
  salted.set(salt)
  const { written } = utf8.encodeInto(text, after_salt)
  return Bun.SHA256.hash((views[written] ??= salted.subarray(0, SALT_BYTES + written)), 'hex')
}

function sha256(data: string | Uint8Array): Uint8Array {
  const hash = new Uint8Array(HASH_BYTES)
  Bun.SHA256.hash(data, hash)
  return hash
}
