/**
 * Ids: a prefix and 26 characters of a time-ordered random id (`dom_01k…`): 48 bits of milliseconds, 80 random
 * bits, in lower-case Crockford base 32. Ids made in one process within one millisecond still ascend, so that
 * sorting by id is sorting by creation. Made by the application before the commit, never by the database.
 */
import { randomFillSync } from 'node:crypto'

export const ID_PREFIXES = [
  'ten',
  'usr',
  'key',
  'ses',
  'inv',
  'dom',
  'rpt',
  'tls',
  'ruf',
  'rej',
  'aud',
  'evt',
  'wh',
  'dlv',
  'alr',
  'job',
  'req',
  'upl',
  'src',
  'ioc',
  'eml',
] as const
export type IdPrefix = (typeof ID_PREFIXES)[number]

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_PATTERN = /^[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}$/

const RANDOM_BYTES = 10
/** Asking the system for randomness costs more than the rest of an id, so it is asked for many at once. */
const pool = new Uint8Array(RANDOM_BYTES * 256)
let pool_at = pool.length

let last_ms = 0
const last_random = new Uint8Array(RANDOM_BYTES)

/** A fresh id. `now_ms` is the wall time from the caller's clock. */
export function newId(prefix: IdPrefix, now_ms: number): string {
  if (now_ms > last_ms) {
    last_ms = now_ms
    if (pool_at === pool.length) {
      randomFillSync(pool)
      pool_at = 0
    }
    last_random.set(pool.subarray(pool_at, pool_at + RANDOM_BYTES))
    pool_at += RANDOM_BYTES
  } else {
    increment(last_random)
  }
  return `${prefix}_${encode(last_ms, last_random)}`
}

/** True when `text` has the form of an id with this prefix; says nothing about existence. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_PATTERN.test(text)
}

/** The smallest 26-character body an id made at `ms` can have: for ranges over time-ordered ids. */
export function idFloor(ms: number): string {
  return encode(ms, new Uint8Array(RANDOM_BYTES))
}

function increment(bytes: Uint8Array): void {
  for (let i = bytes.length - 1; i >= 0; i--) {
    const next = (bytes[i]! + 1) & 0xff
    bytes[i] = next
    if (next !== 0) return
  }
}

/** Two characters of every 10 bits. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => ALPHABET[bits >> 5]! + ALPHABET[bits & 31]!)

let head_ms = -1
let head = ''

function encode(ms: number, random: Uint8Array): string {
  if (ms !== head_ms) {
    head_ms = ms
    head = encodeTime(ms)
  }
  return head + fiveBytes(random, 0) + fiveBytes(random, 5)
}

/** 50 bits, of which the upper two are zero until the year 10889. */
function encodeTime(ms: number): string {
  let out = ''
  let rest = ms
  for (let i = 0; i < 5; i++) {
    out = PAIRS[rest % 1024]! + out
    rest = Math.floor(rest / 1024)
  }
  return out
}

function fiveBytes(bytes: Uint8Array, at: number): string {
  const [a, b, c, d, e] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!, bytes[at + 4]!]
  return (
    PAIRS[(a << 2) | (b >> 6)]! +
    PAIRS[((b & 63) << 4) | (c >> 4)]! +
    PAIRS[((c & 15) << 6) | (d >> 2)]! +
    PAIRS[((d & 3) << 8) | e]!
  )
}
