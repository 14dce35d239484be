/**
 * Signed statements about the chains of the audit log, as pure functions. A statement is one line of canonical JSON;
 * its last word is the Ed25519 signature (RFC 8032) over
 *
 *     "wardpost/audit/v1/statement\0" || the canonical JSON of all members but `sig`
 *
 * Keys are named by their fingerprint, the SHA-256 of the 32 bytes of the public key. These forms are final: what is
 * signed today is checked by every later version, and by the script in each bundle.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import { sha256Hex } from './crypto.ts'

/** Where a chain stood. Hashes are hex. */
export interface ChainHeadAt {
  tenant_id: string
  seq: number
  hash: string
}

interface Signed {
  v: 1
  instance_id: string
  /** Integer milliseconds UTC. */
  signed_at: number
  /** Fingerprint of the key, hex. */
  key: string
}

export interface Checkpoint extends Signed, ChainHeadAt {
  kind: 'checkpoint'
  incarnation: number
  /** Counts the checkpoints of the chain from 1. */
  n: number
  /** SHA-256 of the line of the checkpoint before; null for the first. */
  prev: string | null
  /** Of the system chain only: where other chains stood. Every hour all of them, in between those that had news. */
  chains?: ChainHeadAt[]
}

/** The entries up to `seq` were removed because they were past keeping; verification starts after them. */
export interface ChainStart extends Signed, ChainHeadAt {
  kind: 'start'
}

/** In a new life of the installation the chain goes on from here, whatever was signed beyond it before. */
export interface Incarnation extends Signed, ChainHeadAt {
  kind: 'incarnation'
  incarnation: number
  /** `restored` from a backup, or `rekeyed`: the signing key was gone and a new one was made. */
  name: 'restored' | 'rekeyed'
  /** Name and time of the backup. */
  backup: string | null
  backup_at: string | null
  /** Fingerprints of the keys that signed before. */
  former_keys: string[]
}

/** Lets a file of statements be checked without anything else. Its key is the one that it names. */
export interface KeyStatement extends Signed {
  kind: 'key'
  /** Base64 of 32 bytes. */
  public_key: string
}

export type Statement = Checkpoint | ChainStart | Incarnation | KeyStatement
type Distributed<S> = S extends Statement ? Omit<S, 'v' | 'key'> : never
export type StatementDraft = Distributed<Statement>

export interface ReadStatement<S extends Statement = Statement> {
  statement: S
  signature: Uint8Array
  line: string
}

const PREFIX = 'wardpost/audit/v1/statement\0'
const SIGNATURE_BYTES = 64
/** DER of an Ed25519 public key up to the key itself (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/** What is signed. */
export function statementBytes(statement: Statement): Uint8Array {
  return Buffer.from(PREFIX + canonicalJson(statement), 'utf8')
}

/** The line of a statement, without its line break. */
export function statementLine(statement: Statement, signature: Uint8Array): string {
  return canonicalJson({ ...statement, sig: Buffer.from(signature).toString('base64') })
}

/** Reads a line; null for anything that is no statement. Says nothing about the signature. */
export function readStatement(line: string): ReadStatement | null {
  try {
    const { sig, ...statement } = JSON.parse(line) as Statement & { sig: string }
    const signature = readBase64(sig)
    if (statement.v !== 1 || !isShaped(statement) || signature.length !== SIGNATURE_BYTES) return null
    return { statement, signature, line }
  } catch {
    return null
  }
}

/** The bytes of base64 in its one canonical form; none for anything else. */
export function readBase64(text: string | undefined): Uint8Array {
  const bytes = Buffer.from(text ?? '', 'base64')
  return bytes.toString('base64') === text ? bytes : new Uint8Array()
}

function isShaped(statement: Statement): boolean {
  const heads = 'chains' in statement ? (statement.chains ?? []) : []
  const own = statement.kind === 'key' ? [] : [statement]
  const sound = (head: ChainHeadAt): boolean =>
    typeof head.tenant_id === 'string' && Number.isSafeInteger(head.seq) && /^[0-9a-f]{64}$/.test(head.hash)
  return (
    ['checkpoint', 'start', 'incarnation', 'key'].includes(statement.kind) &&
    typeof statement.key === 'string' &&
    Number.isSafeInteger(statement.signed_at) &&
    [...heads, ...own].every(sound)
  )
}

/** Names a statement in the `prev` of the next. */
export function lineHash(line: string): string {
  return sha256Hex(line)
}

export function fingerprintOf(public_key: Uint8Array): string {
  return sha256Hex(public_key)
}

/** From the 32 bytes of a public key. */
export function publicKeyObject(public_key: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, public_key]), format: 'der', type: 'spki' })
}

/** Whether this key signed it. */
export function isSignedBy(read: ReadStatement, key: KeyObject): boolean {
  return verify(null, statementBytes(read.statement), key, read.signature)
}
