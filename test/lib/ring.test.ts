import { describe, expect, test } from 'bun:test'
import { createBuckets, createRing, type Window } from '../../src/lib/ring.ts'

/** A small generator with a seed, so that a failing case can be run again. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

/** Sends requests as fast and as unevenly as an attacker would; returns the times of those admitted. */
function flood(window: Window, seed: number, steps: number, gap_ms: number, pauses = 0.05): number[] {
  const next = random(seed)
  const admitted: number[] = []
  let now = 0
  for (let i = 0; i < steps; i++) {
    now += next() < pauses ? next() * 20_000 : next() * gap_ms
    if (window.wait(now) > 0) continue
    window.add(now)
    admitted.push(now)
  }
  return admitted
}

function mostInAnyWindow(times: readonly number[], window_ms: number): number {
  let most = 0
  let first = 0
  for (const [last, time] of times.entries()) {
    while (time - times[first]! > window_ms) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

describe('a ring', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    test(`admits exactly its limit in any window of a flood (seed ${seed})`, () => {
      const admitted = flood(createRing(100, 60_000), seed, 50_000, 40)
      expect(mostInAnyWindow(admitted, 60_000)).toBe(100)
    })
  }

  test('never refuses who keeps to the limit', () => {
    const ring = createRing(100, 60_000)
    for (let i = 0; i < 1000; i++) {
      const now = i * 601
      expect(ring.wait(now)).toBe(0)
      ring.add(now)
    }
  })

  test('says exactly when the next one is admitted', () => {
    const ring = createRing(2, 1000)
    ring.add(0)
    ring.add(400)
    expect(ring.wait(500)).toBe(501)
    expect(ring.untilOldestLeaves(500)).toBe(501)
    expect(ring.wait(1000)).toBe(1)
    expect(ring.wait(1001)).toBe(0)
  })

  test('gives its events back with their ages', () => {
    const ring = createRing(3, 1000)
    for (const at of [0, 100, 900]) ring.add(at)
    expect(ring.ages(1050)).toEqual([
      [950, 1],
      [150, 1],
    ])
  })
})

describe('buckets', () => {
  for (const seed of [7, 8, 9]) {
    test(`never admit more than the limit in any window (seed ${seed})`, () => {
      const limit = 20_000
      const admitted = flood(createBuckets(limit, 60_000), seed, 120_000, 1, 0.0001)
      const most = mostInAnyWindow(admitted, 60_000)
      expect(most).toBeLessThanOrEqual(limit)
      expect(most).toBeGreaterThan(limit * 0.9)
    })
  }

  test('are empty again once the window has passed', () => {
    const buckets = createBuckets(20_000, 60_000)
    for (let i = 0; i < 20_000; i++) buckets.add(10)
    expect(buckets.wait(50)).toBeGreaterThan(59_900)
    expect(buckets.wait(60_101)).toBe(0)
    expect(buckets.used(60_101)).toBe(0)
  })
})
