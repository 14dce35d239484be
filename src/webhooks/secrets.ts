/** Secrets of webhooks: made here or given, sealed at rest, opened to sign. */
import { randomBytes } from 'node:crypto'
import type { Keyring } from '../lib/crypto.ts'
import { SECRET_CHARS_MAX, SECRET_CHARS_MIN } from '../lib/limits.ts'
import type { Secrets } from './rules/signature.ts'

const SECRET_BYTES = 32
const OPENED_MAX = 10_000

/** `whsec_` and base64 of 32 random bytes. */
export function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

/** What is wrong with a secret that somebody brought, or null. */
export function secretProblem(secret: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(secret)) return 'Only visible ASCII characters, no spaces.'
  if (secret.length >= SECRET_CHARS_MIN && secret.length <= SECRET_CHARS_MAX) return null
  return `It must have ${SECRET_CHARS_MIN} to ${SECRET_CHARS_MAX} characters.`
}

export interface SealedSecrets {
  secret: string
  next_secret: string | null
  promote_at: number | null
}

export type SecretBox = ReturnType<typeof createSecretBox>

export function createSecretBox(keyring: Keyring) {
  // Opening costs more than signing; the sealed text names its content for good.
  const opened = new Map<string, string | null>()

  const open = (sealed: string): string | null => {
    const known = opened.get(sealed)
    if (known !== undefined) return known
    if (opened.size >= OPENED_MAX) opened.clear()
    const plain = keyring.open(sealed)
    opened.set(sealed, plain)
    return plain
  }

  return {
    seal: (secret: string) => keyring.seal(secret),
    /** What to sign with at `now`: once the time of a rotation is over, the new one alone. Null when sealed elsewhere. */
    secretsAt({ secret, next_secret, promote_at }: SealedSecrets, now: number): Secrets | null {
      const promoted = next_secret !== null && promote_at !== null && promote_at <= now
      const current = open(promoted ? next_secret : secret)
      if (current === null) return null
      return { current, next: next_secret === null || promoted ? null : open(next_secret) }
    },
  }
}
