/**
 * Runs what must happen by the clock. A job takes no payload, can be run twice without harm, and never overlaps with
 * itself: a run that is due while the last one goes on is left out. Every run has a row, whatever becomes of it.
 */
import { Cron } from 'croner'
import type { Db } from '../db/types.ts'
import { type Clock, isoTime, HOUR_MS } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { createJobStore, type JobRun } from './store.ts'

export interface JobContext {
  /** When the run began. */
  now: number
  /** Aborted when the product stops: finish the step at hand and return. */
  signal: AbortSignal
}

export interface Job {
  name: string
  /** Cron pattern in local time: minute hour day month weekday, optionally seconds in front. */
  schedule: string
  /** What it did, in a few words for the history; or nothing. Throws when it failed. */
  run(context: JobContext): Promise<string | void>
}

export interface JobView {
  name: string
  schedule: string
  last_run_at: string | null
  last_status: 'running' | 'ok' | 'failed' | 'interrupted' | null
  last_detail: string | null
  last_ms: number | null
  next_run_at: string | null
  running: boolean
}

export interface JobRunView {
  id: string
  status: 'running' | 'ok' | 'failed' | 'interrupted'
  detail: string | null
  started_at: string
  ended_at: string | null
  ms: number | null
}

export interface Scheduler {
  register(job: Job): void
  /** Marks runs of a former process as interrupted and starts the clocks. */
  start(): Promise<void>
  /** Runs a job now and waits for it. False when it is running already. Throws when there is no such job. */
  runNow(name: string): Promise<boolean>
  /** Starts a job and does not wait for it. `unknown` when there is no such job, `running` when it runs already. */
  begin(name: string): 'started' | 'running' | 'unknown'
  /** Earlier runs of a job, newest first; null when there is no such job. `before` is the id of the last one seen. */
  runs(name: string, page: { before: string | null; limit: number }): Promise<JobRunView[] | null>
  list(): Promise<JobView[]>
  /** Stops the clocks and waits for running jobs. */
  close(): Promise<void>
}

export interface SchedulerPorts {
  clock: Clock
  db: Db
  log: Log
  /** Names this process in the lease rows. */
  holder: string
}

/** A run that takes longer than this loses its lease to whoever comes next. */
const LEASE_MS = 6 * HOUR_MS
const DETAIL_CHARS_MAX = 500

export function createScheduler({ clock, db, log, holder }: SchedulerPorts): Scheduler {
  const store = createJobStore(db)
  const jobs = new Map<string, Job>()
  const clocks = new Map<string, Cron>()
  const running = new Map<string, Promise<boolean>>()
  const stopping = new AbortController()

  async function execute(job: Job): Promise<boolean> {
    const started = clock.monotonic()
    const now = clock.now()
    const id = newId('job', now)
    const epoch = await store.begin({ id, name: job.name, holder, now, until: now + LEASE_MS })
    if (epoch === null) return false
    let status: 'ok' | 'failed' = 'ok'
    let detail: string | null = null
    try {
      detail = (await job.run({ now, signal: stopping.signal })) ?? null
    } catch (error) {
      status = 'failed'
      detail = error instanceof Error ? error.message : String(error)
      log.error('job failed', { job: job.name, error })
    }
    await store.end({
      id,
      name: job.name,
      epoch,
      status,
      detail: detail?.slice(0, DETAIL_CHARS_MAX) ?? null,
      now: clock.now(),
    })
    if (status === 'ok') {
      const fields = { job: job.name, ms: Math.round(clock.monotonic() - started), detail }
      // Several look every minute whether there is something to do: mostly there is not.
      if (detail === null) log.debug('job done', fields)
      else log.info('job done', fields)
    }
    return true
  }

  /** One at a time; what goes wrong in the bookkeeping itself is logged, never thrown at a timer. */
  function trigger(job: Job): Promise<boolean> {
    if (stopping.signal.aborted || running.has(job.name)) return Promise.resolve(false)
    const run = execute(job)
      .catch((error: unknown) => {
        log.error('job could not be recorded', { job: job.name, error })
        return false
      })
      .finally(() => running.delete(job.name))
    running.set(job.name, run)
    return run
  }

  async function view(job: Job): Promise<JobView> {
    const last = await store.last(job.name)
    const next = clocks.get(job.name)?.nextRun() ?? null
    return {
      name: job.name,
      schedule: job.schedule,
      last_run_at: last === null ? null : isoTime(last.started_at),
      last_status: last?.status ?? null,
      last_detail: last?.detail ?? null,
      last_ms: last === null || last.ended_at === null ? null : last.ended_at - last.started_at,
      next_run_at: next === null ? null : isoTime(next.getTime()),
      running: running.has(job.name),
    }
  }

  return {
    register(job) {
      if (jobs.has(job.name)) throw new Error(`invariant: job ${job.name} is registered twice`)
      jobs.set(job.name, job)
    },
    async start() {
      await store.interrupt(clock.now())
      for (const job of jobs.values()) {
        clocks.set(job.name, new Cron(job.schedule, { unref: true }, () => void trigger(job)))
      }
    },
    runNow(name) {
      const job = jobs.get(name)
      if (job === undefined) throw new Error(`there is no job ${name}`)
      return trigger(job)
    },
    begin(name) {
      const job = jobs.get(name)
      if (job === undefined) return 'unknown'
      if (stopping.signal.aborted || running.has(name)) return 'running'
      void trigger(job)
      return 'started'
    },
    async runs(name, page) {
      return jobs.has(name) ? (await store.runs(name, page)).map(runView) : null
    },
    list: () => Promise.all([...jobs.values()].map(view)),
    async close() {
      stopping.abort()
      for (const each of clocks.values()) each.stop()
      clocks.clear()
      await Promise.all(running.values())
    },
  }
}

function runView({ id, status, detail, started_at, ended_at }: JobRun): JobRunView {
  return {
    id,
    status,
    detail,
    started_at: isoTime(started_at),
    ended_at: ended_at === null ? null : isoTime(ended_at),
    ms: ended_at === null ? null : ended_at - started_at,
  }
}
