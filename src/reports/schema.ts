import type { Static } from '@sinclair/typebox'
import { t } from 'elysia'
import {
  FieldsQuery,
  Int,
  IsoTime,
  Literals,
  Nullable,
  PageQuery,
  QueryText,
  QueryTime,
} from '../http/schema.ts'
import { REPORT_SORTS, SOURCE_SORTS } from './sorts.ts'

export const EXPORT_FORMATS = ['json', 'csv', 'ndjson'] as const
export const LIST_FORMATS = ['json', 'csv'] as const
export const STATUSES = ['current', 'superseded'] as const
const DISPOSITIONS = ['none', 'quarantine', 'reject', 'pass'] as const
const POLICIES = ['none', 'quarantine', 'reject'] as const
const SOURCES = ['upload', 'mailbox', 'watch', 'api'] as const
const FILE_KINDS = ['xml', 'json', 'mail', 'gzip', 'zip', 'unknown'] as const
const SENDER_KINDS = ['dkim', 'spf', 'network', 'prefix', 'other'] as const

const Count = Int({ minimum: 0 })
const ByDisposition = t.Object({ none: Count, quarantine: Count, reject: Count, pass: Count })

export const Repair = t.Object(
  { code: t.String({ examples: ['encoding_fallback'] }), detail: t.String(), count: Count },
  { title: 'Repair', description: 'Something in the file that was put right, and how often.' },
)

const ReportFile = t.Object({
  name: t.String(),
  sha256: t.String(),
  bytes: Count,
  kind: Literals(FILE_KINDS),
})

export const Report = t.Object(
  {
    id: t.String({ examples: ['rpt_01k9w3p6zj4vtrcq8e1m2n5a7b'] }),
    domain: t.String({ description: 'Policy domain of the report (A-label).', examples: ['example.com'] }),
    domain_id: Nullable(t.String({ description: 'The domain it belongs to; null: unassigned.' })),
    status: Literals(STATUSES),
    org_name: t.String({ examples: ['Receiver One'] }),
    org_email: Nullable(t.String()),
    report_id: t.String(),
    date_begin: IsoTime,
    date_end: IsoTime,
    policy: t.Object({
      p: Literals(POLICIES),
      sp: Nullable(Literals(POLICIES)),
      np: Nullable(Literals(POLICIES)),
      adkim: Literals(['r', 's']),
      aspf: Literals(['r', 's']),
      pct: Nullable(Int()),
      fo: Nullable(t.String()),
      testing: Nullable(t.Boolean()),
      discovery_method: Nullable(Literals(['psl', 'treewalk'])),
    }),
    totals: t.Object({
      records: Count,
      messages: Count,
      pass: Count,
      fail: Count,
      by_disposition: ByDisposition,
    }),
    source: Literals(SOURCES),
    file: ReportFile,
    standard: Literals(['rfc7489', 'rfc9990']),
    contact: Nullable(t.String()),
    errors: t.Array(t.String({ description: 'What the reporter itself says went wrong.' })),
    repairs: t.Array(Repair),
    revision_of: t.Optional(t.String({ description: 'The report it was compared with.' })),
    created_at: IsoTime,
  },
  { title: 'Report' },
)
export type ReportDto = Static<typeof Report>

export const ReportRecord = t.Object(
  {
    n: Int({ description: 'Number of the record in the report as it was sent.' }),
    source_ip: t.String({ examples: ['192.0.2.15'] }),
    count: Count,
    disposition: Literals(DISPOSITIONS),
    dkim_aligned: t.Boolean(),
    spf_aligned: t.Boolean(),
    result: Literals(['pass', 'fail']),
    sender: t.String({ description: 'Under which sender it is counted in the sources.' }),
    sender_kind: Literals(SENDER_KINDS),
    reasons: t.Array(t.Object({ type: t.String(), comment: Nullable(t.String()) })),
    header_from: t.String(),
    envelope_from: Nullable(t.String()),
    envelope_to: Nullable(t.String()),
    dkim: t.Array(
      t.Object({
        domain: t.String(),
        selector: Nullable(t.String()),
        result: t.String(),
        human_result: Nullable(t.String()),
      }),
    ),
    spf: t.Array(
      t.Object({
        domain: t.String(),
        scope: Nullable(t.String()),
        result: t.String(),
        human_result: Nullable(t.String()),
      }),
    ),
  },
  { title: 'ReportRecord' },
)
export type RecordDto = Static<typeof ReportRecord>

