/**
 * Walks a stretch of a chain and says whether it is what was written. Reads in pages and lets the event loop run
 * between them, so the API goes on answering while a million entries are checked.
 *
 * Without evidence it finds what does not fit together: an entry or its personal values altered, an entry missing,
 * entries exchanged, a tail cut off while the head was left. Held against what was signed (evidence.ts) it also finds a
 * chain that fits together but is not the one that was: rewritten, cut off with its head, or an older copy.
 */
import { genesisHash, nextHash, personalHash } from '../lib/audit-chain.ts'
import { isoTime } from '../lib/clock.ts'
import type { Claim, Evidence, Restored } from './evidence.ts'
import type { ChainHead, LinkRow, SeqRange } from './store.ts'

export type BadKind = 'altered' | 'missing' | 'order' | 'truncated' | 'bad_checkpoint'

/** Where the entries are: the database, or a bundle. */
export interface ChainSource {
  ends(tenant_id: string): Promise<{ head: ChainHead | null; last: number }>
  hashAt(tenant_id: string, seq: number): Promise<Uint8Array | null>
  links(tenant_id: string, range: SeqRange, limit: number): Promise<LinkRow[]>
}

export interface Verification {
  ok: boolean
  /** Null when the chain (or the asked part of it) is empty. */
  from_seq: number | null
  to_seq: number | null
  checked: number
  head: { seq: number; hash: string } | null
  verdicts: {
    /** Every checked entry is what was hashed, each follows from the one before, and is what was signed. */
    integrity: 'ok' | 'failed'
    /** No number is missing, and the chain is no shorter than what was signed. */
    completeness: 'ok' | 'restored' | 'failed'
    /** How much of it is vouched for by a signed checkpoint: up to the end, up to `checkpoint`, or nothing. */
    anchoring: 'full' | 'partial' | 'none' | 'failed'
    /** Whether personal values were erased. The chain is whole without them. */
    redaction: 'none' | 'redacted'
  }
  redacted: number
  first_bad?: Bad
  /** The newest checkpoint that the checked entries bear out. */
  checkpoint: { seq: number; signed_at: string; key: string } | null
  /** Entries after it: what happens to them is not detectable before the next. */
  unanchored: number
  /** Entries before this one were removed because they were past keeping; null when none were. */
  starts_after: number | null
  /** Former lives of the installation that ended with a restore or a new key. */
  restored: RestoredView[]
}

export type RestoredView = Omit<Restored, 'signed_at'> & { signed_at: string }

export interface Bad {
  seq: number
  kind: BadKind
  detail: string
}

/** Entries checked between two turns of the event loop: about 2 ms. */
const PAGE_ENTRIES = 1000

const NO_EVIDENCE: Evidence = { claims: [], start: null, bad: null, restored: [], others: new Map() }

/**
 * Verifies the entries of `range`, which is the caller's business; null is the whole chain. A range that ends with
 * the last entry also checks the end.
 */
