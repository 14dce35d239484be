/** Brings together what was signed about a chain: in the database, in the file outside of it, and what is handed in. */
import type { Claim, Evidence } from './evidence.ts'
import { judgeEvidence, type Trust } from './evidence.ts'
import { isoTime } from '../lib/clock.ts'
import { SYSTEM_CHAIN } from '../lib/principal.ts'
import type { CheckpointFile } from './checkpoint-file.ts'
import type { CheckpointStore } from './checkpoint-store.ts'
import type { Signer } from './signer.ts'
import type { Bad } from './verify.ts'
import type { ChainSource } from './walk.ts'

export interface ProofDeps {
  store: CheckpointStore
  file: CheckpointFile
  signer: Pick<Signer, 'fingerprint' | 'public_key'>
  instance_id: string
}

export type Proof = ReturnType<typeof createProof>

const LINES_AT_ONCE = 500
/** More than an hour of rounds: among them is one that names every chain. */
const SYSTEM_LINES = 70

export function createProof({ store, file, signer, instance_id }: ProofDeps) {
  async function trust(): Promise<Trust> {
    const keys = await store.keys()
    return {
      trusted: [signer.fingerprint],
      public_keys: [signer.public_key, ...keys.map((key) => key.public_key)],
    }
  }

  /** What the database holds about a chain and about no other. */
  async function* own(tenant_id: string): AsyncGenerator<string> {
    const start = await store.start(tenant_id)
    if (start !== null) yield start
    for (const { line } of await store.incarnations(tenant_id)) yield line
    for (let from_n = 1; ;) {
      const rows = await store.lines(tenant_id, from_n, LINES_AT_ONCE)
      for (const { line } of rows) yield line
      if (rows.length < LINES_AT_ONCE) return
      from_n = rows.at(-1)!.n + 1
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async function* all(tenant_id: string, given: AsyncIterable<string> | null): AsyncGenerator<string> {
    yield* own(tenant_id)
    if (tenant_id !== SYSTEM_CHAIN) yield* await store.recentSystemLines(SYSTEM_LINES)
    else for (const { line } of await store.allIncarnations()) yield line
    yield* file.lines()
    if (given !== null) yield* given
  }

  return {
    trust,
    own,
    /** Judged. `given` are further lines: a copy of the file that was kept elsewhere, or what was sent. */
    async evidence(tenant_id: string, given: AsyncIterable<string> | null = null): Promise<Evidence> {
      return judgeEvidence({ instance_id, tenant_id }, await trust(), all(tenant_id, given))
    },
  }
}

/** Chains that the system chain names and that are gone, shorter, or others than they were. The first, or null. */
export async function vanishedChain(source: ChainSource, { others }: Evidence): Promise<Bad | null> {
  for (const [tenant_id, claim] of [...others].sort()) {
    const hash = await source.hashAt(tenant_id, claim.seq)
    if (hash !== null && Buffer.from(hash).toString('hex') === claim.hash) continue
    const { last } = await source.ends(tenant_id)
    if (hash === null && last >= claim.seq) continue
    return {
      seq: claim.seq,
      kind: hash === null ? 'missing' : 'altered',
      detail: words(tenant_id, claim, last),
    }
  }
  return null
}

function words(tenant_id: string, claim: Claim, last: number): string {
  const then = `it had ${claim.seq} entries on ${isoTime(claim.signed_at)}`
  if (last === 0) return `The log of ${tenant_id} is gone: ${then}.`
  return last < claim.seq
    ? `The log of ${tenant_id} ends at ${last}: ${then}.`
    : `The log of ${tenant_id} is another than what was signed: entry ${claim.seq} differs.`
}
