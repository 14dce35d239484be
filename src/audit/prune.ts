/**
 * Removes the oldest entries of a chain that are past keeping. What is removed was vouched for by a checkpoint and is
 * verified once more before; what is left is a signed statement of where the chain starts now, in the change that removes
 * the entries before it. Done in chunks: after any of them the chain is whole.
 */
import type { AuditDraft, Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { Proof } from './proof.ts'
import type { Signer } from './signer.ts'
import type { AuditStore } from './store.ts'
import { verifyChain } from './verify.ts'

export interface PruneDeps {
  db: Db
  store: AuditStore
  proof: Pick<Proof, 'evidence'>
  signer: Pick<Signer, 'sign'>
  clock: Clock
  instance_id: string
}

export type Prune = ReturnType<typeof createPrune>

const ENTRIES_AT_ONCE = 500

export function createPrune({ db, store, proof, signer, clock, instance_id }: PruneDeps) {
  async function removeUpTo(tenant_id: string, seq: number, audit: AuditDraft | null): Promise<void> {
    const hash = await store.hashAt(tenant_id, seq)
    const line = signer.sign({
      kind: 'start',
      instance_id,
      tenant_id,
      seq,
      hash: Buffer.from(hash!).toString('hex'),
      signed_at: clock.now(),
    })
    await db.commit(systemActor(tenant_id), {
      writes: [
        {
          sql: `INSERT INTO audit_starts (tenant_id, seq, line) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET seq = excluded.seq, line = excluded.line`,
          params: [tenant_id, seq, line],
        },
        ...['audit_personal', 'audit_entries', 'audit_checkpoints'].map((table) => ({
          sql: `DELETE FROM ${table} WHERE tenant_id = ? AND seq <= ?`,
          params: [tenant_id, seq],
        })),
      ],
      audit: audit ?? { none: 'job' },
    })
  }

  return {
    /**
     * Entries before a time (milliseconds). Answers how many were removed. Throws, and removes nothing, when the chain is
     * not whole: what is wrong with it must not be removed with it.
     */
    async prune(tenant_id: string, before: number, signal: AbortSignal): Promise<number> {
      const evidence = await proof.evidence(tenant_id)
      const from_seq = (evidence.start?.seq ?? 0) + 1
      // Only what is signed goes, and never the last entry, on which the next one stands.
      const signed = evidence.claims.at(-1)?.seq ?? 0
      const { last } = await store.ends(tenant_id)
      const to_seq = Math.min(await store.lastBefore(tenant_id, before), signed - 1, last - 1)
      if (to_seq < from_seq) return 0
      const found = await verifyChain(store, { instance_id, tenant_id }, { from_seq, to_seq }, evidence)
      if (found.first_bad !== undefined) {
        const { seq, kind } = found.first_bad
        throw new Error(
          `the audit log of ${tenant_id} is not whole (entry ${seq} is ${kind}): nothing of it was removed`,
        )
      }
      let audit: AuditDraft | null = {
        action: 'audit.prune',
        detail: { from_seq, to_seq, before: isoTime(before) },
      }
      for (let seq = from_seq - 1; seq < to_seq && !signal.aborted;) {
        seq = Math.min(seq + ENTRIES_AT_ONCE, to_seq)
        await removeUpTo(tenant_id, seq, audit)
        audit = null
      }
      return to_seq - from_seq + 1
    },
  }
}