export async function verifyChain(
  source: ChainSource,
  chain: { instance_id: string; tenant_id: string },
  range: SeqRange | null,
  evidence: Evidence = NO_EVIDENCE,
): Promise<Verification> {
  const { tenant_id } = chain
  const { head, last } = await source.ends(tenant_id)
  const end = Math.max(last, head?.seq ?? 0)
  const start = evidence.start
  const from_seq = Math.max((start?.seq ?? 0) + 1, range?.from_seq ?? 1)
  const to_seq = Math.min(end, range?.to_seq ?? end)
  const empty = from_seq > to_seq

  const before = start !== null && from_seq === start.seq + 1 ? Buffer.from(start.hash, 'hex') : null
  const asked = { range: { from_seq, to_seq }, before, last, claims: evidence.claims }
  const walk = empty ? EMPTY_WALK : await walkEntries(source, chain, asked)
  const ends_with = range === null || range.to_seq >= end
  const tail = ends_with ? tailProblem(head, last, walk.last_hash, evidence.claims) : null
  const signed = signatureProblem(evidence, from_seq, ends_with ? Infinity : to_seq)
  const bad = [walk.bad, tail, signed].filter((each) => each !== null).sort((a, b) => a.seq - b.seq)
  const failed = (...kinds: BadKind[]) => bad.some(({ kind }) => kinds.includes(kind))
  const against = walk.against || failed('bad_checkpoint', 'truncated')
  const anchored = walk.anchor
  return {
    ok: bad.length === 0,
    from_seq: empty ? null : from_seq,
    to_seq: empty ? null : to_seq,
    checked: walk.checked,
    head: head === null ? null : { seq: head.seq, hash: Buffer.from(head.hash).toString('hex') },
    verdicts: {
      integrity: failed('altered', 'order', 'bad_checkpoint') ? 'failed' : 'ok',
      completeness: failed('missing', 'truncated')
        ? 'failed'
        : evidence.restored.some((each) => each.lost !== null)
          ? 'restored'
          : 'ok',
      anchoring: against && evidence !== NO_EVIDENCE ? 'failed' : anchoringOf(anchored, to_seq),
      redaction: walk.redacted > 0 ? 'redacted' : 'none',
    },
    redacted: walk.redacted,
    ...(bad[0] === undefined ? {} : { first_bad: bad[0] }),
    checkpoint: anchored === null ? null : { ...seqAndKey(anchored), signed_at: isoTime(anchored.signed_at) },
    unanchored: empty ? 0 : to_seq - (anchored?.seq ?? from_seq - 1),
    starts_after: start?.seq ?? null,
    restored: evidence.restored.map((each) => ({ ...each, signed_at: isoTime(each.signed_at) })),
  }
}

function seqAndKey({ seq, key }: Claim): { seq: number; key: string } {
  return { seq, key }
}

function anchoringOf(anchor: Claim | null, to_seq: number): Verification['verdicts']['anchoring'] {
  if (anchor === null) return 'none'
  return anchor.seq === to_seq ? 'full' : 'partial'
}

interface Walk {
  checked: number
  redacted: number
  bad: Bad | null
  last_hash: Uint8Array | null
  /** The newest claim that was borne out. */
  anchor: Claim | null
  /** A claim was not. */
  against: boolean
}

const EMPTY_WALK: Walk = { checked: 0, redacted: 0, bad: null, last_hash: null, anchor: null, against: false }

interface Asked {
  range: SeqRange
  /** The hash that the first entry follows, when it is known from elsewhere. */
  before: Uint8Array | null
  last: number
  claims: readonly Claim[]
}

async function walkEntries(
  source: ChainSource,
  { instance_id, tenant_id }: { instance_id: string; tenant_id: string },
  { range: { from_seq, to_seq }, before, last, claims }: Asked,
): Promise<Walk> {
  const walk: Walk = { ...EMPTY_WALK }
  const first =
    before ??
    (from_seq === 1 ? genesisHash(instance_id, tenant_id) : await source.hashAt(tenant_id, from_seq - 1))
  if (first === null) return { ...walk, bad: badEntry(from_seq - 1, 'missing') }
  let previous = first
  let seq = from_seq
  let claim = claims.findIndex((each) => each.seq >= from_seq)
  if (claim === -1) claim = claims.length
  while (seq <= to_seq) {
    const rows = await source.links(tenant_id, { from_seq: seq, to_seq }, PAGE_ENTRIES)
    for (const row of rows) {
      const kind = row.seq === seq ? linkProblem(row, previous, walk) : 'missing'
      if (kind !== null) return { ...walk, bad: badEntry(seq, kind) }
      for (; claims[claim]?.seq === seq; claim++) {
        const bad = claimProblem(row, claims[claim]!, claims, walk)
        if (bad !== null) return { ...walk, bad }
      }
      walk.checked += 1
      previous = row.hash
      seq += 1
    }
    if (rows.length < PAGE_ENTRIES && seq <= to_seq) {
      return { ...walk, bad: badEntry(seq, seq > last ? 'truncated' : 'missing') }
    }
    await nextTurn()
  }
  return { ...walk, last_hash: previous }
}

