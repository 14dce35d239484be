import { describe, expect, test } from 'bun:test'
import { isTimeZone, lastAt, localMinutes, nextAt, quietUntil } from '../../src/notifications/rules/times.ts'

const at = (iso: string): number => Date.parse(iso)
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 16)

describe('the clocks of a place', () => {
  test('are told from their name', () => {
    expect(localMinutes(at('2026-01-15T12:34:56Z'), 'UTC')).toBe(12 * 60 + 34)
    expect(localMinutes(at('2026-01-15T23:30:00Z'), 'Europe/Berlin')).toBe(30)
    expect(localMinutes(at('2026-07-15T12:00:00Z'), 'Asia/Kolkata')).toBe(17 * 60 + 30)
    expect(['UTC', 'Europe/Berlin', 'America/St_Johns', '+02:00'].map(isTimeZone)).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(['', 'Mars/Olympus', 'Berlin'].map(isTimeZone)).toEqual([false, false, false])
  })

  const cases: [zone: string, time: string, now: string, last: string, next: string][] = [
    ['UTC', '07:00', '2026-01-15T12:00', '2026-01-15T07:00', '2026-01-16T07:00'],
    ['UTC', '07:00', '2026-01-15T07:00', '2026-01-15T07:00', '2026-01-16T07:00'],
    ['UTC', '07:00', '2026-01-15T06:59', '2026-01-14T07:00', '2026-01-15T07:00'],
    ['Europe/Berlin', '07:00', '2026-01-15T12:00', '2026-01-15T06:00', '2026-01-16T06:00'],
    ['America/Los_Angeles', '22:30', '2026-01-15T12:00', '2026-01-15T06:30', '2026-01-16T06:30'],
    // Put forward on 29 March at 01:00 UTC, back on 25 October.
    ['Europe/Berlin', '07:00', '2026-03-29T12:00', '2026-03-29T05:00', '2026-03-30T05:00'],
    ['Europe/Berlin', '07:00', '2026-03-28T12:00', '2026-03-28T06:00', '2026-03-29T05:00'],
    ['Europe/Berlin', '07:00', '2026-10-25T04:00', '2026-10-24T05:00', '2026-10-25T06:00'],
    ['Europe/Berlin', '23:00', '2026-10-25T12:00', '2026-10-24T21:00', '2026-10-25T22:00'],
    ['Asia/Kolkata', '00:00', '2026-01-15T12:00', '2026-01-14T18:30', '2026-01-15T18:30'],
  ]
  for (const [zone, time, now, last, next] of cases) {
    test(`${time} in ${zone}, seen from ${now}`, () => {
      const ms = at(`${now}:00Z`)
      expect([iso(lastAt(time, zone, ms)), iso(nextAt(time, zone, ms))]).toEqual([last, next])
    })
  }
})

describe('quiet hours', () => {
  const night = { enabled: true, from: '22:00', to: '07:00', timezone: 'Europe/Berlin' }
  const noon = { ...night, from: '12:00', to: '13:30' }
  const cases: [string, typeof night, string, string][] = [
    ['before the night', night, '2026-01-15T20:59', '2026-01-15T20:59'],
    ['as the night begins', night, '2026-01-15T21:00', '2026-01-16T06:00'],
    ['after midnight', night, '2026-01-16T00:30', '2026-01-16T06:00'],
    ['the last minute', night, '2026-01-16T05:59', '2026-01-16T06:00'],
    ['as the night ends', night, '2026-01-16T06:00', '2026-01-16T06:00'],
    ['a night in which the clocks are put forward', night, '2026-03-28T23:00', '2026-03-29T05:00'],
    ['within a day', noon, '2026-01-15T11:15', '2026-01-15T12:30'],
    ['outside it', noon, '2026-01-15T12:30', '2026-01-15T12:30'],
    ['turned off', { ...night, enabled: false }, '2026-01-16T00:30', '2026-01-16T00:30'],
  ]
  for (const [name, quiet, now, until] of cases) {
    test(name, () => expect(iso(quietUntil(quiet, at(`${now}:00Z`)))).toBe(until))
  }
})
