/**
 * What was signed about a chain, from wherever it is kept, judged: which statements are genuine, what they claim, and
 * which of the claims a restore has overtaken. A chain is then held against the claims that remain.
 *
 * A checkpoint names the hash of the one before, so the signature of the newest vouches for all that lead to it: one
 * verification, however many there are. Only what no genuine one leads to is verified by itself.
 */
import type { KeyObject } from 'node:crypto'
import {
  type ChainHeadAt,
  type ChainStart,
  type Checkpoint,
  fingerprintOf,
  type Incarnation,
  isSignedBy,
  lineHash,
  publicKeyObject,
  readBase64,
  readStatement,
  type ReadStatement,
} from '../lib/audit-statement.ts'
import { SYSTEM_CHAIN } from '../lib/principal.ts'

/** A genuine statement that the chain had this hash at this number. */
export interface Claim {
  seq: number
  hash: string
  signed_at: number
  key: string
}

export interface Restored {
  name: Incarnation['name']
  incarnation: number
  signed_at: number
  backup: string | null
  /** Where the chain went on, and the last entry of the former life that was signed; null when none is lost. */
  seq: number
  lost: { from_seq: number; to_seq: number } | null
}

export interface Evidence {
  /** Ascending by number. */
  claims: Claim[]
  /** Where the chain starts when its oldest entries were removed. */
  start: ChainStart | null
  /** The first statement that is not genuine. */
  bad: { seq: number; detail: string } | null
  restored: Restored[]
  /** Of the system chain: the newest claim about every other chain. */
  others: Map<string, Claim>
}

export interface Trust {
  /** Fingerprints to begin with: usually that of this installation's key. */
  trusted: readonly string[]
  /** Public keys that are at hand, 32 bytes each. They are believed only when their fingerprint is. */
  public_keys: readonly Uint8Array[]
}

/** Statements judged between two turns of the event loop. */
const READ_AT_ONCE = 500

type Read<S extends Checkpoint | ChainStart | Incarnation> = ReadStatement<S>

interface Pile {
  checkpoints: Read<Checkpoint>[]
  starts: Read<ChainStart>[]
  lives: Read<Incarnation>[]
  keys: Map<string, KeyObject>
}

/** Lines that no statement about this chain can be in are not even parsed. */
export async function judgeEvidence(
  chain: { instance_id: string; tenant_id: string },
  trust: Trust,
  lines: AsyncIterable<string>,
): Promise<Evidence> {
  const pile = await sort(chain, trust, lines)
  const genuine = judge(pile, new Set(trust.trusted))
  const all = pile.lives.filter(genuine).map(({ statement }) => statement)
  const lives = all.filter((life) => life.tenant_id === chain.tenant_id)
  const evidence: Evidence = { claims: [], start: null, bad: null, restored: [], others: new Map() }
  // Newest first, so that a genuine one vouches for those before it.
  const checkpoints = pile.checkpoints.sort(
    (a, b) => b.statement.signed_at - a.statement.signed_at || b.statement.n - a.statement.n,
  )
  const overtaken = new Map<number, number>()
  for (const [index, read] of checkpoints.entries()) {
    if (index % READ_AT_ONCE === READ_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve))
    const { statement } = read
    const mine = headIn(statement, chain.tenant_id)
    if (!genuine(read)) {
      evidence.bad = worse(evidence.bad, mine?.seq ?? statement.seq, statement)
      continue
    }
    if (chain.tenant_id === SYSTEM_CHAIN) keepNewest(evidence.others, statement, all)
    if (mine === null) continue
    if (isOvertaken(lives, statement.incarnation, mine, overtaken)) continue
    evidence.claims.push({
      seq: mine.seq,
      hash: mine.hash,
      signed_at: statement.signed_at,
      key: statement.key,
    })
  }
  evidence.claims.sort((a, b) => a.seq - b.seq || a.signed_at - b.signed_at)
  for (const read of pile.starts) {
    if (!genuine(read)) evidence.bad = worse(evidence.bad, read.statement.seq, read.statement)
    else if (read.statement.seq > (evidence.start?.seq ?? 0)) evidence.start = read.statement
  }
  evidence.restored = lives.map((life) => restoredOf(life, overtaken))
  return evidence
}

