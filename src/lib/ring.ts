/**
 * Counting events in a sliding window, exactly. A ring keeps the time of each of the last `limit` events: an event
 * is admitted when the one `limit` places before it has left the window. No other algorithm admits never more than
 * `limit` in any window and never refuses who stays within it. Limits too large for a ring are counted in buckets of
 * 1/600 of the window, where a bucket leaves as a whole when its newest possible event has: never in the client's favour.
 * Times are monotonic milliseconds.
 */
export interface Window {
  readonly limit: number
  readonly window_ms: number
  /** Events in the window that ends now. */
  used(now: number): number
  /** Milliseconds until one more event would be admitted; 0 when it is admitted now. */
  wait(now: number): number
  /** Milliseconds until the oldest event in the window leaves it; 0 when there is none. */
  untilOldestLeaves(now: number): number
  add(now: number): void
  /** The age of each event in milliseconds, oldest first, as pairs [age, count]: to carry over a restart. */
  ages(now: number): [number, number][]
}

export function createRing(limit: number, window_ms: number): Window {
  let times = new Float64Array(Math.min(limit, 8))
  let head = 0
  let size = 0

  const at = (i: number): number => times[(head + i) % times.length]!
  const expire = (now: number): void => {
    while (size > 0 && now - times[head]! > window_ms) {
      head = (head + 1) % times.length
      size--
    }
  }
  const grow = (): void => {
    const bigger = new Float64Array(Math.min(limit, times.length * 4))
    for (let i = 0; i < size; i++) bigger[i] = at(i)
    times = bigger
    head = 0
  }

  return {
    limit,
    window_ms,
    used(now) {
      expire(now)
      return size
    },
    wait(now) {
      expire(now)
      return size < limit ? 0 : window_ms - (now - at(0)) + 1
    },
    untilOldestLeaves(now) {
      expire(now)
      return size === 0 ? 0 : window_ms - (now - at(0)) + 1
    },
    add(now) {
      expire(now)
      if (size === times.length) grow()
      times[(head + size) % times.length] = now
      size++
    },
    ages(now) {
      expire(now)
      return Array.from({ length: size }, (_, i) => [now - at(i), 1])
    },
  }
}

const BUCKETS = 600

export function createBuckets(limit: number, window_ms: number): Window {
  const width = window_ms / BUCKETS
  const counts = new Float64Array(BUCKETS + 2)
  let total = 0
  let newest = -Infinity
  /** The oldest bucket that may still hold events. */
  let oldest = 0

  const slot = (bucket: number): number => ((bucket % counts.length) + counts.length) % counts.length
  const expire = (now: number): void => {
    if (newest === -Infinity) return
    const keep_from = Math.floor((now - window_ms) / width)
    for (; oldest < keep_from && total > 0; oldest++) {
      total -= counts[slot(oldest)]!
      counts[slot(oldest)] = 0
    }
    if (total === 0) oldest = Math.max(oldest, keep_from)
  }
  const firstFilled = (): number => {
    let bucket = oldest
    while (counts[slot(bucket)] === 0) bucket++
    return bucket
  }
  /** A bucket leaves once the window begins behind its end. */
  const leavesAt = (bucket: number): number => (bucket + 1) * width + window_ms

  return {
    limit,
    window_ms,
    used(now) {
      expire(now)
      return total
    },
    wait(now) {
      expire(now)
      return total < limit ? 0 : Math.max(1, leavesAt(firstFilled()) - now)
    },
    untilOldestLeaves(now) {
      expire(now)
      return total === 0 ? 0 : Math.max(1, leavesAt(firstFilled()) - now)
    },
    add(now) {
      expire(now)
      const bucket = Math.floor(now / width)
      if (total === 0) oldest = bucket
      newest = Math.max(newest, bucket)
      counts[slot(bucket)]! += 1
      total++
    },
    ages(now) {
      expire(now)
      const out: [number, number][] = []
      for (let bucket = oldest; total > 0 && bucket <= newest; bucket++) {
        const count = counts[slot(bucket)]!
        if (count > 0) out.push([now - bucket * width, count])
      }
      return out
    },
  }
}
