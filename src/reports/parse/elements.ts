/**
 * Where the texts of an aggregate report belong (RFC 7489 appendix C, RFC 9990 §3.1): the element names of both
 * standards, by the container they are in. Order does not matter; what is not named here is skipped.
 */
import type { RawMetadata, RawPolicy } from './metadata.ts'
import type { RawAuth, RawReason, RawRecord } from './record.ts'

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
export const CHILDREN: Record<Container, Readonly<Record<string, Container>>> = {
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
export const STRUCTURAL: ReadonlySet<string> = new Set([
  'report_metadata',
  'policy_published',
  'record',
  'row',
  'policy_evaluated',
  'identifiers',
  'auth_results',
])

/** What an element's text is stored as: `key` of the object that its container fills. */
export const LEAVES = {
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

/** What a container fills; each key at most once. */
export type Target = Partial<RawMetadata & RawPolicy & RawRecord & RawAuth & RawReason>
