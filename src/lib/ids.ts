/**
 * Ids: a prefix and 26 characters of a time-ordered random id (`dom_01k…`): 48 bits of milliseconds, 80 random
 * bits, in lower-case Crockford base 32. Ids made in one process within one millisecond still ascend, so that
 * sorting by id is sorting by creation. Made by the application before the commit, never by the database.
 */
import { randomBytes } from 'node:crypto'

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

let last_ms = 0
const last_random = new Uint8Array(10)

/** A fresh id. `now_ms` is the wall time from the caller's clock. */
export function newId(prefix: IdPrefix, now_ms: number): string {
  if (now_ms > last_ms) {
    last_ms = now_ms
    last_random.set(randomBytes(10))
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
  return encode(ms, new Uint8Array(10))
}

function increment(bytes: Uint8Array): void {
  for (let i = bytes.length - 1; i >= 0; i--) {
    const next = (bytes[i]! + 1) & 0xff
    bytes[i] = next
    if (next !== 0) return
  }
}

function encode(ms: number, random: Uint8Array): string {
  let out = ''
  let time = ms
  const head: string[] = []
  for (let i = 0; i < 10; i++) {
    head.push(ALPHABET[time % 32]!)
    time = Math.floor(time / 32)
  }
  out = head.reverse().join('')
  let bits = 0
  let held = 0
  for (const byte of random) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      out += ALPHABET[(held >>> (bits - 5)) & 31]!
      bits -= 5
      held &= (1 << bits) - 1
    }
  }
  return out
}
