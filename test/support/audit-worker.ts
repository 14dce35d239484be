/** Stands for `wardpost audit-worker` where there is no executable. */
import { runAuditWorker } from '../../src/audit/worker.ts'

process.exitCode = await runAuditWorker()
