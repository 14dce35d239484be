import { afterAll, describe, expect, test } from 'bun:test'
import net from 'node:net'
import tls from 'node:tls'
import { makeAuthority, makeServerCertificate, type KeyPairPem } from '../../src/net/certificate.ts'
import { createEgressPolicy, isRefusal } from '../../src/net/egress-policy.ts'
import type { EgressAnswer } from '../../src/net/http.ts'
import type { Lookup } from '../../src/net/lookup.ts'
import { parseCidr } from '../../src/lib/ip.ts'
import { ca, HOST, loopbackEgress, serverCertificate, toLoopback } from '../support/receivers.ts'

const DAY_MS = 86_400_000

describe('the policy', () => {
  const policy = createEgressPolicy({ allow: [], ports: null })
  const refused = (ip: string): boolean => policy.refusesAddress(ip) !== null

  test.each(
    `0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.1.1 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1
     192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255
     :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::a00:1 fc00::1 fd12::1 fe80::1 fe80::1%eth0 fec0::1
     ff02::1 2001::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 3fff::1 168.63.129.16 169.254.169.254
     100.100.100.200 fd00:ec2::254 localhost 1.2.3 0x7f.1`
      .split(/\s+/)
      .map((ip) => [ip]),
  )('refuses %s', (ip) => {
    expect(refused(ip)).toBe(true)
  })

  test.each(
    '1.1.1.1 8.8.8.8 172.15.0.1 172.32.0.1 192.0.1.1 198.20.0.1 223.255.255.255 2606:4700::1 2a00:1450::1 ::ffff:8.8.8.8'
      .split(' ')
      .map((ip) => [ip]),
  )('lets %s through', (ip) => {
    expect(refused(ip)).toBe(false)
  })

  test('lets through what the operator lists, and metadata never', () => {
    const open = createEgressPolicy({ allow: [parseCidr('0.0.0.0/0')!, parseCidr('::/0')!], ports: null })
    expect(open.refusesAddress('10.0.0.1')).toBeNull()
    expect(open.refusesAddress('::1')).toBeNull()
    for (const ip of ['169.254.169.254', '::ffff:169.254.169.254', '168.63.129.16', 'fd00:ec2::254']) {
      expect(open.refusesAddress(ip)?.reason).toBe('metadata')
    }
  })

  const targets: [url: string, expected: string][] = [
    ['https://example.com/hook', 'example.com:443/hook'],
    ['https://Example.com./a?b=c', 'example.com:443/a?b=c'],
    ['https://example.com:8443', 'example.com:8443/'],
    ['https://8.8.8.8/x', '8.8.8.8:443/x'],
    ['https://[2606:4700::1]/x', '2606:4700::1:443/x'],
    ['http://example.com', 'scheme'],
    ['ftp://example.com', 'scheme'],
    ['https://user@example.com', 'credentials'],
    ['https://user:pw@example.com', 'credentials'],
    ['https://example.com/#x', 'fragment'],
    ['https://example.com/#', 'fragment'],
    ['example.com', 'invalid'],
    ['https://', 'invalid'],
    [`https://example.com/${'a'.repeat(3000)}`, 'invalid'],
    ['https://example.com:22', 'port'],
    ['https://example.com:25', 'port'],
    ['https://example.com:6379', 'port'],
    ['https://127.0.0.1', 'address'],
    ['https://2130706433/', 'address'],
    ['https://0x7f.1/', 'address'],
    ['https://0177.0.0.1/', 'address'],
    ['https://127.1/', 'address'],
    ['https://①②⑦.0.0.1/', 'address'],
    ['https://[::1]/', 'address'],
    ['https://[::ffff:7f00:1]/', 'address'],
    ['https://[::127.0.0.1]/', 'address'],
    ['https://169.254.169.254/latest/meta-data', 'metadata'],
  ]
  test.each(targets)('reads %s as %s', (url, expected) => {
    const target = policy.readTarget(url)
    expect(isRefusal(target) ? target.reason : `${target.host}:${target.port}${target.path}`).toBe(expected)
  })

  test('narrows the ports to those of the operator', () => {
    const narrow = createEgressPolicy({ allow: [], ports: [443] })
    expect(isRefusal(narrow.readTarget('https://example.com'))).toBe(false)
    expect(narrow.readTarget('https://example.com:8443')).toMatchObject({ reason: 'port' })
  })
})

