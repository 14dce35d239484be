/**
 * Folders of report files. Files are found, read and handed to one run, several at a time, so that the sandbox always
 * has work while the last batch is committed.
 */
import { statSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Actor } from '../db/types.ts'
import { REPORT_FILE_BYTES_MAX } from '../lib/limits.ts'
import { inParallel } from './blobs.ts'
import type { ReportSource } from './incoming.ts'
import type { Ingest } from './ingest.ts'
import type { FileOutcome } from './outcomes.ts'

/** More than this in the sandbox's queue brings nothing; it bounds what is held in memory. */
const FILES_AT_ONCE = 16
/** Up to this size a file is read whole; larger ones are read by the sandbox itself. */
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
  const started = monotonic()
  const files = (await Promise.all(paths.map(filesUnder))).flat()
  const summary: ImportSummary = {
    files: files.length,
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
  await inParallel(files, FILES_AT_ONCE, async ({ path, name }) => {
    // A look that waits costs more in the thread pool than the look.
    const { size } = statSync(path)
    if (size > REPORT_FILE_BYTES_MAX) {
      tally(summary, tooLarge(name, size))
      told(summary)
    } else if (size > HELD_BYTES_MAX) await run.add({ name, path, owned: false })
    else await run.add({ name, content: await readFile(path) })
  })
  await run.finish()
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
async function filesUnder(path: string): Promise<{ path: string; name: string }[]> {
  const found = await stat(path)
  if (!found.isDirectory()) return [{ path, name: relative(join(path, '..'), path) }]
  const entries = await readdir(path, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (file) =>
        !relative(path, file)
          .split(/[\\/]/)
          .some((part) => part.startsWith('.')),
    )
    .sort()
    .map((file) => ({ path: file, name: relative(path, file) }))
}
