/** One child process and the jobs it was given: feeding, reading with back-pressure, watching, killing. */
import type { Clock } from '../lib/clock.ts'
import { unreachable } from '../lib/assert.ts'
import { problem } from '../lib/errors.ts'
import type { Message, ParseLimits, RejectionCode } from '../reports/parse/types.ts'
import { checkAnswer } from './check.ts'
import { createLineSplitter } from './lines.ts'
import type { Mailbox } from './mailbox.ts'
import { EXIT_MEMORY, LINE_BYTES_MAX, type Answer, type JobLine } from './protocol.ts'
import type { SandboxJob, SandboxLimits } from './types.ts'
import { processorMs, residentBytes } from './watch.ts'

/** After so much work in one go others get their turn. */
const TURN_MS = 5
/** Time on the wall may be so much longer than the time worked. */
const WAIT_FACTOR = 5
const MEGABYTES_100 = 100 * 1024 * 1024
const ROWS_100K = 100_000

/** A job on its way. */
export interface Task {
  number: number
  job: SandboxJob
  limits: ParseLimits
  /** Content that travels through the pipe. */
  bytes: number
  messages: Mailbox
  /** Reports begun and not ended. */
  begun: Set<number>
  ended: number
  rejected: number
  unpacked: number
  /** Rows that came out. */
  rows: number
  /** Time the child has worked on it; not counted while it waits for the consumer. */
  spent_ms: number
  /** The same on the wall. */
  waited_ms: number
}

export interface Child {
  give(task: Task): void
  /** Jobs it has, the current one included. */
  load(): number
  /** Called at every tick; answers the resident memory. */
  check(passed_ms: number): number
  stop(): Promise<void>
}

interface ChildEvents {
  /** A job is done: there is room for another. */
  free(): void
  /** It is gone; `left` are the jobs it had not begun. */
  ended(left: Task[]): void
  killed(code: RejectionCode, pid: number): void
}

const REASONS: Record<'parse_timeout' | 'parse_memory' | 'parse_crashed', string> = {
  parse_timeout: 'Reading the file took too long and was stopped',
  parse_memory: 'Reading the file took too much memory and was stopped',
  parse_crashed: 'Reading the file failed',
}

