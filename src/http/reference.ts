/** `/docs/json`: made once, at the first look, and sent compressed to whoever takes that. */
import { gzipSync } from 'node:zlib'
import { sha256Hex } from '../lib/crypto.ts'

export interface Reference {
  answer(request: Request): Response
}

export function createReference(make: () => Record<string, unknown>): Reference {
  let made: { plain: string; packed: Uint8Array<ArrayBuffer>; etag: string } | null = null
  const load = () => {
    const plain = JSON.stringify(make())
    return { plain, packed: new Uint8Array(gzipSync(plain)), etag: `"${sha256Hex(plain).slice(0, 24)}"` }
  }
  return {
    answer(request) {
      const { plain, packed, etag } = (made ??= load())
      const headers: Record<string, string> = {
        'content-type': 'application/json;charset=utf-8',
        'cache-control': 'no-cache',
        vary: 'accept-encoding',
        etag,
      }
      if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
      if (!/\bgzip\b/.test(request.headers.get('accept-encoding') ?? ''))
        return new Response(plain, { headers })
      return new Response(packed, { headers: { ...headers, 'content-encoding': 'gzip' } })
    },
  }
}
