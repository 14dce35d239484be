/**
 * Serves the UI. Files with a hash in their name never change and are cached for a year; the page itself is asked for
 * every time (ETag). Addresses of pages the browser's router knows answer the page; everything else is not ours, so
 * that a mistyped API path is a 404 of the API and never a page with status 200.
 */

/** One file of the UI, packed at build time. */
export interface Asset {
  /** `/main-k2j4h5.js` */
  path: string
  type: string
  /** The name carries a hash of the content. */
  immutable: boolean
  /** Strong, quoted, of the plain bytes. */
  etag: string
  load(encoding: AssetEncoding): Promise<Uint8Array>
}

export type AssetEncoding = 'br' | 'gzip' | 'identity'

/** First path segments of the pages in `public/routes.ts`; a test compares the two. */
export const UI_PAGES = [
  '',
  'setup',
  'login',
  'accept',
  'reset',
  'alerts',
  'domains',
  'reports',
  'audit',
  'webhooks',
  'settings',
  'account',
  'docs',
] as const

/** What the page may do: its own files only, no inline script or style, nobody may frame it. */
export const UI_CSP =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

const PAGES = new Set<string>(UI_PAGES)
const PAGE_FILE = '/index.html'

export interface Static {
  /** The answer, or null when the request is not for the UI. Never throws for what a client sends. */
  serve(request: Request): Promise<Response | null>
}

export function createStatic(load: () => Promise<readonly Asset[]>): Static {
  let loading: Promise<Map<string, Asset>> | null = null
  const files = (): Promise<Map<string, Asset>> => {
    loading ??= load().then((assets) => new Map(assets.map((asset) => [asset.path, asset])))
    return loading
  }
  return {
    async serve(request) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return null
      const path = new URL(request.url).pathname
      const page = isPage(path)
      if (!page && !/^\/[\w.-]+\.[a-z0-9]+$/i.test(path)) return null
      const asset = (await files()).get(page ? PAGE_FILE : path)
      return asset === undefined ? null : answer(request, asset)
    },
  }
}

/** True for the address of a page: a known first segment, no file ending, nothing that belongs to the API. */
export function isPage(path: string): boolean {
  const segments = path.split('/').slice(1)
  if (!PAGES.has(segments[0]!) || (segments[0] === '' && segments.length > 1)) return false
  if (segments[0] === 'docs' && segments.length > 1 && segments[1] !== '') return false
  return !segments.at(-1)!.includes('.')
}

async function answer(request: Request, asset: Asset): Promise<Response> {
  const encoding = chooseEncoding(request.headers.get('accept-encoding') ?? '')
  const etag = encoding === 'identity' ? asset.etag : `${asset.etag.slice(0, -1)}-${encoding}"`
  const headers = new Headers({
    'content-type': asset.type,
    'cache-control': asset.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': UI_CSP,
    etag,
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  })
  if (matches(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers })
  if (encoding !== 'identity') headers.set('content-encoding', encoding)
  const bytes = await asset.load(encoding)
  headers.set('content-length', String(bytes.length))
  return new Response(request.method === 'HEAD' ? null : (bytes as Uint8Array<ArrayBuffer>), { headers })
}

/** The best of ours that the client accepts (RFC 9110 §12.5.3). */
export function chooseEncoding(accept: string): AssetEncoding {
  const weights = new Map<string, number>()
  for (const item of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, q === undefined ? 1 : Number(q.slice(2)))
  }
  const weight = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0
  if (weight('br') > 0 && weight('br') >= weight('gzip')) return 'br'
  return weight('gzip') > 0 ? 'gzip' : 'identity'
}

function matches(if_none_match: string | null, etag: string): boolean {
  if (if_none_match === null) return false
  return if_none_match.split(',').some((tag) => {
    const bare = tag.trim().replace(/^W\//, '')
    return bare === '*' || bare === etag
  })
}
