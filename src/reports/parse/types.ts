/**
 * What the parsers of report files say. One input file gives a stream of messages:
 *
 *   report -> records* -> end        one report was read to its end and may be stored
 *   report -> records* -> rejected   (same `index`) the report broke later: forget all of this index
 *   rejected                         an entry, or the whole file, is no report
 *   done                             always the last one, exactly once
 *
 * Nothing of a report may be made visible before its `end`. XML element order is not reliable (metadata may come
 * after the records, fallbacks are known only at the end), so only `end.meta` is final. `report.meta` is there for large
 * reports alone (more than one chunk of rows) whose metadata stood before the rows. `index` counts the reports of one
 * input from 0. All times are integer milliseconds UTC. Nothing here is trusted text: it comes from strangers,
 * bounded in length (4,096 characters a value) and free of control characters, but never safe as markup or formula.
 */
import type { UnpackLimits } from '../../lib/unpack.ts'

/** A thing put right, by code; `detail` shows the first case (raw value where there is one), `count` says how often. */
export interface Repair {
  /** Flat snake_case, stable, from `REPAIRS`. */
  code: RepairCode
  detail: string
  count: number
}

/** Every repair there is. */
export const REPAIRS = {
  encoding_fallback: 'Bytes that are not in the declared encoding were read as windows-1252',
  control_characters: 'Characters that XML forbids were dropped',
  bare_markup: 'Bare < or & in text was taken as text',
  unclosed_tag: 'An element without its end was closed',
  stray_close_tag: 'An end without its element was ignored',
  completed_end: 'The cut end of the file was completed',
  doctype_ignored: 'A document type declaration was ignored',
  text_truncated: 'An overlong text was cut',
  trailing_garbage: 'Bytes after the end of the archive were ignored',
  zip_directory_rebuilt: 'The directory of the ZIP archive was missing or broken',
  record_skipped: 'A record that cannot be used was left out',
  results_truncated: 'More results in a record than are kept',
  repeated_element: 'An element that may appear once appeared again; the first counts',
  misnamed_element: 'An element has a wrong name',
  enum_unknown: 'A value that is not in the standard was replaced by the nearest one',
  enum_alias: 'A value was written in another way',
  ip_normalised: 'An IP address was rewritten',
  ip_leading_zeros: 'An IP address has leading zeros; they were dropped',
  count_normalised: 'A number was rewritten',
  count_clamped: 'A number was too large and was clamped',
  date_normalised: 'A date was not in whole seconds since 1970',
  date_milliseconds: 'Dates in milliseconds were taken as such',
  date_swapped: 'The period ended before it began; the ends were swapped',
  date_clamped: 'The end of the period was too far in the future',
  period_long: 'The period is longer than 36 hours',
  domain_normalised: 'A domain name was rewritten',
  domain_invalid: 'A value is not a domain name; it is shown as it came',
  org_name_missing: 'The name of the reporter was taken from its address',
  report_id_missing: 'The report has no id; one was taken from elsewhere',
  domain_missing: 'The policy domain was taken from elsewhere',
  dates_missing: 'The period was taken from the file name',
  policy_missing: 'The published policy is missing or has no p',
  metadata_mismatch: 'File name or subject contradict the report',
  no_records: 'The report has no records that can be used',
  version_unknown: 'The version of the report format is unknown',
  field_missing: 'A field that should be there is missing',
  field_invalid: 'A field could not be understood and was left out',
} as const
export type RepairCode = keyof typeof REPAIRS

/** Every reason why a file or an entry of it is refused. */
export const REJECTIONS = {
  empty_file: 'The file is empty',
  not_a_report: 'Nothing in the file is a report',
  unused_body: 'The reporter sent a placeholder instead of a report',
  truncated: 'The report ends in the middle of a record',
  malformed_xml: 'The XML is too broken to be read',
  malformed_json: 'The JSON cannot be read',
  dtd_not_allowed: 'Document type definitions and entities are refused',
  too_deep: 'Elements are nested too deep',
  token_too_long: 'A tag, comment or value is too long',
  missing_domain: 'The policy domain is missing',
  missing_dates: 'The report period is missing',
  too_many_records: 'The report has too many records',
  archive_corrupt: 'The archive is damaged',
  archive_truncated: 'The archive is cut off',
  archive_empty: 'The archive holds no file',
  archive_encrypted: 'The archive is encrypted',
  archive_overlap: 'Entries of the archive overlap',
  compression_unsupported: 'The compression method is not supported',
  too_many_entries: 'The archive holds too many files',
  nesting_too_deep: 'Archives are nested too deep',
  input_too_large: 'The file is too large',
  unpacked_too_large: 'The unpacked content is too large',
  ratio_too_high: 'The content unpacks to suspiciously much',
  unreadable: 'The file could not be read',
  parse_timeout: 'Reading the file took too long and was stopped',
  parse_memory: 'Reading the file took too much memory and was stopped',
  parse_crashed: 'Reading the file failed',
} as const
export type RejectionCode = keyof typeof REJECTIONS