const RecordPage = t.Object({ items: t.Array(ReportRecord), next_cursor: t.Optional(t.String()) })
export const ReportDetail = t.Composite([Report, t.Object({ records: RecordPage })], {
  title: 'ReportDetail',
})

export const DomainFilterQuery = {
  domain: t.Optional(
    t.String({
      maxLength: 8000,
      description: 'Comma list of domain names (A- or U-label) or ids.',
      examples: ['example.com,example.net'],
    }),
  ),
}

const FilterQuery = {
  ...DomainFilterQuery,
  from: QueryTime('Reports whose period ends at or after this moment.'),
  to: QueryTime('Reports whose period begins before this moment.'),
  org: QueryText('Name of the reporter, exact.'),
  q: QueryText('Part of the reporter, the domain or the report id.'),
  unassigned: t.Optional(
    t.String({ 'x-openapi': { type: 'boolean', description: 'Only reports without a domain of yours.' } }),
  ),
  status: t.Optional(t.String({ 'x-openapi': { type: 'string', enum: STATUSES, default: 'current' } })),
}

export const ReportListQuery = t.Object({
  ...FilterQuery,
  sort: t.Optional(t.String({ 'x-openapi': { type: 'string', enum: REPORT_SORTS, default: '-date_end' } })),
  format: t.Optional(t.String({ 'x-openapi': { type: 'string', enum: LIST_FORMATS, default: 'json' } })),
  ...FieldsQuery,
  ...PageQuery,
})

export const ReportExportQuery = t.Object({
  ...FilterQuery,
  format: t.Optional(t.String({ 'x-openapi': { type: 'string', enum: EXPORT_FORMATS, default: 'json' } })),
})

export const ReportDetailQuery = t.Object({ ...FieldsQuery, ...PageQuery })
export const RecordListQuery = t.Object({
  result: t.Optional(t.String({ 'x-openapi': { type: 'string', enum: ['fail'] } })),
  ...PageQuery,
})

const Range = {
  from: QueryTime('First day. Default: 30 days back.'),
  to: QueryTime('End, exclusive. Default: now.'),
}
const SourceFilter = {
  sender: QueryText('Only this sender, exact.'),
  sort: t.Optional(t.String({ 'x-openapi': { type: 'string', enum: SOURCE_SORTS, default: '-fail' } })),
}
export const RangeQuery = t.Object(Range)
export const TimelineQuery = t.Object({ ...DomainFilterQuery, ...Range })
export const SourcesQuery = t.Object({ ...DomainFilterQuery, ...Range, ...SourceFilter, ...PageQuery })
export const DomainSourcesQuery = t.Object({ ...Range, ...SourceFilter, ...PageQuery })

const RangeAnswer = {
  domain: Nullable(t.String({ description: 'null: the whole tenant.' })),
  from: IsoTime,
  to: IsoTime,
}

export const Timeline = t.Object(
  {
    ...RangeAnswer,
    items: t.Array(
      t.Object({
        date: t.String({ format: 'date' }),
        messages: Count,
        pass: Count,
        fail: Count,
        both: Count,
        dkim_only: Count,
        spf_only: Count,
        neither: Count,
        by_disposition: ByDisposition,
        reports: Count,
      }),
    ),
  },
  { title: 'Timeline', description: 'Every day of the range, oldest first.' },
)

export const Source = t.Object(
  {
    sender: t.String({ examples: ['mail.example.com'] }),
    kind: Literals(SENDER_KINDS, {
      description: 'What the sender was told by: an aligned domain, a network, or an address range.',
    }),
    messages: Count,
    pass: Count,
    fail: Count,
    pass_rate: t.Number({ minimum: 0, maximum: 100 }),
    dkim_pass: Count,
    spf_pass: Count,
    by_disposition: ByDisposition,
    sample_ips: t.Array(t.String()),
    first_seen: IsoTime,
    last_seen: IsoTime,
  },
  { title: 'Source' },
)
export const Sources = t.Object(
  { ...RangeAnswer, items: t.Array(Source), next_cursor: t.Optional(t.String()) },
  { title: 'Sources' },
)

