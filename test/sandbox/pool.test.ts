import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import type { Problem } from '../../src/lib/errors.ts'
import type { Message } from '../../src/reports/parse/types.ts'
import { createSandboxPool } from '../../src/sandbox/pool.ts'
import type { SandboxLimits, SandboxPool } from '../../src/sandbox/types.ts'
import { gzip, NOW, record, report, sortOut, type Outcome } from '../support/report-files.ts'

// A busy machine makes nothing here wrong, only slow.
setDefaultTimeout(60_000)

const CHILD = resolve(import.meta.dir, '../support/sandbox-child.ts')
const ROGUE = resolve(import.meta.dir, '../support/rogue-child.ts')

let scratch: string
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'wardpost-sandbox-'))
})
afterAll(() => rmSync(scratch, { recursive: true }))

async function withPool<T>(
  options: { size?: number; limits?: Partial<SandboxLimits>; rogue?: string },
  use: (pool: SandboxPool) => Promise<T>,
): Promise<T> {
  const command =
    options.rogue === undefined ? [process.execPath, CHILD] : [process.execPath, ROGUE, options.rogue]
  const pool = createSandboxPool({
    command,
    size: options.size ?? 1,
    clock: systemClock,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  })
  try {
    return await use(pool)
  } finally {
    await pool.close()
  }
}

async function collect(messages: AsyncIterable<Message>): Promise<Outcome> {
  const all: Message[] = []
  for await (const message of messages) all.push(message)
  return sortOut(all)
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const job = (content: string | Uint8Array, name = 'r.xml') =>
  ({ kind: 'report', name, bytes: typeof content === 'string' ? bytes(content) : content, now: NOW }) as const

describe('the pool', () => {
  test('reads a file by path and one by its bytes, with the same result', async () => {
    const path = join(scratch, 'a.xml')
    writeFileSync(path, report())
    await withPool({}, async (pool) => {
      const by_path = await collect(pool.run({ kind: 'report', name: 'a.xml', path, now: NOW }))
      const by_bytes = await collect(pool.run(job(report(), 'a.xml')))
      expect(by_path).toEqual(by_bytes)
      expect(by_path.ends[0]).toMatchObject({ kind: 'dmarc', totals: { messages: 3 } })
      expect(by_path.messages.at(-1)!.type).toBe('done')
      expect(pool.stats()).toMatchObject({ children: 1, running: 0, queued: 0, killed: 0 })
    })
  })

  test('gives each of many files its own answer, with few children', async () => {
    await withPool({ size: 2 }, async (pool) => {
      const outs = await Promise.all(
        Array.from({ length: 300 }, (_, i) =>
          collect(pool.run(job(report({ id: `id-${i}`, records: record({ count: `${i + 1}` }) })))),
        ),
      )
      expect(outs.map((out) => out.ends[0]!.kind === 'dmarc' && out.ends[0]!.meta.report_id)).toEqual(
        Array.from({ length: 300 }, (_, i) => `id-${i}`),
      )
      expect(outs.map((out) => out.rows[0]!.count)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1))
      expect(pool.stats().children).toBe(2)
    })
  })

  test('a file that is not there or empty is rejected, the child goes on', async () => {
    await withPool({}, async (pool) => {
      const gone = await collect(
        pool.run({ kind: 'report', name: 'x', path: join(scratch, 'gone'), now: NOW }),
      )
      expect(gone.rejected.map((rejected) => rejected.code)).toEqual(['unreadable'])
      const empty = await collect(pool.run(job('')))
      expect(empty.rejected.map((rejected) => rejected.code)).toEqual(['empty_file'])
      expect((await collect(pool.run(job(report())))).ends).toHaveLength(1)
      expect(pool.stats()).toMatchObject({ children: 1, killed: 0 })
    })
  })

  test('a slow consumer stops the child, and loses nothing', async () => {
    await withPool({ limits: { time_ms: 1000 } }, async (pool) => {
      let rows = 0
      let slept = false
      for await (const message of pool.run(job(gzip(report({ records: record().repeat(60_000) }))))) {
        if (message.type === 'records') rows += message.rows.length
        if (rows > 5000 && !slept) {
          slept = true
          // Longer than the child may work: waiting for us is not its time.
          await Bun.sleep(1500)
        }
      }
      expect(rows).toBe(60_000)
      expect(pool.stats().killed).toBe(0)
    })
  }, 30_000)

  test('leaving early gives the child back', async () => {
    await withPool({}, async (pool) => {
      for await (const message of pool.run(job(report({ records: record().repeat(20_000) })))) {
        if (message.type === 'records') break
      }
      expect((await collect(pool.run(job(report())))).ends).toHaveLength(1)
    })
  })

  test('ends idle children and starts them again', async () => {
    await withPool({ limits: { idle_ms: 100 } }, async (pool) => {
      await collect(pool.run(job(report())))
      await until(() => pool.stats().children === 0)
      expect((await collect(pool.run(job(report())))).ends).toHaveLength(1)
    })
  })

  test('refuses more than its queue holds, and everything after its end', async () => {
    await withPool({ limits: { queue_max: 1, ahead_max: 0 } }, async (pool) => {
      const slow = job(gzip(report({ records: record().repeat(5000) })))
      const first = collect(pool.run(slow))
      const second = collect(pool.run(slow))
      expect(await codeOf(collect(pool.run(slow)))).toBe('overloaded')
      expect((await first).ends).toHaveLength(1)
      expect((await second).ends).toHaveLength(1)
      await pool.close()
      expect(await codeOf(collect(pool.run(job(report()))))).toBe('shutting_down')
    })
  })

  test('says so when no child can be started', async () => {
    const pool = createSandboxPool({ command: ['/nonexistent/wardpost'], size: 1, clock: systemClock })
    expect(await codeOf(collect(pool.run(job(report()))))).toBe('ENOENT')
    expect(pool.stats()).toMatchObject({ children: 0, queued: 0 })
    await pool.close()
  })
})

