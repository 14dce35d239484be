/**
 * The door, over an SQLite file in this process.
 *
 * Changes that arrive together share one `BEGIN IMMEDIATE` and so one fsync: the queue is flushed by setImmediate,
 * without a timer, so that a lone client does not wait for company. Each change has its own savepoint: one that
 * fails takes nobody with it. Only when the transaction itself is lost (disk full, I/O error) is every change of
 * the group tried again alone, so that each gets its own true answer.
 *
 * When the disk is full the reserve is given back (reserve.ts), and small changes that failed are tried once more.
 */
import type { Database } from 'bun:sqlite'
import { Problem, problem } from '../../lib/errors.ts'
import { statementCache } from '../connection.ts'
import { translateFailure } from '../failures.ts'
import type { Reader } from '../read.ts'
import { isSmall, type Reserve } from '../reserve.ts'
import type { Actor, Change, CommitNotice, Db, RowSet } from '../types.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Applied, createApply } from './apply.ts'

/** More changes in one transaction bring little more speed, and let the first wait for the last. */
const GROUP_MAX = 64

interface Pending {
  actor: Actor
  change: Change
  resolve(rows: RowSet[]): void
  reject(error: unknown): void
}

type Outcome = { applied: Applied } | { error: unknown }

export interface EmbeddedOptions {
  writer: Database
  reader: Reader
  clock: Clock
  instance_id: string
  /** Room for small changes on a full disk; null does without. */
  reserve: Reserve | null
}

export function createEmbeddedDb({ writer, reader, clock, instance_id, reserve }: EmbeddedOptions): Db {
  const statements = statementCache(writer)
  const apply = createApply({ statements, clock, instance_id })
  const listeners = new Set<(done: CommitNotice) => void>()
  let queue: Pending[] = []
  let scheduled = false
  let closed = false

  const run = (sql: string) => statements.get(sql).statement.run()

  function flush(): void {
    scheduled = false
    if (queue.length === 0) return
    const group = queue.slice(0, GROUP_MAX)
    queue = queue.slice(GROUP_MAX)
    if (queue.length > 0) schedule()
    const outcomes = commitGroup(group) ?? group.map(commitAlone)
    for (const [index, pending] of group.entries()) settle(pending, whenFull(pending, outcomes[index]!))
  }

  /** The same outcome, unless the disk was full, there is a reserve, and the change is small. */
  function whenFull(pending: Pending, outcome: Outcome): Outcome {
    if (!('error' in outcome) || !isFull(outcome.error)) return outcome
    if (reserve?.release() === true) checkpoint()
    return reserve !== null && isSmall(pending.change) ? commitAlone(pending) : outcome
  }

  /** Moves the log into the database and cuts it. A full disk may not allow it; then it is for the next start. */
  function checkpoint(): void {
    try {
      run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      rollback()
    }
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }

  /** One transaction for all. Null when it was lost as a whole and nothing of it happened. */
  function commitGroup(group: readonly Pending[]): Outcome[] | null {
    if (group.length === 1) return [commitAlone(group[0]!)]
    try {
      run('BEGIN IMMEDIATE')
      const outcomes = group.map(tryChange)
      run('COMMIT')
      return outcomes
    } catch {
      rollback()
      return null
    }
  }

  function commitAlone({ actor, change }: Pending): Outcome {
    try {
      run('BEGIN IMMEDIATE')
      const applied = apply(actor, change)
      run('COMMIT')
      return { applied }
    } catch (error) {
      rollback()
      return { error: translateFailure(error) }
    }
  }

  /** One change of a group. Throws only when the whole transaction is gone. */
  function tryChange({ actor, change }: Pending): Outcome {
    run('SAVEPOINT change')
    try {
      const applied = apply(actor, change)
      run('RELEASE change')
      return { applied }
    } catch (error) {
      if (!writer.inTransaction) throw error
      const failure = translateFailure(error)
      run('ROLLBACK TO change')
      run('RELEASE change')
      return { error: failure }
    }
  }

  function rollback(): void {
    if (writer.inTransaction) run('ROLLBACK')
  }

  function settle(pending: Pending, outcome: Outcome): void {
    if ('error' in outcome) return pending.reject(outcome.error)
    // First the listeners: who waits for this change must not read what a listener still keeps from before it.
    for (const listener of listeners) queueMicrotask(() => listener(outcome.applied.notice))
    pending.resolve(outcome.applied.rows)
  }

  return {
    read: reader.drizzle,
    query: (sql, params) => reader.query(sql, params),
    commit(actor, change) {
      if (closed) return Promise.reject(problem('shutting_down'))
      if (reserve?.inUse() === true && !isSmall(change)) return Promise.reject(problem('storage_full'))
      return new Promise((resolve, reject) => {
        queue.push({ actor, change, resolve, reject })
        schedule()
      })
    },
    onCommit(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async close() {
      if (closed) return
      closed = true
      while (queue.length > 0) flush()
      reader.close()
      checkpoint()
      statements.clear()
      writer.close()
    },
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Problem && error.code === 'storage_full'
}
