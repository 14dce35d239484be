/**
 * kill -9 at random moments under write load, on one data folder again and again. `CRASH_RUNS=100` for the long
 * form; the suite does ten.
 */
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../support/db.ts'
import { openAfterCrash } from './support.ts'

const RUNS = Number(process.env['CRASH_RUNS'] ?? 10)

/** Starts a writer, kills it after a while, and tells which writes it had acknowledged. */
async function writeUntilKilled(data_dir: string): Promise<string[]> {
  const clients = 1 + Math.floor(Math.random() * 32)
  const writer = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'writer.ts'), data_dir, String(clients)],
    {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  let text = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  const decoder = new TextDecoder()
  for await (const chunk of writer.stdout) {
    text += decoder.decode(chunk, { stream: true })
    timer ??= setTimeout(() => writer.kill('SIGKILL'), 5 + Math.random() * 250)
  }
  await writer.exited
  expect(writer.signalCode).toBe('SIGKILL')
  // A last line without its end was cut off by the kill: it may be half an id.
  return text
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== 'ready')
}

test(
  `no acknowledged write is lost in ${RUNS} kills, and every start is clean`,
  async () => {
    const data_dir = tempDir()
    const acknowledged: string[] = []
    try {
      for (let run = 0; run < RUNS; run++) {
        acknowledged.push(...(await writeUntilKilled(data_dir)))
        const { ids } = await openAfterCrash(data_dir)
        expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
      }
      console.log(`${RUNS} kills, ${acknowledged.length} acknowledged writes, none lost`)
      expect(acknowledged.length).toBeGreaterThan(RUNS)
    } finally {
      rmSync(data_dir, { recursive: true })
    }
  },
  RUNS * 10_000,
)