const servers: { close(): void }[] = []
afterAll(() => {
  for (const each of servers) each.close()
})

async function listen(server: net.Server): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as net.AddressInfo).port
}

type Behaviour = (socket: net.Socket) => void

/** Speaks TLS; what it does after the request has begun to arrive is its own business. */
async function overTls(behave: Behaviour, pair?: KeyPairPem): Promise<number> {
  const { cert, key } = pair ?? (await serverCertificate())
  return listen(
    tls.createServer({ cert, key }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => behave(socket))
    }),
  )
}

const plain = (behave: Behaviour): Promise<number> =>
  listen(
    net.createServer((socket) => {
      socket.on('error', () => {})
      behave(socket)
    }),
  )

const HEAD = 'HTTP/1.1 200 OK\r\n'
const made = (names: string[], at: number, by?: KeyPairPem): Promise<KeyPairPem> =>
  (by === undefined ? ca() : Promise.resolve(by)).then((one) => makeServerCertificate(one, names, at))

/** A process that listens and then never takes a connection: the kernel answers, nobody accepts. */
async function neverAccepts(): Promise<number> {
  const script = `const s = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    require('fs').writeSync(1, String(s.port) + '\\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  servers.push({ close: () => child.kill('SIGKILL') })
  const { value } = await child.stdout.getReader().read()
  return Number(new TextDecoder().decode(value).trim())
}

interface Case {
  name: string
  port(): Promise<number>
  lookup?: Lookup
  allow?: string
  error: string | null
  status?: number
  /** It ends only when the time is over. */
  slow?: true
}

const CASES: Case[] = [
  { name: 'hangs before it accepts', port: neverAccepts, error: 'timeout', slow: true },
  { name: 'hangs in TLS', port: () => plain(() => {}), error: 'timeout', slow: true },
  { name: 'hangs in the headers', port: () => overTls(() => {}), error: 'timeout', slow: true },
  {
    name: 'hangs in the middle of the headers',
    port: () => overTls((socket) => socket.write(`${HEAD}content-le`)),
    error: 'timeout',
    slow: true,
  },
  {
    name: 'hangs in the body',
    port: () => overTls((socket) => socket.write(`${HEAD}content-length: 100\r\n\r\nabc`)),
    error: 'timeout',
    status: 200,
    slow: true,
  },
  {
    name: 'drips its body',
    port: () =>
      overTls((socket) => {
        socket.write(`${HEAD}\r\n`)
        const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('a')), 50)
      }),
    error: 'timeout',
    status: 200,
    slow: true,
  },
  {
    name: 'never resolves',
    port: async () => 443,
    lookup: () => new Promise(() => {}),
    error: 'timeout',
    slow: true,
  },
  {
    name: 'has a body without an end',
    port: () =>
      overTls((socket) => {
        socket.write(`${HEAD}\r\n`)
        const more = (): void => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 97)));
        }
        socket.on('drain', more)
        more()
      }),
    error: null,
    status: 200,
  },
  {
    name: 'announces a short body and sends one without an end',
    port: () =>
      overTls((socket) => {
        socket.write(`${HEAD}content-length: 10\r\ntransfer-encoding: chunked\r\n\r\n`)
        const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`
        const more = (): void => {
          while (!socket.destroyed && socket.write(chunk));
        }
        socket.on('drain', more)
        more()
      }),
    error: null,
    status: 200,
  },
  {
    name: 'has headers without an end',
    port: () =>
      overTls((socket) => {
        socket.write(HEAD)
        const line = `x-a: ${'b'.repeat(60_000)}\r\n`
        const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(line)), 1)
      }),
    error: 'protocol',
  },
  {
    name: 'redirects to a metadata address',
    port: () =>
      overTls((socket) =>
        socket.end(
          'HTTP/1.1 301 Moved\r\nlocation: http://169.254.169.254/latest\r\ncontent-length: 0\r\n\r\n',
        ),
      ),
    error: null,
    status: 301,
  },
  {
    name: 'has an expired certificate',
    port: async () => overTls(() => {}, await made([HOST], Date.now() - 500 * DAY_MS)),
    error: 'tls',
  },
  {
    name: 'has a certificate for another name',
    port: async () => overTls(() => {}, await made(['other.test'], Date.now())),
    error: 'tls',
  },
  {
    name: 'has a certificate of an unknown authority',
    port: async () => overTls(() => {}, await made([HOST], Date.now(), await makeAuthority(Date.now()))),
    error: 'tls',
  },
  {
    name: 'speaks no TLS',
    port: () => plain((socket) => socket.end('HTTP/1.1 400 Bad\r\n\r\n')),
    error: 'tls',
  },
  { name: 'resets at once', port: () => plain((socket) => socket.resetAndDestroy()), error: 'reset' },
  { name: 'resets after the request', port: () => overTls((socket) => socket.destroy()), error: 'reset' },
  {
    name: 'resets in the body',
    port: () =>
      overTls((socket) => {
        socket.write(`${HEAD}content-length: 100\r\n\r\nabc`)
        setTimeout(() => socket.destroy(), 20)
      }),
    error: 'reset',
    status: 200,
  },
  {
    name: 'has a name that does not exist',
    port: async () => 443,
    lookup: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
    error: 'dns',
  },
  { name: 'has a name without addresses', port: async () => 443, lookup: async () => [], error: 'dns' },
  {
    name: 'leads to a private address',
    port: async () => 443,
    lookup: async () => ['10.0.0.1'],
    error: 'blocked',
  },
  {
    name: 'leads to a metadata address, whatever is allowed',
    port: async () => 443,
    lookup: async () => ['169.254.169.254', '::ffff:a9fe:a9fe'],
    allow: '0.0.0.0/0',
    error: 'blocked',
  },
]

