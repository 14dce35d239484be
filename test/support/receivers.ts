/** Receivers of webhooks on loopback TLS, with an authority of their own, and the way out that reaches them. */
import { makeAuthority, makeServerCertificate, type KeyPairPem } from '../../src/net/certificate.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { parseCidr } from '../../src/lib/ip.ts'
import { createEgressPolicy } from '../../src/net/egress-policy.ts'
import { createEgress, type Egress } from '../../src/net/http.ts'
import type { Lookup } from '../../src/net/lookup.ts'

export interface Delivered {
  at: number
  path: string
  headers: Record<string, string>
  body: string
}

export interface Receiver {
  url: string
  port: number
  got: Delivered[]
  /** Waits until so many deliveries have come. */
  until(count: number, timeout_ms?: number): Promise<Delivered[]>
  stop(): Promise<void>
}

export const HOST = 'hooks.test'

let authority: Promise<KeyPairPem> | null = null
let certificate: Promise<KeyPairPem> | null = null

export const ca = (): Promise<KeyPairPem> => (authority ??= makeAuthority(Date.now()))
export const serverCertificate = (): Promise<KeyPairPem> =>
  (certificate ??= ca().then((made) => makeServerCertificate(made, [HOST, '127.0.0.1'], Date.now())))

/** Every name leads to loopback. */
export const toLoopback: Lookup = async () => ['127.0.0.1']

/** The product's own way out, with loopback let through and our authority trusted. */
export async function loopbackEgress(lookup: Lookup = toLoopback, allow = '127.0.0.0/8'): Promise<Egress> {
  return createEgress({
    policy: createEgressPolicy({ allow: allow === '' ? [] : [parseCidr(allow)!], ports: null }),
    lookup,
    clock: systemClock,
    authorities: [(await ca()).cert],
  })
}

/** Answers each request by `answer` (200 without one) and keeps what it got. */
export async function startReceiver(
  answer: (request: Request, got: Delivered[]) => Response | Promise<Response> = () => new Response('ok'),
): Promise<Receiver> {
  const { cert, key } = await serverCertificate()
  const got: Delivered[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    async fetch(request) {
      const body = await request.text()
      const path = new URL(request.url).pathname
      got.push({ at: performance.now(), path, headers: Object.fromEntries(request.headers), body })
      return answer(request, got)
    },
  })
  return {
    url: `https://${HOST}:${server.port}/hook`,
    port: server.port!,
    got,
    async until(count, timeout_ms = 5000) {
      const end = performance.now() + timeout_ms
      while (got.length < count) {
        if (performance.now() > end) throw new Error(`${got.length} of ${count} deliveries came`)
        await Bun.sleep(2)
      }
      return got
    },
    stop: () => server.stop(true),
  }
}
