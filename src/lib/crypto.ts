/**
 * Keys, digests and sealing. One instance key (32 bytes, `DATA/instance.key`) gives a key per purpose by HKDF, so
 * that a leak of one use says nothing about another. Sealed text is AES-256-GCM: `v1.<nonce>.<ciphertext+tag>`.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function sha256(data: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(data).digest()
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

export function hmacSha256(key: Uint8Array, data: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(data).digest()
}

/** Compares in constant time; different lengths are unequal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Random characters of base 62, each of them uniform. */
export function randomBase62(length: number): string {
  let out = ''
  while (out.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && out.length < length) out += BASE62[byte % 62]!
    }
  }
  return out
}

/** A number below 62^length in base 62, left-padded. */
export function base62(value: number, length: number): string {
  let rest = value
  let out = ''
  for (let i = 0; i < length; i++) {
    out = BASE62[rest % 62]! + out
    rest = Math.floor(rest / 62)
  }
  return out
}

/** A token for links and sessions: 32 random bytes, base64url (43 characters). */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

export interface Keyring {
  /** The key of one purpose: 32 bytes. */
  derive(purpose: string): Uint8Array
  seal(plain: string): string
  /** The plain text, or null when this key did not seal it. */
  open(sealed: string): string | null
}

export function createKeyring(instance_key: Uint8Array): Keyring {
  const derive = (purpose: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', instance_key, 'wardpost', purpose, 32))
  const seal_key = derive('seal')
  return {
    derive,
    seal(plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', seal_key, nonce)
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${nonce.toString('base64url')}.${body.toString('base64url')}`
    },
    open(sealed) {
      const [version, nonce, body] = sealed.split('.')
      if (version !== 'v1' || nonce === undefined || body === undefined) return null
      const bytes = Buffer.from(body, 'base64url')
      if (bytes.length < 16) return null
      try {
        const decipher = createDecipheriv('aes-256-gcm', seal_key, Buffer.from(nonce, 'base64url'))
        decipher.setAuthTag(bytes.subarray(bytes.length - 16))
        return (
          decipher.update(bytes.subarray(0, bytes.length - 16), undefined, 'utf8') + decipher.final('utf8')
        )
      } catch {
        return null
      }
    },
  }
}
