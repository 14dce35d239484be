import { expect, test } from 'bun:test'
import { crashHooks } from './hooks.ts'

const RUNS = Number(process.env['CRASH_RUNS'] ?? 8)

test(
  `every acknowledged event arrives in spite of ${RUNS} kills, and twice only what was in flight`,
  async () => {
    const result = await crashHooks(RUNS)
    console.log(
      `${RUNS} kills, ${result.acknowledged} acknowledged events, ${result.delivered} deliveries arrived, ` +
        `${result.in_flight} were in flight at a kill`,
    )
    expect([result.lost, result.doubled, result.odd]).toEqual([[], [], []])
    expect(result.acknowledged).toBeGreaterThan(RUNS)
  },
  RUNS * 15_000,
)
