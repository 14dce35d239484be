/**
 * The audit log as people use it: search, one entry with its hashed text, export, verification. Exports and
 * verifications are entries themselves.
 */
import type { Actor, Db } from '../db/types.ts'
import { type ChainEntry } from '../lib/audit-chain.ts'
import { isoTime } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import { SYSTEM_CHAIN } from '../lib/principal.ts'
import type { AuditStore, EntryFilter, SeqRange, StoredEntry } from './store.ts'
import { type Proof, vanishedChain } from './proof.ts'
import { type Bad, type Verification, verifyChain } from './verify.ts'
import type { Walker } from './walk.ts'

export interface AuditEntryDto {
  seq: number
  ts: string
  actor: { type: string; id: string | null; name: string | null; key_id: string | null; ip: string | null }
  action: string
  target: { type: string; id: string } | null
  outcome: string
  request_id: string | null
  detail: object
  /** Further personal values of the entry. Null when there are none, or when they were erased. */
  personal: object | null
  hash: string
  prev_hash: string | null
}

/** Milliseconds; `from` inclusive, `to` exclusive. */
export interface AuditQuery extends EntryFilter {
  from?: number
  to?: number
}

export type AuditExportRow = AuditEntryDto & { canonical: string }

export type AuditService = ReturnType<typeof createAuditService>

/** Entries looked at between two turns of the event loop, where a filter may match few of them. */
const SLICE_ENTRIES = 5000
const EXPORT_PAGE_ENTRIES = 500

export interface AuditDeps {
  store: AuditStore
  db: Pick<Db, 'commit'>
  instance_id: string
  proof: Pick<Proof, 'evidence'>
  /** Who walks the entries; here and in one go unless somebody else does. */
  walker?: Walker
}

export function createAuditService({ store, db, instance_id, proof, walker }: AuditDeps) {
  /** A range of time as a range of numbers. Its ends are drawn wide, so an altered time falls inside. */
  async function seqRange(tenant_id: string, range: { from?: number; to?: number }): Promise<SeqRange> {
    const { last } = await store.ends(tenant_id)
    const from_seq = range.from === undefined ? 1 : (await store.lastBefore(tenant_id, range.from)) + 1
    const after = range.to === undefined ? null : await store.firstSince(tenant_id, range.to)
    return { from_seq, to_seq: after === null ? last : after - 1 }
  }

  const wholeOr = (tenant_id: string, range: { from?: number; to?: number }): Promise<SeqRange> | null =>
    range.from === undefined && range.to === undefined ? null : seqRange(tenant_id, range)

  return {
    /** Newest first; `before` is the number of the last entry of the page before. At most `limit` entries. */
    async query(
      tenant_id: string,
      query: AuditQuery,
      page: { before: number | null; limit: number },
    ): Promise<AuditEntryDto[]> {
      const range = await seqRange(tenant_id, query)
      const found: AuditEntryDto[] = []
      let to_seq = page.before === null ? range.to_seq : Math.min(range.to_seq, page.before - 1)
      while (to_seq >= range.from_seq && found.length < page.limit) {
        const from_seq = Math.max(range.from_seq, to_seq - SLICE_ENTRIES + 1)
        const limit = page.limit - found.length
        const rows = await store.list(tenant_id, { from_seq, to_seq }, query, { order: 'desc', limit })
        found.push(...rows.map(entryDto))
        to_seq = from_seq - 1
        if (found.length < page.limit) await nextTurn()
      }
      return found
    },

    /** One entry with the text that was hashed. Throws `not_found`. */
    async entry(tenant_id: string, seq: number): Promise<AuditExportRow & { entry_hash: string }> {
      const range = { from_seq: seq, to_seq: seq }
      const [row] = await store.list(tenant_id, range, {}, { order: 'asc', limit: 1 })
      if (row === undefined) throw problem('not_found')
      const entry_hash = new Bun.SHA256().update(row.entry).digest('hex')
      return { ...exportRow(row), entry_hash }
    },

    /** Every matching entry, oldest first, in pages: the export itself is recorded before the first is given. */
    async export(actor: Actor, query: AuditQuery, format: string): Promise<AsyncIterable<AuditExportRow[]>> {
      const range = await seqRange(actor.tenant_id, query)
      await db.commit(actor, {
        writes: [],
        audit: {
          action: 'audit.export',
          detail: {
            format,
            from: query.from ?? null,
            to: query.to ?? null,
            actions: [...(query.actions ?? [])],
          },
        },
      })
      return exportPages(actor.tenant_id, range, query)
    },

    seqRange,

    /**
     * By time, by number, or whole when the range is empty. `given` are signed lines that were kept elsewhere.
     */
    async verify(
      actor: Actor,
      range: { from?: number; to?: number } | SeqRange | null,
      given: AsyncIterable<string> | null = null,
    ): Promise<Verification> {
      const { tenant_id } = actor
      const seqs = range === null || 'from_seq' in range ? range : await wholeOr(tenant_id, range)
      // Before the walk: a checkpoint that is signed while it runs must not look like a tail that was cut off.
      const evidence = await proof.evidence(tenant_id, given)
      const checked = await verifyChain(store, { instance_id, tenant_id }, seqs, evidence, walker)
      const result =
        tenant_id === SYSTEM_CHAIN ? withVanished(checked, await vanishedChain(store, evidence)) : checked
      await db.commit(actor, {
        writes: [],
        audit: {
          action: 'audit.verify',
          outcome: result.ok ? 'success' : 'failure',
          detail: {
            from_seq: result.from_seq,
            to_seq: result.to_seq,
            ...(result.first_bad === undefined ? {} : { first_bad: { ...result.first_bad } }),
          },
        },
      })
      return result
    },
  }

  async function* exportPages(tenant_id: string, range: SeqRange, filter: EntryFilter) {
    let { from_seq } = range
    while (from_seq <= range.to_seq) {
      const to_seq = Math.min(range.to_seq, from_seq + SLICE_ENTRIES - 1)
      const page = { order: 'asc', limit: EXPORT_PAGE_ENTRIES } as const
      const rows = await store.list(tenant_id, { from_seq, to_seq }, filter, page)
      if (rows.length > 0) yield rows.map(exportRow)
      from_seq = rows.length < EXPORT_PAGE_ENTRIES ? to_seq + 1 : rows.at(-1)!.seq + 1
      await nextTurn()
    }
  }
}

/** Adds that another chain is gone to what was found in the system chain, which knows of it. */
function withVanished(result: Verification, bad: Bad | null): Verification {
  if (bad === null) return result
  const verdicts = { ...result.verdicts, completeness: 'failed' as const, anchoring: 'failed' as const }
  return { ...result, ok: false, verdicts, first_bad: result.first_bad ?? bad }
}

function exportRow(row: StoredEntry): AuditExportRow {
  return { ...entryDto(row), canonical: row.entry }
}

function entryDto(row: StoredEntry): AuditEntryDto {
  const entry = JSON.parse(row.entry) as ChainEntry
  const { name, ip, ...personal } = JSON.parse(row.personal ?? '{}') as { name?: string; ip?: string }
  return {
    seq: row.seq,
    ts: isoTime(entry.ts),
    actor: {
      type: entry.actor.type,
      id: entry.actor.id,
      name: name ?? null,
      key_id: entry.actor.key_id,
      ip: ip ?? null,
    },
    action: entry.action,
    target: entry.target,
    outcome: entry.outcome,
    request_id: entry.request_id,
    detail: entry.detail,
    personal: Object.keys(personal).length === 0 ? null : personal,
    hash: hex(row.hash),
    prev_hash: row.prev_hash === null ? null : hex(row.prev_hash),
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
