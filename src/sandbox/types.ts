/**
 * The child process that reads hostile files, as its users see it.
 */
import type { Message, ParseLimits } from '../reports/parse/types.ts'

/** One file to read. Give `path` (a file that stays until the answer ends) or `bytes`. */
export interface SandboxJob {
  kind: 'report'
  /** File name as the client gave it: fallback metadata and display, never a path. */
  name: string
  path?: string
  bytes?: Uint8Array
  /** Wall time that periods are checked against. */
  now: number
  limits?: Partial<ParseLimits>
}

export interface SandboxPool {
  /**
   * Reads one file in a child. Yields the messages of `reports/parse/types.ts`; the last one is always `done`.
   * Never throws for what is in the file: a child that was killed yields `rejected` with `parse_timeout`,
   * `parse_memory` or `parse_crashed`. Throws `Problem('overloaded')` when the queue is full and
   * `Problem('shutting_down')` after `close`. Leaving the loop early gives the child back.
   */
  run(job: SandboxJob): AsyncIterable<Message>
  stats(): SandboxStats
  close(): Promise<void>
}

export interface SandboxStats {
  children: number
  running: number
  queued: number
  killed: number
  /** Highest resident memory seen of any child, bytes. */
  rss_peak: number
}

export interface SandboxLimits {
  /**
   * Allowed for any job, for every 100 MB that come out of it, and for every 100,000 rows that were delivered: what
   * gives rows is a large report, not a trap, and must not fail because a machine is slow.
   */
  time_ms: number
  time_ms_per_100mb: number
  time_ms_per_100k_rows: number
  /** Resident memory of a child. */
  memory_bytes: number
  /** Jobs waiting for a child. */
  queue_max: number
  /** Jobs sent to a child ahead of the one it works on, so that it never waits for the next. */
  ahead_max: number
  /** Answers held for a consumer before the child is stopped by a full pipe. */
  messages_held_max: number
  /** A child without work ends after this long. */
  idle_ms: number
}
