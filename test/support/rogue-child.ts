/** A child that was taken over by what it read: does one bad thing, named by its argument, with each job it is given. */
import { createInterface } from 'node:readline'
import { EXIT_MEMORY } from '../../src/sandbox/protocol.ts'
import { report as goodReport, read } from './report-files.ts'
import { packRows } from '../../src/reports/parse/wire.ts'

const behaviour = process.argv[2]
const say = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)

const answers: Record<string, (job: number, name: string) => void> = {
  spin: () => {
    for (;;) Math.random()
  },
  sleep: () => undefined,
  grow: () => {
    const held: Uint8Array[] = []
    setInterval(() => held.push(new Uint8Array(50 * 1024 * 1024).fill(1)), 10)
  },
  exit: () => process.exit(0),
  'exit-memory': () => process.exit(EXIT_MEMORY),
  throw: () => {
    throw new Error('broken')
  },
  garbage: () => process.stdout.write('}{\n'),
  'endless-line': () => {
    const block = 'x'.repeat(1024 * 1024)
    setInterval(() => process.stdout.write(block), 1)
  },
  'wrong-shape': (job) => say({ type: 'end', job, index: 0, kind: 'dmarc', meta: { policy: '<script>' } }),
  'other-job': (job) =>
    say({ type: 'done', job: job + 1, reports: 0, rejected: 0, unpacked_bytes: 0, input_kind: 'xml' }),
  'rows-without-report': (job) =>
    say({ type: 'rows', job, index: 0, rows: JSON.parse(packRows(read(goodReport()).rows)) as unknown }),
  'done-too-early': (job) => {
    say({ type: 'report', job, index: 0, kind: 'dmarc', origin: { name: '', containers: [] }, meta: null })
    say({ type: 'done', job, reports: 0, rejected: 0, unpacked_bytes: 0, input_kind: 'xml' })
  },
  'lying-progress': (job) => {
    say({ type: 'progress', job, unpacked: Number.MAX_SAFE_INTEGER })
    for (;;) Math.random()
  },
  half: (job) => {
    say({ type: 'report', job, index: 0, kind: 'dmarc', origin: { name: '', containers: [] }, meta: null })
    process.stdout.write('', () => process.exit(1))
  },
  'crash-on-bad': (job, name) => {
    if (name === 'bad') process.exit(1)
    for (const message of read(goodReport()).messages) {
      if (message.type === 'records' && message.kind === 'dmarc') {
        say({ type: 'rows', job, index: 0, rows: JSON.parse(packRows(message.rows)) as unknown })
      } else say({ ...message, job })
    }
  },
}

// Jobs bring one line each; the bytes of the file after it are no JSON and are passed over.
for await (const line of createInterface({ input: process.stdin })) {
  const at = line.indexOf('{"job":')
  if (at < 0) continue
  const { job, name } = JSON.parse(line.slice(at)) as { job: number; name: string }
  answers[behaviour!]!(job, name)
}
