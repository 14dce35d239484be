/**
 * Opaque cursors: base64url of `json || HMAC-SHA256-128`. The HMAC covers the tenant, the route and a digest of
 * filters and sort, so a cursor serves only the list it was made for, and a changed bit is seen.
 */
import { equalBytes, hmacSha256, sha256Hex } from './crypto.ts'
import { CURSOR_CHARS_MAX } from './limits.ts'

export type CursorValue = string | number | null

export interface CursorBinding {
  tenant_id: string
  route: string
  /** What decides which rows come and in which order: filters and sort, not the page size or fields. */
  query: Record<string, unknown>
}

export interface Cursors {
  encode(binding: CursorBinding, position: CursorValue[]): string
  /** The position, or null when the cursor is not one of ours for exactly this list. */
  decode(binding: CursorBinding, cursor: string): CursorValue[] | null
}

const MAC_BYTES = 16

export function createCursors(key: Uint8Array): Cursors {
  const mac = (binding: CursorBinding, payload: string): Buffer => {
    const bound = JSON.stringify([binding.tenant_id, binding.route, digest(binding.query), payload])
    return hmacSha256(key, bound).subarray(0, MAC_BYTES)
  }
  return {
    encode(binding, position) {
      const payload = JSON.stringify(position)
      return Buffer.concat([Buffer.from(payload), mac(binding, payload)]).toString('base64url')
    },
    decode(binding, cursor) {
      if (cursor.length > CURSOR_CHARS_MAX) return null
      const bytes = Buffer.from(cursor, 'base64url')
      if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) return null
      const payload = bytes.subarray(0, bytes.length - MAC_BYTES).toString()
      if (!equalBytes(mac(binding, payload), bytes.subarray(bytes.length - MAC_BYTES))) return null
      return JSON.parse(payload) as CursorValue[]
    },
  }
}

function digest(query: Record<string, unknown>): string {
  const named = Object.entries(query).filter(([, value]) => value !== undefined)
  named.sort(([a], [b]) => (a < b ? -1 : 1))
  return sha256Hex(JSON.stringify(named))
}
