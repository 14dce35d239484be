/**
 * Syslog (RFC 5424) over UDP (RFC 5426, a message a datagram) or TCP (RFC 6587, octet counting). One connection for what
 * is sent at once; there is no answer in this protocol, so over TCP "sent" means taken by the other side's system, and
 * over UDP that it left.
 */
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'

export interface SyslogTarget {
  host: string
  port: number
  protocol: 'udp' | 'tcp'
}

export interface SyslogMessage {
  /** ISO 8601. */
  time: string
  hostname: string
  /** Kind of message: at most 32 visible ASCII characters. */
  id: string
  text: string
}

export interface Syslog {
  /** In order. Rejects with the reason when they could not all be sent. */
  send(target: SyslogTarget, messages: readonly SyslogMessage[]): Promise<void>
}

/** Facility 13 (log audit), severity 5 (notice). */
const PRIORITY = 13 * 8 + 5
const UDP_BYTES_MAX = 8192
const TIMEOUT_MS = 10_000

/** `<PRI>VERSION TIME HOST APP PROCID MSGID SD MSG`; the text is marked as UTF-8 (section 6.4). */
export function syslogLine({ time, hostname, id, text }: SyslogMessage): string {
  const host = hostname.replaceAll(/[^\x21-\x7e]/g, '').slice(0, 255) || '-'
  return `<${PRIORITY}>1 ${time} ${host} wardpost - ${id} - \u{feff}${text}`
}

export function createSyslog(options: { timeout_ms: number } = { timeout_ms: TIMEOUT_MS }): Syslog {
  return {
    async send(target, messages) {
      const lines = messages.map((message) => Buffer.from(syslogLine(message), 'utf8'))
      if (target.protocol === 'tcp') return sendTcp(target, lines, options.timeout_ms)
      const long = lines.find((line) => line.length > UDP_BYTES_MAX)
      if (long !== undefined) throw new Error(`${long.length} bytes do not fit into a datagram: choose tcp`)
      return sendUdp(target, lines)
    },
  }
}

function sendTcp({ host, port }: SyslogTarget, lines: readonly Buffer[], timeout_ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    const fail = (error: Error): void => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(timeout_ms, () => fail(new Error(`no answer within ${timeout_ms / 1000} s`)))
    socket.on('error', fail)
    socket.on('connect', () => {
      const frames = lines.flatMap((line) => [Buffer.from(`${line.length} `, 'ascii'), line])
      socket.end(Buffer.concat(frames))
    })
    // Read away, so that the end of the other side is seen.
    socket.resume()
    socket.on('close', (failed) => {
      if (!failed) resolve()
    })
  })
}

async function sendUdp({ host, port }: SyslogTarget, lines: readonly Buffer[]): Promise<void> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  try {
    for (const line of lines) {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject)
        socket.send(line, port, host, (error) => (error === null ? resolve() : reject(error)))
      })
    }
  } finally {
    socket.close()
  }
}
