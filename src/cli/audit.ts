/** Verifying evidence from the command line: no data folder, no server. */
import { readFile } from 'node:fs/promises'
import { type BundleVerdict, NotABundle, verifyBundle } from '../audit/bundle/read.ts'
import { fileLines } from '../audit/checkpoint-file.ts'
import { UsageError } from './verb.ts'

/** Throws a sentence for the person at the terminal when the file cannot be read or is no bundle. */
export async function checkBundle(
  path: string,
  key: string | undefined,
  given: string[],
): Promise<BundleVerdict> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new Error(`${path} cannot be read`, { cause: error })
  })
  return verifyBundle(bytes, { key, given }).catch((error: unknown) => {
    if (error instanceof NotABundle) throw new Error(`${path}: ${error.message}`, { cause: error })
    throw error
  })
}

export async function signedLines(path: string): Promise<string[]> {
  if (!(await Bun.file(path).exists())) throw new UsageError(`there is no file ${path}`)
  const lines: string[] = []
  for await (const line of fileLines(path)) lines.push(line)
  return lines
}

/** For people. */
export function shown(verdict: BundleVerdict): string {
  const { from_seq, to_seq, checked, unanchored, first_bad, problems } = verdict
  return [
    verdict.ok ? 'The log is whole.' : 'THE LOG IS NOT WHOLE.',
    ...Object.entries(verdict.verdicts).map(([name, value]) => `  ${name.padEnd(13)} ${value}`),
    `  entries       ${from_seq} to ${to_seq}, ${checked} checked, ${unanchored} not vouched for yet`,
    `  key           ${verdict.key}`,
    ...problems.map((problem) => `  FOUND         ${problem}`),
    ...(first_bad === undefined
      ? []
      : [`  FOUND         entry ${first_bad.seq} is ${first_bad.kind}: ${first_bad.detail}`]),
  ].join('\n')
}
