/** The compiled executable, as it is handed out. `bun run check` builds it before the tests. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  ask,
  BINARY,
  emptyPlace,
  firstHour,
  logLines,
  type Place,
  reportXml,
  run,
  type Running,
  send,
  setUp,
  start,
  upload,
} from './smoke.ts'

test('the executable was built', () => {
  expect(existsSync(BINARY)).toBe(true)
})

test('the first hour, from an empty folder', firstHour, 60_000)

const offline = Bun.spawnSync(['unshare', '-rn', 'ip', 'link', 'set', 'lo', 'up'], {
  stderr: 'ignore',
}).success
test.skipIf(!offline)(
  'the first hour, with no network but loopback',
  async () => {
    const script = `ip link set lo up && exec "${process.execPath}" run "${join(import.meta.dir, 'smoke.ts')}"`
    const child = Bun.spawn(['unshare', '-rn', 'sh', '-c', script], { stdout: 'pipe', stderr: 'pipe' })
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    expect([await child.exited, out, err]).toEqual([0, 'smoke: the first hour went well\n', ''])
  },
  60_000,
)

describe('a running server', () => {
  let place: Place
  let server: Running
  beforeAll(async () => {
    place = emptyPlace()
    server = await start(place)
  })
  afterAll(async () => {
    await server.stop('SIGKILL')
    place.remove()
  })

  test('prints the setup link and keeps it where only its owner can read', async () => {
    const file = join(place.data, 'setup-link')
    const link = readFileSync(file, 'utf8').trim()
    expect(link).toStartWith(`${server.url}/setup#`)
    for (let waited = 0; waited < 2000 && !server.out().includes(link); waited += 10) await Bun.sleep(10)
    expect(server.out()).toContain(link)
    expect(server.err()).not.toContain(link.split('#')[1]!)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(place.data).mode & 0o777).toBe(0o700)
    for (const name of ['instance.key', 'wardpost.db', 'control.sock']) {
      expect([name, statSync(join(place.data, name)).mode & 0o077]).toEqual([name, 0])
    }
  })

  test('is ready, and tells its numbers to this machine', async () => {
    expect((await send(server.url, 'GET', '/healthz')).status).toBe(200)
    expect((await send(server.url, 'GET', '/readyz')).status).toBe(200)
    const metrics = await send(server.url, 'GET', '/metrics')
    expect(metrics.status).toBe(200)
    expect(String(metrics.body['text'])).toContain('wardpost_http_requests_total{')
  })

  test('a new setup link can be asked for, and the one before ends', async () => {
    const first = readFileSync(join(place.data, 'setup-link'), 'utf8').trim()
    const { link } = await ask(place, 'setup-link')
    expect(link).not.toBe(first)
    expect(readFileSync(join(place.data, 'setup-link'), 'utf8').trim()).toBe(link as string)
  })

  test('a second one on the same folder is refused with a clear line', async () => {
    const second = await run(place, ['serve', '--data', place.data, '--port', '0'])
    expect(second.code).toBe(1)
    expect(second.err).toContain(`another Wardpost process is using the data folder ${place.data}`)
    expect((await send(server.url, 'GET', '/readyz')).status).toBe(200)
  })

  test('a taken port is said in one line', async () => {
    const other = emptyPlace()
    const { port } = new URL(server.url)
    const refused = await run(other, ['serve', '--data', other.data, '--port', port])
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain(`port ${port} on 127.0.0.1 is taken by another program`)
    other.remove()
  })

  test('tenants, keys and users are made while it runs, and the setup ends', async () => {
    const tenant = await ask(place, 'tenant', 'create', '--name', 'acme', '--email', 'a@acme.test')
    expect(tenant).toEqual({
      tenant_id: expect.stringMatching(/^ten_/),
      user_id: expect.stringMatching(/^usr_/),
      api_key: expect.stringMatching(/^wdp_/),
    })
    expect(existsSync(join(place.data, 'setup-link'))).toBe(false)
    const me = await send(server.url, 'GET', '/v1/me', { key: tenant['api_key'] as string })
    expect(me.body['tenant']).toMatchObject({ id: tenant['tenant_id'], name: 'acme', plan: 'pro' })
    const key = await ask(place, 'key', 'create', '--name', 'ops', '--scopes', 'instance:read,audit:read')
    const instance = await send(server.url, 'GET', '/v1/instance', { key: key['api_key'] as string })
    expect(instance.body).toMatchObject({ base_url: server.url, tls: { mode: 'off' } })
    const { items } = (await ask(place, 'key', 'list')) as { items: { name: string }[] }
    expect(items.map((item) => item.name).sort((a, b) => a.localeCompare(b))).toEqual(['first key', 'ops'])
    await ask(place, 'key', 'revoke', key['key_id'] as string)
    expect((await send(server.url, 'GET', '/v1/instance', { key: key['api_key'] as string })).status).toBe(
      401,
    )
    const reset = await ask(place, 'user', 'reset', '--email', 'a@acme.test')
    expect(reset['link']).toStartWith(`${server.url}/reset#`)
    const setup = await run(place, ['setup-link', '--data', place.data, '--json'])
    expect([setup.code, JSON.parse(setup.out)]).toEqual([
      1,
      { error: { code: 'conflict', message: expect.any(String) } },
    ])
  })

  test('limits of its own are for enterprise tenants', async () => {
    const args = [
      'tenant',
      'create',
      '--name',
      'big',
      '--email',
      'b@big.test',
      '--data',
      place.data,
      '--json',
    ]
    expect((await run(place, [...args, '--limits', 'key=5'])).code).toBe(1)
    expect((await run(place, [...args, '--plan', 'enterprise', '--limits', 'keys=5'])).code).toBe(2)
    const made = await ask(
      place,
      ...args.slice(0, 6),
      '--plan',
      'enterprise',
      '--limits',
      'key=100000,tenant=1000000',
    )
    const response = await fetch(`${server.url}/v1/me`, {
      headers: { authorization: `Bearer ${made['api_key'] as string}` },
    })
    expect(response.headers.get('x-ratelimit-limit')).toBe('100000')
  })

  test('the doctor finds nothing', async () => {
    const { ok, findings } = (await ask(place, 'doctor')) as { ok: boolean; findings: { status: string }[] }
    expect(ok).toBe(true)
    expect(findings.filter((each) => each.status === 'failed')).toEqual([])
    expect(findings.length).toBeGreaterThan(8)
  })
})

describe('from start to start', () => {
  let place: Place
  beforeAll(() => {
    place = emptyPlace()
  })
  afterAll(() => place.remove())

  test('SIGTERM finishes what is under way, and everything is there at the next start', async () => {
    let server = await start(place)
    const cookie = await setUp(place, server)
    const made = await send(server.url, 'POST', '/v1/settings/keys', {
      cookie,
      body: { name: 'k', scopes: ['*'] },
    })
    const key = made.body['api_key'] as string
    const under_way = Array.from({ length: 20 }, (_, i) =>
      upload(server, key, `${i}.xml`, reportXml('northlight.example', '2026-01-10', `id-${i}`)),
    )
    await Promise.race(under_way)
    expect(await server.stop()).toBe(0)
    const accepted = (await Promise.all(under_way.map((each) => each.catch(() => null)))).filter(
      (answer) => answer?.status === 201,
    )
    expect(accepted.length).toBeGreaterThan(0)
    expect(logLines(server.err()).map((line) => line['msg'])).toContain('stopped')

    server = await start(place)
    const used = await fetch(`${server.url}/v1/reports?limit=500`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { items } = (await used.json()) as { items: unknown[] }
    expect(items.length).toBeGreaterThanOrEqual(accepted.length)
    // The counters of the limits went along: the requests of before still count.
    expect(Number(used.headers.get('x-ratelimit-remaining'))).toBeLessThan(100 - accepted.length)
    expect((await send(server.url, 'GET', '/v1/me', { cookie })).status).toBe(200)
    expect(await server.stop('SIGINT')).toBe(0)
  })

  test('commands open the folder themselves while no server runs', async () => {
    const made = await ask(place, 'tenant', 'create', '--name', 'second', '--email', 'b@second.test')
    const { items } = (await ask(place, 'tenant', 'list')) as { items: { id: string }[] }
    expect(items.map((item) => item.id)).toContain(made['tenant_id'] as string)
    const verified = (await ask(place, 'audit', 'verify')) as { ok: boolean; chains: { ok: boolean }[] }
    expect(verified.ok).toBe(true)
    expect(verified.chains).toHaveLength(3)
  })

  test('a folder of reports is imported, each file with its outcome', async () => {
    const { items } = (await ask(place, 'tenant', 'list')) as { items: { id: string; name: string }[] }
    const tenant = items.find((item) => item.name === 'second')!.id
    const folder = join(place.folder, 'incoming')
    await Bun.write(join(folder, 'a.xml'), reportXml('second.example', '2026-01-02'))
    await Bun.write(join(folder, 'deeper/b.xml.gz'), Bun.gzipSync(reportXml('second.example', '2026-01-03')))
    await Bun.write(join(folder, 'again.xml'), reportXml('second.example', '2026-01-02'))
    await Bun.write(join(folder, 'notes.txt'), 'this is not a report')
    await Bun.write(join(folder, '.hidden'), 'nor is this looked at')
    const done = await ask(place, 'import', folder, '--tenant', tenant)
    expect(done).toMatchObject({
      files: 4,
      created: 2,
      duplicates: 1,
      revisions: 0,
      rejected: 1,
      messages: 80,
    })
    const folds = done['folds'] as { file: string; status: string }[]
    expect(folds.toSorted((a, b) => a.status.localeCompare(b.status))).toEqual([
      {
        file: expect.stringMatching(/^a(gain)?\.xml$/),
        status: 'duplicate',
        id: expect.stringMatching(/^rpt_/),
      },
      {
        file: 'notes.txt',
        status: 'rejected',
        code: expect.any(String),
        detail: expect.any(String),
      },
    ] as never)
  })

  test('a backup is restored into another folder and serves there', async () => {
    const { path } = await ask(place, 'backup', join(place.folder, 'kept'))
    const other = emptyPlace()
    await ask(other, 'restore', path as string)
    const server = await start(other)
    const login = await send(server.url, 'POST', '/auth/login', {
      body: { email: 'mara@northlight.example', password: 'a quiet harbour at dawn' },
    })
    expect(login.status).toBe(200)
    const tenants = await ask(other, 'tenant', 'list')
    expect((tenants['items'] as { name: string }[]).map((item) => item.name)).toContain('Northlight Labs')
    expect(await server.stop()).toBe(0)
    const refused = await run(other, ['restore', path as string, '--data', other.data])
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('is not empty')
    other.remove()
  })
})

describe('the command line', () => {
  const place = emptyPlace()
  afterAll(() => place.remove())

  test.each([
    [['serve', '--prot', '1'], /unknown option --prot/],
    [['serve', '--port', 'x'], /--port: 'x' is not a whole number/],
    [['fly'], /there is no command 'fly'/],
    [['tenant', 'create', '--name', 'x'], /--email is needed/],
    [['key', 'revoke'], /KEY_ID is missing/],
    [['version', 'now'], /'now' is too much/],
    [['serve', '--host', '0.0.0.0'], /--host: 0.0.0.0 is not loopback/],
  ])('%j is a usage error', async (args, line) => {
    const { code, out, err } = await run(place, args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(line)
    expect(existsSync(join(place.folder, 'wardpost-data'))).toBe(false)
  })

  test('a variable that does not exist stops the start', async () => {
    const { code, err } = await run(place, ['version'], { WARDPOST_PROT: '8080' })
    expect([code, err]).toEqual([
      2,
      'wardpost: WARDPOST_PROT: there is no such setting; did you mean WARDPOST_PORT?\n',
    ])
  })

  test('only tenant create begins a data folder', async () => {
    const { code, err } = await run(place, ['tenant', 'list', '--data', './nowhere'])
    expect([code, err]).toEqual([
      1,
      'wardpost: there is no data folder at ./nowhere; --data says where it is\n',
    ])
    expect(existsSync(join(place.folder, 'nowhere'))).toBe(false)
  })

  test('what lies in the folder it is started from changes nothing', async () => {
    await Bun.write(join(place.folder, '.env'), 'WARDPOST_PROT=1\n')
    await Bun.write(join(place.folder, 'bunfig.toml'), 'preload = ["./nowhere.ts"]\n')
    const { code, out } = await run(place, ['version', '--json'])
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ version: expect.any(String) })])
  })

  test('every command explains itself', async () => {
    const { out } = await run(place, ['--help'])
    const names = [...out.matchAll(/^ {2}([a-z][a-z-]*(?: [a-z-]+)?) {2,}/gm)].map((match) => match[1]!)
    expect(names.length).toBeGreaterThan(12)
    for (const name of names) {
      const help = await run(place, [...name.split(' '), '--help'])
      expect([help.code, help.out]).toEqual([0, expect.stringContaining(`Usage: wardpost ${name}`)])
    }
  })
})

describe('the demo', () => {
  test('has a tenant with months of reports, in a folder of its own, and is the same at the next start', async () => {
    const place = emptyPlace()
    const counts: number[] = []
    for (let round = 0; round < 2; round++) {
      const server = await start(place, { verb: 'demo', data: null })
      const line = /Sign in as (\S+) with the password: (.+)/.exec(server.out())!
      const login = await send(server.url, 'POST', '/auth/login', {
        body: { email: line[1], password: line[2]! },
      })
      expect(login.status).toBe(200)
      const cookie = login.cookie!
      const domains = await send(server.url, 'GET', '/v1/domains', { cookie })
      expect((domains.body['items'] as unknown[]).length).toBeGreaterThan(2)
      const summary = await send(server.url, 'GET', '/v1/reports/summary?from=2020-01-01', { cookie })
      counts.push(summary.body['reports'] as number)
      expect(await server.stop()).toBe(0)
    }
    expect(counts[0]).toBeGreaterThan(300)
    expect(counts[1]).toBe(counts[0])
    expect(existsSync(join(place.folder, 'wardpost-demo/wardpost.db'))).toBe(true)
    expect(existsSync(join(place.folder, 'wardpost-data'))).toBe(false)
    place.remove()
  }, 60_000)
})

describe('behind a proxy', () => {
  test('the client is whom the proxy names, and nobody else is believed', async () => {
    const place = emptyPlace()
    const metrics = async (server: Running, headers: Record<string, string>): Promise<number> =>
      (await fetch(`${server.url}/metrics`, { headers })).status
    const stranger = { 'x-forwarded-for': '203.0.113.9' }
    const alone = await start(place)
    expect([await metrics(alone, {}), await metrics(alone, stranger)]).toEqual([200, 200])
    await alone.stop()
    const proxied = await start(place, { args: ['--behind-proxy', '127.0.0.0/8'] })
    expect([await metrics(proxied, {}), await metrics(proxied, stranger)]).toEqual([200, 401])
    const plain = await fetch(`${proxied.url}/healthz`)
    expect(plain.headers.get('strict-transport-security')).toBeNull()
    const secure = await fetch(`${proxied.url}/healthz`, { headers: { 'x-forwarded-proto': 'https' } })
    expect(secure.headers.get('strict-transport-security')).toContain('max-age=')
    await proxied.stop()
    place.remove()
  })
})

describe('TLS', () => {
  test('auto makes a certificate, prints its fingerprint and keeps it', async () => {
    const place = emptyPlace()
    const first = await start(place, { args: ['--tls', 'auto'] })
    const ca = readFileSync(join(place.data, 'tls/ca.crt'), 'utf8')
    expect(first.url).toStartWith('https://127.0.0.1:')
    const response = await fetch(`${first.url}/readyz`, { tls: { ca } })
    expect(response.status).toBe(200)
    expect(response.headers.get('strict-transport-security')).toContain('max-age=')
    const print = /Certificate SHA-256 ([0-9A-F:]{95})/.exec(first.out())![1]!
    expect(await first.stop()).toBe(0)
    const second = await start(place, { args: ['--tls', 'auto'] })
    expect(second.out()).toContain(print)
    expect(await second.stop()).toBe(0)
    place.remove()
  })
})
