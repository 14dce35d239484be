/**
 * Walks a stretch of a chain and says whether it is what was written. Reads in pages and lets the event loop run
 * between them, so the API goes on answering while a million entries are checked.
 *
 * Without evidence it finds what does not fit together: an entry or its personal values altered, an entry missing,
 * entries exchanged, a tail cut off while the head was left. Held against what was signed (evidence.ts) it also finds a
 * chain that fits together but is not the one that was: rewritten, cut off with its head, or an older copy.
 */
import { isoTime } from '../lib/clock.ts'
import type { Claim, Evidence, Restored } from './evidence.ts'
import type { ChainHead, SeqRange } from './store.ts'
import {
  type BadKind,
  type Chain,
  type ChainSource,
  EMPTY_WALK,
  sameBytes,
  type Walk,
  walkEntries,
  type Walker,
} from './walk.ts'

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
  /** The newest checkpoint that the checked entries bear out; of a range, the first after it. */
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

/** Entries looked at after a range to reach the next checkpoint: more than any minute holds. */
const NEXT_ENTRIES_MAX = 100_000

const NO_EVIDENCE: Evidence = { claims: [], start: null, bad: null, restored: [], others: new Map() }

/**
 * Verifies the entries of `range`, which is the caller's business; null is the whole chain. A range that ends with
 * the last entry also checks the end.
 */
export async function verifyChain(
  source: ChainSource,
  chain: Chain,
  range: SeqRange | null,
  evidence: Evidence = NO_EVIDENCE,
  walker: Walker = walkEntries,
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
  const walk = empty ? EMPTY_WALK : await walker(source, chain, asked)
  const ends_with = range === null || range.to_seq >= end
  const tail = ends_with ? tailProblem(head, last, walk.last_hash, evidence.claims) : null
  const signed = signatureProblem(evidence, from_seq, ends_with ? Infinity : to_seq)
  const bad = [walkProblem(walk, evidence.claims), tail, signed]
    .filter((each) => each !== null)
    .sort((a, b) => a.seq - b.seq)
  const failed = (...kinds: BadKind[]) => bad.some(({ kind }) => kinds.includes(kind))
  const against = walk.against !== null || failed('bad_checkpoint', 'truncated')
  const next =
    ends_with || walk.last_hash === null
      ? null
      : await nextAnchor(source, chain, to_seq, walk.last_hash, last, evidence)
  const anchored = next ?? walk.anchor
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
    unanchored: empty ? 0 : Math.max(0, to_seq - (anchored?.seq ?? from_seq - 1)),
    starts_after: start?.seq ?? null,
    restored: evidence.restored.map((each) => ({ ...each, signed_at: isoTime(each.signed_at) })),
  }
}

/**
 * A range that ends between two checkpoints is vouched for by the next one, when the entries up to it lead there. What
 * is wrong with those is not the range's.
 */
async function nextAnchor(
  source: ChainSource,
  chain: Chain,
  to_seq: number,
  before: Uint8Array,
  last: number,
  { claims }: Evidence,
): Promise<Claim | null> {
  const claim = claims.find((each) => each.seq >= to_seq)
  if (claim === undefined || claim.seq === to_seq || claim.seq - to_seq > NEXT_ENTRIES_MAX) return null
  const range = { from_seq: to_seq + 1, to_seq: claim.seq }
  return (await walkEntries(source, chain, { range, before, last, claims: [claim] })).anchor
}

function seqAndKey({ seq, key }: Claim): { seq: number; key: string } {
  return { seq, key }
}

function anchoringOf(anchor: Claim | null, to_seq: number): Verification['verdicts']['anchoring'] {
  if (anchor === null) return 'none'
  return anchor.seq >= to_seq ? 'full' : 'partial'
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

/** What the walk ended at, in words. */
function walkProblem({ bad, against }: Walk, claims: readonly Claim[]): Bad | null {
  if (bad === null || against === null) return bad === null ? null : badEntry(bad.seq, bad.kind)
  const before = claims.findLast((claim) => claim.seq < against.seq)
  const what = wentBack(against, claims)
    ? 'The log went back in time: an older copy was put in its place and went on'
    : 'The log was rewritten'
  const stretch = `entries ${(before?.seq ?? 0) + 1} to ${against.seq}`
  const detail = `${what}. What was signed on ${isoTime(against.signed_at)} does not fit ${stretch}.`
  return { ...bad, detail }
}

/** Later it was signed that the chain is shorter, or stands elsewhere at the same number. */
function wentBack(claim: Claim, claims: readonly Claim[]): boolean {
  return claims.some(
    (other) =>
      other.signed_at > claim.signed_at &&
      (other.seq < claim.seq || (other.seq === claim.seq && other.hash !== claim.hash)),
  )
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
