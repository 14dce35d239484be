/** What alerts need done by the clock. */
import type { Compliance } from '../domains/compliance.ts'
import type { Job } from '../jobs/scheduler.ts'
import type { Notifier } from '../notifications/notifier.ts'
import type { AlertService } from './service.ts'
import type { Watch } from './watch.ts'

export interface AlertJobDeps {
  alerts: AlertService
  watch: Watch
  compliance: Compliance
  notifier: Notifier
  /** Bytes that are free for us where the data folder is; null where the system does not say. */
  freeBytes(): Promise<number | null>
}

export function alertJobs({ alerts, watch, compliance, notifier, freeBytes }: AlertJobDeps): Job[] {
  return [
    {
      name: 'end_silences',
      schedule: '* * * * *',
      run: async () => words(await alerts.endSilences(), 'alerts are open again'),
    },
    {
      name: 'compliance',
      schedule: '*/5 * * * *',
      run: async () => words(await compliance.evaluate(), 'domains looked at'),
    },
    {
      name: 'mail',
      schedule: '* * * * *',
      run: async () => words(await notifier.run(), 'mails sent'),
    },
    {
      name: 'forget_mail',
      schedule: '37 2 * * *',
      run: async () => words(await notifier.forget(), 'mails forgotten'),
    },
    {
      name: 'watch_reports',
      schedule: '*/10 * * * *',
      async run() {
        const changed = (await watch.reportsStopped()) + (await watch.importFailures())
        return words(changed, 'alerts raised or resolved')
      },
    },
    {
      name: 'watch_instance',
      schedule: '*/5 * * * *',
      async run() {
        await watch.jobs()
        await watch.disk(await freeBytes())
      },
    },
  ]
}

function words(count: number, what: string): string | undefined {
  return count === 0 ? undefined : `${count} ${what}`
}
