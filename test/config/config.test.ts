import { describe, expect, test } from 'bun:test'
import { type Config, describeSettings, readConfig } from '../../src/config.ts'

const configOf = (argv: string[], env: Record<string, string> = {}): Config => {
  const result = readConfig(argv, env)
  if (!result.ok) throw new Error(result.problems.join('\n'))
  return result.config
}

const problemsOf = (argv: string[], env: Record<string, string> = {}): string[] => {
  const result = readConfig(argv, env)
  return result.ok ? [] : result.problems
}

describe('settings', () => {
  test('with none given the defaults stand', () => {
    expect(configOf([])).toEqual({
      data: './wardpost-data',
      host: '127.0.0.1',
      port: 8080,
      base_url: null,
      tls: { mode: 'off' },
      behind_proxy: [],
      resolver: { mode: 'system', servers: [] },
      egress_allow: [],
      egress_ports: null,
      ca_file: null,
      asn_db: null,
      checkpoints: null,
      log_level: 'info',
    })
  })

  test('a flag wins over the environment, in both ways of writing it', () => {
    const env = { WARDPOST_PORT: '1000', WARDPOST_DATA: '/from/env' }
    const result = readConfig(['--port=2000', '--log-level', 'debug'], env)
    expect(result.ok && result.config).toMatchObject({ port: 2000, data: '/from/env', log_level: 'debug' })
    expect(result.ok && result.settings.map((row) => [row.name, row.source])).toContainEqual(['port', 'flag'])
    expect(result.ok && result.settings.map((row) => [row.name, row.source])).toContainEqual([
      'data',
      'environment',
    ])
  })

  test('what is not a setting is left for the verb', () => {
    const result = readConfig(['create', '--name', 'acme', '--data', 'd', '--json'], {})
    expect(result.ok && result.rest).toEqual(['create', '--name', 'acme', '--json'])
    expect(result.ok && result.config.data).toBe('d')
  })

  test('lists and addresses come out in one form', () => {
    const config = configOf([], {
      WARDPOST_BEHIND_PROXY: '10.1.2.3/8, fd00:0:0::1/16,192.0.2.7',
      WARDPOST_RESOLVER: '9.9.9.9,[2620:fe::fe]:5353,2620:fe::9,127.0.0.1:54',
      WARDPOST_BASE_URL: 'https://Wardpost.Example:443/',
      WARDPOST_EGRESS_ALLOW: '192.168.7.0/24',
      WARDPOST_EGRESS_PORTS: '443, 8443',
    })
    expect([config.egress_allow, config.egress_ports]).toEqual([['192.168.7.0/24'], [443, 8443]])
    expect(config.behind_proxy).toEqual(['10.0.0.0/8', 'fd00::/16', '192.0.2.7/32'])
    expect(config.resolver).toEqual({
      mode: 'servers',
      servers: ['9.9.9.9:53', '[2620:fe::fe]:5353', '[2620:fe::9]:53', '127.0.0.1:54'],
    })
    expect(config.base_url).toBe('https://wardpost.example')
  })

  const wrong: [string, string[], Record<string, string>, RegExp][] = [
    [
      'a misspelt variable',
      [],
      { WARDPOST_PROT: '1' },
      /^WARDPOST_PROT: there is no .* mean WARDPOST_PORT\?$/,
    ],
    [
      'an unknown variable',
      [],
      { WARDPOST_COLOUR_SCHEME: 'x' },
      /^WARDPOST_COLOUR_SCHEME: there is no such setting$/,
    ],
    ['a port in words', ['--port', 'eighty'], {}, /^--port: 'eighty' is not a whole number from 0 to 65535$/],
    ['a port too large', [], { WARDPOST_PORT: '65536' }, /^WARDPOST_PORT: '65536' is not/],
    ['a flag without its value', ['--port'], {}, /^--port: needs a value$/],
    ['a flag that swallowed the next', ['--data', '--port', '1'], {}, /^--data: needs a value$/],
    ['a flag given twice', ['--port', '1', '--port', '2'], {}, /^--port: given twice$/],
    ['a base URL with a path', ['--base-url', 'https://a.test/x'], {}, /^--base-url: .* must be a scheme/],
    ['a base URL of another scheme', ['--base-url', 'ftp://a.test'], {}, /^--base-url: 'ftp/],
    ['a network that is none', ['--behind-proxy', '10.0.0.0/33'], {}, /^--behind-proxy: '10.0.0.0\/33'/],
    ['a resolver by name', ['--resolver', 'dns.google'], {}, /^--resolver: 'dns.google'/],
    ['a port that is none', ['--egress-ports', '443,0'], {}, /^--egress-ports: '0' is not a port/],
    ['a log level that is none', [], { WARDPOST_LOG_LEVEL: 'loud' }, /one of debug, info, warn, error$/],
    ['a host that is none', ['--host', 'a b'], {}, /^--host: 'a b' is neither/],
    [
      'a certificate without a key',
      ['--tls-cert', 'c.pem'],
      {},
      /^--tls-key: certificate and key go together$/,
    ],
    ['a key without a certificate', ['--tls-key', 'k.pem'], {}, /^--tls-cert: /],
    ['auto and files', ['--tls', 'auto', '--tls-cert', 'c', '--tls-key', 'k'], {}, /^--tls: auto/],
    ['plain HTTP for everybody', ['--host', '0.0.0.0'], {}, /^--host: 0.0.0.0 is not loopback/],
    ['plain HTTP on a name', ['--host', 'mail.example'], {}, /^--host: mail.example is not loopback/],
  ]
  test.each(wrong)('%s stops the start with one line that names it', (_, argv, env, line) => {
    const problems = problemsOf(argv, env)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(line)
  })

  test.each([
    ['on the loopback network', ['--host', '127.8.9.1']],
    ['on IPv6 loopback', ['--host', '::1']],
    ['on localhost', ['--host', 'localhost']],
    ['behind a named proxy', ['--host', '0.0.0.0', '--behind-proxy', '10.0.0.0/8']],
  ])('plain HTTP is allowed %s', (_, argv) => {
    expect(problemsOf(argv)).toEqual([])
  })

  test('TLS opens every address', () => {
    expect(configOf(['--host', '0.0.0.0', '--tls', 'auto']).tls).toEqual({ mode: 'auto' })
    expect(configOf(['--host', '::', '--tls-cert', 'c', '--tls-key', 'k']).tls).toEqual({
      mode: 'files',
      cert: 'c',
      key: 'k',
    })
  })

  test('variables of the tests and empty ones do not count', () => {
    expect(problemsOf([], { WARDPOST_TEST_DATA: '/x', WARDPOST_PORT: '', HOME: '/root' })).toEqual([])
  })

  test('the README lists every setting as it is', async () => {
    const readme = await Bun.file(new URL('../../README.md', import.meta.url)).text()
    for (const row of describeSettings()) {
      const fallback = row.default === null ? '' : `\`${row.default}\``
      const cells = [`\`${row.env}\``, `\`${row.flag}\``, fallback, row.doc]
      expect(readme).toContain(`| ${cells.join(' | ').replace('|  |', '| |')} |`)
    }
  })
})