describe('a child that misbehaves', () => {
  const limits = { time_ms: 300, time_ms_per_100mb: 100, memory_bytes: 200 * 1024 * 1024 }
  const cases: [behaviour: string, code: string][] = [
    ['spin', 'parse_timeout'],
    ['sleep', 'parse_timeout'],
    ['grow', 'parse_memory'],
    ['exit', 'parse_crashed'],
    ['exit-memory', 'parse_memory'],
    ['throw', 'parse_crashed'],
    ['garbage', 'parse_crashed'],
    ['endless-line', 'parse_crashed'],
    ['wrong-shape', 'parse_crashed'],
    ['other-job', 'parse_crashed'],
    ['rows-without-report', 'parse_crashed'],
    ['done-too-early', 'parse_crashed'],
    ['lying-progress', 'parse_timeout'],
  ]
  test.each(cases)(
    '%s ends as %s',
    async (behaviour, code) => {
      await withPool({ rogue: behaviour, limits }, async (pool) => {
        const start = performance.now()
        const out = await collect(pool.run(job(report())))
        expect(out.ends).toEqual([])
        expect(out.rejected.map((rejected) => rejected.code)).toEqual([code as never])
        expect(out.messages.at(-1)).toMatchObject({ type: 'done', reports: 0, rejected: 1 })
        expect(performance.now() - start).toBeLessThan(6000)
      })
    },
    20_000,
  )

  test('takes only its own file with it: those behind go to another child', async () => {
    await withPool({ rogue: 'crash-on-bad', limits: { time_ms: 2000 } }, async (pool) => {
      const names = ['good', 'good', 'bad', 'good', 'good', 'bad', 'good']
      const outs = await Promise.all(names.map((name) => collect(pool.run(job(report(), name)))))
      expect(outs.map((out) => out.ends.length)).toEqual([1, 1, 0, 1, 1, 0, 1])
      expect(outs.map((out) => out.rejected.length)).toEqual([0, 0, 1, 0, 0, 1, 0])
    })
  })

  test('a report that had begun is taken back by its number', async () => {
    await withPool({ rogue: 'half', limits }, async (pool) => {
      const out = await collect(pool.run(job(report())))
      expect(out.rejected).toEqual([expect.objectContaining({ index: 0, code: 'parse_crashed' })])
    })
  })
})

/** The code that something failed with. */
async function codeOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work
    return null
  } catch (error) {
    return (error as Problem).code
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 100; i++) {
    if (condition()) return
    await Bun.sleep(50)
  }
  throw new Error('it never came true')
}
