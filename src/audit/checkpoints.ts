/**
 * Signs where the chains stand: every chain that has news, every minute; every chain, every hour. Each round ends with
 * a checkpoint of the system chain that names the others, so that a chain cannot vanish unseen. A checkpoint is first in
 * the database, then in the file beside it; what did not get there goes with the next round.
 */
import type { Db, RawWrite } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { genesisHash } from '../lib/audit-chain.ts'
import { type ChainHeadAt, type Checkpoint, lineHash, readStatement } from '../lib/audit-statement.ts'
import { type Clock, HOUR_MS, isoTime } from '../lib/clock.ts'
import { SYSTEM_CHAIN } from '../lib/principal.ts'
import type { CheckpointFile } from './checkpoint-file.ts'
import type { ChainState, CheckpointStore } from './checkpoint-store.ts'
import type { Signer } from './signer.ts'

export interface CheckpointDeps {
  db: Pick<Db, 'commit'>
  store: CheckpointStore
  clock: Clock
  signer: Signer
  file: CheckpointFile
  instance_id: string
}

/** What a restore left for the next start: where the chains stood in the backup. */
export interface RestoreNote {
  backup: string
  created_at: string
  heads: ChainHeadAt[]
}

export type Checkpoints = ReturnType<typeof createCheckpoints>

export const RESTORE_NOTE = 'audit_restored'
const FILED_AT_ONCE = 500

