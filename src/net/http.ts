/**
 * Guarded HTTPS towards destinations that somebody typed. Per request, inside one time limit: the name is resolved,
 * every address it has is asked of the policy, and the connection goes to an address that passed, by address: nothing
 * resolves the name a second time. The certificate is still that of the name. A connection that is kept for the next
 * request is found by address, name and authorities, so a name that moved is not sent to its old address.
 *
 * Never rejects: whatever goes wrong is an answer with an error class. Redirects are not followed, proxies of the
 * environment are not used, and of the answer at most `response_bytes` are read.
 */
import type { Clock } from '../lib/clock.ts'
import {
  type EgressPolicy,
  type EgressRefusal,
  type EgressTarget,
  isRefusal,
  urlHost,
} from './egress-policy.ts'
import type { Lookup } from './lookup.ts'

export type EgressErrorClass = 'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol'

export interface EgressRequest {
  url: string
  method: 'POST' | 'GET'
  headers: Record<string, string>
  body: Uint8Array | null
  /** For look-up, connection, TLS, headers and body together. */
  timeout_ms: number
  response_bytes: number
}

export interface EgressAnswer {
  /** Null when no status line arrived. */
  status: number | null
  /** Where a redirect would lead. */
  location: string | null
  /** At most `response_bytes`; what arrived, also when an error cut it off. */
  body: Uint8Array
  truncated: boolean
  /** The address that was connected to; null when it did not come to that. */
  address: string | null
  ms: number
  error: { class: EgressErrorClass; detail: string } | null
}

export interface Egress {
  readonly policy: EgressPolicy
  /** Why a URL cannot be used: its form, or where its name leads just now. Null also when the name is not known. */
  refuses(url: string): Promise<EgressRefusal | null>
  send(request: EgressRequest): Promise<EgressAnswer>
}

export interface EgressPorts {
  policy: EgressPolicy
  lookup: Lookup
  clock: Pick<Clock, 'monotonic'>
  /** PEM of the authorities to trust; null: the public ones. */
  authorities: readonly string[] | null
}

/** Of a name with more addresses the first ones are tried. */
const ADDRESSES_MAX = 4
/** At creation a slow resolver must not make the caller wait for long. */
const CHECK_MS = 3000

class Failure extends Error {
  readonly kind: EgressErrorClass
  constructor(kind: EgressErrorClass, detail: string) {
    super(detail)
    this.kind = kind
  }
}

