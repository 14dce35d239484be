/**
 * Reads stored originals again, after an upgrade that understands more. A report that comes out otherwise is replaced
 * (the earlier reading stays, superseded); what was refused and can now be read is taken in.
 */
import { type Actor, Conflict, type Db } from '../db/types.ts'
import type { Blobs } from './blobs.ts'
import type { ReportSource } from './incoming.ts'
import type { Ingest, StoredForReread } from './ingest.ts'

export interface ReparseDone {
  files: number
  unchanged: number
  revised: number
  /** Files that were refused and are reports now. */
  accepted: number
  /** Still refused, or no longer readable; what is stored stays. */
  rejected: number
  /** Originals that are no longer there. */
  missing: number
}

export interface Reparse {
  /** All originals of the actor's tenant. `told` hears of the progress. */
  run(actor: Actor, told: (done: ReparseDone) => void): Promise<ReparseDone>
}

interface FileColumns {
  file_name: string
  blob_sha256: string
  source: ReportSource
}

const FILES_AT_ONCE = 100

export function createReparse({ db, blobs, ingest }: { db: Db; blobs: Blobs; ingest: Ingest }): Reparse {
  return {
    async run(actor, told) {
      const done: ReparseDone = { files: 0, unchanged: 0, revised: 0, accepted: 0, rejected: 0, missing: 0 }
      // What this run itself adds is not read again.
      const [last] = await db.query<{ rid: number | null }>('SELECT max(rid) AS rid FROM reports')
      for (let after = 0; ;) {
        const rows = await reportsAfter(actor.tenant_id, after, last?.rid ?? 0)
        if (rows.length === 0) break
        after = rows.at(-1)!.rid
        for (const row of rows) await again(actor, row, done)
        told(done)
      }
      const refused = await db.query<FileColumns & { id: string }>(
        'SELECT id, file_name, blob_sha256, source FROM rejected_files WHERE tenant_id = ?',
        [actor.tenant_id],
      )
      for (const row of refused) await tryRefused(actor, row, done)
      told(done)
      return done
    },
  }

  async function reportsAfter(
    tenant_id: string,
    after: number,
    last: number,
  ): Promise<(StoredForReread & FileColumns)[]> {
    return await db.query(
      `SELECT rid, id, org_name, date_begin, date_end, records, messages, content_sha256, rows_sha256, dup_key,
policy_json, file_name, blob_sha256, source FROM reports INDEXED BY reports_by_arrival
WHERE tenant_id = ? AND state = 'current' AND rid > ? AND rid <= ? ORDER BY rid LIMIT ?`,
      [tenant_id, after, last, FILES_AT_ONCE],
    )
  }

  async function again(actor: Actor, row: StoredForReread & FileColumns, done: ReparseDone): Promise<void> {
    done.files++
    if ((await blobs.size(actor.tenant_id, row.blob_sha256)) === null) {
      done.missing++
      return
    }
    const path = blobs.path(actor.tenant_id, row.blob_sha256)
    try {
      done[await ingest.reread(actor, { name: row.file_name, path, source: row.source }, row)]++
    } catch (error) {
      // Somebody replaced it in the meantime, or its new key is taken by another report: that one stays.
      if (!(error instanceof Conflict)) throw error
      done.unchanged++
    }
  }

  async function tryRefused(
    actor: Actor,
    row: FileColumns & { id: string },
    done: ReparseDone,
  ): Promise<void> {
    done.files++
    if ((await blobs.size(actor.tenant_id, row.blob_sha256)) === null) {
      done.missing++
      return
    }
    let accepted = true
    const run = ingest.run(actor, row.source, 'reports.reparse', ({ reports }) => {
      accepted = reports.every((report) => report.status !== 'rejected')
    })
    await run.add({ name: row.file_name, path: blobs.path(actor.tenant_id, row.blob_sha256), owned: false })
    await run.finish()
    done[accepted ? 'accepted' : 'rejected']++
    if (!accepted) return
    await db.commit(actor, {
      writes: [{ sql: 'DELETE FROM rejected_files WHERE id = ?', params: [row.id] }],
      audit: { none: 'job' },
    })
  }
}
