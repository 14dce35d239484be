/** Keeps the layout of the source as it is drawn in src/README.md, by reading imports as text. */
import { describe, expect, test } from 'bun:test'
import { importsOf, withoutComments } from './support/imports.ts'

const ROOT = new URL('../', import.meta.url).pathname
const LINES_MAX = 500

const glob = (pattern: string): string[] => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })].sort()
const SOURCES = glob('src/**/*.ts')
const UI = glob('public/**/*.{ts,tsx}')
const TESTS = glob('test/**/*.{ts,tsx}').filter((path) => !path.startsWith('test/fixtures/'))
const EVERYTHING = [
  ...SOURCES,
  ...UI,
  ...TESTS,
  ...glob('migrations/*.{ts,sql}'),
  ...glob('*.ts'),
  ...glob('public/**/*.{css,html}'),
]
const texts = new Map(
  await Promise.all(EVERYTHING.map(async (path) => [path, await Bun.file(ROOT + path).text()] as const)),
)
const textOf = (path: string): string => texts.get(path)!

/** Folders of src that are not areas of the product. */
const FOUNDATION = ['lib', 'net', 'db', 'http', 'web', 'jobs', 'sandbox', 'cli', 'demo']

const DRIZZLE = /^drizzle-orm/
const ELYSIA = /^(elysia|@elysiajs\/)/
const DATABASE = /^(bun:sqlite|drizzle-orm)/
const INPUT_OUTPUT = /^(node:(fs|net|http|https|dns|tls|child_process|worker_threads|os)|bun(:|$))/
const HTTP = /^src\/(http|web)\//
const STORE = /^src\/.*\/store(\.[\w-]+)?\.ts$/
const SERVICE = /^src\/.*\/service(\.[\w-]+)?\.ts$/

interface Rule {
  name: string
  files: RegExp
  /** Never, not even their types. */
  never?: RegExp[]
  /** Their types may be named, they may not run. */
  types_only?: RegExp[]
}

