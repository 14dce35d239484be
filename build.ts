/**
 * Builds `dist/wardpost`: the UI first, then the executable with the UI's files inside.
 *
 *   bun run build.ts             for this machine
 *   bun run build.ts --all       every target, with SHA256SUMS
 *   bun run build.ts --if-stale  only when a source changed since the last build
 *   bun run build.ts --exec ...  become the built executable with these arguments
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { constants as os, tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { brotliCompressSync, constants as zlib, gzipSync } from 'node:zlib'
import type { BunPlugin } from 'bun'
import type { Asset, AssetEncoding } from './src/web/static.ts'

const ROOT = import.meta.dir
const DIST = join(ROOT, 'dist')
const BINARY = join(DIST, process.platform === 'win32' ? 'wardpost.exe' : 'wardpost')
const STAMP = join(DIST, '.wardpost.sources')

const TARGETS = {
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-arm64',
  'linux-x64-musl': 'bun-linux-x64-musl',
  'darwin-arm64': 'bun-darwin-arm64',
  'darwin-x64': 'bun-darwin-x64',
  'windows-x64.exe': 'bun-windows-x64',
} as const satisfies Record<string, Bun.Build.CompileTarget>

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

export interface UiFile {
  path: string
  bytes: Uint8Array
}

/** Bundles the page and all it refers to: `/index.html` under its own name, the rest under hashed names. */
export async function buildUi(entry: string): Promise<UiFile[]> {
  const { default: tailwind } = await import('bun-plugin-tailwind')
  const [page, early] = await Promise.all([
    bundle(entry, { plugins: [tailwind], splitting: true }),
    bundleEarlyScripts(entry),
  ])
  const index = page.find((file) => file.path === '/index.html')
  if (index === undefined) throw new Error(`${entry} made no page`)
  const tags = early.map((file) => `<script src="${file.path}"></script>`).join('')
  const html = new TextDecoder().decode(index.bytes).replace('<link rel="stylesheet"', `${tags}$&`)
  index.bytes = new TextEncoder().encode(html)
  return [...page, ...early]
}

/**
 * The bundler turns every script of a page into one module, which runs after the first paint. A classic script in the
 * page (it sets the theme) must run before, so it is built by itself as well and put in front of the style sheet.
 */
async function bundleEarlyScripts(entry: string): Promise<UiFile[]> {
  const html = await Bun.file(entry).text()
  const names = [...html.matchAll(/<script src="\.\/([\w.-]+)"><\/script>/g)].map((match) => match[1]!)
  const naming = { entry: '[name]-[hash].[ext]' }
  const built = names.map((name) => bundle(join(dirname(entry), name), { format: 'iife', naming }))
  return (await Promise.all(built)).flat()
}

interface BundleOptions {
  plugins?: BunPlugin[]
  splitting?: boolean
  format?: 'iife'
  naming?: { entry: string }
}

async function bundle(entry: string, options: BundleOptions): Promise<UiFile[]> {
  const built = await Bun.build({
    entrypoints: [entry],
    publicPath: '/',
    target: 'browser',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    ...options,
  })
  return Promise.all(
    built.outputs.map(async (file) => ({
      path: `/${basename(file.path)}`,
      bytes: new Uint8Array(await file.arrayBuffer()),
    })),
  )
}

/** `best` for the executable, `fast` for development. Compression that gains nothing is dropped when served. */
export function packAssets(files: readonly UiFile[], effort: 'best' | 'fast'): Asset[] {
  return files.map((file) => {
    const packed = pack(file, effort)
    return { ...metaOf(file), load: (encoding) => Promise.resolve(packed[encoding]) }
  })
}

function metaOf(file: UiFile): Omit<Asset, 'load'> {
  return {
    path: file.path,
    type: TYPES[extname(file.path)] ?? 'application/octet-stream',
    immutable: file.path !== '/index.html',
    etag: `"${createHash('sha256').update(file.bytes).digest('base64url').slice(0, 22)}"`,
  }
}

function pack(file: UiFile, effort: 'best' | 'fast'): Record<AssetEncoding, Uint8Array> {
  const quality = effort === 'best' ? zlib.BROTLI_MAX_QUALITY : 4
  return {
    identity: file.bytes,
    gzip: gzipSync(file.bytes, { level: effort === 'best' ? 9 : 5 }),
    br: brotliCompressSync(file.bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: quality } }),
  }
}

/** Writes the packed UI to a folder and answers the module that stands in for `src/web/assets.ts`. */
async function embedUi(files: readonly UiFile[], folder: string): Promise<string> {
  const imports: string[] = []
  const rows: string[] = []
  for (const [i, file] of files.entries()) {
    const names: string[] = []
    for (const [encoding, bytes] of Object.entries(pack(file, 'best'))) {
      const path = join(folder, `${i}.${encoding}.bin`)
      await Bun.write(path, bytes)
      imports.push(`import ${encoding}_${i} from ${JSON.stringify(path)} with { type: 'file' }`)
      names.push(`${encoding}: ${encoding}_${i}`)
    }
    rows.push(`  { ...${JSON.stringify(metaOf(file))}, load: held({ ${names.join(', ')} }) },`)
  }
  return [
    ...imports,
    'const held = (paths) => {',
    '  const kept = {}',
    '  return (encoding) => (kept[encoding] ??= Bun.file(paths[encoding]).bytes())',
    '}',
    `const assets = [\n${rows.join('\n')}\n]`,
    'export const loadAssets = () => Promise.resolve(assets)',
  ].join('\n')
}

