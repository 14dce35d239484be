/**
 * Walks a stretch of a chain and says whether it is what was written. Reads in pages and lets the event loop run
 * between them, so the API goes on answering while a million entries are checked.
 *
 * What it can find without checkpoints: an entry or its personal values altered, an entry missing, entries
 * exchanged, a tail cut off while the head was left. What it cannot: a chain that was rewritten with every hash and
 * the head. That is what `anchoring: none` says.
 */
import { genesisHash, nextHash, personalHash } from '../lib/audit-chain.ts'
import type { AuditStore, ChainHead, LinkRow, SeqRange } from './store.ts'

export type BadKind = 'altered' | 'missing' | 'order' | 'truncated'

export interface Verification {
  ok: boolean
  /** Null when the chain (or the asked part of it) is empty. */
  from_seq: number | null
  to_seq: number | null
  checked: number
  head: { seq: number; hash: string } | null
  verdicts: {
    /** Every checked entry is what was hashed, and each follows from the one before. */
    integrity: 'ok' | 'failed'
    /** No number is missing, and the last one is the head's. */
    completeness: 'ok' | 'failed'
    /** How much of it is vouched for by a signed checkpoint. */
    anchoring: 'none'
    /** Whether personal values were erased. The chain is whole without them. */
    redaction: 'none' | 'redacted'
  }
  redacted: number
  first_bad?: { seq: number; kind: BadKind }
  checkpoint: null
}

interface Bad {
  seq: number
  kind: BadKind
}

/** Entries checked between two turns of the event loop: about 2 ms. */
const PAGE_ENTRIES = 1000

/**
 * Verifies the entries of `range`, which is the caller's business; null is the whole chain. A range that ends with
 * the last entry also checks the end.
 */
export async function verifyChain(
  store: AuditStore,
  chain: { instance_id: string; tenant_id: string },
  range: SeqRange | null,
): Promise<Verification> {
  const { tenant_id } = chain
  const { head, last } = await store.ends(tenant_id)
  const end = Math.max(last, head?.seq ?? 0)
  const from_seq = Math.max(1, range?.from_seq ?? 1)
  const to_seq = Math.min(end, range?.to_seq ?? end)

  const walk = from_seq > to_seq ? EMPTY_WALK : await walkEntries(store, chain, { from_seq, to_seq }, last)
  const tail = to_seq === end ? tailProblem(head, last, walk.last_hash) : null
  const bad = walk.bad ?? tail
  return {
    ok: bad === null,
    from_seq: from_seq > to_seq ? null : from_seq,
    to_seq: from_seq > to_seq ? null : to_seq,
    checked: walk.checked,
    head: head === null ? null : { seq: head.seq, hash: Buffer.from(head.hash).toString('hex') },
    verdicts: {
      integrity: bad?.kind === 'altered' || bad?.kind === 'order' ? 'failed' : 'ok',
      completeness: bad?.kind === 'missing' || bad?.kind === 'truncated' || tail !== null ? 'failed' : 'ok',
      anchoring: 'none',
      redaction: walk.redacted > 0 ? 'redacted' : 'none',
    },
    redacted: walk.redacted,
    ...(bad === null ? {} : { first_bad: bad }),
    checkpoint: null,
  }
}

interface Walk {
  checked: number
  redacted: number
  bad: Bad | null
  last_hash: Uint8Array | null
}

const EMPTY_WALK: Walk = { checked: 0, redacted: 0, bad: null, last_hash: null }

async function walkEntries(
  store: AuditStore,
  { instance_id, tenant_id }: { instance_id: string; tenant_id: string },
  { from_seq, to_seq }: SeqRange,
  last: number,
): Promise<Walk> {
  const walk: Walk = { ...EMPTY_WALK }
  const before =
    from_seq === 1 ? genesisHash(instance_id, tenant_id) : await store.hashAt(tenant_id, from_seq - 1)
  if (before === null) return { ...walk, bad: { seq: from_seq - 1, kind: 'missing' } }
  let previous = before
  let seq = from_seq
  while (seq <= to_seq) {
    const rows = await store.links(tenant_id, { from_seq: seq, to_seq }, PAGE_ENTRIES)
    for (const row of rows) {
      const kind = row.seq === seq ? linkProblem(row, previous, walk) : 'missing'
      if (kind !== null) return { ...walk, bad: { seq, kind } }
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

/** Where the chain ends against where its head says it ends. */
function tailProblem(head: ChainHead | null, last: number, last_hash: Uint8Array | null): Bad | null {
  if (head === null) return last === 0 ? null : { seq: last, kind: 'truncated' }
  if (head.seq > last) return { seq: last + 1, kind: 'truncated' }
  if (head.seq < last) return { seq: head.seq + 1, kind: 'order' }
  if (last_hash !== null && !sameBytes(last_hash, head.hash)) return { seq: last, kind: 'altered' }
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
