/** What is wrong or could be better about a domain: what, why it matters, how to fix it. From its record and senders. */
import { isBelow } from './dmarc.ts'
import { count, percent } from './format.ts'
import type { Domain, Source } from './types.ts'

export type FindingLevel = 'critical' | 'high' | 'medium' | 'low'

/** A part of a record: kept, to add, or to drop. */
export interface RecordPart {
  kind: 'keep' | 'ins' | 'del'
  text: string
}

export interface Finding {
  id: string
  level: FindingLevel
  title: string
  what: string
  why: string
  how: string[]
  /** The record as it should be, changes marked; and under which name. */
  record?: { name: string; parts: RecordPart[] }
}

/** Messages below which a share says nothing. */
const MESSAGES_MIN = 50
/** A sender that passes sometimes is known and set up by halves; one that never does is a stranger or not set up. */
const PARTLY_FROM = 5
const LEVELS: readonly FindingLevel[] = ['critical', 'high', 'medium', 'low']

/** Most severe first. `sources`: the senders of the last 30 days, as far as they are known. */
export function findingsOf(domain: Domain, sources: readonly Source[]): Finding[] {
  const found = [...recordFindings(domain), ...policyFindings(domain), ...sourceFindings(domain, sources)]
  return found.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
}

/** The record that results, as one line. */
export function recordText(parts: readonly RecordPart[]): string {
  return parts
    .filter((part) => part.kind !== 'del')
    .map((part) => part.text)
    .join('')
}

function recordFindings(domain: Domain): Finding[] {
  const { policy } = domain
  const name = `_dmarc.${domain.name}`
  if (policy.state === 'missing') {
    const text = `v=DMARC1; p=none; rua=mailto:dmarc@${domain.name}`
    return [
      {
        id: 'missing',
        level: 'high',
        title: 'No DMARC record is published',
        what: policy.detail ?? `There is no record at ${name}.`,
        why: 'Anybody can send as this domain and receivers apply no policy. No report will come in.',
        how: ['Publish this record; p=none changes no delivery.', 'Put an address that you read.'],
        record: { name, parts: [{ kind: 'ins', text }] },
      },
    ]
  }
  if (policy.state === 'multiple') {
    return [
      {
        id: 'multiple',
        level: 'high',
        title: 'There is more than one DMARC record',
        what: policy.detail ?? `${name} answers with several records.`,
        why: 'Receivers ignore all of them: no policy, no reports.',
        how: [`Keep one TXT record at ${name} and delete the others.`],
      },
    ]
  }
  if (policy.state !== 'invalid') return []
  return [
    {
      id: 'invalid',
      level: 'high',
      title: 'The DMARC record is not valid',
      what: policy.detail ?? 'It cannot be read as a DMARC record.',
      why: 'Receivers that cannot read it apply no policy.',
      how: ['Correct the record where the DNS of the domain is kept, then check again.'],
    },
  ]
}

/** `p=none` -> `p=quarantine`, the rest kept. */
function withMember(record: string, member: string, value: string): RecordPart[] {
  const at = new RegExp(`(^|;)(\\s*${member}\\s*=\\s*)([^;\\s]+)`, 'i').exec(record)
  if (at === null) {
    const end = record.trimEnd().endsWith(';') ? ' ' : '; '
    return [
      { kind: 'keep', text: record.trimEnd() },
      { kind: 'ins', text: `${end}${member}=${value}` },
    ]
  }
  const start = at.index + (at[1]?.length ?? 0) + (at[2]?.length ?? 0)
  const old = at[3] ?? ''
  return [
    { kind: 'keep', text: record.slice(0, start) },
    { kind: 'del', text: old },
    { kind: 'ins', text: value },
    { kind: 'keep', text: record.slice(start + old.length) },
  ]
}

const STRENGTH: Record<string, number> = { none: 0, quarantine: 1, reject: 2 }

function policyFindings(domain: Domain): Finding[] {
  const { policy } = domain
  if (policy.state !== 'ok' || policy.record === null || policy.p === null) return []
  const found = [noReports(domain), idle(domain), stricter(domain), weakSubdomains(domain), testing(domain)]
  return found.filter((finding) => finding !== null)
}

/** The published record with one member changed. */
function changed(domain: Domain, member: string, value: string): NonNullable<Finding['record']> {
  return { name: `_dmarc.${domain.name}`, parts: withMember(domain.policy.record ?? '', member, value) }
}

function noReports(domain: Domain): Finding | null {
  if (domain.policy.rua.length > 0) return null
  return {
    id: 'rua',
    level: 'medium',
    title: 'The record asks for no reports',
    what: 'It has no rua=.',
    why: 'Receivers then send none, and nothing can be said about who sends as this domain.',
    how: ['Add an address that you read.'],
    record: changed(domain, 'rua', `mailto:dmarc@${domain.name}`),
  }
}

function idle(domain: Domain): Finding | null {
  if (domain.policy.p !== 'none' || domain.profile === 'sending') return null
  return {
    id: 'idle',
    level: 'medium',
    title: 'The domain sends no mail, yet mail in its name is delivered',
    what: 'The policy is none.',
    why: 'Nothing of yours can be hit by a stricter policy; only others that send in its name are.',
    how: ['Change the policy to reject.'],
    record: changed(domain, 'p', 'reject'),
  }
}

