/** Hands the log out as evidence. Each bundle is an entry of the log, and in the bundle. */
import type { Db } from '../db/types.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import type { Actor } from '../lib/principal.ts'
import { bundleBytes } from './bundle/write.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { Proof } from './proof.ts'
import type { AuditService } from './service.ts'
import type { Signer } from './signer.ts'
import type { AuditStore, SeqRange } from './store.ts'

export interface BundleDeps {
  db: Pick<Db, 'commit'>
  store: AuditStore
  audit: Pick<AuditService, 'seqRange'>
  checkpoints: Pick<Checkpoints, 'round' | 'publicKey'>
  proof: Pick<Proof, 'own' | 'evidence'>
  signer: Signer
  clock: Clock
  instance_id: string
}

export type Bundles = ReturnType<typeof createBundles>

export function createBundles(deps: BundleDeps) {
  const { db, store, clock, instance_id } = deps
  return {
    /** By time, by number, or whole. Throws `not_found` when nothing is in the range. */
    async export(
      actor: Actor,
      range: { from?: number; to?: number } | SeqRange,
    ): Promise<{ name: string; bytes: AsyncGenerator<Uint8Array> }> {
      const { tenant_id } = actor
      const asked = 'from_seq' in range ? range : await deps.audit.seqRange(tenant_id, range)
      const open = !('from_seq' in range) && range.to === undefined
      await db.commit(actor, {
        writes: [],
        audit: {
          action: 'audit.bundle',
          detail: { from_seq: asked.from_seq, to_seq: open ? null : asked.to_seq },
        },
      })
      // So that the end is vouched for too. When the file outside cannot be written, the database still holds it.
      await deps.checkpoints.round().catch(() => undefined)
      const { head } = await store.ends(tenant_id)
      const { start } = await deps.proof.evidence(tenant_id)
      const from_seq = Math.max(asked.from_seq, (start?.seq ?? 0) + 1)
      const to_seq = Math.min(head?.seq ?? 0, open ? Number.MAX_SAFE_INTEGER : asked.to_seq)
      if (head === null || from_seq > to_seq)
        throw problem('not_found', 'There are no entries in this range.')
      const about = {
        instance_id,
        tenant_id,
        from_seq,
        to_seq,
        head: { seq: head.seq, hash: Buffer.from(head.hash).toString('hex') },
        generated_at: isoTime(clock.now()),
      }
      const bytes = bundleBytes({
        about,
        store,
        start,
        statements: deps.proof.own(tenant_id),
        public_key: await deps.checkpoints.publicKey(),
        signer: deps.signer,
        now: clock.now(),
      })
      return { name: `audit-${tenant_id}-${from_seq}-${to_seq}.zip`, bytes }
    },
  }
}