async function sort(
  { instance_id, tenant_id }: { instance_id: string; tenant_id: string },
  trust: Trust,
  lines: AsyncIterable<string>,
): Promise<Pile> {
  const pile: Pile = { checkpoints: [], starts: [], lives: [], keys: new Map() }
  for (const key of trust.public_keys) pile.keys.set(fingerprintOf(key), publicKeyObject(key))
  const seen = new Set<string>()
  const quoted = JSON.stringify(tenant_id)
  for await (const line of lines) {
    const other =
      !line.includes('"kind":"key"') && !(tenant_id === SYSTEM_CHAIN && line.includes('"kind":"incarnation"'))
    if ((other && !line.includes(quoted)) || seen.has(line)) continue
    seen.add(line)
    const read = readStatement(line)
    if (read === null || read.statement.instance_id !== instance_id) continue
    const { statement } = read
    if (statement.kind === 'incarnation') pile.lives.push(read as Read<Incarnation>)
    else if (statement.kind === 'checkpoint') pile.checkpoints.push(read as Read<Checkpoint>)
    else if (statement.kind === 'start' && statement.tenant_id === tenant_id)
      pile.starts.push(read as Read<ChainStart>)
    else if (statement.kind === 'key') {
      const key = readBase64(statement.public_key)
      if (key.length === 32) pile.keys.set(fingerprintOf(key), publicKeyObject(key))
    }
  }
  return pile
}

/** Tells genuine statements. Trust begins with the given keys; a life that they signed names those before it. */
function judge(pile: Pile, trusted: Set<string>): (read: ReadStatement) => boolean {
  const vouched = new Set<string>()
  const genuine = (read: ReadStatement): boolean => {
    const { statement, line } = read
    const known = vouched.size > 0 && vouched.has(lineHash(line))
    if (!known) {
      const key = trusted.has(statement.key) ? pile.keys.get(statement.key) : undefined
      if (key === undefined || !isSignedBy(read, key)) return false
    }
    if (statement.kind === 'checkpoint' && statement.prev !== null) vouched.add(statement.prev)
    return true
  }
  for (const life of pile.lives.sort((a, b) => b.statement.incarnation - a.statement.incarnation)) {
    if (genuine(life)) for (const former of life.statement.former_keys) trusted.add(former)
  }
  return genuine
}

/** What a checkpoint says about a chain: its own, or one that it names beside. */
function headIn(statement: Checkpoint, tenant_id: string): ChainHeadAt | null {
  if (statement.tenant_id === tenant_id) return statement
  return statement.chains?.find((each) => each.tenant_id === tenant_id) ?? null
}

/** A later life went on from before it: the claim is about entries that were left behind. */
function isOvertaken(
  lives: readonly Incarnation[],
  incarnation: number,
  { seq }: ChainHeadAt,
  overtaken: Map<number, number>,
): boolean {
  const by = lives.filter((life) => life.incarnation > incarnation && seq > life.seq)
  for (const life of by) {
    overtaken.set(life.incarnation, Math.max(overtaken.get(life.incarnation) ?? 0, seq))
  }
  return by.length > 0
}

function restoredOf(life: Incarnation, overtaken: Map<number, number>): Restored {
  const { name, incarnation, signed_at, backup, seq } = life
  const last = overtaken.get(incarnation)
  const lost = last === undefined ? null : { from_seq: seq + 1, to_seq: last }
  return { name, incarnation, signed_at, backup, seq, lost }
}

/** Of a chain that a later life does not name nothing is left: it was made after the backup. */
function keepNewest(
  others: Evidence['others'],
  { chains = [], signed_at, key, incarnation }: Checkpoint,
  lives: readonly Incarnation[],
): void {
  const later = lives.filter((life) => life.incarnation > incarnation)
  const numbers = new Set(later.map((life) => life.incarnation))
  for (const { tenant_id, seq, hash } of chains) {
    const own = later.filter((life) => life.tenant_id === tenant_id)
    if (others.has(tenant_id) || own.length < numbers.size || own.some((life) => seq > life.seq)) continue
    others.set(tenant_id, { seq, hash, signed_at, key })
  }
}

function worse(bad: Evidence['bad'], seq: number, { key }: { key: string }): Evidence['bad'] {
  if (bad !== null && bad.seq <= seq) return bad
  return {
    seq,
    detail: `A statement about this entry is not signed by a key of this installation (${key.slice(0, 16)}…).`,
  }
}
