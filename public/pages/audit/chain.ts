/**
 * The link formula of the chain, recomputed in the browser, so that one need not believe the server about an entry:
 * h_n = SHA256("wardpost/audit/v1/entry\0" || h_{n-1} || SHA256(entry_n)).
 * Browsers offer SHA-256 only over HTTPS and on loopback; elsewhere the answer is `unavailable`.
 */
import type { FullEntry } from './types.ts'

const PREFIX = 'wardpost/audit/v1/entry\0'

export async function checkLink(
  entry: Pick<FullEntry, 'canonical' | 'hash' | 'prev_hash'>,
): Promise<'match' | 'differ' | 'unavailable' | 'first'> {
  if (entry.prev_hash === null) return 'first'
  const { subtle } = crypto as { subtle?: SubtleCrypto }
  if (subtle === undefined) return 'unavailable'
  const text = new TextEncoder()
  const inner = new Uint8Array(await subtle.digest('SHA-256', text.encode(entry.canonical)))
  const link = new Uint8Array([...text.encode(PREFIX), ...fromHex(entry.prev_hash), ...inner])
  const hash = new Uint8Array(await subtle.digest('SHA-256', link))
  return toHex(hash) === entry.hash ? 'match' : 'differ'
}

const fromHex = (hex: string): number[] => (hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16))
const toHex = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
