/**
 * Where the texts of an aggregate report belong (RFC 7489 appendix C, RFC 9990 §3.1): the element names of both
 * standards, by the container they are in. Order does not matter; what is not named here is skipped.
 */
import { createNames, type Names } from './markup.ts'
export type Container =
  | 'feedback'
  | 'report_metadata'
  | 'date_range'
  | 'policy_published'
  | 'record'
  | 'row'
  | 'policy_evaluated'
  | 'reason'
  | 'identifiers'
  | 'auth_results'
  | 'dkim'
  | 'spf'

/** Elements that hold others, by the container they may stand in; the misspelt ones beside the right. */
const CHILDREN: Record<Container, Readonly<Record<string, Container>>> = {
  feedback: {
    report_metadata: 'report_metadata',
    policy_published: 'policy_published',
    record: 'record',
  },
  report_metadata: { date_range: 'date_range', policy_published: 'policy_published', record: 'record' },
  date_range: {},
  policy_published: { record: 'record' },
  record: {
    row: 'row',
    identifiers: 'identifiers',
    identities: 'identifiers',
    auth_results: 'auth_results',
    policy_evaluated: 'policy_evaluated',
    record: 'record',
  },
  row: { policy_evaluated: 'policy_evaluated', identifiers: 'identifiers', auth_results: 'auth_results' },
  policy_evaluated: { reason: 'reason' },
  reason: {},
  identifiers: {},
  auth_results: { dkim: 'dkim', spf: 'spf' },
  dkim: {},
  spf: {},
}

/** An end tag of these without its start means that a part of the report was cut out. */
const STRUCTURAL = [
  'report_metadata',
  'policy_published',
  'record',
  'row',
  'policy_evaluated',
  'identifiers',
  'auth_results',
]

/** What an element's text is stored as: `key` of the object that its container fills. */
const LEAVES = {
  feedback: { version: 'version' },
  report_metadata: {
    org_name: 'org_name',
    email: 'email',
    extra_contact_info: 'extra_contact_info',
    report_id: 'report_id',
    generator: 'generator',
    error: 'error',
    begin: 'begin',
    end: 'end',
  },
  date_range: { begin: 'begin', end: 'end' },
  policy_published: {
    domain: 'domain',
    p: 'p',
    sp: 'sp',
    np: 'np',
    adkim: 'adkim',
    aspf: 'aspf',
    pct: 'pct',
    fo: 'fo',
    testing: 'testing',
    discovery_method: 'discovery_method',
  },
  record: {},
  row: { source_ip: 'source_ip', count: 'count' },
  policy_evaluated: { disposition: 'disposition', dkim: 'dkim', spf: 'spf' },
  reason: { type: 'type', comment: 'comment' },
  identifiers: { header_from: 'header_from', envelope_from: 'envelope_from', envelope_to: 'envelope_to' },
  auth_results: {},
  dkim: { domain: 'domain', selector: 'selector', result: 'result', human_result: 'human_result' },
  spf: { domain: 'domain', scope: 'scope', result: 'result', human_result: 'human_result' },
} as const satisfies Record<Container, Readonly<Record<string, string>>>

/** Names by number, so that the inner loop compares no strings. */
const NUMBERS = new Map<string, number>()
for (const table of [...Object.values(CHILDREN), ...Object.values(LEAVES)]) {
  for (const name of Object.keys(table)) if (!NUMBERS.has(name)) NUMBERS.set(name, NUMBERS.size + 1)
}
for (const name of ['feedback', 'extension']) NUMBERS.set(name, NUMBERS.size + 1)

export const FEEDBACK = NUMBERS.get('feedback')!
export const RECORD = NUMBERS.get('record')!
export const EXTENSION = NUMBERS.get('extension')!
const STRUCTURAL_NUMBERS = new Set(STRUCTURAL.map((name) => NUMBERS.get(name)!))

/** Shared by all documents. */
export const NAMES: Names = createNames(NUMBERS)

export function isStructural(number: number): boolean {
  return STRUCTURAL_NUMBERS.has(number)
}

/** What may stand in a container, by number. */
export interface Inside {
  readonly kind: Container
  readonly children: readonly (Inside | undefined)[]
  readonly leaves: readonly (string | undefined)[]
}

export const INSIDE: Readonly<Record<Container, Inside>> = linkContainers()

function linkContainers(): Record<Container, Inside> {
  const kinds = Object.keys(CHILDREN) as Container[]
  const made = Object.fromEntries(
    kinds.map((kind) => [kind, { kind, children: [] as Inside[], leaves: [] as string[] }]),
  ) as Record<Container, { kind: Container; children: Inside[]; leaves: string[] }>
  for (const kind of kinds) {
    for (const [name, child] of Object.entries(CHILDREN[kind]))
      made[kind].children[NUMBERS.get(name)!] = made[child]
    for (const [name, key] of Object.entries(LEAVES[kind])) made[kind].leaves[NUMBERS.get(name)!] = key
  }
  return made
}
