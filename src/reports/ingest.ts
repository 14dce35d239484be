/**
 * The way in for report files: upload, folder import, and later mailbox and watched folder. A run takes files one
 * after the other, reads each in the sandbox, gathers what is small into few large changes and tells what became of
 * every file. A file that cannot be read is an outcome, not an error.
 */
import { hash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { Actor, Db } from '../db/types.ts'
import type { Clock } from '../lib/clock.ts'
import type { SandboxPool } from '../sandbox/types.ts'
import { type BlobInput, type Blobs, digestFile } from './blobs.ts'
import {
  type DmarcIncoming,
  type Incoming,
  type IncomingPorts,
  readIncoming,
  type ReportSource,
} from './incoming.ts'
import { policyJson } from './inserts.ts'
import { createLanding, type LandingAction, type LandingFile } from './landing.ts'
import type { FileOutcome, StoredReport } from './outcomes.ts'
import { createPolicyDomains } from './policy-domains.ts'
import { createSenders, type NetworkLookup } from './rules/senders.ts'
import { dropRecords } from './stored.ts'

/** A file on its way in. `owned` files (ours, under DATA/tmp) are moved or removed; others are only read. */
export type IncomingFile =
  | { name: string; path: string; owned: boolean; digest?: { sha256: string; bytes: number } }
  | { name: string; content: Uint8Array }

export interface IngestPorts {
  db: Db
  clock: Clock
  pool: SandboxPool
  blobs: Blobs
  /** Who announces an address; null without a table. */
  networks: NetworkLookup | null
}

export interface IngestRun {
  /** Reads a file; resolves when there is room for the next one, not when it is stored. */
  add(file: IncomingFile): Promise<void>
  /** Lands what is left. */
  finish(): Promise<void>
}

export interface Ingest {
  /** Reads and stores the files of one request; outcomes in their order. */
  upload(actor: Actor, source: ReportSource, files: readonly IncomingFile[]): Promise<FileOutcome[]>
  /** For many files: outcomes are told as they land, in order of landing. */
  run(
    actor: Actor,
    source: ReportSource,
    action: LandingAction,
    told: (outcome: FileOutcome) => void,
  ): IngestRun
  /** Reads the original of a stored report again; what comes out otherwise replaces it. */
  reread(
    actor: Actor,
    original: Original,
    stored: StoredForReread,
  ): Promise<'unchanged' | 'revised' | 'rejected'>
  /** Removes what a crash left behind: rows of large reports that never became visible. Run once at start. */
  recover(): Promise<number>
}

export interface Original {
  name: string
  path: string
  source: ReportSource
}

export interface StoredForReread extends StoredReport {
  content_sha256: string
  rows_sha256: string
  dup_key: string
  policy_json: string
}

/** A run lands when this much waits: somewhat less than one change takes, for what is being read just then. */
const PENDING_REPORTS = 128
const PENDING_RECORDS = 2000
/** Records of an upload that wait in memory for the last of its files. */
const HELD_RECORDS = 20_000

const SYSTEM: Omit<Actor, 'tenant_id'> = {
  type: 'system',
  id: null,
  name: null,
  key_id: null,
  ip: null,
  request_id: null,
}

export function createIngest(ports: IngestPorts): Ingest {
  const landing = createLanding({ ...ports, policy_domains: createPolicyDomains(ports.db) })
  const rids = createRids(ports.clock)
  const reading: IncomingPorts = {
    db: ports.db,
    clock: ports.clock,
    senderOf: createSenders(ports.networks),
    nextRid: rids.next,
  }

  let begun: Promise<void> | null = null
  /** Numbers go on where they ended, also when the clock was set back meanwhile. */
  const begin = async (): Promise<void> => {
    const [last] = await ports.db.query<{ rid: number | null }>('SELECT max(rid) AS rid FROM reports')
    rids.atLeast(last?.rid ?? 0)
  }

  const readFile = async (actor: Actor, file: IncomingFile): Promise<LandingFile> => {
    await (begun ??= begin())
    const blob = await blobOf(file)
    const job = {
      kind: 'report' as const,
      name: file.name,
      now: ports.clock.now(),
      ...('bytes' in blob.input ? { bytes: blob.input.bytes } : { path: blob.input.path }),
    }
    const { kind, reports } = await readIncoming(reading, actor, ports.pool.run(job))
    return { name: file.name, kind, bytes: blob.bytes, sha256: blob.input.sha256, blob: blob.input, reports }
  }

  const run: Ingest['run'] = (actor, source, action, told) => {
    let pending: LandingFile[] = []
    let waiting = { reports: 0, records: 0 }
    let landed: Promise<void> = Promise.resolve()
    const land = async (): Promise<void> => {
      const files = pending
      pending = []
      waiting = { reports: 0, records: 0 }
      if (files.length === 0) return
      try {
        for (const outcome of await landing.land(actor, source, action, files)) told(outcome)
      } finally {
        await Promise.all(files.map(discard))
      }
    }
    return {
      async add(file) {
        const read = await readFile(actor, file)
        pending.push(read)
        waiting.reports += Math.max(1, read.reports.length)
        waiting.records += heldRecords(read)
        if (waiting.reports < PENDING_REPORTS && waiting.records < PENDING_RECORDS) return
        landed = landed.then(land)
        await landed
      },
      async finish() {
        landed = landed.then(land)
        await landed
      },
    }
  }

  return {
    run,
    async upload(actor, source, files) {
      const outcomes: FileOutcome[] = []
      let read: LandingFile[] = []
      let records = 0
      const land = async (): Promise<void> => {
        const batch = read
        read = []
        records = 0
        outcomes.push(...(await landing.land(actor, source, 'reports.upload', batch)))
      }
      try {
        for (const file of files) {
          const one = await readFile(actor, file)
          read.push(one)
          records += heldRecords(one)
          // One change for the whole request, unless it holds more than should wait in memory.
          if (records >= HELD_RECORDS) await land()
        }
        await land()
        return outcomes
      } catch (error) {
        await dropWrittenAhead(
          ports.db,
          actor,
          read.flatMap((file) => file.reports),
        ).catch(() => undefined)
        throw error
      } finally {
        await Promise.all(files.map(discardIncoming))
      }
    },
    async reread(actor, { name, path, source }, stored) {
      const file = await readFile(actor, { name, path, owned: false })
      const found = file.reports.find(
        (report) => report.kind === 'dmarc' && report.content_sha256 === stored.content_sha256,
      )
      const others = file.reports.filter((report) => report !== found)
      await dropWrittenAhead(ports.db, actor, others)
      if (found === undefined || found.kind !== 'dmarc') return 'rejected'
      if (readsTheSame(found, stored)) {
        await dropWrittenAhead(ports.db, actor, [found])
        return 'unchanged'
      }
      await landing.replace(actor, source, { ...file, reports: [found] }, stored)
      return 'revised'
    },
    async recover() {
      const left = await ports.db.query<{ rid: number; tenant_id: string }>(
        'SELECT rid, tenant_id FROM report_loads ORDER BY rid',
      )
      for (const { rid, tenant_id } of left) await dropRecords(ports.db, { ...SYSTEM, tenant_id }, rid)
      return left.length
    },
  }
}

/**
 * Numbers of reports: they ascend with the time of arrival and never repeat within a process. Half a million a second
 * fit one millisecond grid, and 2^53 lasts to the year 2109.
 */
function createRids(clock: Clock) {
  let last = 0
  return {
    next(): number {
      last = Math.max(last + 1, clock.now() * 2048)
      return last
    },
    /** After a start with a clock that was set back. */
    atLeast(rid: number): void {
      last = Math.max(last, rid)
    },
  }
}

function readsTheSame(found: DmarcIncoming, stored: StoredForReread): boolean {
  return (
    found.rows_sha256 === stored.rows_sha256 &&
    found.dup_key === stored.dup_key &&
    policyJson(found.meta.policy) === stored.policy_json
  )
}

function heldRecords(file: LandingFile): number {
  let records = 0
  for (const report of file.reports) if (report.kind === 'dmarc') records += report.records?.length ?? 0
  return records
}

/** Removes the rows of large reports that were read and then not wanted. */
async function dropWrittenAhead(db: Db, actor: Actor, reports: readonly Incoming[]): Promise<void> {
  for (const report of reports) {
    if (report.kind === 'dmarc' && report.records === null) await dropRecords(db, actor, report.rid)
  }
}

async function blobOf(file: IncomingFile): Promise<{ input: BlobInput; bytes: number }> {
  if ('content' in file) {
    const sha256 = hash('sha256', file.content, 'hex')
    return { input: { sha256, bytes: file.content }, bytes: file.content.length }
  }
  const { sha256, bytes } = file.digest ?? (await digestFile(file.path))
  return { input: { sha256, path: file.path, owned: file.owned }, bytes }
}

/** What was not moved to its place (duplicates) goes. */
async function discard({ blob }: LandingFile): Promise<void> {
  if ('path' in blob && blob.owned) await rm(blob.path, { force: true })
}

async function discardIncoming(file: IncomingFile): Promise<void> {
  if ('path' in file && file.owned) await rm(file.path, { force: true })
}
