/**
 * The shapes of the one door to the database. Everything that changes goes through `Db.commit`, everything that
 * looks goes through `Db.read` (drizzle) or `Db.query` (plain SQL); both see committed data only.
 */
import type { SqliteRemoteDatabase } from 'drizzle-orm/sqlite-proxy'
import type { Actor, IdempotencyDraft } from '../lib/principal.ts'

export type { Actor, IdempotencyDraft } from '../lib/principal.ts'

export type SqlValue = string | number | bigint | null | Uint8Array

/** A prepared write. drizzle's query builders fit as they are (they have `toSQL`). */
export type Write = { toSQL(): { sql: string; params: unknown[] } } | RawWrite

export interface RawWrite {
  sql: string
  params?: readonly SqlValue[]
  /** The same statement once per row: bulk rows. `params` is then absent. */
  rows?: readonly (readonly SqlValue[])[]
}

/** Says that a write must change exactly one row; otherwise the whole change fails with `Conflict(label)`. */
export interface MustWrite {
  must: Write
  label: string
}

/** Values of the audit detail: what RFC 8785 serialises the same way everywhere (ASCII keys, safe integers). */
export type AuditValue = string | number | boolean | null | AuditValue[] | { [key: string]: AuditValue }

export interface AuditDraft {
  /** From the catalogue in `src/audit/actions.ts`. */
  action: string
  target?: { type: string; id: string } | null
  outcome?: 'success' | 'denied' | 'failure'
  detail?: { [key: string]: AuditValue }
  /** Personal values that belong to the entry: hashed into the chain, kept beside it, erasable. */
  personal?: { [key: string]: AuditValue }
}

/** Changes that leave no audit entry, and why that is right. Nothing else may go unaudited. */
export type AuditNone = {
  none:
    | 'lease'
    | 'job'
    | 'delivery'
    | 'attempt'
    | 'last_used'
    | 'rollup'
    | 'staging'
    | 'session_touch'
    | 'boot'
}

/** One of the ten kinds of event. The door fans it out to the tenant's webhooks. */
export interface EventDraft {
  id: string
  type: string
  created_at: number
  data: unknown
}

export interface Change {
  writes: readonly (Write | MustWrite)[]
  audit: AuditDraft | readonly AuditDraft[] | AuditNone
  events?: readonly EventDraft[]
  idempotency?: IdempotencyDraft
}

/** Rows a write returned (with RETURNING), as arrays of column values; empty for the others. */
export type RowSet = SqlValue[][]

/** A guarded write changed no row, or a UNIQUE or FOREIGN KEY rule refused. Only this change failed. */
export class Conflict extends Error {
  override readonly name = 'Conflict'
  readonly label: string
  constructor(label: string, options?: { cause: unknown }) {
    super(`conflict: ${label}`, options)
    this.label = label
  }
}

export interface Db {
  /** drizzle over the read-only connection; columns are named in snake_case by the tables themselves. */
  readonly read: SqliteRemoteDatabase
  /** Plain SQL over the read-only connection; rows as objects. For hot paths and what drizzle cannot say. */
  query<Row extends object>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>
  /**
   * Applies a change: all of its writes, its audit entries, its events and its idempotency record, or nothing.
   * Durable when it resolves. Rejects with `Conflict`, with `Problem('storage_full')`, or with the driver's error.
   */
  commit(actor: Actor, change: Change): Promise<RowSet[]>
  /** Called after each durable commit with what it did; for live streams and for waking jobs. Returns the way to stop. */
  onCommit(listener: (done: CommitNotice) => void): () => void
  close(): Promise<void>
}

export interface CommitNotice {
  tenant_id: string
  audit: readonly { seq: number; action: string; target: { type: string; id: string } | null }[]
  /** Webhooks that its events go to: what the dispatcher is woken by. */
  webhooks: readonly string[]
}
