/**
 * DNS as a port. What a look-up says is one of three things, and they are never mixed up: the records, that there are
 * none, or that nobody knows (a failing or silent server). Only the second is a fact about the domain.
 *
 * The queries are our own (UDP, TCP when the answer is cut off): the runtime's resolver does not tell where one TXT
 * record of several strings ends and the next begins, and long policies and keys are such records.
 */
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { connect } from 'node:net'
import { type DecodedPacket, decode, encode, RECURSION_DESIRED, streamDecode, streamEncode } from 'dns-packet'
import { systemClock } from '../lib/clock.ts'

export type DnsAnswer<T> =
  | { state: 'found'; values: T[] }
  | { state: 'missing' }
  | { state: 'unknown'; detail: string }

export interface DnsResolver {
  mode: 'system' | 'servers' | 'none'
  /** For people: which servers are asked. */
  detail: string
  /** TXT records, the strings of each joined without space (RFC 7208 §3.3). Never throws. */
  txt(name: string): Promise<DnsAnswer<string>>
}

export interface ResolverOptions {
  /** `system`, `none`, or addresses with an optional port (`192.0.2.1:53`, `[2001:db8::1]:53`). */
  servers: 'system' | 'none' | readonly string[]
  /** For a whole look-up. */
  timeout_ms: number
}

interface Server {
  host: string
  port: number
}

const DNS_PORT = 53
const ROUNDS = 2
const TCP_BYTES_MAX = 65_537

export function createResolver({ servers, timeout_ms }: ResolverOptions): DnsResolver {
  if (servers === 'none') {
    const answer = { state: 'unknown', detail: 'no resolver' } as const
    return { mode: 'none', detail: 'No resolver: names are not looked up', txt: async () => answer }
  }
  const named = servers === 'system' ? getServers() : servers
  const list = named.map(readServer)
  return {
    mode: servers === 'system' ? 'system' : 'servers',
    detail: named.join(', '),
    async txt(name) {
      const deadline = systemClock.monotonic() + timeout_ms
      let detail = 'there is no name server to ask'
      // Another server may know what the first did not; a name that does not exist is asked once.
      for (let round = 0; round < ROUNDS; round++) {
        for (const [i, server] of list.entries()) {
          const left = ROUNDS * list.length - round * list.length - i
          const patience = (deadline - systemClock.monotonic()) / left
          if (patience <= 0) break
          const answer = await ask(server, name, patience)
          if (answer.state !== 'unknown') return answer
          detail = answer.detail
        }
      }
      return { state: 'unknown', detail }
    },
  }
}

async function ask(server: Server, name: string, timeout_ms: number): Promise<DnsAnswer<string>> {
  const id = randomInt(1, 65_536)
  const query = {
    type: 'query' as const,
    id,
    flags: RECURSION_DESIRED,
    questions: [{ type: 'TXT' as const, name }],
  }
  const fits = (packet: DecodedPacket): boolean =>
    packet.id === id &&
    packet.type === 'response' &&
    packet.questions?.[0]?.name.toLowerCase() === name.toLowerCase()
  try {
    const short = await within(timeout_ms, (signal) => overUdp(server, encode(query), fits, signal))
    const packet = short.flag_tc
      ? await within(timeout_ms, (signal) => overTcp(server, streamEncode(query), signal))
      : short
    return fits(packet) ? read(packet) : { state: 'unknown', detail: 'the answer was for another question' }
  } catch (error) {
    return { state: 'unknown', detail: error instanceof Error ? error.message : 'the look-up failed' }
  }
}

/** `rcode` (RFC 1035 §4.1.1): only NOERROR and NXDOMAIN say anything about the name. */
function read(packet: DecodedPacket): DnsAnswer<string> {
  const rcode = (packet as DecodedPacket & { rcode: string }).rcode
  if (rcode === 'NXDOMAIN') return { state: 'missing' }
  if (rcode === 'SERVFAIL') return { state: 'unknown', detail: 'the name server failed (SERVFAIL)' }
  if (rcode === 'REFUSED') return { state: 'unknown', detail: 'the name server refused' }
  if (rcode !== 'NOERROR') return { state: 'unknown', detail: `the name server answered ${rcode}` }
  const values = (packet.answers ?? []).flatMap((answer) =>
    answer.type === 'TXT' ? [textOf(answer.data)] : [],
  )
  return values.length === 0 ? { state: 'missing' } : { state: 'found', values }
}

function textOf(data: string | Buffer | (string | Buffer)[]): string {
  return [data]
    .flat()
    .map((part) => (typeof part === 'string' ? part : part.toString('utf8')))
    .join('')
}

function overUdp(
  { host, port }: Server,
  query: Buffer,
  fits: (packet: DecodedPacket) => boolean,
  signal: AbortSignal,
): Promise<DecodedPacket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    const end = (settle: () => void): void => {
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      socket.close()
      settle()
    }
    signal.addEventListener('abort', () => end(() => reject(signal.reason as Error)), { once: true })
    socket.on('error', () => end(() => reject(new Error('the name server cannot be reached'))))
    socket.on('message', (message) => {
      const packet = decodeOr(() => decode(message))
      // Anybody can send to this port: what does not fit the question is not looked at.
      if (packet !== null && fits(packet)) end(() => resolve(packet))
    })
    socket.send(query, port, host)
  })
}

function overTcp({ host, port }: Server, query: Buffer, signal: AbortSignal): Promise<DecodedPacket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    const chunks: Buffer[] = []
    let bytes = 0
    const fail = (): void => {
      socket.destroy()
      reject(signal.aborted ? (signal.reason as Error) : new Error('the name server cannot be reached'))
    }
    signal.addEventListener('abort', fail, { once: true })
    socket.on('error', fail)
    socket.on('close', fail)
    socket.on('connect', () => socket.write(query))
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      const whole = Buffer.concat(chunks)
      if (bytes > TCP_BYTES_MAX) return fail()
      if (whole.length < 2 || whole.length < whole.readUInt16BE(0) + 2) return
      const packet = decodeOr(() => streamDecode(whole) as DecodedPacket)
      if (packet === null) return fail()
      socket.removeAllListeners('close')
      socket.destroy()
      resolve(packet)
    })
  })
}

function decodeOr(read_packet: () => DecodedPacket): DecodedPacket | null {
  try {
    return read_packet()
  } catch {
    return null
  }
}

async function within<T>(timeout_ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error('no answer in time')), timeout_ms)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

function readServer(text: string): Server {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text)
  if (bracketed !== null) return { host: bracketed[1]!, port: Number(bracketed[2] ?? DNS_PORT) }
  const [host, port, ...more] = text.split(':')
  if (more.length > 0) return { host: text, port: DNS_PORT }
  return { host: host!, port: Number(port ?? DNS_PORT) }
}
