/**
 * What one report adds to the roll-ups. The same rows in the same order with the same senders always give the same
 * roll-up: that is how a revision takes away exactly what its predecessor added.
 */
import type { DmarcRow } from '../parse/types.ts'
import { spreadOf, splitCount } from './days.ts'
import { OTHER, type Sender } from './senders.ts'

/** Senders kept apart for one report and day; the rest is counted as `other`. */
export const SENDERS_PER_DAY_MAX = 500
/** Addresses kept for one sender of one report. */
export const IPS_PER_SENDER_MAX = 16
/** While a report is being read; the largest beyond it cannot push out a large one any more. */
const SENDERS_HELD_MAX = 20_000

/**
 * messages, pass_both, pass_dkim, pass_spf, disp_none, disp_quarantine, disp_reject, disp_pass: in the order of the
 * columns of every roll-up table.
 */
export type Measure = [number, number, number, number, number, number, number, number]
const MEASURES = 8

const DISPOSITION_AT = { none: 4, quarantine: 5, reject: 6, pass: 7 } as const

export interface SenderTotals {
  sender: Sender
  totals: Measure
}

export interface ReportRollup {
  primary_day: number
  days: Map<number, Measure>
  /** By day; at most SENDERS_PER_DAY_MAX and `other`. */
  sources: Map<number, SenderTotals[]>
  ips: { sender: Sender; ip: string; messages: number }[]
}

export type RollupRow = Pick<DmarcRow, 'source_ip' | 'count' | 'disposition' | 'dkim_aligned' | 'spf_aligned'>

export interface RollupBuilder {
  add(row: RollupRow, sender: Sender): void
  finish(): ReportRollup
}

/** Starts the roll-up of a report over a period in milliseconds UTC. */
export function createRollup(begin_ms: number, end_ms: number): RollupBuilder {
  const { days, shares, primary } = spreadOf(begin_ms, end_ms)
  const totals = new Map<number, Measure>([[primary, zero()]])
  const sources = new Map<number, Map<string, SenderTotals>>()
  const ips = new Map<string, { sender: Sender; counts: Map<string, number> }>()

  const addDay = (day: number, count: number, row: RollupRow, sender: Sender, key: string): void => {
    let of_day = totals.get(day)
    if (of_day === undefined) totals.set(day, (of_day = zero()))
    addRow(of_day, count, row)
    let senders = sources.get(day)
    if (senders === undefined) sources.set(day, (senders = new Map()))
    let entry = senders.get(key)
    if (entry === undefined) {
      const held = senders.size < SENDERS_HELD_MAX ? sender : OTHER
      const held_key = held.key
      entry = senders.get(held_key)
      if (entry === undefined) senders.set(held_key, (entry = { sender: held, totals: zero() }))
    }
    addRow(entry.totals, count, row)
  }

  return {
    add(row, sender) {
      const { key } = sender
      if (shares === null) addDay(days[0]!, row.count, row, sender, key)
      else {
        for (const [i, part] of splitCount(row.count, shares).entries()) {
          if (part > 0) addDay(days[i]!, part, row, sender, key)
        }
      }
      addIp(ips, key, row, sender)
    },
    finish() {
      const kept = new Set<string>()
      const folded = new Map<number, SenderTotals[]>()
      for (const [day, senders] of sources) {
        const list = foldSmallest([...senders.values()])
        for (const { sender } of list) kept.add(sender.key)
        folded.set(day, list)
      }
      const sample: ReportRollup['ips'] = []
      for (const [key, { sender, counts }] of ips) {
        if (!kept.has(key)) continue
        for (const [ip, messages] of counts) sample.push({ sender, ip, messages })
      }
      return { primary_day: primary, days: totals, sources: folded, ips: sample }
    },
  }
}

export function zero(): Measure {
  return [0, 0, 0, 0, 0, 0, 0, 0]
}

/** Adds `sign` times `other` to `into`. */
export function addMeasure(into: Measure, other: Measure, sign: 1 | -1): void {
  for (let i = 0; i < MEASURES; i++) into[i]! += sign * other[i]!
}

function addRow(into: Measure, count: number, row: RollupRow): void {
  into[0] += count
  if (row.dkim_aligned && row.spf_aligned) into[1] += count
  else if (row.dkim_aligned) into[2] += count
  else if (row.spf_aligned) into[3] += count
  into[DISPOSITION_AT[row.disposition]] += count
}

function addIp(
  ips: Map<string, { sender: Sender; counts: Map<string, number> }>,
  key: string,
  row: RollupRow,
  sender: Sender,
): void {
  let entry = ips.get(key)
  if (entry === undefined) {
    if (ips.size >= SENDERS_HELD_MAX) return
    ips.set(key, (entry = { sender, counts: new Map() }))
  }
  const known = entry.counts.get(row.source_ip)
  if (known === undefined && entry.counts.size >= IPS_PER_SENDER_MAX) return
  entry.counts.set(row.source_ip, (known ?? 0) + row.count)
}

function foldSmallest(list: SenderTotals[]): SenderTotals[] {
  if (list.length <= SENDERS_PER_DAY_MAX) return list
  const other: SenderTotals = { sender: OTHER, totals: zero() }
  const named = list.filter((entry) => {
    if (entry.sender.kind !== 'other') return true
    addMeasure(other.totals, entry.totals, 1)
    return false
  })
  named.sort((a, b) => b.totals[0] - a.totals[0] || (a.sender.key < b.sender.key ? -1 : 1))
  for (const entry of named.splice(SENDERS_PER_DAY_MAX)) addMeasure(other.totals, entry.totals, 1)
  return [...named, other]
}
