/** `import`: files and folders of reports into a tenant. `reparse`: the stored originals again, after an upgrade. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { REPORT_FILE_BYTES_MAX } from '../lib/limits.ts'
import type { ImportProgress, ImportSummary } from '../reports/import.ts'
import type { Counts } from './commands.ts'
import type { SentFile } from './control.ts'
import type { Verb, VerbContext } from './verb.ts'

export const IMPORT_VERBS: readonly Verb[] = [
  {
    name: 'import',
    summary: 'Take in reports from files and folders. What a file is, its content says.',
    operands: 'DIR|FILE…',
    operands_min: 1,
    operands_max: 10_000,
    flags: [{ name: 'tenant', value: 'ID', doc: 'The tenant. Default: the only one there is.' }],
    async run(context) {
      return report(await importAll(context), context)
    },
  },
  {
    name: 'reparse',
    summary: 'Read the stored originals again, to gain what a newer version understands.',
    operands_min: 0,
    operands_max: 0,
    flags: [{ name: 'tenant', value: 'ID', doc: 'Only this tenant. Default: all.' }],
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

/** The server reads the files itself where it can; otherwise (another user, a service shut in) they are sent to it. */
async function importAll({ call, flag, io, positionals }: VerbContext): Promise<ImportSummary> {
  const { filesUnder } = await import('../reports/import.ts')
  const tenant = flag('tenant') ?? null
  const paths = positionals.map((path) => resolve(path))
  const files = (await Promise.all(paths.map(filesUnder))).flat()
  const tell = (seen: unknown): void => {
    const { done, created } = seen as ImportProgress
    io.err(`${done} of ${files.length} files, ${created} new reports`)
  }
  const read_there = await call<ImportSummary | null>('import.paths', { tenant, paths }, tell)
  return read_there ?? call<ImportSummary>('import.files', { tenant }, tell, sent(files))
}

/** Of a file that is too large only its size matters: one byte more than the limit says it. */
async function* sent(
  files: readonly { name: string; path: string; bytes: number }[],
): AsyncGenerator<SentFile> {
  for (const { name, path, bytes } of files) {
    const too_large = bytes > REPORT_FILE_BYTES_MAX
    yield { name, content: too_large ? new Uint8Array(REPORT_FILE_BYTES_MAX + 1) : await readFile(path) }
  }
}

/** Prints it; 1 when there was something and nothing of it could be read. */
function report(summary: ImportSummary, { io, json }: Pick<VerbContext, 'io' | 'json'>): number {
  const { files, created, duplicates, revisions, rejected, messages, seconds, folds } = summary
  if (json) io.out(JSON.stringify(summary))
  else {
    io.out(
      `${files} files in ${seconds.toFixed(1)} s: ${created} reports (${messages} messages), ` +
        `${duplicates} duplicates, ${revisions} revisions, ${rejected} rejected`,
    )
    for (const { file, status, id, code, detail } of folds) {
      io.out(`  ${[`${file}: ${status}`, id, code, detail].filter((part) => part !== undefined).join(', ')}`)
    }
  }
  return rejected > 0 && created + duplicates + revisions === 0 ? 1 : 0
}