function assetsPlugin(module: string): BunPlugin {
  return {
    name: 'embed-ui',
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/]web[\\/]assets\.ts$/ }, () => ({ contents: module, loader: 'js' }))
    },
  }
}

async function compile(
  module: string,
  target: Bun.Build.CompileTarget | null,
  outfile: string,
): Promise<void> {
  await Bun.build({
    entrypoints: [join(ROOT, 'src/main.ts')],
    plugins: [assetsPlugin(module)],
    // Renaming identifiers turned authorised routes into 500s: Elysia reads its handlers as text.
    minify: { whitespace: true, syntax: true, identifiers: false },
    define: { 'process.env.NODE_ENV': '"production"' },
    // Parsed at build time: a command answers in 10 ms instead of 80, and so does each child process.
    bytecode: true,
    format: 'esm',
    compile: {
      ...(target === null ? {} : { target }),
      outfile,
      // What lies in the folder it is started from must never change what it does.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  })
}

async function build(all: boolean): Promise<void> {
  const started = performance.now()
  const stamp = await sourcesStamp()
  const work = await mkdtemp(join(tmpdir(), 'wardpost-build-'))
  try {
    await mkdir(DIST, { recursive: true })
    const ui = await buildUi(join(ROOT, 'public/index.html'))
    const module = await embedUi(ui, work)
    const kilobytes = ui.reduce((sum, file) => sum + pack(file, 'best').br.length, 0) / 1000
    console.log(`ui: ${ui.length} files, ${kilobytes.toFixed(0)} kB brotli`)
    if (all) await buildAll(module)
    else await replace(BINARY, (path) => compile(module, null, path))
    await Bun.write(STAMP, stamp)
    console.log(`built in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function buildAll(module: string): Promise<void> {
  const sums: string[] = []
  for (const [suffix, target] of Object.entries(TARGETS)) {
    const path = join(DIST, `wardpost-${suffix}`)
    await replace(path, (out) => compile(module, target, out))
    const bytes = await Bun.file(path).bytes()
    sums.push(`${createHash('sha256').update(bytes).digest('hex')}  ${basename(path)}\n`)
    console.log(`${basename(path)}: ${(bytes.length / 1e6).toFixed(0)} MB`)
    if (suffix === `${process.platform}-${process.arch}`) await copyFile(path, BINARY)
  }
  await Bun.write(join(DIST, 'SHA256SUMS'), sums.join(''))
}

/** Builds beside the old file and swaps: a running executable is never written into. */
async function replace(path: string, make: (path: string) => Promise<void>): Promise<void> {
  const fresh = join(DIST, `.new-${process.pid}${extname(path)}`)
  await make(fresh)
  await rename(fresh, path)
}

/** One digest over the names and contents of everything that goes into the executable. */
async function sourcesStamp(): Promise<string> {
  const hash = createHash('sha256').update(`${Bun.version} ${process.platform}-${process.arch}\0`)
  const glob = new Bun.Glob('{src,public,migrations}/**/*')
  const paths = [...glob.scanSync({ cwd: ROOT })].sort()
  for (const path of [...paths, 'build.ts', 'package.json', 'bun.lock', 'tsconfig.json']) {
    hash.update(`${path}\0`).update(await Bun.file(join(ROOT, path)).bytes())
  }
  return hash.digest('hex')
}

async function isStale(): Promise<boolean> {
  const there = await stat(BINARY).catch(() => null)
  if (there === null) return true
  const stamp = await Bun.file(STAMP)
    .text()
    .catch(() => '')
  return stamp !== (await sourcesStamp())
}

/** Runs the executable in our place: same terminal, its exit code, and our signals handed on. */
function exec(args: string[]): void {
  const child = spawn(BINARY, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(error.message)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : os.signals[signal])))
  whenLauncherEnds(() => child.kill('SIGTERM'))
}

/**
 * npx hands a signal to its shell, and the shell to nobody: killed by itself it would leave the server behind, holding
 * the port. So it is looked after: the nearest ancestor that is npx, if there is one.
 */
function whenLauncherEnds(stop: () => void): void {
  let launcher = process.ppid
  for (let depth = 0; depth < 5; depth++) {
    const found = processOf(launcher)
    if (found === null || launcher <= 1) return
    if (/\b(npx|npm exec)\b/.test(found.command)) break
    launcher = found.parent
    if (depth === 4) return
  }
  const timer = setInterval(() => {
    if (processOf(launcher) !== null) return
    clearInterval(timer)
    stop()
  }, 500)
}

/** Null when there is no such process, or where the system does not show them as files. */
function processOf(pid: number): { parent: number; command: string } | null {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return parent === undefined || command === '' ? null : { parent: Number(parent), command }
  } catch {
    return null
  }
}

if (import.meta.main) {
  const [flag, ...rest] = process.argv.slice(2)
  if (flag === '--exec') exec(rest)
  else if (flag !== undefined && !['--all', '--if-stale'].includes(flag)) {
    console.error('usage: bun run build.ts [--all | --if-stale | --exec ARGS…]')
    process.exit(2)
  } else if (flag !== '--if-stale' || (await isStale())) await build(flag === '--all')
}
