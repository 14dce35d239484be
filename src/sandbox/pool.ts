/**
 * The parent's side: a few warm children, started when first needed, each given jobs one after the other. Time and
 * memory of a child are watched from here and it is killed past its limits; jobs that waited behind the one that
 * killed it go to another child. Answers are only read as fast as they are consumed.
 */
import type { Clock } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import { PARSE_LIMITS, type RejectionCode } from '../reports/parse/types.ts'
import { createMailbox } from './mailbox.ts'
import { startChild, type Child, type Task } from './process.ts'
import type { SandboxJob, SandboxLimits, SandboxPool } from './types.ts'

export const SANDBOX_LIMITS: SandboxLimits = {
  time_ms: 2000,
  time_ms_per_100mb: 1000,
  time_ms_per_100k_rows: 1000,
  memory_bytes: 256 * 1024 * 1024,
  queue_max: 10_000,
  ahead_max: 8,
  messages_held_max: 16,
  idle_ms: 30_000,
}

const TICK_MS = 50
/** A job with more content than this is not sent ahead: it would lie in the pipe. */
const AHEAD_BYTES_MAX = 256 * 1024

export interface SandboxOptions {
  /** How to start a child: something that calls `runSandboxChild`. */
  command: readonly string[]
  size: number
  limits?: Partial<SandboxLimits>
  clock: Clock
  /** Told when a child was killed: for the log. */
  onKill?: (code: RejectionCode, pid: number) => void
}

export function createSandboxPool(options: SandboxOptions): SandboxPool {
  const limits: SandboxLimits = { ...SANDBOX_LIMITS, ...options.limits }
  const { clock } = options
  const children = new Set<Child>()
  const queue: Task[] = []
  let timer: ReturnType<typeof setInterval> | null = null
  let closed = false
  let killed = 0
  let rss_peak = 0
  let last_tick = 0
  let next_number = 1

  const schedule = (): void => {
    while (queue.length > 0) {
      const task = queue[0]!
      try {
        const child = pick(task)
        if (child === null) return
        queue.shift()
        child.give(task)
        watch()
      } catch (error) {
        // No child can be started: the next job may have more luck.
        queue.shift()
        task.messages.fail(error instanceof Error ? error : new Error('no child', { cause: error }))
      }
    }
  }

  /** An idle child, else a new one, else the one with the shortest line; null: all are full. */
  const pick = (task: Task): Child | null => {
    let best: Child | null = null
    for (const child of children) {
      if (child.load() === 0) return child
      if (best === null || child.load() < best.load()) best = child
    }
    if (children.size < options.size) return start()
    const ahead = task.bytes <= AHEAD_BYTES_MAX && best !== null && best.load() <= limits.ahead_max
    return ahead ? best : null
  }

  const start = (): Child => {
    const child = startChild(options.command, limits, clock, {
      free: schedule,
      ended(left) {
        children.delete(child)
        queue.unshift(...left)
        schedule()
      },
      killed(code, pid) {
        killed++
        options.onKill?.(code, pid)
      },
    })
    children.add(child)
    return child
  }

  const watch = (): void => {
    if (timer !== null) return
    last_tick = clock.monotonic()
    timer = setInterval(tick, TICK_MS)
  }

  const tick = (): void => {
    const now = clock.monotonic()
    // Time in which we did not look ourselves is not the child's fault.
    const passed = Math.min(now - last_tick, 5 * TICK_MS)
    last_tick = now
    for (const child of children) rss_peak = Math.max(rss_peak, child.check(passed))
    if (children.size > 0) return
    clearInterval(timer!)
    timer = null
  }

  const submit = (job: SandboxJob): Task => {
    if (closed) throw problem('shutting_down')
    if (queue.length >= limits.queue_max) throw problem('overloaded', 'Too many files wait to be read')
    const task = newTask(next_number++, job)
    queue.push(task)
    schedule()
    return task
  }

  return {
    async *run(job) {
      const task = submit(job)
      try {
        for (;;) {
          const message = await task.messages.take()
          yield message
          if (message.type === 'done') return
        }
      } finally {
        task.messages.discard()
      }
    },
    stats: () => ({
      children: children.size,
      running: [...children].filter((child) => child.load() > 0).length,
      queued: queue.length,
      killed,
      rss_peak,
    }),
    async close() {
      closed = true
      for (const task of queue.splice(0)) task.messages.fail(problem('shutting_down'))
      await Promise.all([...children].map((child) => child.stop()))
      if (timer !== null) clearInterval(timer)
      timer = null
    },
  }
}

function newTask(number: number, job: SandboxJob): Task {
  return {
    number,
    job,
    limits: { ...PARSE_LIMITS, ...job.limits },
    bytes: job.bytes?.length ?? 0,
    messages: createMailbox(),
    begun: new Set(),
    ended: 0,
    rejected: 0,
    unpacked: 0,
    rows: 0,
    spent_ms: 0,
    waited_ms: 0,
  }
}