export type ReportKind = 'dmarc' | 'tls' | 'failure'

export type Disposition = 'none' | 'pass' | 'quarantine' | 'reject'
export type PolicyValue = 'none' | 'quarantine' | 'reject'
export type DkimResult = 'none' | 'pass' | 'fail' | 'policy' | 'neutral' | 'temperror' | 'permerror'
export type SpfResult =
  | 'none'
  | 'neutral'
  | 'pass'
  | 'fail'
  | 'softfail'
  | 'policy'
  | 'temperror'
  | 'permerror'
export type ReasonType =
  | 'forwarded'
  | 'sampled_out'
  | 'trusted_forwarder'
  | 'mailing_list'
  | 'local_policy'
  | 'policy_test_mode'
  | 'other'

/** Where the bytes came from inside the input. Names are shown, never used as paths. */
export interface Origin {
  /** Name of the innermost file: archive entry or attachment; the input's own name otherwise; may be ''. */
  name: string
  /** Containers from the outside in, for example ['mail', 'zip']; empty for a plain file. */
  containers: ('gzip' | 'zip' | 'mail')[]
}

export interface DmarcPolicy {
  /** A-label, lower case, no trailing dot. */
  domain: string
  p: PolicyValue
  /** null: not published, subdomains follow `p`. */
  sp: PolicyValue | null
  /** RFC 9990; null: not published, follows `sp`. */
  np: PolicyValue | null
  adkim: 'r' | 's'
  aspf: 'r' | 's'
  /** 0..100; null: absent (always so in RFC 9990). */
  pct: number | null
  fo: string | null
  /** RFC 9990 `testing`: true for y. */
  testing: boolean | null
  discovery_method: 'psl' | 'treewalk' | null
}

export interface DmarcMeta {
  /** Never empty. */
  org_name: string
  /** '' when absent. */
  org_email: string
  extra_contact_info: string | null
  /** As sent (trimmed); see `report_id_norm`. Never empty. */
  report_id: string
  /** For comparing: without <> and white space; keeps everything else, upper and lower case too. */
  report_id_norm: string
  /** Registrable domain of the e-mail, else of the org name, else the org name in lower case. */
  reporter_key: string
  date_begin: number
  /** Inclusive as sent; >= date_begin. */
  date_end: number
  version: string | null
  /** Which standard the file follows: by namespace or by elements that only RFC 9990 knows. */
  standard: 'rfc7489' | 'rfc9990'
  generator: string | null
  errors: string[]
  policy: DmarcPolicy
}

export interface Reason {
  type: ReasonType
  comment: string | null
}

export interface DkimAuth {
  /** A-label; '' when absent. */
  domain: string
  selector: string | null
  result: DkimResult
  human_result: string | null
}

export interface SpfAuth {
  domain: string
  scope: 'mfrom' | 'helo' | null
  result: SpfResult
  human_result: string | null
}

/** One record of an aggregate report. A message passes DMARC when `dkim_aligned || spf_aligned`, weighted by `count`. */
export interface DmarcRow {
  /** Number of the record in the report as sent, from 1; gaps where records were skipped. */
  n: number
  /** Canonical text: IPv4 dotted, IPv6 compressed in lower case (RFC 5952). */
  source_ip: string
  /** 1 .. 2^53-1. */
  count: number
  disposition: Disposition
  /** policy_evaluated/dkim is pass. */
  dkim_aligned: boolean
  /** policy_evaluated/spf is pass. */
  spf_aligned: boolean
  reasons: Reason[]
  /** A-label; '' when absent. */
  header_from: string
  /** null: absent; '' : the null sender. */
  envelope_from: string | null
  envelope_to: string | null
  /** At most 100. */
  dkim: DkimAuth[]
  /** At most 20. */
  spf: SpfAuth[]
  /** Values as sent where another one stands above, by path: `{'disposition': 'softfail', 'dkim.0.result': 'ok'}`. */
  raw?: Record<string, string>
}

export interface DmarcTotals {
  /** Records kept. */
  records: number
  /** Records left out; each is in `repairs` as `record_skipped`. */
  skipped: number
  messages: number
  /** dkim_aligned or spf_aligned. */
  pass: number
  fail: number
  by_disposition: Record<Disposition, number>
  /** Messages by alignment; the four add up to `messages`. */
  both: number
  dkim_only: number
  spf_only: number
  neither: number
}

/** RFC 8460. */
export interface TlsMeta {
  organization_name: string
  contact_info: string | null
  report_id: string
  report_id_norm: string
  reporter_key: string
  date_begin: number
  date_end: number
  /** The policy domain of the first policy that has one; '' when none has. */
  domain: string
}

