/** `import`: files and folders of reports into a tenant. `reparse`: the stored originals again, after an upgrade. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { UPLOAD_REQUEST_BYTES_MAX } from '../lib/limits.ts'
import type { Verb, VerbContext } from './verb.ts'

/** What became of one file: the entries of the upload's answer. */
export interface ImportedFile {
  file: string
  reports: {
    status: 'created' | 'duplicate' | 'revision' | 'rejected'
    code?: string | undefined
    detail?: string | undefined
    messages?: number | undefined
  }[]
}

export interface ImportSummary {
  files: number
  created: number
  duplicates: number
  revisions: number
  rejected: number
  messages: number
  seconds: number
  rejections: { file: string; code: string; detail: string }[]
}

/** Reading, parsing and committing overlap; more at once brings nothing on small machines. */
const FILES_AT_ONCE = 4
const PROGRESS_EVERY_MS = 1000

export const IMPORT_VERBS: readonly Verb[] = [
  {
    name: 'import',
    summary: 'Take in reports from files and folders. What a file is, its content says.',
    operands: 'DIR|FILE…',
    operands_min: 1,
    operands_max: 10_000,
    flags: [{ name: 'tenant', value: 'ID', doc: 'The tenant. Default: the only one there is.' }],
    run: runImport,
  },
  {
    name: 'reparse',
    summary: 'Read the stored originals again, to gain what a newer version understands.',
    operands_min: 0,
    operands_max: 0,
    flags: [{ name: 'tenant', value: 'ID', doc: 'Only this tenant. Default: all.' }],
    async run({ call, flag, io, json }) {
      const done = await call<Record<string, number>>('reparse', { tenant: flag('tenant') ?? null }, (seen) =>
        io.err(JSON.stringify(seen)),
      )
      const text = Object.entries(done).map(([name, count]) => `${count} ${name}`)
      io.out(json ? JSON.stringify(done) : text.join(', '))
      return 0
    },
  },
]

async function runImport(context: VerbContext): Promise<number> {
  const { io, json, positionals } = context
  const started = systemClock.monotonic()
  const paths = (await Promise.all(positionals.map(filesUnder))).flat()
  const summary: ImportSummary = {
    files: 0,
    created: 0,
    duplicates: 0,
    revisions: 0,
    rejected: 0,
    messages: 0,
    seconds: 0,
    rejections: [],
  }
  let told = started
  const queue = paths.values()
  const worker = async (): Promise<void> => {
    for (const path of queue) {
      tally(summary, path, await importFile(context, path))
      if (systemClock.monotonic() - told < PROGRESS_EVERY_MS) continue
      told = systemClock.monotonic()
      io.err(`${summary.files} of ${paths.length} files, ${summary.created} reports`)
    }
  }
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, worker))
  summary.seconds = Math.round(systemClock.monotonic() - started) / 1000
  io.out(json ? JSON.stringify(summary) : describe(summary))
  return summary.files > 0 && summary.created + summary.revisions + summary.duplicates === 0 ? 1 : 0
}

async function importFile({ call, flag }: VerbContext, path: string): Promise<ImportedFile> {
  const { size } = await stat(path)
  if (size > UPLOAD_REQUEST_BYTES_MAX) {
    const detail = `has ${size} bytes; the limit is ${UPLOAD_REQUEST_BYTES_MAX}`
    return { file: path, reports: [{ status: 'rejected', code: 'payload_too_large', detail }] }
  }
  const bytes = await readFile(path)
  return call<ImportedFile>('import.file', {
    tenant: flag('tenant') ?? null,
    file: basename(path),
    bytes: bytes.toString('base64'),
  })
}

/** Every file below a folder, in order; hidden ones are left out. A file is itself. */
async function filesUnder(path: string): Promise<string[]> {
  const found = await stat(path)
  if (!found.isDirectory()) return [path]
  const entries = await readdir(path, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (file) =>
        !file
          .slice(path.length)
          .split(/[\\/]/)
          .some((part) => part.startsWith('.')),
    )
    .sort()
}

function tally(summary: ImportSummary, path: string, done: ImportedFile): void {
  summary.files++
  for (const report of done.reports) {
    if (report.status === 'created') summary.created++
    else if (report.status === 'duplicate') summary.duplicates++
    else if (report.status === 'revision') summary.revisions++
    else {
      summary.rejected++
      summary.rejections.push({ file: path, code: report.code ?? '', detail: report.detail ?? '' })
    }
    if (report.status === 'created' || report.status === 'revision') summary.messages += report.messages ?? 0
  }
}

function describe(summary: ImportSummary): string {
  const { files, created, duplicates, revisions, rejected, messages, seconds } = summary
  return [
    `${files} files in ${seconds.toFixed(1)} s: ${created} reports (${messages} messages), ` +
      `${duplicates} duplicates, ${revisions} revisions, ${rejected} rejected`,
    ...summary.rejections.map((each) => `  ${each.file}: ${each.code}: ${each.detail}`),
  ].join('\n')
}
