/**
 * Sends what is due. The table of deliveries is the queue; in memory there is only what is in flight and a hint, per
 * webhook, of when it has something to do. Hints come from commits, from results, and once a second from the table
 * itself, so that a lost one costs a second and nothing else.
 *
 * It works in turns. A turn takes the attempts that have ended, picks deliveries for the free slots, and writes both
 * in one change: results, and claims for what is sent next. Only then does anything go out. So a crash loses results
 * that were not written (they are sent again) and never a delivery; a claim that was cut off is given back at start
 * without counting an attempt. A claim is this process's id and a counter: a result without it is not written.
 */
import { randomBytes } from 'node:crypto'
import type { Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { type Clock, SECOND_MS } from '../lib/clock.ts'
import { DELIVERY_CHUNK_ROWS, DELIVERY_LEASE_MS } from '../lib/limits.ts'
import type { Log } from '../lib/log.ts'
import { createLanes } from './lanes.ts'
import { changeOf } from './rules/health.ts'
import { nextAttemptAt } from './rules/schedule.ts'
import type { Outcome, Sender } from './sender.ts'
import { createSlots, type Lane, type Slot } from './slots.ts'
import type { AttemptResult, DueDelivery, HealthChange, QueueStore } from './store.queue.ts'

export interface DispatcherPorts {
  db: Db
  store: QueueStore
  sender: Sender
  clock: Clock
  log: Log
  /** Told of webhooks with attempts that failed, after the results are written. */
  failed(webhooks: readonly FailedWebhook[]): void
}

export interface FailedWebhook {
  id: string
  tenant_id: string
  failures: number
  failing_since: number | null
}

/** How long after a lost hint the table itself is asked. */
const POLL_MS = SECOND_MS
/** At the end, attempts under way get this long; what is cut off then is sent again after the next start. */
const CLOSE_MS = 3 * SECOND_MS

/** Results, and claims, of one turn. Many in one change are cheaper, few keep nobody waiting who writes as well. */
const TURN_MAX = 48
const TURN_BESIDE_OTHERS_MAX = 16
/** For so long after somebody else's change turns are short. */
const OTHERS_MS = 250
/** The time of the last success of a webhook is written this often while nothing else changes. */
const SUCCESS_WRITTEN_MS = SECOND_MS

interface Job {
  delivery: DueDelivery
  slot: Slot
  claim: string
}

type Ended = Job & { outcome: Outcome }

export type Dispatcher = ReturnType<typeof createDispatcher>

export function createDispatcher(ports: DispatcherPorts) {
  const { db, store, sender, clock, log } = ports
  const actor = systemActor()
  const boot_id = randomBytes(8).toString('hex')
  const slots = createSlots()
  const lanes = createLanes({ store, clock, slots })
  const in_flight = new Map<string, Promise<void>>()
  let ended: Ended[] = []
  let claims = 0
  let state: 'new' | 'running' | 'closing' | 'closed' = 'new'
  let turning: Promise<void> | null = null
  let again = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let unlisten = (): void => {}
  let others_wrote_at = -Infinity

  const turnMax = (): number =>
    clock.monotonic() - others_wrote_at < OTHERS_MS ? TURN_BESIDE_OTHERS_MAX : TURN_MAX

  /** Deliveries for the free slots, fairly. A lane that had less than it was given is asked when it has more. */
  async function pick(max: number): Promise<Job[]> {
    const taken = new Map<string, Slot[]>()
    for (let n = 0; n < max; n++) {
      const slot = slots.take()
      if (slot === null) break
      const of_lane = taken.get(slot.lane.webhook_id)
      if (of_lane === undefined) taken.set(slot.lane.webhook_id, [slot])
      else of_lane.push(slot)
    }
    const jobs: Job[] = []
    let spare = false
    for (const [webhook_id, of_lane] of taken) {
      const now = clock.now()
      const found = await store.due(webhook_id, now, of_lane.length)
      for (const [index, slot] of of_lane.entries()) {
        const delivery = found[index]
        if (delivery === undefined) slots.release(slot)
        else jobs.push({ delivery, slot, claim: `${boot_id}.${++claims}` })
      }
      if (found.length === of_lane.length) continue
      await lanes.refresh(of_lane[0]!.lane, now)
      spare = true
    }
    // Slots that were not needed are for others, and there may be more than one turn's worth of free ones.
    if (spare || jobs.length === max) again = true
    return jobs
  }

  /** Writes results and claims; answers the jobs that are ours to send. */
  async function write(results: readonly Ended[], jobs: readonly Job[]): Promise<Job[]> {
    if (results.length + jobs.length === 0) return []
    const lease_until = clock.now() + DELIVERY_LEASE_MS
    const wanted = jobs.map(({ delivery, claim }) => ({ id: delivery.id, claim }))
    const health = healthOf(results, clock.monotonic())
    const [, , changed, claimed] = await db.commit(actor, {
      writes: [
        ...store.results(results.map(resultOf)),
        store.health(health.map(({ change }) => change)),
        store.claim(wanted, lease_until),
      ],
      audit: { none: 'delivery' },
    })
    for (const { lane, change } of health) {
      lane.success_written_at = change.failures === 0 ? clock.monotonic() : -Infinity
    }
    const failing = (changed ?? [])
      .filter((row) => row[2] === 'active' && Number(row[3]) > 0)
      .map(([id, tenant_id, , failures, failing_since]) => ({
        id: String(id),
        tenant_id: String(tenant_id),
        failures: Number(failures),
        failing_since: failing_since === null ? null : Number(failing_since),
      }))
    if (failing.length > 0) ports.failed(failing)
    const ours = new Set((claimed ?? []).map((row) => row[0]))
    return jobs.filter(({ delivery }) => ours.has(delivery.id))
  }

  async function send(job: Job): Promise<void> {
    const { delivery, slot } = job
    const outcome = await sender.send({ ...delivery, delivery_id: delivery.id })
    in_flight.delete(delivery.id)
    slots.release(slot)
    slots.setProven(slot.lane, outcome.ok)
    ended.push({ ...job, outcome })
    kick()
  }

  async function turn(): Promise<void> {
    await lanes.settle()
    const max = turnMax()
    const results = ended.splice(0, max)
    if (ended.length > 0) again = true
    const jobs = state === 'running' ? await pick(max) : []
    try {
      const ours = await write(results, jobs)
      for (const { delivery, outcome, slot } of results) {
        const next = nextOf(delivery, outcome)
        if (next !== null) lanes.expect(slot.lane, next)
      }
      const sent = new Set(ours)
      for (const job of jobs) if (!sent.has(job)) slots.release(job.slot)
      for (const job of ours) in_flight.set(job.delivery.id, send(job))
    } catch (error) {
      // Nothing of this turn happened (the disk may be full): later again.
      ended.unshift(...results)
      for (const { slot } of jobs) slots.release(slot)
      for (const { slot } of jobs) slots.markDue(slot.lane)
      throw error
    }
  }

  function kick(): void {
    // What ends after the close is sent again after the next start.
    if (state === 'new' || state === 'closed') return
    again = true
    turning ??= turns().finally(() => {
      turning = null
      if (again && state === 'running') kick()
      else arm()
    })
  }

  async function turns(): Promise<void> {
    try {
      while (again) {
        again = false
        await turn()
      }
    } catch (error) {
      again = false
      log.error('deliveries could not be written', { error })
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      again = state === 'running'
    }
  }

  /** Wakes at the next due time that is known, and a second from now at the latest. */
  function arm(): void {
    clearTimeout(timer)
    if (state !== 'running') return
    const wait = Math.min(POLL_MS, Math.max(1, lanes.earliest() - clock.now()))
    timer = setTimeout(() => void poll(lanes.scanDue()), wait)
    timer.unref()
  }

  async function poll(scan: boolean): Promise<void> {
    if (state !== 'running') return
    try {
      if (lanes.clockWentBack()) {
        await db.commit(actor, { writes: [store.clamp(clock.now())], audit: { none: 'delivery' } })
      }
      if (scan) await Promise.all([lanes.scan(), releaseExpired()])
    } catch (error) {
      log.error('the queue of deliveries could not be read', { error })
    }
    kick()
  }

  /** A claim of ours that nobody works on any more: something went wrong here, so it is given back. */
  async function releaseExpired(): Promise<void> {
    const found = await store.expired(clock.now(), DELIVERY_CHUNK_ROWS)
    const waiting = new Set(ended.map(({ delivery }) => delivery.id))
    const stale = found.filter(({ id }) => !in_flight.has(id) && !waiting.has(id))
    if (stale.length === 0) return
    await db.commit(actor, { writes: [store.release(stale)], audit: { none: 'delivery' } })
    log.warn('claims of deliveries had expired', { deliveries: stale.length })
    for (const { webhook_id } of stale) lanes.hint(webhook_id)
  }

  return {
    /** Gives back what a former process was sending and begins. */
    async start(): Promise<void> {
      if (state !== 'new') return
      await db.commit(actor, { writes: store.recover(clock.now()), audit: { none: 'boot' } })
      state = 'running'
      unlisten = db.onCommit(({ webhooks, audit }) => {
        // Changes of people and programs have an entry, ours have none.
        if (audit.length > 0) others_wrote_at = clock.monotonic()
        if (webhooks.length === 0) return
        for (const id of webhooks) lanes.hint(id)
        kick()
      })
      await lanes.scan()
      kick()
    },
    /** A webhook has something due that no commit told of. */
    wake(webhook_id: string): void {
      lanes.hint(webhook_id)
      kick()
    },
    /** Looks at the table now, as the clock does once a second. */
    poll: () => poll(true),
    /** Resolves when nothing is in flight, due or unwritten. */
    async idle(): Promise<void> {
      while (turning !== null || in_flight.size > 0 || ended.length > 0) {
        await (turning ?? Promise.race(in_flight.values()))
      }
    },
    inFlight: () => slots.inFlight(),
    async close(): Promise<void> {
      if (state !== 'running') {
        state = 'closed'
        return
      }
      state = 'closing'
      unlisten()
      clearTimeout(timer)
      let late: ReturnType<typeof setTimeout> | undefined
      const enough = new Promise((resolve) => (late = setTimeout(resolve, CLOSE_MS)))
      await Promise.race([Promise.all(in_flight.values()), enough])
      clearTimeout(late)
      kick()
      while (turning !== null) await turning
      state = 'closed'
    },
  }
}

function nextOf({ round_attempts, body }: DueDelivery, { ok, ended_at }: Outcome): number | null {
  return ok || body === null ? null : nextAttemptAt(round_attempts + 1, ended_at)
}

function resultOf({ delivery, claim, outcome }: Ended): AttemptResult {
  return {
    ...outcome,
    delivery_id: delivery.id,
    tenant_id: delivery.tenant_id,
    webhook_id: delivery.webhook_id,
    claim,
    n: delivery.attempts + 1,
    next_attempt_at: nextOf(delivery, outcome),
  }
}

/** What the results do to the rows of their webhooks. One success after the other is written once a second. */
function healthOf(results: readonly Ended[], now: number): { lane: Lane; change: HealthChange }[] {
  const by_lane = Map.groupBy(results, ({ slot }) => slot.lane)
  return [...by_lane]
    .filter(
      ([lane, ended]) =>
        now - lane.success_written_at >= SUCCESS_WRITTEN_MS || ended.some(({ outcome }) => !outcome.ok),
    )
    .map(([lane, ended]) => ({
      lane,
      change: { webhook_id: lane.webhook_id, ...changeOf(ended.map(({ outcome }) => outcome)) },
    }))
}