export const ReportSummary = t.Object(
  {
    messages: Count,
    pass: Count,
    fail: Count,
    reports: Count,
    reporters: Count,
    domains: Count,
    unassigned_reports: Count,
    rejected_files: Count,
    last_report_at: Nullable(IsoTime),
  },
  { title: 'ReportSummary' },
)

export const Reporters = t.Object({
  items: t.Array(
    t.Object({ org_name: t.String(), reports: Count, messages: Count, last_report_at: IsoTime }),
  ),
})

export const UploadResult = t.Object(
  {
    results: t.Array(
      t.Object({
        file: t.String(),
        kind: Literals(FILE_KINDS),
        bytes: Count,
        sha256: t.String(),
        reports: t.Array(
          t.Object({
            status: Literals(['created', 'duplicate', 'revision', 'rejected']),
            id: t.Optional(t.String()),
            kind: t.Optional(Literals(['dmarc', 'tls', 'failure'])),
            entry: t.String({ description: 'Name inside an archive or mail.' }),
            domain: t.Optional(t.String()),
            org_name: t.Optional(t.String()),
            messages: t.Optional(Count),
            date_begin: t.Optional(IsoTime),
            date_end: t.Optional(IsoTime),
            assigned: t.Optional(t.Boolean()),
            revision_of: t.Optional(t.String()),
            repairs: t.Array(Repair),
            code: t.Optional(t.String()),
            detail: t.Optional(t.String()),
          }),
        ),
      }),
    ),
  },
  { title: 'UploadResult' },
)

const Origin = {
  source: Literals(SOURCES),
  file: ReportFile,
  repairs: t.Array(Repair),
  created_at: IsoTime,
}

export const TlsReport = t.Object(
  {
    id: t.String({ examples: ['tls_01k9w3p6zj4vtrcq8e1m2n5a7b'] }),
    org_name: t.String(),
    contact: Nullable(t.String()),
    report_id: t.String(),
    domains: t.Array(t.String()),
    date_begin: IsoTime,
    date_end: IsoTime,
    successful_sessions: Count,
    failed_sessions: Count,
    revision_of: t.Optional(t.String()),
    ...Origin,
  },
  { title: 'TlsReport' },
)
export type TlsReportDto = Static<typeof TlsReport>

export const TlsReportDetail = t.Composite(
  [TlsReport, t.Object({ policies: t.Array(t.Record(t.String(), t.Unknown())) })],
  { title: 'TlsReportDetail' },
)

export const FailureReport = t.Object(
  {
    id: t.String({ examples: ['ruf_01k9w3p6zj4vtrcq8e1m2n5a7b'] }),
    reported_domain: t.String(),
    source_ip: Nullable(t.String()),
    auth_failure: Nullable(t.String()),
    arrived_at: Nullable(IsoTime),
    subject: Nullable(t.String()),
    ...Origin,
  },
  { title: 'FailureReport' },
)
export type FailureReportDto = Static<typeof FailureReport>

export const FailureReportDetail = t.Composite(
  [FailureReport, t.Object({ detail: t.Record(t.String(), t.Unknown()) })],
  { title: 'FailureReportDetail' },
)

export const RejectedFile = t.Object(
  {
    id: t.String({ examples: ['rej_01k9w3p6zj4vtrcq8e1m2n5a7b'] }),
    file: t.String(),
    sha256: t.String(),
    bytes: Count,
    code: t.String({ examples: ['not_a_report'] }),
    detail: t.String(),
    source: Literals(SOURCES),
    created_at: IsoTime,
    expires_at: IsoTime,
  },
  { title: 'RejectedFile' },
)
export type RejectedFileDto = Static<typeof RejectedFile>

export const OtherListQuery = t.Object({
  q: QueryText('Part of the reporter, the domain or the file name.'),
  from: QueryTime('From this moment.'),
  to: QueryTime('Before this moment.'),
  ...FieldsQuery,
  ...PageQuery,
})
