/** A DMARC policy record as text (RFC 9989 §5.3 and §5.4; tags of RFC 7489 that went away are still shown). */

export type PolicyValue = 'none' | 'quarantine' | 'reject'

export interface PolicyRecord {
  p: PolicyValue
  sp: PolicyValue | null
  np: PolicyValue | null
  adkim: 'r' | 's'
  aspf: 'r' | 's'
  rua: string[]
  ruf: string[]
  fo: string | null
  /** `t=y`: receivers are asked to apply one level less. */
  testing: boolean
  /** RFC 7489 only; null when absent. */
  pct: number | null
  psd: 'y' | 'n' | 'u'
  /** What is odd but not fatal, for people. */
  warnings: string[]
}

export type ParsedPolicy = { ok: true; record: PolicyRecord } | { ok: false; problem: string }

/** True when a TXT record means to be a DMARC record: others at the same name are ignored (§4.7). */
export function isPolicyRecord(text: string): boolean {
  return /^v\s*=\s*DMARC1\s*(;|$)/.test(text)
}

const POLICIES: readonly string[] = ['none', 'quarantine', 'reject']

/** Reads the text of one record. Unknown tags are ignored, as the RFC says. */
export function parsePolicyRecord(text: string): ParsedPolicy {
  if (!isPolicyRecord(text)) return { ok: false, problem: 'The record does not begin with v=DMARC1.' }
  const warnings: string[] = []
  const tags = new Map<string, string>()
  for (const part of text.split(';').slice(1)) {
    if (part.trim() === '') continue
    const equals = part.indexOf('=')
    const name = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase()
    if (equals < 0 || name === '')
      return { ok: false, problem: `"${part.trim()}" is not a tag with a value.` }
    if (tags.has(name)) warnings.push(`The tag ${name} appears twice; the first counts.`)
    else tags.set(name, part.slice(equals + 1).trim())
  }
  const rua = addresses(tags.get('rua'))
  const p = tags.get('p')?.toLowerCase()
  if (p !== undefined && !POLICIES.includes(p) && rua.length === 0) {
    return { ok: false, problem: `p=${p} is not none, quarantine or reject.` }
  }
  if (p === undefined) warnings.push('p is missing and counts as none.')
  else if (!POLICIES.includes(p)) warnings.push(`p=${p} is not a policy and counts as none.`)
  if (rua.length === 0) warnings.push('No address for reports (rua) is named.')
  const pct = tags.get('pct')
  if (pct !== undefined) warnings.push('pct was removed by RFC 9989; receivers may ignore it.')
  return {
    ok: true,
    record: {
      p: policyOf(p) ?? 'none',
      sp: policyOf(tags.get('sp')?.toLowerCase()),
      np: policyOf(tags.get('np')?.toLowerCase()),
      adkim: tags.get('adkim')?.toLowerCase() === 's' ? 's' : 'r',
      aspf: tags.get('aspf')?.toLowerCase() === 's' ? 's' : 'r',
      rua,
      ruf: addresses(tags.get('ruf')),
      fo: tags.get('fo') ?? null,
      testing: tags.get('t')?.toLowerCase() === 'y',
      pct: pct !== undefined && /^\d{1,3}$/.test(pct) ? Math.min(100, Number(pct)) : null,
      psd: psdOf(tags.get('psd')?.toLowerCase()),
      warnings,
    },
  }
}

function policyOf(text: string | undefined): PolicyValue | null {
  return text !== undefined && POLICIES.includes(text) ? (text as PolicyValue) : null
}

function psdOf(text: string | undefined): 'y' | 'n' | 'u' {
  return text === 'y' || text === 'n' ? text : 'u'
}

/** URIs of rua and ruf; the size limit `!10m` of RFC 7489 is cut off. */
function addresses(text: string | undefined): string[] {
  if (text === undefined) return []
  return text
    .split(',')
    .map((uri) => uri.trim().replace(/!\d+[kmgt]?$/i, ''))
    .filter((uri) => uri !== '')
}
