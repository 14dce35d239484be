/**
 * Reads stored originals again, after an upgrade understands more: what was refused may now be a report, what was read
 * wrongly becomes a revision, all else is a duplicate of itself and changes nothing.
 */
import type { Actor, Db } from '../db/types.ts'
import type { Blobs } from './blobs.ts'
import type { Ingest } from './ingest.ts'
import type { FileOutcome } from './outcomes.ts'
import type { ReportSource } from './incoming.ts'

interface StoredFile {
  blob_sha256: string
  file_name: string
  source: ReportSource
}

const ORIGINALS = ['reports', 'tls_reports', 'failure_reports', 'rejected_files']
  .map((table) => `SELECT blob_sha256, file_name, source FROM ${table} WHERE tenant_id = ?1`)
  .join(' UNION ')

export interface ReparsePorts {
  db: Db
  blobs: Blobs
  ingest: Ingest
}

/** All originals of the actor's tenant; `told` hears of each as it lands. An original that is gone is passed over. */
export async function reparse(
  { db, blobs, ingest }: ReparsePorts,
  actor: Actor,
  told: (outcome: FileOutcome) => void,
): Promise<void> {
  const { tenant_id } = actor
  const files = await db.query<StoredFile>(`${ORIGINALS} ORDER BY source, blob_sha256`, [tenant_id])
  const seen = new Set<string>()
  for (const source of new Set(files.map((file) => file.source))) {
    const accepted: string[] = []
    const run = ingest.run(actor, source, 'reports.reparse', (outcome) => {
      if (outcome.reports.every((report) => report.status !== 'rejected')) accepted.push(outcome.sha256)
      told(outcome)
    })
    for (const { blob_sha256, file_name } of files.filter((file) => file.source === source)) {
      const path = blobs.path(tenant_id, blob_sha256)
      const bytes = await blobs.size(tenant_id, blob_sha256)
      if (bytes === null || seen.has(blob_sha256)) continue
      seen.add(blob_sha256)
      await run.add({ name: file_name, path, owned: false, digest: { sha256: blob_sha256, bytes } })
    }
    await run.finish()
    await forgetRefusals(db, actor, accepted)
  }
}

/** What is a report now is no refused file any more. */
async function forgetRefusals(db: Db, actor: Actor, accepted: readonly string[]): Promise<void> {
  if (accepted.length === 0) return
  await db.commit(actor, {
    writes: [
      {
        sql: 'DELETE FROM rejected_files WHERE tenant_id = ? AND blob_sha256 IN (SELECT value FROM json_each(?))',
        params: [actor.tenant_id, JSON.stringify(accepted)],
      },
    ],
    audit: { none: 'job' },
  })
}
