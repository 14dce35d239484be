import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createSocket, type Socket } from 'node:dgram'
import { createServer, type Server } from 'node:net'
import { createResolver, type DnsResolver } from '../../src/net/dns.ts'

/** What the name server of the test says about a name: records (each of several strings), or an error code. */
type Zone = Record<string, string[][] | 'nodata' | 'nxdomain' | 'servfail' | 'refused' | 'silent'>

const ZONE: Zone = {
  'one.example': [['v=DMARC1; p=none']],
  'split.example': [['v=DMARC1; p=rej', 'ect']],
  'two.example': [['a'], ['b']],
  'long.example': [['v=DMARC1; p=none; rua=', 'x'.repeat(200), 'y'.repeat(200), 'z'.repeat(200)]],
  'nodata.example': 'nodata',
  'gone.example': 'nxdomain',
  'broken.example': 'servfail',
  'closed.example': 'refused',
  'silent.example': 'silent',
}
const CODES = { nodata: 0, nxdomain: 3, servfail: 2, refused: 5 } as const

let server: Socket
let stream: Server
let resolver: DnsResolver

/** Answers one question (RFC 1035 §4.1), enough for TXT. */
function answerTo(query: Buffer, size_max = 512): Buffer | null {
  let at = 12
  const labels: string[] = []
  while (query[at] !== 0) {
    labels.push(query.subarray(at + 1, at + 1 + query[at]!).toString())
    at += query[at]! + 1
  }
  const question = query.subarray(12, at + 5)
  const found = ZONE[labels.join('.').toLowerCase()] ?? 'nxdomain'
  if (found === 'silent') return null
  const records = typeof found === 'string' ? [] : found
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | (typeof found === 'string' ? CODES[found] : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  const answers = records.map((strings) => {
    const data = Buffer.concat(strings.map((text) => Buffer.from([text.length, ...Buffer.from(text)])))
    const record = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0])
    record.writeUInt16BE(data.length, 10)
    return Buffer.concat([record, data])
  })
  const whole = Buffer.concat([head, question, ...answers])
  if (whole.length <= size_max) return whole
  // Cut off (TC): ask again over TCP.
  head.writeUInt16BE(0x8380, 2)
  head.writeUInt16BE(0, 6)
  return Buffer.concat([head, question])
}

beforeAll(async () => {
  server = createSocket('udp4')
  server.on('message', (query, from) => {
    const answer = answerTo(query)
    if (answer !== null) server.send(answer, from.port, from.address)
  })
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
  stream = createServer((socket) => {
    socket.on('data', (chunk: Buffer) => {
      const answer = answerTo(chunk.subarray(2), 65_535)!
      const length = Buffer.alloc(2)
      length.writeUInt16BE(answer.length)
      // In two pieces, as a network may deliver it.
      socket.write(Buffer.concat([length, answer.subarray(0, 20)]))
      setTimeout(() => socket.write(answer.subarray(20)), 10)
    })
  })
  await new Promise<void>((resolve) => stream.listen(server.address().port, '127.0.0.1', resolve))
  resolver = createResolver({ servers: [`127.0.0.1:${server.address().port}`], timeout_ms: 600 })
})
afterAll(() => {
  server.close()
  stream.close()
})

describe('a look-up', () => {
  test('finds a record', async () => {
    expect(await resolver.txt('one.example')).toEqual({ state: 'found', values: ['v=DMARC1; p=none'] })
  })
  test('joins the strings of a record without a space', async () => {
    expect(await resolver.txt('split.example')).toEqual({ state: 'found', values: ['v=DMARC1; p=reject'] })
  })
  test('asks again over TCP when the answer is cut off', async () => {
    const answer = await resolver.txt('long.example')
    expect(answer.state === 'found' && answer.values.map((value) => value.length)).toEqual([622])
  })
  test('asks the next server when one fails', async () => {
    const port = server.address().port
    const two = createResolver({ servers: ['127.0.0.1:1', `127.0.0.1:${port}`], timeout_ms: 2000 })
    expect(await two.txt('one.example')).toMatchObject({ state: 'found' })
  })
  test('keeps records apart', async () => {
    const answer = await resolver.txt('two.example')
    expect(answer.state === 'found' && answer.values.toSorted()).toEqual(['a', 'b'])
  })
  for (const name of ['gone.example', 'nodata.example']) {
    test(`says that ${name} has none`, async () => {
      expect(await resolver.txt(name)).toEqual({ state: 'missing' })
    })
  }
  for (const name of ['broken.example', 'closed.example', 'silent.example']) {
    test(`never calls a failure missing: ${name}`, async () => {
      expect((await resolver.txt(name)).state).toBe('unknown')
    })
  }
  test('ends in time', async () => {
    const started = performance.now()
    await resolver.txt('silent.example')
    expect(performance.now() - started).toBeLessThan(1500)
  })
  test('without a resolver says so', async () => {
    const none = createResolver({ servers: 'none', timeout_ms: 1 })
    expect(await none.txt('one.example')).toEqual({ state: 'unknown', detail: 'no resolver' })
  })
})
