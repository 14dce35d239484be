/**
 * Who may send next. Pure bookkeeping: lanes (one per webhook) that have something due, and how much is in flight.
 *
 * A lane whose last attempt succeeded is proven. The others, together, never get the part of the slots that is
 * reserved: so receivers that hang can fill everything else, and a proven one still finds a slot. Turns go round: by
 * class, then by tenant, then by webhook.
 */
import {
  DELIVERIES_IN_FLIGHT_MAX,
  DELIVERIES_IN_FLIGHT_PER_TENANT_MAX,
  DELIVERIES_IN_FLIGHT_PER_WEBHOOK_MAX,
  DELIVERIES_RESERVED_SHARE,
} from '../lib/limits.ts'

export interface Lane {
  readonly webhook_id: string
  readonly tenant_id: string
  proven: boolean
  in_flight: number
  /** When its row last learnt of a success (monotonic); -Infinity when it last learnt of a failure, or never. */
  success_written_at: number
}

/** A slot that is taken; counted in the class that the lane was in when it was taken. */
export interface Slot {
  readonly lane: Lane
  readonly proven: boolean
}

interface Use {
  all: number
  unproven: number
}

const unreserved = (slots: number): number => slots - Math.ceil(slots * DELIVERIES_RESERVED_SHARE)
const UNPROVEN_MAX = unreserved(DELIVERIES_IN_FLIGHT_MAX)
const UNPROVEN_PER_TENANT_MAX = unreserved(DELIVERIES_IN_FLIGHT_PER_TENANT_MAX)

export type Slots = ReturnType<typeof createSlots>

export function createSlots() {
  const total: Use = { all: 0, unproven: 0 }
  const tenants = new Map<string, Use>()
  /** Lanes with something due, by class and tenant; the order of the maps is the order of turns. */
  const due = { proven: new Map<string, Map<string, Lane>>(), unproven: new Map<string, Map<string, Lane>>() }
  let turn = false

  const ringOf = (lane: Lane) => (lane.proven ? due.proven : due.unproven)

  function clearDue(lane: Lane): void {
    for (const ring of [due.proven, due.unproven]) {
      const lanes = ring.get(lane.tenant_id)
      if (lanes?.delete(lane.webhook_id) === true && lanes.size === 0) ring.delete(lane.tenant_id)
    }
  }

  function markDue(lane: Lane): void {
    const ring = ringOf(lane)
    const lanes = ring.get(lane.tenant_id)
    if (lanes === undefined) ring.set(lane.tenant_id, new Map([[lane.webhook_id, lane]]))
    else if (!lanes.has(lane.webhook_id)) lanes.set(lane.webhook_id, lane)
  }

  const isDue = (lane: Lane): boolean => ringOf(lane).get(lane.tenant_id)?.has(lane.webhook_id) ?? false

  function hasRoom(proven: boolean): boolean {
    return total.all < DELIVERIES_IN_FLIGHT_MAX && (proven || total.unproven < UNPROVEN_MAX)
  }

  function tenantHasRoom(tenant_id: string, proven: boolean): boolean {
    const use = tenants.get(tenant_id)
    if (use === undefined) return true
    if (use.all >= DELIVERIES_IN_FLIGHT_PER_TENANT_MAX) return false
    return proven || use.unproven < UNPROVEN_PER_TENANT_MAX
  }

  /** The next lane of a class that may send; it and its tenant go to the end of their rings. */
  function nextOf(proven: boolean): Lane | null {
    if (!hasRoom(proven)) return null
    const ring = proven ? due.proven : due.unproven
    for (const [tenant_id, lanes] of ring) {
      if (!tenantHasRoom(tenant_id, proven)) continue
      for (const [webhook_id, lane] of lanes) {
        if (lane.in_flight >= DELIVERIES_IN_FLIGHT_PER_WEBHOOK_MAX) continue
        lanes.delete(webhook_id)
        lanes.set(webhook_id, lane)
        ring.delete(tenant_id)
        ring.set(tenant_id, lanes)
        return lane
      }
    }
    return null
  }

  return {
    markDue,
    clearDue,
    isDue,
    /** A slot for the lane whose turn it is, or null when nobody may send more just now. */
    take(): Slot | null {
      turn = !turn
      const lane = nextOf(turn) ?? nextOf(!turn)
      if (lane === null) return null
      const { proven } = lane
      const use = tenants.get(lane.tenant_id) ?? { all: 0, unproven: 0 }
      tenants.set(lane.tenant_id, use)
      for (const each of [total, use]) {
        each.all += 1
        if (!proven) each.unproven += 1
      }
      lane.in_flight += 1
      return { lane, proven }
    },
    release({ lane, proven }: Slot): void {
      const use = tenants.get(lane.tenant_id)!
      for (const each of [total, use]) {
        each.all -= 1
        if (!proven) each.unproven -= 1
      }
      if (use.all === 0) tenants.delete(lane.tenant_id)
      lane.in_flight -= 1
    },
    /** The class of a lane after an attempt; what is due of it moves along. */
    setProven(lane: Lane, proven: boolean): void {
      if (lane.proven === proven) return
      const was_due = isDue(lane)
      clearDue(lane)
      lane.proven = proven
      if (was_due) markDue(lane)
    },
    inFlight: (): number => total.all,
  }
}