function stricter(domain: Domain): Finding | null {
  const { policy, compliance, compliance_threshold } = domain
  const good = compliance.rate !== null && compliance.rate >= compliance_threshold
  if (policy.p === 'reject' || domain.profile !== 'sending' || !good) return null
  if (compliance.messages < MESSAGES_MIN) return null
  const next = policy.p === 'none' ? 'quarantine' : 'reject'
  return {
    id: 'stricter',
    level: 'low',
    title: `The policy can move on to ${next}`,
    what: `${percent(compliance.rate)} of ${count(compliance.messages)} messages pass, the limit is ${compliance_threshold} %.`,
    why: 'With what is published now, mail that fails still reaches people.',
    how: [`Publish p=${next}.`, 'Watch the failed messages of the next two weeks.'],
    record: changed(domain, 'p', next),
  }
}

function weakSubdomains(domain: Domain): Finding | null {
  const { p, sp } = domain.policy
  if (p === null || sp === null || (STRENGTH[sp] ?? 0) >= (STRENGTH[p] ?? 0)) return null
  return {
    id: 'sp',
    level: 'low',
    title: `Subdomains are protected less: sp=${sp}`,
    what: `The domain has p=${p}, its subdomains ${sp}.`,
    why: 'Whoever may not use the domain uses a subdomain, also one that does not exist.',
    how: ['If no subdomain needs the weaker policy, make it the same.'],
    record: changed(domain, 'sp', p),
  }
}

function testing(domain: Domain): Finding | null {
  if (domain.policy.testing !== true) return null
  return {
    id: 'testing',
    level: 'low',
    title: 'The policy is in testing',
    what: 'The record has t=y.',
    why: 'Receivers apply one step less than the policy says.',
    how: ['When the reports show nothing of yours failing, take t=y out.'],
    record: changed(domain, 't', 'n'),
  }
}

/** Senders named at most: the list of sources shows all. */
const STRANGERS_NAMED = 2

function sourceFindings(domain: Domain, sources: readonly Source[]): Finding[] {
  if (domain.profile !== 'sending') return []
  const large = sources.filter((source) => source.messages >= MESSAGES_MIN)
  const known = large.filter((source) => {
    const rate = source.pass_rate ?? 0
    return rate >= PARTLY_FROM && rate < domain.compliance_threshold
  })
  const strangers = isBelow(domain) ? large.filter((source) => (source.pass_rate ?? 0) < PARTLY_FROM) : []
  return [
    ...known.map((source) => partly(domain, source, source.pass_rate ?? 0)),
    ...strangers
      .toSorted((a, b) => b.fail - a.fail)
      .slice(0, STRANGERS_NAMED)
      .map((source) => stranger(domain, source)),
  ]
}

/** A sender of which nothing passes: yours without a set-up, or somebody who pretends. */
function stranger(domain: Domain, source: Source): Finding {
  const addresses = source.sample_ips.slice(0, 3).join(', ')
  const enforced = domain.policy.p === 'reject' || domain.policy.p === 'quarantine'
  return {
    id: `stranger-${source.kind}-${source.sender}`,
    level: enforced ? 'medium' : 'high',
    title: `${source.sender} sends as ${domain.unicode_name} and never passes`,
    what: `${count(source.fail)} messages in 30 days${addresses === '' ? '' : `, from ${addresses}`}; none passed DKIM or SPF.`,
    why: enforced
      ? `The policy is ${domain.policy.p}, so most of it is put away or refused. If it is yours, it does not arrive.`
      : 'It is delivered like your own mail. If it is not yours, somebody uses your name.',
    how: [
      'If it is yours: let it sign with DKIM for this domain, or send from an address that the SPF record allows.',
      enforced
        ? 'If it is not yours: nothing to do, receivers act on it.'
        : 'If it is not yours: bring your own senders over the limit, then make the policy stricter.',
    ],
  }
}

/** A known sender of which some messages pass: the set-up is incomplete, and it is said which half. */
function partly(domain: Domain, source: Source, rate: number): Finding {
  const dkim_weaker = source.dkim_pass <= source.spf_pass
  const strict = domain.policy.p === 'reject' || domain.policy.p === 'quarantine'
  return {
    id: `partly-${source.kind}-${source.sender}`,
    level: isBelow(domain) && strict ? 'critical' : 'high',
    title: `Mail from ${source.sender} passes only in part: ${percent(rate)}`,
    what: `${count(source.fail)} of ${count(source.messages)} messages failed both checks; DKIM was aligned for ${count(source.dkim_pass)}, SPF for ${count(source.spf_pass)}.`,
    why: strict
      ? `The policy is ${domain.policy.p}: receivers put these messages away or refuse them. Some of that mail passes, so it is likely yours.`
      : 'Some of that mail passes, so it is likely yours; a stricter policy would hit the rest.',
    how: dkim_weaker
      ? [
          `At ${source.sender}, turn on DKIM signing with ${domain.name} as the signing domain (d=).`,
          'Publish the key it names, send one message, and check again when the next reports are in.',
        ]
      : [
          `Let ${source.sender} use a bounce address (envelope from) under ${domain.name}, and include it in the SPF record.`,
          'Check again when the next reports are in.',
        ],
  }
}
