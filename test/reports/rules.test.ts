import { describe, expect, test } from 'bun:test'
import type { DmarcRow } from '../../src/reports/parse/types.ts'
import {
  firstDayOfMonth,
  monthOf,
  SPAN_DAYS_MAX,
  splitCount,
  spreadOf,
} from '../../src/reports/rules/days.ts'
import { relationOf } from '../../src/reports/rules/duplicates.ts'
import { packRecord, unpackRecord } from '../../src/reports/rules/records.ts'
import { createRollup, IPS_PER_SENDER_MAX, SENDERS_PER_DAY_MAX } from '../../src/reports/rules/rollup.ts'
import { createSenders, senderOf } from '../../src/reports/rules/senders.ts'
import { createChance } from '../../src/demo/random.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const at = (day: number, ms = 0): number => day * DAY + ms

describe('the days of a report', () => {
  const cases: [string, number, number, number[]][] = [
    ['a UTC day', at(10), at(10, DAY - 1000), [10]],
    ['a UTC day to midnight', at(10), at(11), [10]],
    ['a day in local time goes where its middle is', at(10, 7 * HOUR), at(11, 7 * HOUR), [10]],
    ['a late day in local time', at(10, 13 * HOUR), at(11, 13 * HOUR), [11]],
    ['a day that drifted by seconds is not cut in two', at(10, 40_000), at(11, 42_000), [10]],
    ['nothing', at(10, 5), at(10, 5), [10]],
    ['36 hours are one day', at(10), at(10, 36 * HOUR), [10]],
    ['more than 36 hours are spread', at(10), at(10, 36 * HOUR + 1), [10, 11]],
    ['three days', at(10), at(13) - 1000, [10, 11, 12]],
    ['an end at midnight adds no day', at(10), at(13), [10, 11, 12]],
    ['a period nobody can believe is its last day', 0, at(SPAN_DAYS_MAX + 500), [SPAN_DAYS_MAX + 499]],
  ]
  for (const [name, begin, end, days] of cases) {
    test(name, () => expect(spreadOf(begin, end).days).toEqual(days))
  }

  test('share out every count exactly, whatever the period', () => {
    const chance = createChance(3)
    for (let i = 0; i < 2000; i++) {
      const begin = chance.between(0, 20_000) * DAY + chance.between(0, DAY)
      const { shares, days, primary } = spreadOf(begin, begin + chance.between(37, 9000) * HOUR)
      expect(days).toContain(primary)
      const count = chance.pick([1, 2, 7, 1000, chance.between(1, 1e9), Number.MAX_SAFE_INTEGER])
      const parts = splitCount(count, shares ?? [1])
      expect(parts.every((part) => part >= 0 && Number.isSafeInteger(part))).toBe(true)
      expect(parts.reduce((sum, part) => sum + BigInt(part), 0n)).toBe(BigInt(count))
    }
  })

  test('months and their first days agree', () => {
    for (let day = 0; day < 40_000; day += 13) {
      const month = monthOf(day)
      expect(firstDayOfMonth(month) <= day && day < firstDayOfMonth(month + 1)).toBe(true)
    }
  })
})

const row = (over: Partial<DmarcRow> = {}): DmarcRow => ({
  n: 1,
  source_ip: '192.0.2.77',
  count: 1,
  disposition: 'none',
  dkim_aligned: false,
  spf_aligned: false,
  reasons: [],
  header_from: 'example.com',
  envelope_from: null,
  envelope_to: null,
  dkim: [],
  spf: [],
  ...over,
})
const dkim = (domain: string, result: 'pass' | 'fail' = 'pass') => ({
  domain,
  result,
  selector: null,
  human_result: null,
})
const spf = (domain: string, result: 'pass' | 'fail' = 'pass') => ({
  domain,
  result,
  scope: null,
  human_result: null,
})