export interface TlsFailure {
  /** As sent, lower case: unknown ones are kept. */
  result_type: string
  sending_mta_ip: string | null
  receiving_mx_hostname: string | null
  receiving_mx_helo: string | null
  receiving_ip: string | null
  failed_session_count: number
  additional_information: string | null
  failure_reason_code: string | null
}

export interface TlsRow {
  n: number
  policy_type: 'tlsa' | 'sts' | 'no-policy-found' | 'unknown'
  policy_domain: string
  policy_string: string[]
  mx_host: string[]
  successful_sessions: number
  failed_sessions: number
  failures: TlsFailure[]
}

export interface TlsTotals {
  policies: number
  successful_sessions: number
  failed_sessions: number
}

/** RFC 6591 / RFC 9991, or what a plain-text sender put in its place. Headers only: bodies are never kept. */
export interface FailureMeta {
  /** `auth-failure` and so on; 'plain_text' when there is no machine-readable part. */
  feedback_type: string
  /** dmarc, spf, dkim, signature, ... as sent, lower case; null when absent. */
  auth_failure: string | null
  reporter: string
  user_agent: string | null
  /** The domain the report is about; '' when nothing says it. */
  reported_domain: string
  source_ip: string | null
  arrival_date: number | null
  original_mail_from: string | null
  original_rcpt_to: string[]
  identity_alignment: string | null
  delivery_result: string | null
  dkim_domain: string | null
  dkim_selector: string | null
  spf_dns: string | null
  authentication_results: string | null
  incidents: number
  /** Of the reported message. */
  header_from: string | null
  subject: string | null
  message_id: string | null
  message_date: number | null
  /** All fields of the machine-readable part, lower-case names, at most 64. */
  fields: { name: string; value: string }[]
  /** Header block of the reported message, at most 16 kB. */
  original_headers: string
  /** Subject of the mail that carried the report. */
  report_subject: string | null
}

export interface FileDigest {
  /** Hex SHA-256 of the decompressed bytes of the XML, JSON or mail the report is in. */
  content_sha256: string
  /** Unpacked bytes of that file. */
  content_bytes: number
  origin: Origin
  repairs: Repair[]
}

export type Message =
  | { type: 'report'; index: number; kind: 'dmarc'; origin: Origin; meta: DmarcMeta | null }
  | { type: 'report'; index: number; kind: 'tls'; origin: Origin; meta: TlsMeta | null }
  | { type: 'report'; index: number; kind: 'failure'; origin: Origin; meta: FailureMeta | null }
  /** At most 500 rows and about 256 kB. */
  | { type: 'records'; index: number; kind: 'dmarc'; rows: DmarcRow[] }
  | { type: 'records'; index: number; kind: 'tls'; rows: TlsRow[] }
  | ({
      type: 'end'
      index: number
      kind: 'dmarc'
      meta: DmarcMeta
      totals: DmarcTotals
      /** Hex SHA-256 over the rows alone: equal for the same records in other white space or encoding. */
      rows_sha256: string
    } & FileDigest)
  | ({
      type: 'end'
      index: number
      kind: 'tls'
      meta: TlsMeta
      totals: TlsTotals
      rows_sha256: string
    } & FileDigest)
  | ({ type: 'end'; index: number; kind: 'failure'; meta: FailureMeta } & FileDigest)
  /** `index` null: no report had begun. `origin` null: the whole input. */
  | { type: 'rejected'; index: number | null; origin: Origin | null; code: RejectionCode; detail: string }
  /** `unpacked_bytes`: all that came out of archives, or the input's own length if more; `input_kind`: what its first bytes are. */
  | { type: 'done'; reports: number; rejected: number; unpacked_bytes: number; input_kind: InputKind }

export type InputKind = 'xml' | 'json' | 'mail' | 'gzip' | 'zip' | 'unknown'

/**
 * Where a parser puts its messages. Synchronous: whoever consumes slowly blocks the parser, not the memory.
 * `rows_json` is the packed text of `message.rows` (`wire.ts`), which the parser has made for its hash anyway.
 */
export type Emit = (message: Message, rows_json?: string) => void

/** What a parser is told about the run. The clock is a value: parsers read none. */
export interface ParseContext {
  /** Wall time, for clamping periods in the future. */
  now: number
  limits: ParseLimits
}

export interface ParseLimits extends UnpackLimits {
  records_max: number
}

export const PARSE_LIMITS: ParseLimits = {
  input_bytes_max: 25 * 1024 * 1024,
  unpacked_bytes_max: 512 * 1024 * 1024,
  ratio_max: 200,
  ratio_free_bytes: 1024 * 1024,
  entries_max: 20,
  nesting_max: 2,
  records_max: 2_000_000,
}
