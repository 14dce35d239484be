/**
 * The addresses of a host name, for dialling. `system` asks what the machine is set up with (and its hosts file)
 * without holding a thread, so that dead names cannot keep living ones waiting. Look-ups of one name that run at the
 * same time share one question; nothing is kept after the answer.
 */
import { dns } from 'bun'
import { Resolver } from 'node:dns/promises'

/** Addresses, IPv4 first. Rejects when there are none or nobody knows. */
export type Lookup = (host: string) => Promise<readonly string[]>

export interface LookupOptions {
  servers: 'system' | 'none' | readonly string[]
  timeout_ms: number
}

export function createLookup({ servers, timeout_ms }: LookupOptions): Lookup {
  if (servers === 'none') return () => Promise.reject(failure('ENORESOLVER', 'names are not looked up here'))
  return shared(servers === 'system' ? bySystem : byServers(servers, timeout_ms))
}

async function bySystem(host: string): Promise<string[]> {
  const found = await dns.lookup(host, { backend: 'c-ares' })
  return found.sort((a, b) => a.family - b.family).map((each) => each.address)
}

function byServers(servers: readonly string[], timeout_ms: number): Lookup {
  const resolver = new Resolver({ timeout: Math.ceil(timeout_ms / 2), tries: 2 })
  resolver.setServers([...servers])
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const found = [v4, v6].flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason
    return found
  }
}

function shared(lookup: Lookup): Lookup {
  const running = new Map<string, Promise<readonly string[]>>()
  return (host) => {
    const known = running.get(host)
    if (known !== undefined) return known
    const asked = lookup(host).finally(() => running.delete(host))
    running.set(host, asked)
    return asked
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
