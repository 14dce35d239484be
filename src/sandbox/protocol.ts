/**
 * What parent and child say to each other. To the child: a JSON line per job, followed by `bytes` raw bytes when the
 * job brings its content along. From the child: JSON lines, each with the number of its job; see `Answer`. Rows of
 * aggregate reports are packed (`{type: 'rows', job, index, rows}`, see `reports/parse/wire.ts`).
 */
import type { Message, ParseLimits } from '../reports/parse/types.ts'

export interface JobLine {
  job: number
  kind: 'report'
  name: string
  /** Read from here, or … */
  path?: string
  /** … this many bytes follow the line. */
  bytes?: number
  now: number
  limits: ParseLimits
  memory_bytes_max: number
}

export type Answer =
  | (Message & { job: number })
  /** Sent every few megabytes: what the time allowed grows with. */
  | { type: 'progress'; job: number; unpacked: number }

/** A child that finds itself too large ends with this exit code. */
export const EXIT_MEMORY = 86
/** Lines are far shorter (rows are cut into chunks): a longer one is not from our child. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024
