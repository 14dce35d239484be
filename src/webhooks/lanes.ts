/**
 * When each webhook has something to do, as far as memory knows. Only a hint: too early costs a look at the table,
 * and too late is put right by the scan of the table.
 */
import { type Clock, SECOND_MS } from '../lib/clock.ts'
import type { Lane, Slots } from './slots.ts'
import type { OpenWebhook, QueueStore } from './store.queue.ts'

/** The scan may take this part of the time. */
const SCAN_SHARE = 0.02
/** Wall time that falls behind the running of the machine by more than this was set back. */
const CLOCK_SLACK_MS = SECOND_MS
const LANES_MAX = 100_000

export interface LanesPorts {
  store: Pick<QueueStore, 'nextAfter' | 'openWebhooks' | 'webhooks'>
  clock: Clock
  slots: Slots
}

export function createLanes({ store, clock, slots }: LanesPorts) {
  const lanes = new Map<string, Lane>()
  /** Lanes that have something later, and when. `soonest` is never later than the earliest of them. */
  const later = new Map<Lane, number>()
  let soonest = Infinity
  /** Hinted at, but not known yet. */
  const strangers = new Set<string>()
  let next_scan = 0
  let anchor = { wall: clock.now(), monotonic: clock.monotonic() }

  function expect(lane: Lane, at: number): void {
    if (slots.isDue(lane)) return
    if (at <= clock.now()) {
      later.delete(lane)
      slots.markDue(lane)
      return
    }
    later.set(lane, Math.min(at, later.get(lane) ?? Infinity))
    soonest = Math.min(soonest, at)
  }

  function admit({ id, tenant_id, active, proven, next_at }: OpenWebhook): void {
    if (active === 0) return
    let lane = lanes.get(id)
    if (lane === undefined) {
      if (lanes.size >= LANES_MAX) forgetIdle()
      lane = {
        webhook_id: id,
        tenant_id,
        proven: proven === 1,
        in_flight: 0,
        success_written_at: -Infinity,
      }
      lanes.set(id, lane)
    }
    expect(lane, next_at)
  }

  function forgetIdle(): void {
    for (const [id, lane] of lanes) {
      if (lane.in_flight === 0 && !slots.isDue(lane) && !later.has(lane)) lanes.delete(id)
    }
  }

  return {
    expect,

    hint(webhook_id: string): void {
      const lane = lanes.get(webhook_id)
      if (lane === undefined) strangers.add(webhook_id)
      else expect(lane, -Infinity)
    },

    /** Before a turn: makes strangers known, and due what has come due. */
    async settle(): Promise<void> {
      if (strangers.size > 0) {
        const ids = [...strangers]
        strangers.clear()
        for (const found of await store.webhooks(ids)) admit(found)
      }
      const now = clock.now()
      if (soonest > now) return
      soonest = Infinity
      for (const [lane, at] of later) {
        if (at > now) soonest = Math.min(soonest, at)
        else {
          later.delete(lane)
          slots.markDue(lane)
        }
      }
    },

    /** At `asked_at` the lane had less than it was asked for: when has it more? */
    async refresh(lane: Lane, asked_at: number): Promise<void> {
      slots.clearDue(lane)
      const next_at = await store.nextAfter(lane.webhook_id, asked_at)
      if (next_at !== null) expect(lane, next_at)
    },

    /** Everything that the table knows. */
    async scan(): Promise<void> {
      const started = clock.monotonic()
      for (const found of await store.openWebhooks()) admit(found)
      next_scan = started + Math.max(SECOND_MS, (clock.monotonic() - started) / SCAN_SHARE)
    },

    scanDue: (): boolean => clock.monotonic() >= next_scan,

    earliest: (): number => soonest,

    /** True once after the wall clock was set back. Forward it may jump: time that passed while the machine slept. */
    clockWentBack(): boolean {
      const wall = clock.now()
      const monotonic = clock.monotonic()
      const behind = anchor.wall + (monotonic - anchor.monotonic) - wall
      anchor = { wall, monotonic }
      return behind > CLOCK_SLACK_MS
    },
  }
}
