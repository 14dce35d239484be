/** Repeatable chance: the same seed gives the same demo. */
export interface Chance {
  /** 0 up to 1. */
  next(): number
  /** min to max, both inclusive. */
  between(min: number, max: number): number
  pick<T>(list: readonly T[]): T
  /** True in `share` of the cases. */
  hit(share: number): boolean
  hex(digits: number): string
}

/** mulberry32. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length - 1)]!,
    hit: (share) => next() < share,
    hex: (digits) => Array.from({ length: digits }, () => between(0, 15).toString(16)).join(''),
  }
}
