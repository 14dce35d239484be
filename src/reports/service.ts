/** What can be asked about reports, and the export. What comes in is the business of ingest.ts. */
import type { Actor, AuditValue, Db } from '../db/types.ts'
import type { DomainsService } from '../domains/service.ts'
import type { Clock } from '../lib/clock.ts'
import { DAY_MS, isoTime } from '../lib/clock.ts'
import { invalid, problem } from '../lib/errors.ts'
import { TIMELINE_DAYS_MAX } from '../lib/limits.ts'
import type { Blobs } from './blobs.ts'
import type { ExportFormat, ExportRow } from './export.ts'
import {
  type DayRange,
  dayRange,
  type ReporterItem,
  reportersOf,
  type Scope,
  type SourceItem,
  type SourcePage,
  sourcesOf,
  type Summary,
  summaryOf,
  type TimelineItem,
  timelineOf,
} from './figures.ts'
import { presentRecord, presentReport } from './present.ts'
import type { RecordDto } from './schema.ts'
import {
  findReport,
  listRecords,
  listReports,
  policyDomainsOf,
  type ReportFilter,
  type ReportPage,
  type StoredReport,
} from './store.ts'
import { recordsOf } from './stored.ts'

export interface ReportPorts {
  db: Db
  clock: Clock
  blobs: Blobs
  domains: Pick<DomainsService, 'policyDomains'>
}

export interface Original {
  path: string
  name: string
  bytes: number
}

export interface TimeRange {
  from?: number
  to?: number
}

export interface RangeAnswer {
  domain: string | null
  from: string
  to: string
}

export type ReportsService = ReturnType<typeof createReports>

/** 9999-12-31, the last day with a year of four digits. */
const LAST_DAY = 2_932_896
const EXPORT_REPORTS = 100
const EXPORT_RECORDS = 1000

export function createReports({ db, clock, blobs, domains }: ReportPorts) {
  const find = async (tenant_id: string, id: string): Promise<StoredReport> => {
    const row = await findReport(db, tenant_id, id)
    if (row === null) throw problem('not_found', 'There is no such report.')
    return row
  }

  const daysOf = ({ from, to }: TimeRange): DayRange => {
    const range = dayRange(from, to, clock.now())
    if (range.first < 0 || range.last > LAST_DAY) {
      throw invalid(
        range.first < 0 ? '?from' : '?to',
        'out_of_range',
        'Days from 1970 to 9999 can be asked for.',
      )
    }
    if (range.last - range.first >= TIMELINE_DAYS_MAX) {
      throw invalid('?from', 'range_too_long', `At most ${TIMELINE_DAYS_MAX} days can be asked for.`)
    }
    return range
  }

  /** The policy domains that are meant, and how the answer names them. */
  const scopeOf = async (
    tenant_id: string,
    about: { domain_id: string } | { names: readonly string[] | undefined },
  ): Promise<{ scope: Scope; domain: string | null }> => {
    if ('domain_id' in about) {
      const { name, policy_domain_ids } = await domains.policyDomains(tenant_id, about.domain_id)
      return { scope: policy_domain_ids, domain: name }
    }
    if (about.names === undefined) return { scope: null, domain: null }
    const found = await policyDomainsOf(db, tenant_id, about.names)
    return { scope: found.map((each) => each.id), domain: about.names.join(',') }
  }

  return {
    /** Rows as stored, one page: `show` makes the answer, the position of a page is in the row. */
    list: (tenant_id: string, filter: ReportFilter, page: ReportPage): Promise<StoredReport[]> =>
      listReports(db, tenant_id, filter, page),

    show: presentReport,

    find,

    /** One page of the records of a report, after record number `after`. */
    async records(
      report: Pick<StoredReport, 'rid'>,
      page: { after: number; limit: number; failing: boolean },
    ): Promise<RecordDto[]> {
      return (await listRecords(db, report.rid, page)).map(presentRecord)
    },

    /** The file as it was sent; reading it is audited, because it holds what the reporter wrote, unfiltered. */
    async original(actor: Actor, id: string): Promise<Original> {
      const row = await find(actor.tenant_id, id)
      const bytes = await blobs.size(actor.tenant_id, row.blob_sha256)
      if (bytes === null) throw problem('gone', 'The original is no longer there.')
      await db.commit(actor, {
        writes: [],
        audit: { action: 'reports.raw', target: { type: 'report', id }, detail: { sha256: row.blob_sha256 } },
      })
      return { path: blobs.path(actor.tenant_id, row.blob_sha256), name: row.file_name, bytes }
    },

    async timeline(
      tenant_id: string,
      about: { domain_id: string } | { names: readonly string[] | undefined },
      range: TimeRange,
    ): Promise<RangeAnswer & { items: TimelineItem[] }> {
      const days = daysOf(range)
      const { scope, domain } = await scopeOf(tenant_id, about)
      return { domain, ...bounds(days), items: await timelineOf(db, tenant_id, scope, days) }
    },

    async sources(
      tenant_id: string,
      about: { domain_id: string } | { names: readonly string[] | undefined },
      range: TimeRange,
      page: SourcePage,
    ): Promise<RangeAnswer & { items: SourceItem[] }> {
      const days = daysOf(range)
      const { scope, domain } = await scopeOf(tenant_id, about)
      return { domain, ...bounds(days), items: await sourcesOf(db, tenant_id, scope, days, page) }
    },

    summary: (tenant_id: string, range: TimeRange): Promise<Summary> =>
      summaryOf(db, tenant_id, daysOf(range), clock.now()),

    reporters: (tenant_id: string, range: TimeRange): Promise<ReporterItem[]> =>
      reportersOf(db, tenant_id, daysOf(range)),

    /** Starts an export: audited at once, read while the client takes it. */
    async export(
      actor: Actor,
      filter: ReportFilter,
      format: ExportFormat,
    ): Promise<AsyncIterable<readonly ExportRow[]>> {
      const detail = JSON.parse(JSON.stringify({ format, ...filter })) as { [key: string]: AuditValue }
      await db.commit(actor, { writes: [], audit: { action: 'reports.export', detail } })
      return exportPages(db, actor.tenant_id, filter)
    },
  }
}

function bounds(days: DayRange): { from: string; to: string } {
  return { from: isoTime(days.first * DAY_MS), to: isoTime((days.last + 1) * DAY_MS) }
}

async function* exportPages(
  db: Db,
  tenant_id: string,
  filter: ReportFilter,
): AsyncGenerator<readonly ExportRow[]> {
  let after: ReportPage['after'] = null
  for (;;) {
    const reports = await listReports(db, tenant_id, filter, {
      sort: '-date_end',
      after,
      limit: EXPORT_REPORTS,
    })
    let rows: ExportRow[] = []
    for (const stored of reports) {
      const report = presentReport(stored)
      if (stored.records === 0) rows.push({ report, record: null })
      for await (const records of recordsOf(db, stored.rid)) {
        for (const record of records) rows.push({ report, record: presentRecord(record) })
        if (rows.length < EXPORT_RECORDS) continue
        yield rows
        rows = []
      }
    }
    yield rows
    if (reports.length < EXPORT_REPORTS) return
    const { date_end, rid } = reports.at(-1)!
    after = [date_end, rid]
  }
}
