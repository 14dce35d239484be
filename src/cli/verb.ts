/** What a verb of the command line is. */
import type { Config, SettingView } from '../config.ts'
import type { Flag } from './args.ts'
import type { Files, Progress } from './control.ts'

export interface Io {
  /** A line on standard output: what was asked for. */
  out: (line: string) => void
  /** A line on standard error: progress, warnings, logs. */
  err: (line: string) => void
}

export interface VerbContext {
  config: Config
  settings: SettingView[]
  io: Io
  /** Machine-readable output was asked for. */
  json: boolean
  positionals: string[]
  /** A flag's value; undefined when it was not given. A switch that is on is ''. */
  flag: (name: string) => string | undefined
  /**
   * Runs a command in the server of the data folder, or, when none runs, here, with the folder opened under its lock.
   */
  call: <Result>(command: string, args: unknown, progress?: Progress, files?: Files) => Promise<Result>
}

export interface Verb {
  /** One or two words, as they are typed. */
  name: string
  summary: string
  /** Shown after the name in the help: `DIR|FILE…`. */
  operands?: string
  operands_min: number
  operands_max: number
  flags: readonly Flag[]
  /** Answers the exit code: 0 done, 1 failed. Throws for what the person at the terminal should read. */
  run(context: VerbContext): Promise<number>
}

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A table in columns, for people. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows]
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
