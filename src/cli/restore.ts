/** Restores a backup into a data folder that no server uses. */
import { restoreBackup } from '../db/restore.ts'
import { systemClock } from '../lib/clock.ts'

export async function restoreInto(from: string, data_dir: string) {
  const done = await restoreBackup({ from, data_dir, clock: systemClock })
  const sealed = done.sealed.map(
    ({ what, count }) => `${count} ${what} cannot be opened: put the old instance.key into ${data_dir}`,
  )
  return { ...done, warnings: [...done.warnings, ...sealed] }
}
