/**
 * Which DMARC policy applies to a domain: its own record, else that of its organisational domain, found by the tree
 * walk of RFC 9989 §4.10. A failing server makes the answer `unknown`, never `missing`.
 */
import type { DnsResolver } from '../net/dns.ts'
import { isPolicyRecord, parsePolicyRecord, type PolicyRecord } from './rules/policy-record.ts'

export type PolicyState = 'ok' | 'missing' | 'multiple' | 'invalid' | 'unknown'

export interface DomainPolicy {
  state: PolicyState
  /** For people; null when all is said. */
  detail: string | null
  /** The record as published. */
  text: string | null
  /** The name that has it: the domain itself, or a parent. */
  found_at: string | null
  parsed: PolicyRecord | null
}

/** RFC 9989 §4.10: at most eight queries. */
const QUERIES_MAX = 8

type AtName =
  | { kind: 'none' }
  | { kind: 'many' }
  | { kind: 'unknown'; detail: string }
  | { kind: 'one'; text: string }

/** Looks the policy of a domain (A-label) up. Never throws. */
export async function lookupPolicy(resolver: DnsResolver, name: string): Promise<DomainPolicy> {
  const own = await recordAt(resolver, name)
  if (own.kind === 'unknown') return answer('unknown', own.detail)
  if (own.kind === 'many')
    return answer('multiple', 'More than one DMARC record is published; none of them counts.')
  if (own.kind === 'one') return read(own.text, name)
  return await walk(resolver, name)
}

async function walk(resolver: DnsResolver, name: string): Promise<DomainPolicy> {
  let best: DomainPolicy | null = null
  for (const parent of parentsToAsk(name)) {
    const at = await recordAt(resolver, parent)
    if (at.kind === 'unknown') return answer('unknown', `${parent}: ${at.detail}`)
    if (at.kind !== 'one') continue
    const found = read(at.text, parent)
    if (found.parsed === null) continue
    if (found.parsed.psd === 'n') return found
    // A public suffix domain: the organisational domain is the name below it, which has no record of its own here.
    if (found.parsed.psd === 'y') return best ?? found
    best = found
  }
  return best ?? answer('missing', 'No DMARC record is published.')
}

/** Parents in the order of the walk: from eight labels on it jumps to seven. */
export function parentsToAsk(name: string): string[] {
  const labels = name.split('.')
  const first = labels.length >= 8 ? labels.length - 7 : 1
  return labels
    .map((_, i) => labels.slice(i).join('.'))
    .slice(first)
    .slice(0, QUERIES_MAX - 1)
}

async function recordAt(resolver: DnsResolver, name: string): Promise<AtName> {
  const found = await resolver.txt(`_dmarc.${name}`)
  if (found.state === 'unknown') return { kind: 'unknown', detail: found.detail }
  const records = found.state === 'found' ? found.values.filter(isPolicyRecord) : []
  if (records.length > 1) return { kind: 'many' }
  return records.length === 0 ? { kind: 'none' } : { kind: 'one', text: records[0]! }
}

function read(text: string, found_at: string): DomainPolicy {
  const parsed = parsePolicyRecord(text)
  if (!parsed.ok) return { state: 'invalid', detail: parsed.problem, text, found_at, parsed: null }
  const { warnings } = parsed.record
  const detail = warnings.length === 0 ? null : warnings.join(' ')
  return { state: 'ok', detail, text, found_at, parsed: parsed.record }
}

function answer(state: PolicyState, detail: string): DomainPolicy {
  return { state, detail, text: null, found_at: null, parsed: null }
}
