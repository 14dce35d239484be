/**
 * The socket the server listens on. A new certificate needs a new listener (Bun reads it once): it takes the same
 * port beside the old one, which then finishes what it has begun. No connection is refused meanwhile.
 */
import type { Server } from 'bun'
import { UPLOAD_FRAME_BYTES_MAX, UPLOAD_REQUEST_BYTES_MAX } from '../lib/limits.ts'

export type HttpServer = Server<undefined>

export interface ListenOptions {
  host: string
  /** 0 takes a free one. */
  port: number
  tls: { cert: string; key: string } | null
  fetch: (request: Request, server: HttpServer) => Response | Promise<Response>
}

export interface Listener {
  readonly port: number
  /** Shows another certificate from the next connection on. Throws when the system cannot share a port. */
  renew(tls: { cert: string; key: string }): void
  /** Accepts nothing more and waits for what is under way, at most `grace_ms`; false when that was cut off. */
  stop(grace_ms: number): Promise<boolean>
}

/** Quiet connections are closed after this; streams lift it for themselves. */
const IDLE_SECONDS = 60

/** Throws a sentence for the person at the terminal when the address cannot be had. */
export function listen(options: ListenOptions): Listener {
  // Sharing ports would also let two servers share one by mistake, so the first look is without.
  if (options.tls !== null && options.port !== 0) void open(options, options.port, false).stop(true)
  const share = options.tls !== null && process.platform !== 'win32'
  let server = open(options, options.port, share)
  const port = server.port!
  return {
    port,
    renew(tls) {
      const old = server
      server = open({ ...options, tls }, port, true)
      void old.stop()
    },
    async stop(grace_ms) {
      const idle = server.stop().then(() => true)
      const done = await Promise.race([idle, Bun.sleep(grace_ms).then(() => false)])
      if (!done) await server.stop(true)
      return done
    },
  }
}

function open(options: ListenOptions, port: number, share: boolean): HttpServer {
  try {
    return Bun.serve({
      hostname: options.host,
      port,
      reusePort: share,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: UPLOAD_REQUEST_BYTES_MAX + UPLOAD_FRAME_BYTES_MAX,
      development: false,
      ...(options.tls === null ? {} : { tls: options.tls }),
      fetch: options.fetch,
    })
  } catch (error) {
    throw new Error(whyNot(error, options.host, port), { cause: error })
  }
}

function whyNot(error: unknown, host: string, port: number): string {
  const code = (error as { code?: string }).code
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is taken by another program`
  if (code === 'EACCES') return `port ${port} is reserved: choose one above 1023, or grant the right`
  return `cannot listen on ${host}: ${error instanceof Error ? error.message : 'unknown'}`
}
