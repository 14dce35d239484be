/** Stands for `wardpost backup-worker` where there is no executable. */
import { runBackupWorker } from '../../src/db/backup.ts'

process.exitCode = runBackupWorker(process.argv.slice(2))
