/**
 * Who is calling, when a reverse proxy may stand between. Each proxy appends the address it saw to `X-Forwarded-For`,
 * so the list is believed from its right end only, and only as far as the hops are proxies that the operator named:
 * what stands left of the first foreign hop was written by the client and says nothing.
 */
import { type Cidr, cidrContains, formatIp, type IpBytes, parseIp } from '../lib/ip.ts'

/** More hops than this are not walked: a longer list is a client's game. */
const HOPS_MAX = 32

/**
 * The address of the client in canonical form. `peer` is the other end of the connection, `forwarded` the whole
 * header (several lines joined by commas) or null, `trusted` the networks of our proxies. An entry that is no address
 * stops the walk at the proxy that handed it on.
 */
export function clientAddress(peer: string, forwarded: string | null, trusted: readonly Cidr[]): string {
  const direct = parseHop(peer)
  if (direct === null) return peer
  if (forwarded === null || trusted.length === 0) return formatIp(direct)
  const ours = (ip: IpBytes): boolean => trusted.some((cidr) => cidrContains(cidr, ip))
  const hops = forwarded.split(',')
  let client = direct
  for (let i = hops.length - 1; i >= Math.max(0, hops.length - HOPS_MAX) && ours(client); i--) {
    const hop = parseHop(hops[i]!)
    if (hop === null) break
    client = hop
  }
  return formatIp(client)
}

/** True when the connection itself comes from a named proxy: only then does `X-Forwarded-Proto` count. */
export function fromTrustedProxy(peer: string, trusted: readonly Cidr[]): boolean {
  const direct = parseHop(peer)
  return direct !== null && trusted.some((cidr) => cidrContains(cidr, direct))
}

/** An address as proxies write it: bare, with a port (`192.0.2.1:1234`, `[2001:db8::1]:1234`), in quotes. */
function parseHop(text: string): IpBytes | null {
  const bare = text.trim().replace(/^"(.*)"$/, '$1')
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(bare)
  if (bracketed !== null) return parseIp(bracketed[1]!)
  const with_port = /^([\d.]+):\d{1,5}$/.exec(bare)
  return parseIp(with_port === null ? bare : with_port[1]!)
}