const DETAILS: Record<BadKind, string> = {
  altered: 'The entry is not what was hashed.',
  missing: 'The entry is not there.',
  order: 'Another entry stands in its place.',
  truncated: 'The log ended later than it does now.',
  bad_checkpoint: 'A statement about it is not genuine.',
}

function badEntry(seq: number, kind: BadKind): Bad {
  return { seq, kind, detail: DETAILS[kind] }
}

/** Null when the entry is the one that was signed. */
function claimProblem(row: LinkRow, claim: Claim, claims: readonly Claim[], walk: Walk): Bad | null {
  if (Buffer.from(row.hash).toString('hex') === claim.hash) {
    if (walk.anchor === null || walk.anchor.seq < claim.seq) walk.anchor = claim
    return null
  }
  walk.against = true
  const since = (walk.anchor?.seq ?? 0) + 1
  const what = wentBack(claim, claims)
    ? 'The log went back in time: an older copy was put in its place and went on'
    : 'The log was rewritten'
  const detail = `${what}. What was signed on ${isoTime(claim.signed_at)} does not fit entries ${since} to ${claim.seq}.`
  return { seq: claim.seq, kind: 'altered', detail }
}

/** Later it was signed that the chain is shorter, or stands elsewhere at the same number. */
function wentBack(claim: Claim, claims: readonly Claim[]): boolean {
  return claims.some(
    (other) =>
      other.signed_at > claim.signed_at &&
      (other.seq < claim.seq || (other.seq === claim.seq && other.hash !== claim.hash)),
  )
}

/** What is wrong with this entry after `previous`, or null. Counts erased personal values. */
function linkProblem(row: LinkRow, previous: Uint8Array, walk: Walk): BadKind | null {
  if (!sameBytes(nextHash(previous, row.entry), row.hash)) {
    return (claimedSeq(row.entry) ?? row.seq) === row.seq ? 'altered' : 'order'
  }
  const expected = personalHashOf(row.entry)
  if (row.beside !== null) {
    return personalHash(row.beside.salt, row.beside.body) === expected ? null : 'altered'
  }
  if (expected !== null) walk.redacted += 1
  return null
}

/** Where the chain ends against where its head, and what was signed, say that it ends. */
function tailProblem(
  head: ChainHead | null,
  last: number,
  last_hash: Uint8Array | null,
  claims: readonly Claim[],
): Bad | null {
  const newest = claims.at(-1)
  if (newest !== undefined && newest.seq > Math.max(last, head?.seq ?? 0)) {
    const gone = last === 0 ? 'The whole log is gone' : `Entries ${last + 1} to ${newest.seq} are gone`
    const detail = `${gone}: the log had ${newest.seq} when that was signed on ${isoTime(newest.signed_at)}.`
    return { seq: last + 1, kind: 'truncated', detail }
  }
  if (head === null) return last === 0 ? null : badEntry(last, 'truncated')
  if (head.seq > last) return badEntry(last + 1, 'truncated')
  if (head.seq < last) return badEntry(head.seq + 1, 'order')
  if (last_hash !== null && !sameBytes(last_hash, head.hash)) return badEntry(last, 'altered')
  return null
}

/** A statement about the range that nobody of ours signed. */
function signatureProblem({ bad }: Evidence, from_seq: number, to_seq: number): Bad | null {
  return bad === null || bad.seq < from_seq || bad.seq > to_seq ? null : { ...bad, kind: 'bad_checkpoint' }
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

/**
 * The hash of personal values in an entry's text, without parsing all of it. The text is canonical: `pii_h` is always
 * there, nothing that could hold another of that name comes after it, and quotes inside strings are escaped.
 */
function personalHashOf(text: string): string | null {
  const at = text.lastIndexOf(PII_MEMBER) + PII_MEMBER.length
  return text[at] === '"' ? text.slice(at + 1, at + 65) : null
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