describe('the sender of a row', () => {
  const cases: [string, Partial<DmarcRow>, string, string][] = [
    [
      'the aligned DKIM domain',
      { dkim_aligned: true, dkim: [dkim('esp.example'), dkim('news.example.com')] },
      'dkim',
      'news.example.com',
    ],
    [
      'DKIM before SPF',
      { dkim_aligned: true, spf_aligned: true, dkim: [dkim('example.com')], spf: [spf('b.example.com')] },
      'dkim',
      'example.com',
    ],
    [
      'the aligned SPF domain',
      { spf_aligned: true, dkim: [dkim('esp.example')], spf: [spf('b.example.com')] },
      'spf',
      'b.example.com',
    ],
    ['the From domain when the details name none', { dkim_aligned: true }, 'dkim', 'example.com'],
    [
      'only what passed',
      { dkim_aligned: true, dkim: [dkim('a.example.com', 'fail'), dkim('b.example.com')] },
      'dkim',
      'b.example.com',
    ],
    ['the network of what is not aligned', { dkim: [dkim('esp.example')] }, 'prefix', '192.0.2.0/24'],
    ['an IPv6 network', { source_ip: '2001:db8:1:2::3' }, 'prefix', '2001:db8:1::/48'],
    ['the organisation where a table knows it', { source_ip: '198.51.100.1' }, 'network', 'AS64500 Example'],
  ]
  for (const [name, over, kind, sender] of cases) {
    test(name, () => {
      const sender_of = createSenders((ip) => (ip === '198.51.100.1' ? 'AS64500 Example' : null))
      expect(sender_of(row(over))).toMatchObject({ kind, name: sender })
      expect(sender_of(row(over))).toMatchObject({ kind, name: sender })
    })
  }
})

describe('the roll-up of a report', () => {
  test('keeps the largest senders and the exact total', () => {
    const rollup = createRollup(at(10), at(11))
    const sender_of = createSenders(null)
    let total = 0
    for (let i = 0; i < 900; i++) {
      const count = 1 + ((i * 7919) % 1000)
      total += count
      const each = row({ source_ip: `198.${i >> 8}.${i & 255}.1`, count })
      rollup.add(each, sender_of(each))
    }
    const { days, sources } = rollup.finish()
    const senders = sources.get(10)!
    expect(senders).toHaveLength(SENDERS_PER_DAY_MAX + 1)
    expect(senders.reduce((sum, { totals }) => sum + totals[0], 0)).toBe(total)
    expect(days.get(10)![0]).toBe(total)
    const other = senders.find(({ sender }) => sender.kind === 'other')!
    const least = Math.min(...senders.filter((each) => each !== other).map(({ totals }) => totals[0]))
    expect(other.totals[0]).toBeLessThanOrEqual(least * 400)
  })

  test('samples addresses', () => {
    const rollup = createRollup(at(10), at(11))
    const sender_of = createSenders(null)
    for (let i = 0; i < 100; i++) {
      const each = row({ source_ip: `192.0.2.${i}` })
      rollup.add(each, sender_of(each))
    }
    expect(rollup.finish().ips).toHaveLength(IPS_PER_SENDER_MAX)
  })
})

test('a record survives being stored', () => {
  const full = row({
    dkim_aligned: true,
    envelope_from: '',
    envelope_to: 'x.example',
    reasons: [{ type: 'other', comment: null }],
    dkim: [{ domain: 'a.example', selector: 's', result: 'pass', human_result: 'fine "quoted"' }],
    spf: [{ domain: 'b.example', scope: 'helo', result: 'softfail', human_result: null }],
  })
  for (const each of [full, row()]) {
    const sender = senderOf('dkim', 'x.example')
    const stored = JSON.parse(JSON.stringify(packRecord(each, sender))) as ReturnType<typeof packRecord>
    expect(unpackRecord(stored)).toEqual({ row: each, sender })
  }
})

test('reports are compared by what they hold', () => {
  const of = (...pairs: [string, number][]) => new Map(pairs)
  expect(relationOf(of(['a', 1]), of(['a', 1]))).toBe('equal')
  expect(relationOf(of(['a', 1]), of(['a', 2]))).toBe('superset')
  expect(relationOf(of(['a', 1]), of(['a', 1], ['b', 1]))).toBe('superset')
  expect(relationOf(of(['a', 2]), of(['a', 1]))).toBe('subset')
  expect(relationOf(of(['a', 1], ['b', 1]), of(['a', 1], ['c', 1]))).toBe('overlap')
  expect(relationOf(of(), of(['a', 1]))).toBe('superset')
})
