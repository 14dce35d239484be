/**
 * The key that signs statements about the audit log: Ed25519, `DATA/audit-signing.key` (PKCS #8 PEM, mode 0600), made
 * once. Whoever has it can sign anything from then on, and nothing that was sent elsewhere before.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import {
  fingerprintOf,
  type Statement,
  statementBytes,
  type StatementDraft,
  statementLine,
} from '../lib/audit-statement.ts'

export interface Signer {
  /** 32 bytes. */
  readonly public_key: Uint8Array
  readonly fingerprint: string
  /** The signed line of a statement. */
  sign(draft: StatementDraft): string
  /** A plain signature over other bytes of ours, which must begin with a prefix of their own. */
  signBytes(bytes: Uint8Array): Uint8Array
}

export const SIGNING_KEY_FILE = 'audit-signing.key'

/** Opens the key, or makes it. Throws when the file is there and holds no such key. */
export function openSigner(path: string): Signer {
  if (!existsSync(path)) writeKey(path)
  let key
  try {
    key = createPrivateKey(readFileSync(path))
  } catch (error) {
    throw new Error(`${path} holds no private key: restore it from where you keep it`, { cause: error })
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${path} holds no Ed25519 key`)
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const public_key = new Uint8Array(spki.subarray(-32))
  const fingerprint = fingerprintOf(public_key)
  return {
    public_key,
    fingerprint,
    sign(draft) {
      const statement = { ...draft, v: 1, key: fingerprint } as Statement
      return statementLine(statement, sign(null, statementBytes(statement), key))
    },
    signBytes: (bytes) => sign(null, bytes, key),
  }
}

function writeKey(path: string): void {
  const { privateKey } = generateKeyPairSync('ed25519')
  const fresh = `${path}.new`
  writeFileSync(fresh, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flush: true })
  chmodSync(fresh, 0o600)
  renameSync(fresh, path)
}