export function createCheckpoints({ db, store, clock, signer, file, instance_id }: CheckpointDeps) {
  let incarnation = 1
  let full_at = 0
  let running: Promise<unknown> = Promise.resolve()

  /** Of a chain without entries: the hash that the first will follow. */
  const headOf = ({ tenant_id, seq, hash }: Pick<ChainState, 'tenant_id' | 'seq' | 'hash'>): ChainHeadAt => {
    return { tenant_id, seq, hash: hex(hash ?? genesisHash(instance_id, tenant_id)) }
  }

  /** The signed checkpoint of a chain, and its line. */
  const signOne = (state: ChainState, chains?: ChainHeadAt[]): Checkpoint & { line: string } => {
    const draft = {
      kind: 'checkpoint' as const,
      instance_id,
      ...headOf(state),
      incarnation,
      n: state.n + 1,
      signed_at: clock.now(),
      prev: state.line === null ? null : lineHash(state.line),
      ...(chains === undefined ? {} : { chains }),
    }
    return { ...draft, v: 1, key: signer.fingerprint, line: signer.sign(draft) }
  }

  /** Takes what is not in the file there. Throws when the file cannot be written. */
  async function fileAll(): Promise<void> {
    const lives = await store.unfiledIncarnations()
    const fresh = file.exists() ? [] : [await keyLine()]
    await file.append([...fresh, ...lives.map((each) => each.line)])
    if (lives.length > 0) await note([store.markIncarnationsFiled(lives.at(-1)!.n)])
    for (;;) {
      const rows = await store.unfiled(FILED_AT_ONCE)
      if (rows.length === 0) return
      await file.append(rows.map((row) => row.line))
      await note([store.markFiled(rows)])
    }
  }

  const note = (writes: RawWrite[]) => db.commit(systemActor(), { writes, audit: { none: 'job' } })

  async function keyLine(): Promise<string> {
    const public_key = Buffer.from(signer.public_key).toString('base64')
    return signer.sign({ kind: 'key', instance_id, signed_at: clock.now(), public_key })
  }

  /** A new life: after a restore, or with a new key. Audited, signed, filed. */
  async function begin(
    name: 'restored' | 'rekeyed',
    former_keys: string[],
    restore: RestoreNote | null,
  ): Promise<void> {
    const now = clock.now()
    incarnation += 1
    const heads = restore?.heads ?? (await store.states()).map(headOf)
    const named = heads.some((head) => head.tenant_id === SYSTEM_CHAIN)
    const all = named ? heads : [...heads, headOf({ tenant_id: SYSTEM_CHAIN, seq: 0, hash: null })]
    const lines = all.map(({ tenant_id, seq, hash }): [string, string] => [
      tenant_id,
      signer.sign({
        kind: 'incarnation',
        instance_id,
        incarnation,
        tenant_id,
        seq,
        hash,
        name,
        backup: restore?.backup ?? null,
        backup_at: restore?.created_at ?? null,
        former_keys,
        signed_at: now,
      }),
    ])
    await db.commit(systemActor(), {
      writes: [
        store.insertIncarnations(incarnation, now, lines),
        store.insertKey({ fingerprint: signer.fingerprint, public_key: signer.public_key, since: now }),
        store.deleteMeta(RESTORE_NOTE),
      ],
      audit: {
        action: 'audit.incarnation',
        detail: { incarnation, name, key: signer.fingerprint, backup: restore?.backup ?? null },
      },
    })
    await file.append([await keyLine()])
  }

  async function oneRound(options: { all: boolean }): Promise<string | void> {
    const states = await store.states()
    const now = clock.now()
    const system = states.find((state) => state.tenant_id === SYSTEM_CHAIN)!
    const others = states.filter((state) => state.tenant_id !== SYSTEM_CHAIN)
    const full = options.all || now - full_at >= HOUR_MS
    const due = others.filter((state) => full || state.seq > state.signed_seq)
    if (due.length > 0 || full || system.seq > system.signed_seq) {
      const made = due.map((state) => signOne(state))
      made.push(signOne(system, due.map(headOf)))
      await note([store.insert(made)])
      if (full) full_at = now
      await fileAll()
      return `${made.length} checkpoints`
    }
    await fileAll()
  }

  return {
    /** Once, before anything is signed: which life this is, and whether the key is the one that signed before. */
    async start(): Promise<void> {
      const keys = await store.keys()
      const lives = await store.incarnations(SYSTEM_CHAIN)
      incarnation = lives.at(-1)?.n ?? 1
      const restored = await store.meta(RESTORE_NOTE)
      // Who signed last: the key of the newest life, else the only one there ever was.
      const newest = lives.at(-1)
      const last = newest === undefined ? keys[0]?.fingerprint : readStatement(newest.line)?.statement.key
      const former = keys.map((key) => key.fingerprint).filter((each) => each !== signer.fingerprint)
      if (restored !== null) return begin('restored', former, JSON.parse(restored) as RestoreNote)
      if (last !== undefined && last !== signer.fingerprint) return begin('rekeyed', former, null)
      if (last === undefined) {
        await note([
          store.insertKey({
            fingerprint: signer.fingerprint,
            public_key: signer.public_key,
            since: clock.now(),
          }),
        ])
      }
    },

    /** One round, after the one that runs. With `all`, chains without news too. Says what was signed, or nothing. */
    round(options: { all: boolean } = { all: false }): Promise<string | void> {
      const run = running.then(() => oneRound(options))
      running = run.catch(() => undefined)
      return run
    },

    async publicKey() {
      const keys = await store.keys()
      return {
        algorithm: 'Ed25519' as const,
        fingerprint: signer.fingerprint,
        public_key: Buffer.from(signer.public_key).toString('base64'),
        instance_id,
        keys: keys.map(({ fingerprint, public_key, since }) => ({
          fingerprint,
          public_key: Buffer.from(public_key).toString('base64'),
          since: isoTime(since),
        })),
      }
    },

    /** Newest first. */
    async list(tenant_id: string, page: { before: number | null; limit: number }) {
      const rows = await store.list(tenant_id, page)
      return rows.map(({ n, line, filed }) => {
        const { statement, signature } = readStatement(line)!
        const { seq, hash, signed_at, key, incarnation: life, prev } = statement as Checkpoint
        return {
          n,
          seq,
          hash,
          signed_at: isoTime(signed_at),
          key,
          incarnation: life,
          prev,
          signature: Buffer.from(signature).toString('base64'),
          line,
          outside: filed === 1,
        }
      })
    },
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
