/** `import`: files and folders of reports into a tenant. `reparse`: the stored originals again, after an upgrade. */
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import { REPORT_FILE_BYTES_MAX } from '../lib/limits.ts'
import type { FileOutcome } from '../reports/outcomes.ts'
import type { Counts } from './commands.ts'
import type { SentFile } from './control.ts'
import type { Io, Verb, VerbContext } from './verb.ts'

export interface ImportSummary {
  files: number
  created: number
  duplicates: number
  revisions: number
  rejected: number
  messages: number
  seconds: number
  /** What was folded or left out, each with its reason. */
  folds: Fold[]
}

interface Fold {
  file: string
  status: 'duplicate' | 'revision' | 'rejected'
  /** Of the report that stands for it. */
  id?: string
  code?: string
  detail?: string
}

const PROGRESS_EVERY_MS = 1000
const COUNTED = {
  created: 'created',
  duplicate: 'duplicates',
  revision: 'revisions',
  rejected: 'rejected',
} as const
const TENANT = { name: 'tenant', value: 'ID' } as const

export const IMPORT_VERBS: readonly Verb[] = [
  {
    name: 'import',
    summary: 'Take in reports from files and folders. What a file is, its content says.',
    operands: 'DIR|FILE…',
    operands_min: 1,
    operands_max: 10_000,
    flags: [{ ...TENANT, doc: 'The tenant. Default: the only one there is.' }],
    async run({ call, flag, io, json, positionals }) {
      const paths = (await Promise.all(positionals.map(filesUnder))).flat()
      const tally = createTally(io, paths.length)
      const args = { tenant: flag('tenant') ?? null }
      await call('import', args, (seen) => tally.add(seen as FileOutcome), tally.read(paths))
      return report(tally.summary(), { io, json })
    },
  },
  {
    name: 'reparse',
    summary: 'Read the stored originals again, to gain what a newer version understands.',
    operands_min: 0,
    operands_max: 0,
    flags: [{ ...TENANT, doc: 'Only this tenant. Default: all.' }],
    async run({ call, flag, io, json }) {
      const done = await call<Counts>('reparse', { tenant: flag('tenant') ?? null }, (so_far) =>
        io.err(`${(so_far as Counts)['files'] ?? 0} files`),
      )
      const counts = Object.entries(done).map(([name, count]) => `${count} ${name}`)
      io.out(json ? JSON.stringify(done) : counts.join(', '))
      return 0
    },
  },
]

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

/** Counts outcomes as they come, and tells of them once a second. */
function createTally(io: Io, total: number) {
  const started = systemClock.monotonic()
  let told = started
  const summary: ImportSummary = {
    files: 0,
    created: 0,
    duplicates: 0,
    revisions: 0,
    rejected: 0,
    messages: 0,
    seconds: 0,
    folds: [],
  }
  /** Outcomes come by content, in the order of landing: this says which file on this side it was. */
  const by_content = new Map<string, string[]>()

  const tell = (): void => {
    if (systemClock.monotonic() - told < PROGRESS_EVERY_MS) return
    told = systemClock.monotonic()
    io.err(`${summary.files} of ${total} files, ${summary.created} new reports`)
  }

  return {
    add({ file, sha256, reports }: FileOutcome): void {
      summary.files++
      const path = by_content.get(sha256)?.shift() ?? file
      for (const { status, messages, id, code, detail } of reports) {
        summary[COUNTED[status]]++
        if (status === 'created') summary.messages += messages ?? 0
        else {
          summary.folds.push({
            file: path,
            status,
            ...(id === undefined ? {} : { id }),
            ...(code === undefined ? {} : { code }),
            ...(detail === undefined ? {} : { detail }),
          })
        }
      }
      tell()
    },
    /** The files one after the other, as fast as they are taken. One that is too large is not sent. */
    async *read(paths: readonly string[]): AsyncGenerator<SentFile> {
      for (const path of paths) {
        const { size } = await stat(path)
        if (size > REPORT_FILE_BYTES_MAX) {
          summary.files++
          summary.rejected++
          const detail = `It has ${size} bytes; the limit is ${REPORT_FILE_BYTES_MAX}.`
          summary.folds.push({ file: path, status: 'rejected', code: 'payload_too_large', detail })
          continue
        }
        const content = await readFile(path)
        const sha256 = createHash('sha256').update(content).digest('hex')
        by_content.set(sha256, [...(by_content.get(sha256) ?? []), path])
        yield { name: basename(path), content }
      }
    },
    summary(): ImportSummary {
      return { ...summary, seconds: Math.round(systemClock.monotonic() - started) / 1000 }
    },
  }
}

/** Prints it; 1 when there was something and nothing of it could be read. */
function report(summary: ImportSummary, { io, json }: Pick<VerbContext, 'io' | 'json'>): number {
  const { files, created, duplicates, revisions, rejected, messages, seconds } = summary
  if (json) io.out(JSON.stringify(summary))
  else {
    io.out(
      `${files} files in ${seconds.toFixed(1)} s: ${created} reports (${messages} messages), ` +
        `${duplicates} duplicates, ${revisions} revisions, ${rejected} rejected`,
    )
    for (const { file, status, id, code, detail } of summary.folds) {
      io.out(`  ${[`${file}: ${status}`, id, code, detail].filter((part) => part !== undefined).join(', ')}`)
    }
  }
  return rejected > 0 && created + duplicates + revisions === 0 ? 1 : 0
}
