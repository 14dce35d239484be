/** What happens by the clock. Each job is whole in itself and can run again without harm. */
import { alertJobs } from '../alerts/jobs.ts'
import type { App } from '../app.ts'
import type { Backups } from '../db/backup.ts'
import type { OpenedDb } from '../db/open.ts'
import { createHousekeeping } from '../jobs/housekeeping.ts'
import type { Scheduler } from '../jobs/scheduler.ts'
import { systemActor } from '../lib/actors.ts'
import type { Clock } from '../lib/clock.ts'
import { freeBytes } from './instance.ts'

export interface JobDeps {
  scheduler: Scheduler
  app: App
  db: OpenedDb
  backups: Backups
  clock: Clock
  data_dir: string
}

export function registerJobs({ scheduler, app, db, backups, data_dir }: JobDeps): void {
  const housekeeping = createHousekeeping(db)
  for (const job of alertJobs({ ...app.services, freeBytes: () => freeBytes(data_dir) }))
    scheduler.register(job)
  const { domains, maintenance, checkpoints, anchors } = app.services
  scheduler.register({
    name: 'backup',
    schedule: '0 3 * * *',
    async run() {
      const made = await backups.create('nightly')
      const gone = backups.rotate()
      await db.commit(systemActor(), {
        writes: [],
        audit: [
          {
            action: 'backups.create',
            target: { type: 'backup', id: made.name },
            detail: { bytes: made.bytes, kind: 'nightly' },
          },
          ...gone.map((id) => ({ action: 'backups.delete', target: { type: 'backup', id } })),
        ],
      })
      return `${made.name}, ${made.bytes} bytes${gone.length > 0 ? `, ${gone.length} old ones removed` : ''}`
    },
  })
  scheduler.register({
    name: 'deliveries',
    schedule: '7 * * * *',
    async run({ signal }) {
      await app.services.hooks.webhooks.promoteDue()
      return app.services.hooks.sweeper.retain(signal)
    },
  })
  scheduler.register({
    name: 'anomalies',
    schedule: '* * * * *',
    async run({ signal }) {
      const { entries, found } = await app.services.anomalies.run(signal)
      return entries === 0 ? undefined : `${entries} entries looked at, ${found} unusual`
    },
  })
  scheduler.register({
    name: 'checkpoints',
    schedule: '* * * * *',
    async run() {
      const [made] = await Promise.allSettled([checkpoints.round()])
      // What cannot be written to the file is sent away all the same.
      const sent = await anchors.run()
      if (made.status === 'rejected') throw made.reason
      const told = [made.value, ...(sent > 0 ? [`${sent} sent away`] : [])].filter(
        (each) => each !== undefined,
      )
      return told.length === 0 ? undefined : told.join(', ')
    },
  })
  scheduler.register({ name: 'expire', schedule: '17 * * * *', run: ({ now }) => housekeeping.expire(now) })
  scheduler.register({
    name: 'verify_log',
    schedule: '27 4 * * *',
    async run({ signal }) {
      const { chains, bad } = await app.services.nightly.run(signal)
      return `${chains} chains verified, ${bad} not whole`
    },
  })
  scheduler.register({
    name: 'retention',
    schedule: '17 2 * * *',
    async run({ signal }) {
      return `${await app.services.retention.run(signal)} things past keeping removed`
    },
  })
  scheduler.register({
    name: 'sweep',
    schedule: '47 2 * * *',
    async run() {
      const { refusals, originals } = await maintenance.run()
      return `${refusals} refused files forgotten, ${originals} stray originals removed`
    },
  })
  scheduler.register({
    name: 'check_domains',
    schedule: '7 * * * *',
    async run() {
      return `${await domains.checkDue()} domains looked up`
    },
  })
}
