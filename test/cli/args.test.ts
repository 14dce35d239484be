import { describe, expect, test } from 'bun:test'
import { type Flag, parseArgs } from '../../src/cli/args.ts'
import { limitsFrom } from '../../src/cli/limits-option.ts'
import { run } from '../../src/cli/run.ts'
import { table } from '../../src/cli/verb.ts'
import { VERBS } from '../../src/cli/verbs.ts'

const FLAGS: Flag[] = [
  { name: 'name', value: 'N', doc: '', required: true },
  { name: 'scopes', value: 'S', doc: '' },
  { name: 'off', doc: '' },
]

describe('flags', () => {
  test('come with a space, with an equals sign, or as a switch, among the rest', () => {
    const result = parseArgs(['a', '--name', 'x y', '--scopes=p=q', 'b', '--off', '--', '--c', '-'], FLAGS)
    if (!result.ok) throw new Error(result.problem)
    expect([...result.args.flags]).toEqual([
      ['name', 'x y'],
      ['scopes', 'p=q'],
      ['off', ''],
    ])
    expect(result.args.positionals).toEqual(['a', 'b', '--c', '-'])
  })

  test.each([
    [['--name', 'x', '--nmae', 'y'], 'unknown option --nmae'],
    [['--name', 'x', '-n'], 'unknown option -n'],
    [['--name', 'x', '--name', 'y'], '--name is given twice'],
    [['--name'], '--name needs a value'],
    [['--name='], '--name needs a value'],
    [['--name', 'x', '--off=1'], '--off takes no value'],
    [['--off'], '--name is needed'],
  ])('%j: %s', (tokens, problem) => {
    expect(parseArgs(tokens, FLAGS)).toEqual({ ok: false, problem })
  })
})

describe('--limits', () => {
  test('takes the short names and the long ones', () => {
    expect(limitsFrom('key=100000, tenant=1000000,threats_query_per_minute=5,domains=3')).toEqual({
      key_per_minute: 100_000,
      tenant_per_minute: 1_000_000,
      threats_query_per_minute: 5,
      domains: 3,
    })
  })

  test.each(['keys=1', 'key=0', 'key=-1', 'key=1.5', 'key=many', 'key', 'key=1,key=2', 'key=99999999', ''])(
    "'%s' is refused",
    (text) => {
      expect(() => limitsFrom(text)).toThrow('--limits: ')
    },
  )
})

describe('the command line', () => {
  const ran = async (argv: string[], env: Record<string, string> = {}) => {
    const out: string[] = []
    const err: string[] = []
    const code = await run(argv, env, { out: (line) => out.push(line), err: (line) => err.push(line) })
    return { code, out: out.join('\n'), err: err.join('\n') }
  }

  test('shows the version, for people and for scripts', async () => {
    expect((await ran(['version'])).out).toMatch(/^wardpost \d+\.\d+\.\d+ \(Bun /)
    expect(JSON.parse((await ran(['version', '--json'])).out)).toMatchObject({ platform: process.platform })
  })

  test('all that is wrong with the settings is said at once', async () => {
    const { code, err } = await ran(['version', '--port', 'x'], { WARDPOST_COLOUR: '1' })
    expect(code).toBe(2)
    expect(err.split('\n')).toHaveLength(2)
  })

  test('a failure of a script is JSON on standard output, and words on standard error', async () => {
    const { code, out, err } = await ran(['restore', '/nowhere', '--data', '/nowhere/else', '--json'])
    expect(code).toBe(1)
    expect(err).toStartWith('wardpost: /nowhere is not a backup')
    expect(JSON.parse(out)).toEqual({ error: { code: 'failed', message: err.slice('wardpost: '.length) } })
  })

  test('every verb says what it does, and its flags collide with no setting', async () => {
    const { describeSettings } = await import('../../src/config.ts')
    const settings = new Set(describeSettings().map((row) => row.flag))
    for (const verb of VERBS) {
      expect(verb.summary).toMatch(/^[A-Z].*\.$/)
      for (const flag of verb.flags) expect(settings.has(`--${flag.name}`)).toBe(false)
    }
    expect(new Set(VERBS.map((verb) => verb.name)).size).toBe(VERBS.length)
  })
})

test('a table lines up', () => {
  expect(
    table(
      ['ID', 'NAME'],
      [
        ['1', 'a'],
        ['22', ''],
      ],
    ),
  ).toBe('ID  NAME\n1   a\n22')
})
