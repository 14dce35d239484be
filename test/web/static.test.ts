import { beforeAll, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { buildUi, packAssets } from '../../build.ts'
import { chooseEncoding, createStatic, isPage, type Static, UI_PAGES } from '../../src/web/static.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const text = (body: string): Uint8Array => new TextEncoder().encode(body)

const PAGE = '<!doctype html><title>page</title>'
const SCRIPT = 'console.log(1);'.repeat(100)
const serve = createStatic(() =>
  Promise.resolve(
    packAssets(
      [
        { path: '/index.html', bytes: text(PAGE) },
        { path: '/main-abc123.js', bytes: text(SCRIPT) },
      ],
      'fast',
    ),
  ),
)
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  serve.serve(new Request(`http://localhost${path}`, { method, headers }))

describe('the UI in the executable', () => {
  test.each([...UI_PAGES.map((page) => `/${page}`), '/domains/dom_01k', '/settings/keys', '/docs/'])(
    '%s answers the page',
    async (path) => {
      const response = await get(path)
      expect(response!.status).toBe(200)
      expect(await response!.text()).toBe(PAGE)
      expect(response!.headers.get('cache-control')).toBe('no-cache')
      expect(response!.headers.get('content-type')).toBe('text/html; charset=utf-8')
    },
  )

  test.each([
    '/v1',
    '/v1/domains',
    '/auth/state',
    '/docs/json',
    '/healthz',
    '/metrics',
    '/taxii2/',
    '/unknown',
    '/domains/x.php',
    '/wp-login.php',
    '/main-zzz.js',
    '/a/main-abc123.js',
    '/..%2f..%2fetc/passwd',
    '//domains',
  ])('%s is not for the UI', async (path) => {
    expect(await get(path)).toBeNull()
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is never for the UI', async (method) => {
    expect(await get('/setup', {}, method)).toBeNull()
  })

  test('the page is shut tight', async () => {
    const headers = (await get('/'))!.headers
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })

  test('hashed files are kept for a year', async () => {
    const response = await get('/main-abc123.js')
    expect(response!.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(response!.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })

  test('each encoding carries the same bytes and its own tag', async () => {
    const read = async (accept: string): Promise<[string | null, string, string]> => {
      const response = (await get('/main-abc123.js', { 'accept-encoding': accept }))!
      const bytes = new Uint8Array(await response.arrayBuffer())
      expect(Number(response.headers.get('content-length'))).toBe(bytes.length)
      const encoding = response.headers.get('content-encoding')
      const plain =
        encoding === 'br' ? brotliDecompressSync(bytes) : encoding === 'gzip' ? gunzipSync(bytes) : bytes
      return [encoding, new TextDecoder().decode(plain), response.headers.get('etag')!]
    }
    const answers = [await read('gzip, deflate, br'), await read('gzip'), await read('')]
    expect(answers.map((answer) => answer[0])).toEqual(['br', 'gzip', null])
    expect(answers.map((answer) => answer[1])).toEqual([SCRIPT, SCRIPT, SCRIPT])
    expect(new Set(answers.map((answer) => answer[2])).size).toBe(3)
  })

  test('what the browser has already is not sent again', async () => {
    const etag = (await get('/'))!.headers.get('etag')!
    for (const seen of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = (await get('/', { 'if-none-match': seen }))!
      expect([response.status, await response.text()]).toEqual([304, ''])
      expect(response.headers.get('etag')).toBe(etag)
    }
    expect((await get('/', { 'if-none-match': '"other"' }))!.status).toBe(200)
  })

  test('HEAD answers the headers of GET without the body', async () => {
    const response = (await get('/', {}, 'HEAD'))!
    expect(await response.text()).toBe('')
    expect(response.headers.get('content-length')).toBe(String(PAGE.length))
  })

  test.each([
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['*', 'br'],
    ['identity', 'identity'],
    ['gzip;q=0', 'identity'],
    ['deflate', 'identity'],
  ] as const)('accept-encoding %s gets %s', (accept, encoding) => {
    expect(chooseEncoding(accept)).toBe(encoding)
  })
})

describe('the UI as it is built', () => {
  let built: Static
  let page: string
  beforeAll(async () => {
    const assets = packAssets(await buildUi(`${ROOT}public/index.html`), 'fast')
    built = createStatic(() => Promise.resolve(assets))
    page = await (await built.serve(new Request('http://localhost/')))!.text()
  })

  test('every page of the router is known here', async () => {
    const routes = await Bun.file(`${ROOT}public/routes.ts`).text()
    const paths = [...routes.matchAll(/path: '([^']*)'/g)].map((match) => match[1]!)
    expect(paths.length).toBeGreaterThan(10)
    expect(paths.filter((path) => !isPage(path.replaceAll('$', '')))).toEqual([])
  })

  test('the page holds no inline script or style and names no other host', () => {
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>/)
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/)
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//)
  })

  test('every file that the page names is there', async () => {
    const names = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1]!)
    expect(names.length).toBeGreaterThan(2)
    for (const name of names) {
      const response = await built.serve(new Request(`http://localhost${name}`))
      expect([name, response?.headers.get('cache-control')]).toEqual([
        name,
        expect.stringContaining('immutable'),
      ])
    }
  })

  test('the theme is set before the first paint', () => {
    const theme = page.indexOf('<script src="/theme-boot-')
    expect(theme).toBeGreaterThan(0)
    expect(theme).toBeLessThan(page.indexOf('rel="stylesheet"'))
  })
})
