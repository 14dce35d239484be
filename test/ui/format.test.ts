import { describe, expect, test } from 'bun:test'
import {
  bytes,
  compact,
  count,
  day,
  duration,
  initials,
  percent,
  plural,
  relative,
  share,
  timeSeconds,
  weekday,
} from '../../public/lib/format.ts'

const NB = '\u00a0'
const NOW = Date.UTC(2026, 10, 20, 9, 42, 18)

describe('figures', () => {
  test('are grouped by thousands, with a real minus', () => {
    expect(count(1204)).toBe('1,204')
    expect(count(-6)).toBe('−6')
  })

  test('get short only when they are long', () => {
    expect(compact(99_999)).toBe('99,999')
    expect(compact(206_418)).toBe(`206${NB}k`)
    expect(compact(1_921_204)).toBe(`1.92${NB}M`)
  })

  test('percent has one decimal, a space, and never rounds up to all', () => {
    expect(percent(94.12)).toBe(`94.1${NB}%`)
    expect(percent(99.97)).toBe(`99.9${NB}%`)
    expect(percent(100)).toBe(`100${NB}%`)
    expect(percent(0)).toBe(`0${NB}%`)
    expect(percent(null)).toBe('–')
  })

  test('a share of nothing is unknown, not zero', () => {
    expect(share(0, 0)).toBeNull()
    expect(share(1, 4)).toBe(25)
  })

  test('sizes use decimal units', () => {
    expect(bytes(999)).toBe(`999${NB}B`)
    expect(bytes(1900)).toBe(`1.9${NB}kB`)
    expect(bytes(25_000_000)).toBe(`25${NB}MB`)
  })
})

describe('times', () => {
  test('are UTC whatever the machine says', () => {
    expect(timeSeconds(NOW)).toBe('09:42:18')
    expect(weekday('2026-11-17')).toBe('Tue 17 Nov')
  })

  test('name the year only when it is another one', () => {
    expect(day('2026-11-19', NOW)).toBe('19 Nov')
    expect(day('2025-09-04', NOW)).toBe('4 Sep 2025')
  })

  test('durations have at most two parts', () => {
    expect(duration(42_000)).toBe(`42${NB}s`)
    expect(duration(3 * 3_600_000 + 21 * 60_000)).toBe(`3${NB}h 21${NB}m`)
    expect(duration(43 * 3_600_000)).toBe(`1${NB}d 19${NB}h`)
  })

  test('say how long ago or in how long', () => {
    expect(relative('2026-11-20T09:42:00.000Z', NOW)).toBe('just now')
    expect(relative('2026-11-20T08:40:00.000Z', NOW)).toBe(`1${NB}h 02${NB}m ago`)
    expect(relative('2026-11-22T09:42:18.000Z', NOW)).toBe(`in 2${NB}d`)
  })
})

describe('words', () => {
  test('follow the number', () => {
    expect(plural(1, 'report')).toBe('1 report')
    expect(plural(1200, 'report')).toBe('1,200 reports')
  })

  test('initials come from the first and the last name', () => {
    expect(initials('Mara Lindqvist')).toBe('ML')
    expect(initials('Ada')).toBe('AD')
    expect(initials('')).toBe('?')
  })
})
