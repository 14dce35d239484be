/**
 * Who sent a row, in the one word under which sources are grouped: the domain that passed and is aligned (DKIM before
 * SPF), otherwise the network organisation of the address, otherwise its /24 or /48. The aligned domain is kept
 * whole, not cut to its registrable part: aligned domains all share that part with the From header, so cutting them
 * would put every legitimate service of a company into one line.
 */
import { formatCidr, maskIp, parseIp } from '../../lib/ip.ts'
import type { DmarcRow } from '../parse/types.ts'

export type SenderKind = 'dkim' | 'spf' | 'network' | 'prefix' | 'other'

export interface Sender {
  kind: SenderKind
  name: string
  /** Kind and name as one text: what senders are told apart by. */
  key: string
}

export function senderOf(kind: SenderKind, name: string): Sender {
  return { kind, name, key: `${kind} ${name}` }
}

/** Name of the organisation that announces an address, or null when it is not known. */
export type NetworkLookup = (ip: string) => string | null

/** What is left when a report has more senders than are kept apart. */
export const OTHER: Sender = senderOf('other', 'other')

/** A table of senders by row; remembers addresses, because reports repeat them. */
export function createSenders(lookup: NetworkLookup | null): (row: DmarcRow) => Sender {
  const by_ip = new Map<string, Sender>()
  const by_domain = { dkim: new Map<string, Sender>(), spf: new Map<string, Sender>() }
  const named = (kind: 'dkim' | 'spf', name: string): Sender => {
    const known = by_domain[kind].get(name)
    if (known !== undefined) return known
    return remember(by_domain[kind], name, senderOf(kind, name))
  }
  return (row) => {
    if (row.dkim_aligned) {
      const domain = alignedDomain(row.header_from, row.dkim)
      if (domain !== '') return named('dkim', domain)
    }
    if (row.spf_aligned) {
      const domain = alignedDomain(row.header_from, row.spf)
      if (domain !== '') return named('spf', domain)
    }
    return by_ip.get(row.source_ip) ?? remember(by_ip, row.source_ip, networkOf(row.source_ip, lookup))
  }
}

const REMEMBERED_MAX = 50_000

function remember(map: Map<string, Sender>, key: string, sender: Sender): Sender {
  if (map.size >= REMEMBERED_MAX) map.clear()
  map.set(key, sender)
  return sender
}

/** The passing domain nearest to the From header; the header's own when the details name none. */
function alignedDomain(header_from: string, results: readonly { domain: string; result: string }[]): string {
  let first = ''
  for (const { domain, result } of results) {
    if (result !== 'pass' || domain === '') continue
    if (related(domain, header_from)) return domain
    if (first === '') first = domain
  }
  return first === '' ? header_from : first
}

function related(a: string, b: string): boolean {
  return a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`)
}

function networkOf(ip: string, lookup: NetworkLookup | null): Sender {
  const organisation = lookup?.(ip) ?? null
  if (organisation !== null) return senderOf('network', organisation)
  const bytes = parseIp(ip)
  if (bytes === null) return OTHER
  const prefix = bytes.length === 4 ? 24 : 48
  return senderOf('prefix', formatCidr({ bytes: maskIp(bytes, prefix), prefix }))
}