async function ask(each: Case, timeout_ms: number): Promise<EgressAnswer & { took: number }> {
  const egress = await loopbackEgress(each.lookup, each.allow)
  const port = await each.port()
  const started = performance.now()
  const answer = await egress.send({
    url: `https://${HOST}:${port}/hook`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{}'),
    timeout_ms,
    response_bytes: 16 * 1024,
  })
  return { ...answer, took: performance.now() - started }
}

describe('a receiver that', () => {
  const SHORT_MS = 400
  for (const each of CASES) {
    test(`${each.name}: ${each.error ?? each.status}`, async () => {
      const answer = await ask(each, SHORT_MS)
      expect([answer.error?.class ?? null, answer.status]).toEqual([each.error as never, each.status ?? null])
      expect(answer.took).toBeLessThan(SHORT_MS + 200)
      if (each.slow === true) expect(answer.took).toBeGreaterThan(SHORT_MS - 20)
      expect(answer.body.length).toBeLessThanOrEqual(16 * 1024)
    })
  }

  test('is on no port at all: connect', async () => {
    const port = await plain(() => {})
    servers.pop()!.close()
    const answer = await ask({ name: '', port: async () => port, error: 'connect' }, SHORT_MS)
    expect(answer.error?.class).toBe('connect')
  })

  test('hangs anywhere has ten seconds, with the real time-out', async () => {
    const slow = CASES.filter((each) => each.slow === true)
    const answers = await Promise.all(slow.map((each) => ask(each, 10_000)))
    for (const [index, answer] of answers.entries()) {
      expect([slow[index]!.name, answer.error?.class]).toEqual([slow[index]!.name, 'timeout'])
      expect(answer.took).toBeGreaterThan(9900)
      expect(answer.took).toBeLessThan(10_500)
    }
  }, 15_000)

  test('has a body without an end is read for 16 kB and then left', async () => {
    const endless = CASES.find((each) => each.name === 'has a body without an end')!
    const answer = await ask(endless, 2000)
    expect([answer.body.length, answer.truncated]).toEqual([16 * 1024, true])
    expect(answer.took).toBeLessThan(1000)
  })
})