export function createEgress({ policy, lookup, clock, authorities }: EgressPorts): Egress {
  const ca = authorities === null ? {} : { ca: [...authorities] }

  /** The addresses that may be connected to. Throws `dns` or `blocked`. */
  async function vetted({ host, literal }: EgressTarget): Promise<string[]> {
    if (literal) return [host]
    let found: readonly string[]
    try {
      found = await lookup(host)
    } catch (error) {
      throw new Failure('dns', `the name could not be resolved (${codeOf(error)})`)
    }
    if (found.length === 0) throw new Failure('dns', 'the name has no address')
    const allowed = found.filter((ip) => policy.refusesAddress(ip) === null)
    if (allowed.length === 0) throw new Failure('blocked', policy.refusesAddress(found[0]!)!.detail)
    return allowed.slice(0, ADDRESSES_MAX)
  }

  function exchange(request: EgressRequest, target: EgressTarget, ip: string, signal: AbortSignal) {
    const { host, literal, port, path } = target
    const name = literal ? urlHost(host) : host
    // A literal address is its own name in the certificate; anything else is named to the other side.
    const tls = literal ? ca : { ...ca, serverName: host }
    return fetch(`https://${urlHost(ip)}:${port}${path}`, {
      method: request.method,
      headers: {
        'accept-encoding': 'identity',
        ...request.headers,
        host: port === 443 ? name : `${name}:${port}`,
      },
      body: request.body as Uint8Array<ArrayBuffer> | null,
      redirect: 'manual',
      signal,
      tls,
      ...PLAIN,
    })
  }

  /** Tries the addresses in turn as long as nothing was sent. */
  async function connect(request: EgressRequest, answer: EgressAnswer, signal: AbortSignal) {
    const target = policy.readTarget(request.url)
    if (isRefusal(target)) throw new Failure('blocked', target.detail)
    const addresses = await vetted(target)
    for (const [index, ip] of addresses.entries()) {
      if (signal.aborted) break
      answer.address = ip
      try {
        return await exchange(request, target, ip, signal)
      } catch (error) {
        if (classOf(error) !== 'connect' || index === addresses.length - 1) throw error
      }
    }
    throw new Failure('timeout', 'no answer in time')
  }

  async function run(request: EgressRequest, answer: EgressAnswer, stop: AbortController): Promise<void> {
    const response = await connect(request, answer, stop.signal)
    // A response that comes after the time is over belongs to nobody.
    if (stop.signal.aborted) return
    answer.status = response.status
    answer.location = response.headers.get('location')
    await readBody(response, request.response_bytes, answer, stop)
  }

  return {
    policy,
    async refuses(url) {
      const target = policy.readTarget(url)
      if (isRefusal(target)) return target
      const asked = vetted(target).catch((error: unknown) => error)
      const found = await within(asked, CHECK_MS)
      if (!(found instanceof Failure) || found.kind !== 'blocked') return null
      return { reason: 'address', detail: found.message }
    },

    async send(request) {
      const started = clock.monotonic()
      const answer: EgressAnswer = {
        status: null,
        location: null,
        body: new Uint8Array(0),
        truncated: false,
        address: null,
        ms: 0,
        error: null,
      }
      const stop = new AbortController()
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(new Failure('timeout', `no complete answer within ${request.timeout_ms / 1000} s`))
          stop.abort()
        }, request.timeout_ms)
      })
      try {
        await Promise.race([run(request, answer, stop), late])
      } catch (error) {
        answer.error = { class: classOf(error), detail: detailOf(error) }
      } finally {
        clearTimeout(timer)
      }
      return { ...answer, ms: Math.round(clock.monotonic() - started) }
    },
  }
}

/** As it came over the wire, and straight there: no proxy of the environment. */
const PLAIN = { decompress: false, proxy: false } as unknown as { decompress: boolean }

/** Keeps the first bytes; what is beyond them is not waited for, the connection is given up instead. */
async function readBody(
  response: Response,
  bytes_max: number,
  answer: EgressAnswer,
  stop: AbortController,
): Promise<void> {
  const { headers } = response
  const announced = headers.has('transfer-encoding') ? null : headers.get('content-length')
  // Most answers say that they are short: those need no stream.
  if (announced !== null && Number(announced) <= bytes_max) {
    answer.body = new Uint8Array(await response.arrayBuffer())
    return
  }
  if (response.body === null) return
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const room = bytes_max - answer.body.length
    answer.body = Buffer.concat([answer.body, value.subarray(0, room)])
    if (value.length <= room) continue
    answer.truncated = true
    stop.abort()
    reader.cancel().catch(() => {})
    return
  }
}

function classOf(error: unknown): EgressErrorClass {
  if (error instanceof Failure) return error.kind
  const code = codeOf(error)
  if (/REFUSED|HOSTUNREACH|NETUNREACH|FailedToOpenSocket|EADDRNOTAVAIL/i.test(code)) return 'connect'
  if (/CERT|TLS|SSL|EPROTO|UNABLE_TO|ISSUER|SIGNATURE/i.test(code)) return 'tls'
  if (/RESET|ConnectionClosed|EPIPE/i.test(code)) return 'reset'
  return /TIMEOUT|TIMEDOUT/i.test(code) ? 'timeout' : 'protocol'
}

/** What the other side made of it, without what the runtime adds for its own users. */
function detailOf(error: unknown): string {
  if (error instanceof Failure) return error.message
  const code = codeOf(error)
  const known = WORDS[code]
  return known === undefined ? `the exchange failed (${code})` : `${known} (${code})`
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ECONNRESET: 'the connection was closed without an answer',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate comes from an unknown authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is signed by itself',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate comes from an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the chain of certificates is not complete',
  EPROTO: 'the TLS handshake failed',
  ResponseHeadersTooLarge: 'the headers of the answer are too large',
}

function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (typeof code === 'string') return code.replace(/^DNS_/, '')
  return typeof name === 'string' ? name : 'unknown'
}

/** The value, or undefined when it takes longer. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
