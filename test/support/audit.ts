/** The audit log of a test database with everything that proves it, and an intruder with the file in hand. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { createCheckpointFile } from '../../src/audit/checkpoint-file.ts'
import { createCheckpointStore } from '../../src/audit/checkpoint-store.ts'
import { createCheckpoints } from '../../src/audit/checkpoints.ts'
import { createProof } from '../../src/audit/proof.ts'
import { createAuditService } from '../../src/audit/service.ts'
import { openSigner, SIGNING_KEY_FILE } from '../../src/audit/signer.ts'
import { createAuditStore } from '../../src/audit/store.ts'
import type { TestDb } from './db.ts'

export type TestAudit = ReturnType<typeof openTestAudit>

/** `path` is the file of checkpoints; by default it lies in the data folder. */
export function openTestAudit(
  { db, clock, data_dir }: Pick<TestDb, 'db' | 'clock' | 'data_dir'>,
  path = join(data_dir, 'checkpoints.log'),
) {
  const { instance_id } = db
  const signer = openSigner(join(data_dir, SIGNING_KEY_FILE))
  const file = createCheckpointFile(path)
  const store = createCheckpointStore(db)
  const checkpoints = createCheckpoints({ db, store, clock, signer, file, instance_id })
  const proof = createProof({ store, file, signer, instance_id })
  const audit = createAuditService({ store: createAuditStore(db), db, instance_id, proof })
  return { signer, file, store, checkpoints, proof, audit }
}

/** A second connection to the file, past the door. */
export function openIntruder(data_dir: string): Database {
  return new Database(join(data_dir, 'wardpost.db'))
}