describe('a name', () => {
  const counting = (answers: (n: number) => string[]): Lookup & { asked: () => number } => {
    let n = 0
    return Object.assign(async () => answers(n++), { asked: () => n })
  }
  const send = async (lookup: Lookup, port: number, allow?: string): Promise<EgressAnswer> =>
    (await loopbackEgress(lookup, allow)).send({
      url: `https://${HOST}:${port}/`,
      method: 'POST',
      headers: {},
      body: null,
      timeout_ms: 1000,
      response_bytes: 100,
    })

  test('is looked up once an attempt, and at every attempt', async () => {
    const port = await overTls((socket) => socket.end(`${HEAD}content-length: 2\r\n\r\nok`))
    const lookup = counting(() => ['127.0.0.1'])
    const egress = await loopbackEgress(lookup)
    for (let i = 1; i <= 3; i++) {
      const url = `https://${HOST}:${port}/`
      const request = { url, method: 'POST' as const, headers: {}, body: null }
      const answer = await egress.send({ ...request, timeout_ms: 1000, response_bytes: 100 })
      expect([answer.status, answer.address, lookup.asked()]).toEqual([200, '127.0.0.1', i])
    }
  })

  test('that changes between look-ups cannot lead somewhere else than what was checked', async () => {
    const port = await overTls((socket) => socket.end(`${HEAD}content-length: 2\r\n\r\nok`))
    // Public at creation, loopback when it counts.
    const rebinding = counting((n) => (n === 0 ? ['8.8.8.8'] : ['127.0.0.1']))
    const egress = await loopbackEgress(rebinding, '')
    expect(await egress.refuses(`https://${HOST}:${port}/`)).toBeNull()
    const request = { url: `https://${HOST}:${port}/`, method: 'POST' as const, headers: {}, body: null }
    const answer = await egress.send({ ...request, timeout_ms: 1000, response_bytes: 100 })
    expect([answer.error?.class, answer.status]).toEqual(['blocked', null])
  })

  test('with one good address among bad ones goes to the good one', async () => {
    const port = await overTls((socket) => socket.end(`${HEAD}content-length: 2\r\n\r\nok`))
    const answer = await send(async () => ['10.0.0.1', '127.0.0.1'], port)
    expect([answer.status, answer.address]).toEqual([200, '127.0.0.1'])
  })

  test('whose first address is dead goes to the next', async () => {
    const port = await overTls((socket) => socket.end(`${HEAD}content-length: 2\r\n\r\nok`))
    const answer = await send(async () => ['127.0.0.2', '127.0.0.1'], port)
    expect([answer.status, answer.address]).toEqual([200, '127.0.0.1'])
  })

  test('with a kept connection is checked again: what moved away is not sent to', async () => {
    const port = await overTls((socket) => socket.write(`${HEAD}content-length: 2\r\n\r\nok`))
    let address = '127.0.0.1'
    const egress = await loopbackEgress(async () => [address], '127.0.0.1/32')
    const request = {
      url: `https://${HOST}:${port}/`,
      method: 'POST' as const,
      headers: {},
      body: null,
      timeout_ms: 1000,
      response_bytes: 100,
    }
    expect((await egress.send(request)).status).toBe(200)
    address = '10.0.0.1'
    expect((await egress.send(request)).error?.class).toBe('blocked')
  })

  test('is what the certificate must be for, also when the connection to its address is open already', async () => {
    const port = await overTls((socket) => socket.write(`${HEAD}content-length: 2\r\n\r\nok`))
    const egress = await loopbackEgress(toLoopback)
    const to = (host: string) =>
      egress.send({
        url: `https://${host}:${port}/`,
        method: 'POST',
        headers: {},
        body: null,
        timeout_ms: 1000,
        response_bytes: 100,
      })
    expect((await to(HOST)).status).toBe(200)
    expect((await to('elsewhere.test')).error?.class).toBe('tls')
  })
})

test('a proxy of the environment is not used', async () => {
  const port = await overTls((socket) => socket.end(`${HEAD}content-length: 2\r\n\r\nok`))
  process.env['HTTPS_PROXY'] = 'http://127.0.0.1:9'
  try {
    const answer = await ask({ name: '', port: async () => port, error: null }, 1000)
    expect(answer.status).toBe(200)
  } finally {
    delete process.env['HTTPS_PROXY']
  }
})
