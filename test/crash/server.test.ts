import { existsSync } from 'node:fs'
import { expect, test } from 'bun:test'
import { BINARY } from '../smoke.ts'
import { crashServer } from './server.ts'

const RUNS = Number(process.env['CRASH_RUNS'] ?? 8)

test.if(existsSync(BINARY))(
  `the executable, killed ${RUNS} times under write load, loses nothing that it had acknowledged`,
  async () => {
    const result = await crashServer(RUNS)
    expect(result.lost).toEqual([])
    expect(result.acknowledged).toBeGreaterThan(RUNS)
    expect(result.chain_checked).toBeGreaterThanOrEqual(result.acknowledged)
  },
  300_000,
)
