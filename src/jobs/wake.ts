/**
 * Runs something soon after a change that concerns it, instead of at the next tick of the schedule. Many changes at
 * once make one run; a change during a run makes one more.
 */
import type { Db } from '../db/types.ts'
import type { Log } from '../lib/log.ts'

export interface Wake {
  name: string
  /** Actions of the audit log that concern it. */
  actions: readonly string[]
  /** At least this long between two runs. */
  every_ms: number
  run(): Promise<unknown>
}

/** Returns the way to stop, which waits for what still runs. */
export function wakeOnCommit(
  db: Pick<Db, 'onCommit'>,
  log: Log,
  wakes: readonly Wake[],
): () => Promise<void> {
  const stops = wakes.map((wake) => listen(db, log, wake))
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

function listen(db: Pick<Db, 'onCommit'>, log: Log, wake: Wake): () => Promise<void> {
  let timer: ReturnType<typeof setTimeout> | null = null
  let running: Promise<unknown> = Promise.resolve()
  const fire = (): void => {
    timer = null
    running = running.then(wake.run).catch((error: unknown) => {
      log.error('could not do what a change asked for', { what: wake.name, error })
    })
  }
  const unlisten = db.onCommit(({ audit }) => {
    if (timer !== null || !audit.some(({ action }) => wake.actions.includes(action))) return
    timer = setTimeout(fire, wake.every_ms)
    timer.unref()
  })
  return async () => {
    unlisten()
    if (timer !== null) clearTimeout(timer)
    await running
  }
}
