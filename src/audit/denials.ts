/**
 * What was refused, in the audit log, without letting a flood of refusals flood the log:
 *
 * - 403: each one is an entry, 10 a minute per credential and action; the rest of that minute is one counter entry;
 * - 401: one counter entry per address and minute, in the `_system` chain (there is no tenant yet);
 * - 429: one counter entry per credential, limit and minute;
 * - attempts to reach a forbidden address: one counter entry per webhook and minute.
 *
 * Counters live in memory for at most a minute, and there is a bounded number of them: when too many different
 * ones come up within one minute, the further ones share a counter without a name.
 */
import type { Clock } from '../lib/clock.ts'
import { MINUTE_MS } from '../lib/clock.ts'
import { AUDIT_COUNTERS_MAX, AUDIT_DENIALS_PER_MINUTE } from '../lib/limits.ts'
import { type Actor, SYSTEM_CHAIN } from '../lib/principal.ts'
import type { AuditDraft, Db } from '../db/types.ts'
import type { AuditAction } from './actions.ts'

export interface Denials {
  /** No valid credential came from this address. */
  record401(ip: string | null): void
  /** A valid credential was refused. `action` is what it wanted, for example `POST /v1/domains`. Durable when done. */
  record403(
    actor: Actor,
    denied: { action: string; code: string; required_scope?: string | undefined },
  ): Promise<void>
  record429(actor: Actor, limited: { scope: 'key' | 'tenant' | 'endpoint'; action: string }): void
  /** A webhook leads where it must not. */
  recordEgress(actor: Actor, blocked: { webhook_id: string | null }): void
  /** Writes the counters of minutes that are over; with `all`, also those of the running one. */
  flush(options?: { all: boolean }): Promise<void>
}

interface Counter {
  actor: Actor
  action: AuditAction
  detail: NonNullable<AuditDraft['detail']>
  minute: number
  /** All, and those that already have an entry of their own. */
  count: number
  recorded: number
}

export function createDenials({ db, clock }: { db: Pick<Db, 'commit'>; clock: Clock }): Denials {
  const counters = new Map<string, Counter>()

  function count(actor: Actor, action: AuditAction, detail: Counter['detail']): Counter {
    const minute = Math.floor(clock.now() / MINUTE_MS)
    const who = actor.key_id ?? actor.id ?? actor.ip
    let id = JSON.stringify([minute, actor.tenant_id, who, action, detail])
    let counter = counters.get(id)
    if (counter === undefined && counters.size >= AUDIT_COUNTERS_MAX) {
      id = JSON.stringify([minute, actor.tenant_id, action])
      counter = counters.get(id)
      actor = nobody(actor.tenant_id)
      detail = { note: 'too many different ones to tell apart' }
    }
    if (counter === undefined) {
      counter = { actor, action, detail, minute, count: 0, recorded: 0 }
      counters.set(id, counter)
    }
    counter.count += 1
    return counter
  }

  return {
    record401(ip) {
      count({ ...nobody(SYSTEM_CHAIN), ip }, 'auth.unauthenticated_count', {})
    },
    async record403(actor, denied) {
      const detail = {
        action: denied.action,
        code: denied.code,
        ...(denied.required_scope === undefined ? {} : { required_scope: denied.required_scope }),
      }
      const counter = count(actor, 'auth.denied_count', detail)
      if (counter.recorded >= AUDIT_DENIALS_PER_MINUTE) return
      counter.recorded += 1
      await db.commit(actor, { writes: [], audit: { action: 'auth.denied', outcome: 'denied', detail } })
    },
    record429(actor, limited) {
      count(actor, 'auth.rate_limited_count', limited)
    },
    recordEgress(actor, { webhook_id }) {
      count(actor, 'webhooks.blocked_count', { webhook_id })
    },
    async flush({ all } = { all: false }) {
      const minute = Math.floor(clock.now() / MINUTE_MS)
      const commits: Promise<unknown>[] = []
      for (const [id, counter] of counters) {
        if (counter.minute >= minute && !all) continue
        counters.delete(id)
        if (counter.count > counter.recorded) commits.push(db.commit(...counterEntry(counter)))
      }
      await Promise.all(commits)
    },
  }
}

function counterEntry(counter: Counter): Parameters<Db['commit']> {
  const { actor, action, detail, minute, count, recorded } = counter
  const audit: AuditDraft = {
    action,
    outcome: 'denied',
    detail: { ...detail, count: count - recorded, minute_start: minute * MINUTE_MS },
  }
  // The counter speaks for many requests, so it carries none's id.
  return [
    { ...actor, request_id: null },
    { writes: [], audit },
  ]
}

function nobody(tenant_id: string): Actor {
  return { tenant_id, type: 'anonymous', id: null, name: null, key_id: null, ip: null, request_id: null }
}
