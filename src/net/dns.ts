/**
 * DNS as a port. What a look-up says is one of three things, and they are never mixed up: the records, that there are
 * none, or that nobody knows (a failing or silent server). Only the second is a fact about the domain.
 */
import { Resolver as NodeResolver } from 'node:dns/promises'

export type DnsAnswer<T> =
  | { state: 'found'; values: T[] }
  | { state: 'missing' }
  | { state: 'unknown'; detail: string }

export interface DnsResolver {
  mode: 'system' | 'servers' | 'none'
  /** For people: which servers are asked. */
  detail: string
  /** TXT records, the strings of each joined without space (RFC 7208 §3.3). */
  txt(name: string): Promise<DnsAnswer<string>>
}

export interface ResolverOptions {
  /** `system`, `none`, or addresses with an optional port. */
  servers: 'system' | 'none' | readonly string[]
  timeout_ms: number
}

/** RFC 1035 NXDOMAIN and an empty answer: there is no such record. */
const MISSING = new Set(['ENOTFOUND', 'ENODATA', 'NXDOMAIN', 'NODATA'])
const TRIES = 2

export function createResolver({ servers, timeout_ms }: ResolverOptions): DnsResolver {
  if (servers === 'none') {
    const answer = { state: 'unknown', detail: 'no resolver' } as const
    return { mode: 'none', detail: 'No resolver: names are not looked up', txt: async () => answer }
  }
  const node = new NodeResolver({ timeout: Math.ceil(timeout_ms / TRIES), tries: TRIES })
  if (servers !== 'system') node.setServers([...servers])
  return {
    mode: servers === 'system' ? 'system' : 'servers',
    detail: node.getServers().join(', '),
    async txt(name) {
      try {
        const records = await within(node.resolveTxt(name), timeout_ms)
        return { state: 'found', values: records.map((strings) => strings.join('')) }
      } catch (error) {
        const code = String((error as { code?: unknown }).code ?? 'ERROR').replace('DNS_', '')
        return MISSING.has(code) ? { state: 'missing' } : { state: 'unknown', detail: reasonOf(code) }
      }
    },
  }
}

function reasonOf(code: string): string {
  if (code === 'ESERVFAIL' || code === 'SERVFAIL') return 'the name server failed (SERVFAIL)'
  if (code === 'EREFUSED' || code === 'REFUSED') return 'the name server refused'
  if (code === 'ETIMEOUT' || code === 'ETIMEDOUT') return 'no answer in time'
  return `the look-up failed (${code})`
}

async function within<T>(work: Promise<T>, timeout_ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('timeout'), { code: 'ETIMEOUT' })), timeout_ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
