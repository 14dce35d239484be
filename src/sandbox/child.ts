/**
 * The child's side: our own executable, started with a hidden verb. Reads jobs from standard input one after the
 * other, parses, writes answers to standard output. Everything is synchronous: a full pipe stops the parser, and
 * there is no event loop that a hostile input could starve. It opens the files it is given and nothing else.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { parseReportFile, type InputFile } from '../reports/parse/file.ts'
import type { Emit } from '../reports/parse/types.ts'
import { EXIT_MEMORY, type JobLine } from './protocol.ts'

const STDIN = 0
const STDOUT = 1
const READ_BYTES = 64 * 1024
const WRITE_CHARS = 64 * 1024
const PROGRESS_BYTES = 4 * 1024 * 1024
const WAIT_MS = 1
const JOB_LINE_BYTES_MAX = 64 * 1024

/** Answers jobs until standard input ends. Never returns while the parent lives. */
export function runSandboxChild(): void {
  const input = createInput()
  const output = createOutput()
  for (;;) {
    if (!input.pending()) output.flush()
    const line = input.line()
    if (line === null) break
    runJob(JSON.parse(line) as JobLine, input, output)
  }
  output.flush()
}

function runJob(job: JobLine, input: Input, output: Output): void {
  let reported = 0
  const onProgress = (unpacked: number): void => {
    if (unpacked - reported < PROGRESS_BYTES) return
    reported = unpacked
    checkMemory(job.memory_bytes_max)
    output.write(JSON.stringify({ type: 'progress', job: job.job, unpacked }))
  }
  const emit: Emit = (message, rows_json) => {
    if (message.type === 'records' && rows_json !== undefined) {
      output.write(`{"type":"rows","job":${job.job},"index":${message.index},"rows":${rows_json}}`)
    } else output.write(JSON.stringify({ ...message, job: job.job }))
  }
  const unreadable = (error: unknown): void => {
    const detail = error instanceof Error ? error.message.slice(0, 200) : 'unknown error'
    emit({ type: 'rejected', index: null, origin: null, code: 'unreadable', detail })
    emit({ type: 'done', reports: 0, rejected: 1, unpacked_bytes: 0, input_kind: 'unknown' })
  }
  let file: (InputFile & { close(): void }) | null = null
  try {
    file = job.path === undefined ? input.file(job.name, job.bytes ?? 0) : openFile(job.name, job.path)
  } catch (error) {
    return unreadable(error)
  }
  try {
    parseReportFile(file, { now: job.now, limits: job.limits }, emit, onProgress)
  } finally {
    file.close()
  }
}

/** Where the parent cannot look at our memory we do it ourselves. */
function checkMemory(max: number): void {
  if (process.memoryUsage.rss() <= max) return
  Bun.gc(true)
  if (process.memoryUsage.rss() > max) process.exit(EXIT_MEMORY)
}

function openFile(name: string, path: string): InputFile & { close(): void } {
  const fd = openSync(path, 'r')
  return {
    name,
    size: fstatSync(fd).size,
    read: (buffer) => readSync(fd, buffer, 0, buffer.length, null),
    close: () => closeSync(fd),
  }
}

interface Input {
  /** True when the next job (or a part of it) is already here. */
  pending(): boolean
  /** The next line; null at the end of the input. */
  line(): string | null
  /** The next `size` bytes as a file; what is not read of it is skipped on close. */
  file(name: string, size: number): InputFile & { close(): void }
}

function createInput(): Input {
  const buffer = new Uint8Array(READ_BYTES)
  let start = 0
  let end = 0
  const fill = (): boolean => {
    start = 0
    end = readRetrying(buffer)
    return end > 0
  }
  const take = (into: Uint8Array): number => {
    if (start === end && !fill()) return 0
    const length = Math.min(into.length, end - start)
    into.set(buffer.subarray(start, start + length))
    start += length
    return length
  }
  return {
    pending: () => start < end,
    line() {
      const parts: Uint8Array[] = []
      let length = 0
      for (;;) {
        if (start === end && !fill()) return null
        const feed = buffer.subarray(start, end).indexOf(10)
        const stop = feed < 0 ? end : start + feed
        parts.push(buffer.slice(start, stop))
        length += stop - start
        if (length > JOB_LINE_BYTES_MAX) throw new Error('job line too long')
        start = feed < 0 ? end : stop + 1
        if (feed >= 0) return Buffer.concat(parts).toString('utf8')
      }
    },
    file(name, size) {
      let left = size
      const read = (into: Uint8Array): number => {
        if (left === 0) return 0
        const length = take(into.subarray(0, Math.min(into.length, left)))
        if (length === 0) throw new Error('the input ended inside a job')
        left -= length
        return length
      }
      const close = (): void => {
        const waste = new Uint8Array(READ_BYTES)
        while (left > 0) read(waste)
      }
      return { name, size, read, close }
    },
  }
}

function readRetrying(buffer: Uint8Array): number {
  for (;;) {
    try {
      return readSync(STDIN, buffer, 0, buffer.length, null)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'EOF') return 0
      if (code !== 'EAGAIN' && code !== 'EINTR') throw error
      wait()
    }
  }
}

interface Output {
  write(line: string): void
  flush(): void
}

/** Small answers are gathered; a full buffer is written at once, blocking. */
function createOutput(): Output {
  let lines: string[] = []
  let chars = 0
  const flush = (): void => {
    if (chars === 0) return
    const bytes = Buffer.from(lines.join(''), 'utf8')
    lines = []
    chars = 0
    for (let at = 0; at < bytes.length;) at += writeRetrying(bytes, at)
  }
  return {
    flush,
    write(line) {
      lines.push(line, '\n')
      chars += line.length + 1
      if (chars >= WRITE_CHARS) flush()
    },
  }
}

function writeRetrying(bytes: Uint8Array, at: number): number {
  for (;;) {
    try {
      return writeSync(STDOUT, bytes, at, bytes.length - at)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code !== 'EAGAIN' && code !== 'EINTR') throw error
      wait()
    }
  }
}

const SLEEPER = new Int32Array(new SharedArrayBuffer(4))

function wait(): void {
  Atomics.wait(SLEEPER, 0, 0, WAIT_MS)
}
