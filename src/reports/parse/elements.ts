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

/** Texts of a container, each in its slot; a hole is an element that is absent. */
export type Slots = (string | undefined)[]

/** The order of the slots. */
const METADATA = [
  'version',
  'org_name',
  'email',
  'extra_contact_info',
  'report_id',
  'generator',
  'error',
  'begin',
  'end',
] as const
const POLICY = [
  'domain',
  'p',
  'sp',
  'np',
  'adkim',
  'aspf',
  'pct',
  'fo',
  'testing',
  'discovery_method',
] as const
const RECORD_FIELDS = [
  'source_ip',
  'count',
  'disposition',
  'dkim',
  'spf',
  'header_from',
  'envelope_from',
  'envelope_to',
] as const
const AUTH = ['domain', 'selector', 'scope', 'result', 'human_result'] as const
export const REASON = ['type', 'comment'] as const
export const ERROR_SLOT = METADATA.indexOf('error')

/** Elements with text, by the container they may stand in: where in the slots of it their text goes. */
const LEAVES: Record<Container, Readonly<Record<string, number>>> = {
  feedback: slotsOf(METADATA, ['version']),
  report_metadata: slotsOf(METADATA, METADATA.slice(1)),
  date_range: slotsOf(METADATA, ['begin', 'end']),
  policy_published: slotsOf(POLICY, POLICY),
  record: {},
  row: slotsOf(RECORD_FIELDS, ['source_ip', 'count']),
  policy_evaluated: slotsOf(RECORD_FIELDS, ['disposition', 'dkim', 'spf']),
  reason: slotsOf(REASON, REASON),
  identifiers: slotsOf(RECORD_FIELDS, ['header_from', 'envelope_from', 'envelope_to']),
  auth_results: {},
  dkim: slotsOf(AUTH, ['domain', 'selector', 'result', 'human_result']),
  spf: slotsOf(AUTH, ['domain', 'scope', 'result', 'human_result']),
}

function slotsOf(order: readonly string[], names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, order.indexOf(name)]))
}

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
  readonly leaves: readonly (number | undefined)[]
}

export const INSIDE: Readonly<Record<Container, Inside>> = linkContainers()

function linkContainers(): Record<Container, Inside> {
  const kinds = Object.keys(CHILDREN) as Container[]
  const made = Object.fromEntries(
    kinds.map((kind) => [kind, { kind, children: [] as Inside[], leaves: [] as number[] }]),
  ) as Record<Container, { kind: Container; children: Inside[]; leaves: number[] }>
  for (const kind of kinds) {
    for (const [name, child] of Object.entries(CHILDREN[kind]))
      made[kind].children[NUMBERS.get(name)!] = made[child]
    for (const [name, slot] of Object.entries(LEAVES[kind])) made[kind].leaves[NUMBERS.get(name)!] = slot
  }
  return made
}
