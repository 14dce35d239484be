import { describe, expect, test } from 'bun:test'
import { createLimiter, type LimitClaim } from '../../src/http/rate-limit.ts'
import { fakeClock } from '../../src/lib/clock.ts'

const claim = (scope: LimitClaim['scope'], id: string, limit: number, window_ms = 60_000): LimitClaim => ({
  scope,
  id,
  limit,
  window_ms,
})

describe('limits of a request', () => {
  test('are taken together or none: a refusal by the tenant costs the key nothing', () => {
    const clock = fakeClock()
    const limiter = createLimiter(clock)
    const tenant = claim('tenant', 't', 5)
    for (let i = 0; i < 5; i++) expect(limiter.take([claim('key', 'a', 10), tenant]).ok).toBe(true)
    for (let i = 0; i < 20; i++) {
      expect(limiter.take([claim('key', 'b', 10), tenant])).toMatchObject({ ok: false, scope: 'tenant' })
    }
    clock.advance(60_001)
    for (let i = 0; i < 5; i++) expect(limiter.take([claim('key', 'b', 10), tenant]).ok).toBe(true)
  })

  test('answer the tightest one, and on refusal the longest wait', () => {
    const clock = fakeClock()
    const limiter = createLimiter(clock)
    const minute = claim('key', 'k', 3)
    const hour = claim('endpoint', 'e', 2, 3_600_000)
    expect(limiter.take([minute, hour])).toMatchObject({
      ok: true,
      scope: 'endpoint',
      limit: 2,
      remaining: 1,
    })
    limiter.take([minute, hour])
    limiter.take([minute])
    expect(limiter.take([minute, hour])).toMatchObject({
      ok: false,
      scope: 'endpoint',
      reset_in_ms: 3_600_001,
    })
    expect(limiter.take([minute])).toMatchObject({ ok: false, scope: 'key', reset_in_ms: 60_001 })
  })

  test('survive a restart with the ages of what was counted', () => {
    const clock = fakeClock()
    const before = createLimiter(clock)
    const key = claim('key', 'k', 100)
    for (let i = 0; i < 100; i++) before.take([key])
    clock.advance(20_000)
    const state = JSON.parse(JSON.stringify(before.save())) as ReturnType<typeof before.save>
    clock.advance(10_000)
    const after = createLimiter(clock)
    after.load(state)
    expect(after.take([key]).ok).toBe(false)
    clock.advance(30_000)
    expect(after.take([key]).ok).toBe(false)
    clock.advance(2)
    expect(after.take([key])).toMatchObject({ ok: true, remaining: 99 })
  })

  test('keep what was counted when the limit is changed', () => {
    const limiter = createLimiter(fakeClock())
    for (let i = 0; i < 10; i++) limiter.take([claim('tenant', 't', 10)])
    expect(limiter.take([claim('tenant', 't', 12)])).toMatchObject({ ok: true, remaining: 1 })
    expect(limiter.take([claim('tenant', 't', 50_000)])).toMatchObject({ ok: true, remaining: 50_000 - 12 })
    expect(limiter.take([claim('tenant', 't', 5)]).ok).toBe(false)
  })
})
