import { expect, test } from 'bun:test'
import { createSocket } from 'node:dgram'
import { createServer, type Server } from 'node:net'
import { createSyslog, syslogLine } from '../../src/net/syslog.ts'
import { failureOf } from '../support/db.ts'

const message = (text: string) => ({
  time: '2026-01-15T12:00:00.000Z',
  hostname: 'wardpost.example',
  id: 'checkpoint',
  text,
})
const HEAD = '<109>1 2026-01-15T12:00:00.000Z wardpost.example wardpost - checkpoint - '

test('a line is that of RFC 5424', () => {
  expect(syslogLine(message('{"a":"ü"}'))).toBe(`${HEAD}\u{feff}{"a":"ü"}`)
  expect(syslogLine({ ...message('x'), hostname: 'ü ' })).toStartWith(
    '<109>1 2026-01-15T12:00:00.000Z - wardpost',
  )
})

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
}

test('over TCP messages are counted in octets', async () => {
  const received = Promise.withResolvers<string>()
  const server = createServer((socket) => {
    const pieces: Buffer[] = []
    socket.on('data', (piece: Buffer) => pieces.push(piece))
    socket.on('end', () => {
      received.resolve(Buffer.concat(pieces).toString('utf8'))
      socket.end()
    })
  })
  const port = await listen(server)
  const long = 'y'.repeat(100_000)
  await createSyslog().send({ host: '127.0.0.1', port, protocol: 'tcp' }, [message('ü'), message(long)])
  const [first, second] = [syslogLine(message('ü')), syslogLine(message(long))]
  expect(await received.promise).toBe(
    `${Buffer.byteLength(first)} ${first}${Buffer.byteLength(second)} ${second}`,
  )
  server.close()
})

test('over UDP each is a datagram, and what does not fit is refused', async () => {
  const socket = createSocket('udp4')
  const received: string[] = []
  const both = Promise.withResolvers<void>()
  socket.on('message', (data) => {
    if (received.push(data.toString('utf8')) === 2) both.resolve()
  })
  await new Promise<void>((resolve) => void socket.bind(0, '127.0.0.1', resolve))
  const target = { host: '127.0.0.1', port: socket.address().port, protocol: 'udp' as const }
  await createSyslog().send(target, [message('a'), message('b')])
  await both.promise
  expect(received).toEqual([`${HEAD}\u{feff}a`, `${HEAD}\u{feff}b`])
  expect(String(await failureOf(createSyslog().send(target, [message('x'.repeat(9000))])))).toContain(
    'choose tcp',
  )
  socket.close()
})

test('nobody there, or somebody who says nothing, is a failure in time', async () => {
  const gone = createServer()
  const port = await listen(gone)
  await new Promise((resolve) => void gone.close(resolve))
  expect(
    await failureOf(createSyslog().send({ host: '127.0.0.1', port, protocol: 'tcp' }, [message('a')])),
  ).toBeInstanceOf(Error)
  const silent = createServer({ allowHalfOpen: true }, () => {})
  const other = await listen(silent)
  const send = createSyslog({ timeout_ms: 100 }).send({ host: '127.0.0.1', port: other, protocol: 'tcp' }, [
    message('a'),
  ])
  expect(String(await failureOf(send))).toContain('no answer within 0.1 s')
  await send.catch(() => {})
  silent.close()
})
