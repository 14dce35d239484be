/** Report files for tests of what comes after the parser: a stand-in for the sandbox that reads a plain description. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Db } from '../../src/db/types.ts'
import type { DmarcMeta, DmarcRow, Message } from '../../src/reports/parse/types.ts'
import type { SandboxPool } from '../../src/sandbox/types.ts'

export interface RowSpec {
  ip?: string
  count?: number
  dkim?: boolean
  spf?: boolean
  disposition?: DmarcRow['disposition']
  from?: string
  dkim_domain?: string
  spf_domain?: string
}

export interface ReportSpec {
  org?: string
  id?: string
  domain?: string
  begin?: number
  end?: number
  p?: 'none' | 'quarantine' | 'reject'
  rows?: RowSpec[]
  /** The report breaks off after its rows. */
  breaks?: true
  /** Metadata is not known before the rows. */
  late_meta?: true
  /** Sent more than once with other white space. */
  padding?: string
}

export const BEGIN = Date.UTC(2026, 0, 10)
export const DAY = 86_400_000

/** The bytes of a described file: one report, or several, or something that is no report. */
export function specFile(spec: ReportSpec | ReportSpec[] | string): Uint8Array {
  return new TextEncoder().encode(typeof spec === 'string' ? spec : JSON.stringify([spec].flat()))
}

/** A pool that reads `specFile`. */
export function specPool(): SandboxPool {
  return {
    async *run(job) {
      const bytes = job.bytes ?? (await readFile(job.path!))
      const text = new TextDecoder().decode(bytes)
      yield* text.startsWith('[') ? messagesOf(JSON.parse(text) as ReportSpec[]) : refused()
    },
    stats: () => ({ children: 1, running: 0, queued: 0, killed: 0, rss_peak: 0 }),
    close: async () => {},
  }
}

const origin = { name: '', containers: [] }

function* refused(): Generator<Message> {
  yield {
    type: 'rejected',
    index: null,
    origin: null,
    code: 'not_a_report',
    detail: 'Nothing here is a report',
  }
  yield { type: 'done', reports: 0, rejected: 1, unpacked_bytes: 1, input_kind: 'unknown' }
}

function* messagesOf(specs: ReportSpec[]): Generator<Message> {
  for (const [index, spec] of specs.entries()) {
    const meta = metaOf(spec)
    const rows = (spec.rows ?? [{}]).map(rowOf)
    yield { type: 'report', index, kind: 'dmarc', origin, meta: spec.late_meta ? null : meta }
    for (let i = 0; i < rows.length; i += 500) {
      yield { type: 'records', index, kind: 'dmarc', rows: rows.slice(i, i + 500) }
    }
    if (spec.breaks) {
      yield { type: 'rejected', index, origin, code: 'truncated', detail: 'It breaks off' }
      continue
    }
    const digest = (value: unknown): string =>
      createHash('sha256').update(JSON.stringify(value)).digest('hex')
    yield {
      type: 'end',
      index,
      kind: 'dmarc',
      meta,
      totals: totalsOf(rows),
      rows_sha256: digest(rows),
      content_sha256: digest(spec),
      content_bytes: 1,
      origin,
      repairs: [],
    }
  }
  yield { type: 'done', reports: specs.length, rejected: 0, unpacked_bytes: 1, input_kind: 'xml' }
}

function metaOf(spec: ReportSpec): DmarcMeta {
  const begin = spec.begin ?? BEGIN
  const id = spec.id ?? 'r1'
  return {
    org_name: spec.org ?? 'Receiver One',
    org_email: 'dmarc@receiver-one.example',
    extra_contact_info: null,
    report_id: id,
    report_id_norm: id.replaceAll(/[<>\s]/g, ''),
    reporter_key: (spec.org ?? 'receiver-one.example').toLowerCase(),
    date_begin: begin,
    date_end: spec.end ?? begin + DAY - 1000,
    version: '1.0',
    standard: 'rfc7489',
    generator: null,
    errors: [],
    policy: {
      domain: spec.domain ?? 'example.com',
      p: spec.p ?? 'none',
      sp: null,
      np: null,
      adkim: 'r',
      aspf: 'r',
      pct: 100,
      fo: null,
      testing: null,
      discovery_method: null,
    },
  }
}

function rowOf(spec: RowSpec, at: number): DmarcRow {
  const from = spec.from ?? 'example.com'
  return {
    n: at + 1,
    source_ip: spec.ip ?? '192.0.2.1',
    count: spec.count ?? 1,
    disposition: spec.disposition ?? 'none',
    dkim_aligned: spec.dkim ?? false,
    spf_aligned: spec.spf ?? false,
    reasons: [],
    header_from: from,
    envelope_from: null,
    envelope_to: null,
    dkim: spec.dkim
      ? [{ domain: spec.dkim_domain ?? from, selector: 's1', result: 'pass', human_result: null }]
      : [],
    spf: spec.spf
      ? [{ domain: spec.spf_domain ?? from, scope: 'mfrom', result: 'pass', human_result: null }]
      : [],
  }
}

function totalsOf(rows: DmarcRow[]) {
  const sum = (keep: (row: DmarcRow) => boolean): number =>
    rows.filter(keep).reduce((total, row) => total + row.count, 0)
  const messages = sum(() => true)
  const both = sum((row) => row.dkim_aligned && row.spf_aligned)
  const dkim_only = sum((row) => row.dkim_aligned && !row.spf_aligned)
  const spf_only = sum((row) => !row.dkim_aligned && row.spf_aligned)
  const of = (disposition: DmarcRow['disposition']): number => sum((row) => row.disposition === disposition)
  return {
    records: rows.length,
    skipped: 0,
    messages,
    pass: both + dkim_only + spf_only,
    fail: messages - both - dkim_only - spf_only,
    by_disposition: {
      none: of('none'),
      pass: of('pass'),
      quarantine: of('quarantine'),
      reject: of('reject'),
    },
    both,
    dkim_only,
    spf_only,
    neither: messages - both - dkim_only - spf_only,
  }
}

/** A tenant without users: enough for rows that refer to it. */
export async function addTenant(db: Db, id: string): Promise<void> {
  const actor = {
    tenant_id: '_system',
    type: 'system',
    id: null,
    name: null,
    key_id: null,
    ip: null,
    request_id: null,
  }
  await db.commit(actor as Parameters<Db['commit']>[0], {
    writes: [
      {
        sql: `INSERT INTO tenants (id, name, plan, created_at, updated_at) VALUES (?, ?, 'pro', 0, 0)`,
        params: [id, id],
      },
    ],
    audit: { action: 'tenants.create' },
  })
}