const RULES: Rule[] = [
  {
    name: 'lib is pure: none of the rest, no framework, no input or output',
    files: /^src\/lib\//,
    never: [/^src\/(?!lib\/)/, DATABASE, ELYSIA, INPUT_OUTPUT],
  },
  {
    name: 'net knows nothing of the database, HTTP or the areas',
    files: /^src\/net\//,
    never: [/^src\/(?!lib\/|net\/)/, DATABASE, ELYSIA],
  },
  {
    name: 'db knows nothing of HTTP and services; tables.ts alone names the tables of the areas',
    files: /^src\/db\/(?!tables\.ts)/,
    never: [HTTP, ELYSIA, SERVICE, STORE, /^src\/(?!lib\/|db\/)[\w-]+\/tables\.ts$/],
  },
  {
    name: 'db/tables.ts names tables and nothing else',
    files: /^src\/db\/tables\.ts$/,
    never: [/^src\/(?!db\/columns\.ts$)(?!.*\/tables\.ts$)/, ELYSIA],
  },
  {
    name: 'http and web do not touch the database, and of the areas know types only',
    files: HTTP,
    never: [DATABASE, STORE],
    types_only: [/^src\/(?!lib\/|http\/|web\/)/],
  },
  {
    name: 'tables are drizzle and other tables',
    files: /^src\/(?!db\/).*\/tables\.ts$/,
    never: [/^src\/(?!db\/columns\.ts$)(?!.*\/tables\.ts$)(?!lib\/)/, ELYSIA],
  },
  {
    name: 'schemas know neither database nor services',
    files: /^src\/(?!http\/).*\/schema\.ts$/,
    never: [DATABASE, SERVICE, /^src\/(?!http\/)[\w-]+\/tables\.ts$/],
    types_only: [STORE],
  },
  {
    name: 'stores know neither HTTP nor services',
    files: STORE,
    never: [ELYSIA, SERVICE, HTTP],
  },
  {
    name: 'services know neither HTTP nor the database engine, and other services by type only',
    files: SERVICE,
    never: [ELYSIA, DATABASE, HTTP],
    types_only: [SERVICE, /^src\/net\//],
  },
  {
    name: 'routes know HTTP, their own schema and their service, not the database',
    files: /^src\/(?!http\/).*\/routes(\.[\w-]+)?\.ts$/,
    never: [DATABASE, STORE],
    types_only: [SERVICE],
  },
  {
    name: 'parsers, rules, checks and formats do no input or output',
    files: /^src\/.*\/(parse|rules|checks|formats)\//,
    never: [DATABASE, ELYSIA, INPUT_OUTPUT, HTTP, STORE, /^src\/(net|jobs|cli)\//],
    types_only: [SERVICE],
  },
  {
    name: 'the command line works through services, not through the tables',
    files: /^src\/cli\//,
    never: [DRIZZLE],
    types_only: [STORE],
  },
  {
    name: 'the UI runs nothing of the server',
    files: /^public\//,
    never: [/^src\/(?!app\.ts$)/],
    types_only: [/^src\//],
  },
]

function violations(rule: Rule, path: string, text: string): string[] {
  return importsOf(path, text)
    .filter(({ target, type_only }) => {
      const forbidden = rule.never?.some((pattern) => pattern.test(target)) ?? false
      const runs = !type_only && (rule.types_only?.some((pattern) => pattern.test(target)) ?? false)
      return forbidden || runs
    })
    .map(({ target }) => `${path} imports ${target}`)
}

/** What each kind of file must be caught at. */
const CAUGHT: [path: string, text: string][] = [
  ['src/lib/x.ts', "import { readFile } from 'node:fs/promises'"],
  ['src/lib/x.ts', "import type { Db } from '../db/types.ts'"],
  ['src/net/x.ts', "import { problemResponse } from '../http/errors.ts'"],
  ['src/db/x.ts', "import { tenants } from '../tenants/tables.ts'"],
  ['src/db/tables.ts', "import { createKeys } from '../keys/service.ts'"],
  ['src/http/x.ts', "import { createKeys } from '../keys/service.ts'"],
  ['src/web/x.ts', "import { eq } from 'drizzle-orm'"],
  ['src/keys/tables.ts', "import { createKeys } from './service.ts'"],
  ['src/keys/schema.ts', "import { createKeyStore } from './store.ts'"],
  ['src/keys/store.ts', "import { t } from 'elysia'"],
  ['src/keys/service.ts', "import { eq } from 'drizzle-orm'"],
  ['src/keys/service.ts', "import { createTenants } from '../tenants/service.ts'"],
  ['src/keys/service.ts', "import { lookup } from '../net/dns.ts'"],
  ['src/keys/routes.ts', "import { createKeys } from './service.ts'"],
  ['src/keys/routes.ts', "import type { KeyStore } from './store.ts'"],
  ['src/reports/parse/x.ts', "import { spawn } from 'node:child_process'"],
  ['src/cli/x.ts', "import { eq } from 'drizzle-orm'"],
  ['public/lib/x.ts', "import { openDb } from '../../src/db/open.ts'"],
  ['public/lib/x.ts', "import { createApp } from '../../src/app.ts'"],
]

/** And what it must be let do. */
const LET_PASS: [path: string, text: string][] = [
  ['src/lib/x.ts', "import { createHash } from 'node:crypto'\nimport { newId } from './ids.ts'"],
  ['src/http/x.ts', "import type { KeyService } from '../keys/service.ts'\nimport { Elysia } from 'elysia'"],
  ['src/keys/service.ts', "import type { TenantService } from '../tenants/service.ts'"],
  ['src/keys/store.ts', "import { eq } from 'drizzle-orm'\nimport { tenants } from '../tenants/tables.ts'"],
  [
    'src/keys/routes.ts',
    "import { op } from '../http/schema.ts'\nimport type { KeyService } from './service.ts'",
  ],
  ['public/lib/x.ts', "import type { App } from '../../src/app.ts'"],
]

describe('imports', () => {
  test.each(CAUGHT)('%s may not have %s', (path, text) => {
    const rules = RULES.filter((rule) => rule.files.test(path))
    expect(rules.flatMap((rule) => violations(rule, path, text))).not.toBeEmpty()
  })

  test.each(LET_PASS)('%s may have %s', (path, text) => {
    const rules = RULES.filter((rule) => rule.files.test(path))
    expect(rules.flatMap((rule) => violations(rule, path, text))).toEqual([])
  })

  test.each(RULES.map((rule) => [rule.name, rule] as const))('%s', (_, rule) => {
    const paths = [...SOURCES, ...UI].filter((path) => rule.files.test(path))
    expect(paths).not.toBeEmpty()
    expect(paths.flatMap((path) => violations(rule, path, textOf(path)))).toEqual([])
  })

  test('routes and services of one area run nothing of the routes of another', () => {
    const areaOf = (path: string): string | null => {
      const area = /^src\/([\w-]+)\//.exec(path)?.[1] ?? null
      return area === null || FOUNDATION.includes(area) ? null : area
    }
    const broken = SOURCES.filter((path) => areaOf(path) !== null).flatMap((path) =>
      importsOf(path, textOf(path))
        .filter(({ target, type_only }) => {
          const other = areaOf(target)
          return (
            !type_only &&
            other !== null &&
            other !== areaOf(path) &&
            /\/(routes|schema|store)\.ts$/.test(target)
          )
        })
        .filter(({ target }) => !path.endsWith('/schema.ts') || !target.endsWith('/schema.ts'))
        .map(({ target }) => `${path} imports ${target}`),
    )
    expect(broken).toEqual([])
  })

  test('every import has its ending and leads somewhere', () => {
    const paths = [...SOURCES, ...TESTS].filter((path) => path !== 'test/architecture.test.ts')
    const broken = paths.flatMap((path) =>
      importsOf(path, textOf(path))
        .filter(({ target }) => /^(src|test|migrations|public)\//.test(target))
        .filter(({ target }) => !texts.has(target) && !/\.(json|sql|py)$/.test(target))
        .map(({ target }) => `${path} imports ${target}`),
    )
    expect(broken).toEqual([])
  })

  test('the reader of imports sees every form of them', () => {
    const text = [
      "import a from './a.ts'",
      "import type { B } from '../b.ts'",
      "import { type C, type D } from 'c'",
      "import { type E, f } from 'e'",
      "import 'g'",
      "// import 'h'",
      "export { i } from './i.ts'",
      "const j = await import('./j.ts') /* import('k') */",
      "import {\n  l,\n} from 'l'",
    ].join('\n')
    expect(importsOf('src/x/y.ts', text)).toEqual([
      { target: 'src/x/a.ts', type_only: false },
      { target: 'src/b.ts', type_only: true },
      { target: 'c', type_only: true },
      { target: 'e', type_only: false },
      { target: 'g', type_only: false },
      { target: 'src/x/i.ts', type_only: false },
      { target: 'src/x/j.ts', type_only: false },
      { target: 'l', type_only: false },
    ])
  })
})

describe('text', () => {
  /** `path:line` of every match outside comments in files that are not the owner. */
  const found = (paths: string[], pattern: RegExp, owners: readonly string[]): string[] =>
    paths
      .filter((path) => !owners.includes(path))
      .flatMap((path) =>
        withoutComments(textOf(path))
          .split('\n')
          .flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
      )

  test(`no file has more than ${LINES_MAX} lines`, () => {
    const long = EVERYTHING.filter((path) => textOf(path).split('\n').length > LINES_MAX + 1)
    expect(long).toEqual([])
  })

  test('only the clock reads the time', () => {
    const owners = ['src/lib/clock.ts']
    expect(found(SOURCES, /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/, owners)).toEqual([])
  })

  test('nothing is left to chance that can be guessed', () => {
    expect(found(SOURCES, /\bMath\.random\b/, [])).toEqual([])
  })

  test('only the ports of src/net reach out', () => {
    const paths = SOURCES.filter((path) => !path.startsWith('src/net/'))
    expect(found(paths, /(?<![\w.])fetch\(/, [])).toEqual([])
  })

  test('only the UI client talks to the server', () => {
    const paths = UI.filter((path) => !path.startsWith('public/lib/'))
    // The documentation's own client sends what the reader wrote, and shows what came back.
    expect(found(paths, /(?<![\w.])fetch\(/, ['public/pages/docs/try-it.tsx'])).toEqual([])
  })

  test('nobody opens a transaction but the door', () => {
    const paths = SOURCES.filter((path) => !path.startsWith('src/db/'))
    expect(found(paths, /\.transaction\(|\bBEGIN (IMMEDIATE|EXCLUSIVE|TRANSACTION)/, [])).toEqual([])
  })

  test('nothing exports a default', () => {
    expect(found(SOURCES, /^export default\b/, [])).toEqual([])
  })

  test('no file is a barrel', () => {
    const paths = SOURCES.filter((path) => path !== 'src/db/tables.ts')
    expect(found(paths, /^export \* from/, [])).toEqual([])
  })

  test('nothing is left for later', () => {
    // Spelt apart, so that this line is not found itself.
    const words = ['TO·DO', 'FIX·ME', 'X·XX', 'HA·CK'].map((word) => word.replace('·', ''))
    const pattern = new RegExp(String.raw`\b(${words.join('|')})\b`)
    const later = EVERYTHING.filter((path) => pattern.test(textOf(path)))
    expect(later).toEqual([])
  })

  test('every limit is used', () => {
    const names = [...textOf('src/lib/limits.ts').matchAll(/^export const (\w+)/gm)].map((match) => match[1]!)
    expect(names.length).toBeGreaterThan(20)
    const rest = [...SOURCES, ...UI].filter((path) => path !== 'src/lib/limits.ts').map(textOf)
    const unused = names.filter((name) => !rest.some((text) => new RegExp(`\\b${name}\\b`).test(text)))
    expect(unused).toEqual([])
  })

  test('every folder of src is on the map', async () => {
    const map = await Bun.file(`${ROOT}src/README.md`).text()
    const folders = new Set(SOURCES.map((path) => /^src\/([\w-]+)\//.exec(path)?.[1]).filter(Boolean))
    expect([...folders].filter((folder) => !map.includes(`\`${folder}/\``))).toEqual([])
  })

  test('nothing but what belongs there lies in the root', () => {
    const known =
      /^(package\.json|tsconfig\.json|bunfig\.toml|build\.ts|README\.md|CHANGELOG\.md|LICENSE|bun\.lock|\.gitignore|\.oxlintrc\.json|\.oxfmtrc\.json)$/
    const files = [...new Bun.Glob('*').scanSync({ cwd: ROOT, dot: true, onlyFiles: true })]
    expect(files.filter((file) => !known.test(file) && !file.endsWith('.log'))).toEqual([])
  })
})
