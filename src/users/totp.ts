/** TOTP (RFC 6238: SHA-1, 6 digits, 30 s) with one step of tolerance, and recovery codes. Pure but for randomness. */
import { Secret, TOTP } from 'otpauth'
import { randomBase62, sha256 } from '../lib/crypto.ts'
import { RECOVERY_CODES } from '../lib/limits.ts'

const STEP_MS = 30_000

export function newTotp(email: string): { secret: string; otpauth_url: string } {
  const secret = new Secret({ size: 20 })
  const totp = new TOTP({ issuer: 'Wardpost', label: email, secret })
  return { secret: secret.base32, otpauth_url: totp.toString() }
}

/**
 * The 30-second step that the code belongs to, or null when it is wrong or not newer than `last_step`: a code works
 * once.
 */
export function checkTotp(secret: string, code: string, now_ms: number, last_step: number): number | null {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const delta = totp.validate({ token, timestamp: now_ms, window: 1 })
  if (delta === null) return null
  const step = Math.floor(now_ms / STEP_MS) + delta
  return step > last_step ? step : null
}

/** Ten codes of 12 characters in two groups: 62^12 is out of reach for guessing. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = randomBase62(12)
    return `${text.slice(0, 6)}-${text.slice(6)}`
  })
}

export function recoveryHash(code: string): Uint8Array {
  return sha256(`recovery:${code.replace(/[\s-]/g, '')}`)
}
