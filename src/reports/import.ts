/**
 * Folders of report files. Files are found, read and handed to one run, several at a time, so that the sandbox always
 * has work while the last batch is committed.
 */
import { readFileSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import type { Actor } from '../db/types.ts'
import { REPORT_FILE_BYTES_MAX } from '../lib/limits.ts'
import type { ReportSource } from './incoming.ts'
import type { Ingest } from './ingest.ts'
import type { FileOutcome } from './outcomes.ts'

/** More than this in the sandbox's queue brings nothing; it bounds what is held in memory. */
const FILES_AT_ONCE = 16
/**
 * Up to this size a file is read whole, and at once: a trip through the thread pool costs five times as much as the
 * read itself. Larger ones are read by the sandbox.
 */
const HELD_BYTES_MAX = 1_000_000

export interface ImportProgress {
  files: number
  done: number
  created: number
  revisions: number
  duplicates: number
  rejected: number
  messages: number
}

export interface ImportSummary extends ImportProgress {
  seconds: number
  /** Duplicates, revisions and refusals, each with its reason: what was folded or left out. */
  folds: {
    file: string
    status: 'duplicate' | 'revision' | 'rejected'
    id?: string
    code?: string
    detail?: string
  }[]
}

/** A file to import: read here, or read by the sandbox itself. */
export type ImportFile = { name: string; content: Uint8Array } | { name: string; path: string; bytes: number }

/**
 * Imports files and folders (with all below them; hidden ones are left out). `told` hears of the progress after every
 * file that landed. Throws when a path does not exist.
 */
export async function importPaths(
  ingest: Ingest,
  actor: Actor,
  paths: readonly string[],
  monotonic: () => number,
  told: (progress: ImportProgress) => void,
  source: ReportSource = 'watch',
): Promise<ImportSummary> {
  const files = (await Promise.all(paths.map(filesUnder))).flat()
  return importFiles(ingest, actor, files, { monotonic, told, source, total: files.length })
}

export interface ImportOptions {
  monotonic: () => number
  told: (progress: ImportProgress) => void
  source: ReportSource
  /** How many files there are, where that is known before. */
  total?: number
}

/** The same for files that come one after the other. They are taken as fast as they are read. */
export async function importFiles(
  ingest: Ingest,
  actor: Actor,
  files: Iterable<ImportFile> | AsyncIterable<ImportFile>,
  { monotonic, told, source, total }: ImportOptions,
): Promise<ImportSummary> {
  const started = monotonic()
  const summary: ImportSummary = {
    files: total ?? 0,
    done: 0,
    created: 0,
    revisions: 0,
    duplicates: 0,
    rejected: 0,
    messages: 0,
    seconds: 0,
    folds: [],
  }
  const run = ingest.run(actor, source, 'reports.import', (outcome) => {
    tally(summary, outcome)
    told(summary)
  })
  const take = async (file: ImportFile): Promise<void> => {
    const bytes = 'path' in file ? file.bytes : file.content.length
    if (bytes > REPORT_FILE_BYTES_MAX) {
      tally(summary, tooLarge(file.name, bytes))
      told(summary)
    } else if ('content' in file) await run.add(file)
    else if (bytes > HELD_BYTES_MAX) await run.add({ name: file.name, path: file.path, owned: false })
    else await run.add({ name: file.name, content: readFileSync(file.path) })
  }
  const under_way = new Set<Promise<void>>()
  for await (const file of files) {
    if (total === undefined) summary.files++
    const taken = take(file).finally(() => under_way.delete(taken))
    under_way.add(taken)
    if (under_way.size >= FILES_AT_ONCE) await Promise.race(under_way)
  }
  await Promise.all(under_way)
  await run.finish()
  summary.folds.sort((a, b) => (a.file < b.file ? -1 : 1))
  summary.seconds = Math.round(monotonic() - started) / 1000
  return summary
}

function tally(summary: ImportSummary, outcome: FileOutcome): void {
  summary.done++
  for (const report of outcome.reports) {
    const { status, id, code, detail } = report
    if (status === 'created' || status === 'revision') summary.messages += report.messages ?? 0
    if (status === 'created') {
      summary.created++
      continue
    }
    if (status === 'revision') summary.revisions++
    else if (status === 'duplicate') summary.duplicates++
    else summary.rejected++
    summary.folds.push({
      file: outcome.file,
      status,
      ...(id === undefined ? {} : { id }),
      ...(code === undefined ? {} : { code }),
      ...(detail === undefined ? {} : { detail }),
    })
  }
}

function tooLarge(file: string, bytes: number): FileOutcome {
  const detail = `The file has ${bytes} bytes; the limit is ${REPORT_FILE_BYTES_MAX}.`
  const report = { status: 'rejected' as const, entry: '', repairs: [], code: 'input_too_large', detail }
  return { file, kind: 'unknown', bytes, sha256: '', reports: [report] }
}

/** Every file below a folder, in order, named by its place in it; a file is itself. */
export async function filesUnder(path: string): Promise<{ path: string; name: string; bytes: number }[]> {
  const found = await stat(path)
  if (!found.isDirectory()) return [{ path, name: basename(path), bytes: found.size }]
  const entries = await readdir(path, { withFileTypes: true, recursive: true })
  return (
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(path, join(entry.parentPath, entry.name)))
      .filter((name) => !name.split(/[\\/]/).some((part) => part.startsWith('.')))
      .sort()
      // A look that waits costs more in the thread pool than the look.
      .map((name) => ({ path: join(path, name), name, bytes: statSync(join(path, name)).size }))
  )
}
