/**
 * Walks entries of a chain and holds each against the one before, against its personal values, and against what was
 * signed about it; the first that is wrong ends it. Runs in this process or in a child (walkers.ts).
 */
import { genesisHash, HASH_BYTES, nextHash, personalHash } from '../lib/audit-chain.ts'
import type { Claim } from './evidence.ts'
import type { ChainHead, LinkRow, SeqRange } from './store.ts'

export type BadKind = 'altered' | 'missing' | 'order' | 'truncated' | 'bad_checkpoint'

/** Where the entries are: the database, or a bundle. */
export interface ChainSource {
  ends(tenant_id: string): Promise<{ head: ChainHead | null; last: number }>
  hashAt(tenant_id: string, seq: number): Promise<Uint8Array | null>
  links(tenant_id: string, range: SeqRange, limit: number): Promise<LinkRow[]>
}

export interface Chain {
  instance_id: string
  tenant_id: string
}

/** Entries checked between two turns of the event loop: about 2 ms. */
const PAGE_ENTRIES = 1000

export interface Walk {
  checked: number
  redacted: number
  bad: { seq: number; kind: BadKind } | null
  last_hash: Uint8Array | null
  /** The newest claim that was borne out. */
  anchor: Claim | null
  /** The claim that was not: then `bad` is its entry. */
  against: Claim | null
}

export const EMPTY_WALK: Walk = {
  checked: 0,
  redacted: 0,
  bad: null,
  last_hash: null,
  anchor: null,
  against: null,
}

export interface Asked {
  range: SeqRange
  /** The hash that the first entry follows, when it is known from elsewhere. */
  before: Uint8Array | null
  /** The highest number that is there. */
  last: number
  /** Ascending by number. */
  claims: readonly Claim[]
}

export type Walker = (source: ChainSource, chain: Chain, asked: Asked) => Promise<Walk>

export const walkEntries: Walker = async (source, { instance_id, tenant_id }, asked) => {
  const { range, before, last, claims } = asked
  const { from_seq, to_seq } = range
  const walk: Walk = { ...EMPTY_WALK }
  const first =
    before ??
    (from_seq === 1 ? genesisHash(instance_id, tenant_id) : await source.hashAt(tenant_id, from_seq - 1))
  if (first === null) return { ...walk, bad: { seq: from_seq - 1, kind: 'missing' } }
  let previous = first
  let seq = from_seq
  let claim = claims.findIndex((each) => each.seq >= from_seq)
  if (claim === -1) claim = claims.length
  while (seq <= to_seq) {
    const rows = await source.links(tenant_id, { from_seq: seq, to_seq }, PAGE_ENTRIES)
    for (const row of rows) {
      const kind = row.seq === seq ? linkProblem(row, previous, walk) : 'missing'
      if (kind !== null) return { ...walk, bad: { seq, kind } }
      for (; claims[claim]?.seq === seq; claim++) {
        const against = bearsOut(row, claims[claim]!, walk)
        if (against !== null) return { ...walk, against, bad: { seq, kind: 'altered' } }
      }
      walk.checked += 1
      previous = row.hash
      seq += 1
    }
    if (rows.length < PAGE_ENTRIES && seq <= to_seq) {
      return { ...walk, bad: { seq, kind: seq > last ? 'truncated' : 'missing' } }
    }
    await nextTurn()
  }
  return { ...walk, last_hash: previous }
}

/** The claim, when the entry is not the one that was signed. */
function bearsOut(row: LinkRow, claim: Claim, walk: Walk): Claim | null {
  if (Buffer.from(row.hash).toString('hex') !== claim.hash) return claim
  if (walk.anchor === null || walk.anchor.seq < claim.seq) walk.anchor = claim
  return null
}

// Hashing is synchronous, so one array serves every walk.
const hashed = new Uint8Array(HASH_BYTES)

/** What is wrong with this entry after `previous`, or null. Counts erased personal values. */
function linkProblem(row: LinkRow, previous: Uint8Array, walk: Walk): BadKind | null {
  if (!sameBytes(nextHash(previous, row.entry, hashed), row.hash)) {
    return (claimedSeq(row.entry) ?? row.seq) === row.seq ? 'altered' : 'order'
  }
  const expected = personalHashOf(row.entry)
  if (row.beside !== null) {
    return personalHash(row.beside.salt, row.beside.body) === expected ? null : 'altered'
  }
  if (expected !== null) walk.redacted += 1
  return null
}

/** The number that an entry's own text claims; null when it cannot be read. */
function claimedSeq(text: string): number | null {
  try {
    const entry: unknown = JSON.parse(text)
    return entry !== null && typeof entry === 'object' && 'seq' in entry && typeof entry.seq === 'number'
      ? entry.seq
      : null
  } catch {
    return null
  }
}

const PII_MEMBER = '"pii_h":'
/** It and what follows it in the shortest of entries: `"pii_h":null,"request_id":null,"seq":1,…,"v":1}`. */
const AFTER_PII_CHARS_MIN = 81

/**
 * The hash of personal values in an entry's text, without parsing all of it. The text is canonical: `pii_h` is always
 * there, nothing that could hold another of that name comes after it, and quotes inside strings are escaped.
 */
function personalHashOf(text: string): string | null {
  const at = text.lastIndexOf(PII_MEMBER, text.length - AFTER_PII_CHARS_MIN) + PII_MEMBER.length
  return text[at] === '"' ? text.slice(at + 1, at + 65) : null
}

/** A plain loop: for 32 bytes it is faster than a call into native code. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