export function startChild(
  command: readonly string[],
  limits: SandboxLimits,
  clock: Clock,
  events: ChildEvents,
): Child {
  const child = Bun.spawn([...command], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
    // Nothing of our environment is the child's business; little memory makes its collector eager.
    env: { PATH: '', BUN_JSC_forceRAMSize: String(limits.memory_bytes) },
  })
  const tasks: Task[] = []
  let idle_ms = 0
  let processor_ms = 0
  let paused: (() => void) | null = null
  let stopping = false
  let fate: keyof typeof REASONS | null = null
  let feeding: Promise<void> = Promise.resolve()

  const feed = async (task: Task): Promise<void> => {
    const { job } = task
    const line: JobLine = {
      job: task.number,
      kind: job.kind,
      name: job.name.slice(0, 1024),
      ...(job.path === undefined ? { bytes: task.bytes } : { path: job.path }),
      now: job.now,
      limits: task.limits,
      memory_bytes_max: limits.memory_bytes,
    }
    try {
      const head = Buffer.from(`${JSON.stringify(line)}\n`)
      const body = job.path === undefined ? job.bytes : undefined
      // One write: small files are many, and each trip to the pipe costs as much as reading one.
      await child.stdin.write(body === undefined ? head : Buffer.concat([head, body]))
      await child.stdin.flush()
    } catch {
      // The child is gone; its end is handled where it is noticed.
    }
  }

  const kill = (code: keyof typeof REASONS): void => {
    if (fate !== null) return
    fate = code
    child.kill('SIGKILL')
    events.killed(code, child.pid)
    resume()
  }

  const resume = (): void => {
    paused?.()
    paused = null
  }

  const receive = (answer: Answer): void => {
    const task = tasks[0]
    if (task === undefined || answer.job !== task.number) return kill('parse_crashed')
    if (answer.type === 'progress') {
      task.unpacked = Math.max(task.unpacked, Math.min(answer.unpacked, task.limits.unpacked_bytes_max))
      return
    }
    const { job: _, ...message } = answer
    if (!inOrder(task, message)) return kill('parse_crashed')
    if (message.type === 'records') task.rows += message.rows.length
    task.messages.put(message)
    if (message.type !== 'done') return
    tasks.shift()
    idle_ms = 0
    events.free()
  }

  const read = async (): Promise<void> => {
    const lines = createLineSplitter(LINE_BYTES_MAX)
    const reader = child.stdout.getReader()
    let turn = clock.monotonic()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      for (const line of lines.push(value)) {
        if (fate !== null) return
        const answer = checkAnswer(JSON.parse(line))
        if (answer === null) throw new Error('unexpected answer')
        receive(answer)
        await room()
        if (clock.monotonic() - turn < TURN_MS) continue
        await new Promise((resolve) => setImmediate(resolve))
        turn = clock.monotonic()
      }
    }
  }

  /** Waits while the consumer of the current job has enough to do. */
  const room = async (): Promise<void> => {
    while (fate === null && !stopping) {
      const box = tasks[0]?.messages
      if (box === undefined || box.held() < limits.messages_held_max) return
      await new Promise<void>((resolve) => {
        paused = resolve
        box.onTake = resume
      })
    }
  }

  const end = async (): Promise<void> => {
    await read().catch(() => kill('parse_crashed'))
    const exit_code = await child.exited
    if (stopping) {
      for (const task of tasks.splice(0)) task.messages.fail(problem('shutting_down'))
      return events.ended([])
    }
    const code = fate ?? (exit_code === EXIT_MEMORY ? 'parse_memory' : 'parse_crashed')
    const task = tasks.shift()
    if (task !== undefined) giveUp(task, code)
    events.ended(tasks.splice(0))
  }
  const ended = end()

  return {
    load: () => (fate === null && !stopping ? tasks.length : Number.POSITIVE_INFINITY),
    give(task) {
      tasks.push(task)
      idle_ms = 0
      feeding = feeding.then(() => feed(task))
    },
    check(passed_ms) {
      const rss = residentBytes(child.pid) ?? 0
      const task = tasks[0]
      if (task === undefined) {
        idle_ms += passed_ms
        // One that has grown over a large job is not kept either.
        const done = idle_ms > limits.idle_ms || rss > limits.memory_bytes / 2
        if (done && !stopping) {
          stopping = true
          void child.stdin.end()
        }
        return rss
      }
      if (rss > limits.memory_bytes) kill('parse_memory')
      // On a busy machine its own time counts, not the wait for a processor; up to a point.
      const processor = processorMs(child.pid)
      const worked = processor === null ? passed_ms : Math.min(passed_ms, processor - processor_ms)
      processor_ms = processor ?? 0
      if (paused === null) {
        task.spent_ms += worked
        task.waited_ms += passed_ms
      }
      const allowed =
        limits.time_ms +
        (task.unpacked / MEGABYTES_100) * limits.time_ms_per_100mb +
        (task.rows / ROWS_100K) * limits.time_ms_per_100k_rows
      if (task.spent_ms > allowed || task.waited_ms > allowed * WAIT_FACTOR) kill('parse_timeout')
      return rss
    },
    async stop() {
      stopping = true
      resume()
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** A child may not invent reports or forget to end them. */
function inOrder(task: Task, message: Message): boolean {
  switch (message.type) {
    case 'report':
      if (task.begun.has(message.index)) return false
      task.begun.add(message.index)
      return true
    case 'records':
      return task.begun.has(message.index)
    case 'end':
      task.ended++
      return task.begun.delete(message.index)
    case 'rejected':
      task.rejected++
      if (message.index !== null) task.begun.delete(message.index)
      return true
    case 'done':
      return task.begun.size === 0 && message.reports === task.ended
    default:
      return unreachable(message)
  }
}

/** What the consumer of a job gets when its child was lost. */
function giveUp(task: Task, code: keyof typeof REASONS): void {
  const detail = REASONS[code]
  for (const index of task.begun) {
    task.messages.put({ type: 'rejected', index, origin: null, code, detail })
    task.rejected++
  }
  if (task.begun.size === 0) {
    task.messages.put({ type: 'rejected', index: null, origin: null, code, detail })
    task.rejected++
  }
  task.messages.put({
    type: 'done',
    reports: task.ended,
    rejected: task.rejected,
    unpacked_bytes: task.unpacked,
    input_kind: 'unknown',
  })
}
