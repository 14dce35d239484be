/**
 * Applies one change inside an open transaction: its writes, audit entries, events and idempotency record. Any
 * throw leaves it to the caller to roll the change's savepoint back. Nobody else appends to the audit chain.
 */
import { randomBytes } from 'node:crypto'
import { assert } from '../../lib/assert.ts'
import { entryText, genesisHash, nextHash, personalHash, SALT_BYTES } from '../../lib/audit-chain.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { type Clock, isoTime } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { StatementCache } from '../connection.ts'
import {
  type Actor,
  type AuditDraft,
  type Change,
  type CommitNotice,
  Conflict,
  type EventDraft,
  type IdempotencyDraft,
  type MustWrite,
  type RowSet,
  type SqlValue,
  type Write,
} from '../types.ts'

export interface ApplyOptions {
  statements: StatementCache
  clock: Clock
  instance_id: string
}

export interface Applied {
  rows: RowSet[]
  notice: CommitNotice
}

/** ?4 the tenant, ?5 the kind. `events` is a JSON array of names, so a name in quotes is there or not. */
const WANTING = `FROM webhooks WHERE tenant_id = ?4 AND status <> 'deleted'
  AND instr(events, '"' || ?5 || '"') > 0`
const COUNT_WANTING = `SELECT count(*) ${WANTING.replace('?4', '?1').replace('?5', '?2')}`
const FAN_OUT = `
  INSERT INTO deliveries (id, tenant_id, webhook_id, event_id, event_type, status, next_attempt_at, created_at,
    completed_at)
  SELECT ids.value, w.tenant_id, w.id, ?1, ?2, iif(w.status = 'active', 'pending', 'skipped'),
    iif(w.status = 'active', ?3, NULL), ?3, iif(w.status = 'active', NULL, ?3)
  FROM (SELECT id, tenant_id, status, row_number() OVER (ORDER BY id) - 1 AS n
        ${WANTING}) w
  JOIN json_each(?6) ids ON ids.key = w.n
  RETURNING webhook_id, status`

export type Apply = (actor: Actor, change: Change) => Applied

export function createApply({ statements, clock, instance_id }: ApplyOptions): Apply {
  function run(sql: string, params: readonly SqlValue[]): RowSet {
    const { statement, returns_rows } = statements.get(sql)
    if (returns_rows) return statement.values(...params)
    statement.run(...params)
    return []
  }

  /** One prepared statement for all: several times faster than rows spelled out in one statement. */
  function runBulk(sql: string, rows: readonly (readonly SqlValue[])[]): RowSet {
    const { statement, returns_rows } = statements.get(sql)
    const returned: RowSet = []
    for (const params of rows) {
      if (returns_rows) returned.push(...statement.values(...params))
      else statement.run(...params)
    }
    return returned
  }

  function runWrite(write: Write): RowSet {
    if ('toSQL' in write) {
      const { sql, params } = write.toSQL()
      return run(sql, params as SqlValue[])
    }
    return write.rows === undefined ? run(write.sql, write.params ?? []) : runBulk(write.sql, write.rows)
  }

  function runMust({ must, label }: MustWrite): RowSet {
    // changes() speaks of the last statement alone.
    assert('toSQL' in must || must.rows === undefined, 'bulk rows cannot be a must')
    const rows = runWrite(must)
    if (run('SELECT changes()', [])[0]![0] !== 1) throw new Conflict(label)
    return rows
  }

  function appendAudit(actor: Actor, draft: AuditDraft): CommitNotice['audit'][number] {
    const tenant_id = actor.tenant_id
    const head = run('SELECT seq, hash, ts FROM audit_heads WHERE tenant_id = ?', [tenant_id])[0]
    const previous = head === undefined ? genesisHash(instance_id, tenant_id) : (head[1] as Uint8Array)
    const seq = head === undefined ? 1 : (head[0] as number) + 1
    // A clock that was set back must not make the log run backwards.
    const ts = head === undefined ? clock.now() : Math.max(clock.now(), head[2] as number)
    const target = draft.target ?? null
    const text = entryText({
      v: 1,
      tenant_id,
      seq,
      ts,
      actor: { type: actor.type, id: actor.id, key_id: actor.key_id },
      action: draft.action,
      target: target === null ? null : { type: target.type, id: target.id },
      outcome: draft.outcome ?? 'success',
      request_id: actor.request_id,
      detail: draft.detail ?? {},
      pii_h: keepPersonal(actor, draft, seq),
    })
    const hash = nextHash(previous, text)
    run('INSERT INTO audit_entries (tenant_id, seq, entry, hash) VALUES (?, ?, ?, ?)', [
      tenant_id,
      seq,
      text,
      hash,
    ])
    run('INSERT OR REPLACE INTO audit_heads (tenant_id, seq, hash, ts) VALUES (?, ?, ?, ?)', [
      tenant_id,
      seq,
      hash,
      ts,
    ])
    return { seq, action: draft.action, target }
  }

  /** Stores the personal values of an entry beside the chain; returns their hash, or null when there are none. */
  function keepPersonal(actor: Actor, draft: AuditDraft, seq: number): string | null {
    const personal: Record<string, unknown> = { ...draft.personal }
    if (actor.name !== null) personal['name'] = actor.name
    if (actor.ip !== null) personal['ip'] = actor.ip
    if (Object.keys(personal).length === 0) return null
    const body = canonicalJson(personal)
    const salt = randomBytes(SALT_BYTES)
    run('INSERT INTO audit_personal (tenant_id, seq, salt, body) VALUES (?, ?, ?, ?)', [
      actor.tenant_id,
      seq,
      salt,
      body,
    ])
    return personalHash(salt, body)
  }

  /** The envelope has exactly the five members of the contract; these bytes are what receivers get and sign. */
  function storeEvent(tenant_id: string, event: EventDraft): string[] {
    const created_at = isoTime(event.created_at)
    const body = JSON.stringify({
      id: event.id,
      type: event.type,
      created_at,
      tenant_id,
      data: event.data,
    })
    run('INSERT INTO events (id, tenant_id, type, created_at, body) VALUES (?, ?, ?, ?, ?)', [
      event.id,
      tenant_id,
      event.type,
      event.created_at,
      body,
    ])
    return fanOut(tenant_id, event)
  }

  /**
   * One delivery for each webhook of the tenant that wants the kind: due at once, or `skipped` while the webhook is
   * paused or disabled, so that it can be sent later. Answers the webhooks that have something to send now.
   */
  function fanOut(tenant_id: string, event: EventDraft): string[] {
    const [found] = run(COUNT_WANTING, [tenant_id, event.type])
    const wanting = found![0] as number
    if (wanting === 0) return []
    const now = clock.now()
    const ids = Array.from({ length: wanting }, () => newId('dlv', now))
    const rows = run(FAN_OUT, [event.id, event.type, now, tenant_id, event.type, JSON.stringify(ids)])
    return rows.filter((row) => row[1] === 'pending').map((row) => row[0] as string)
  }

  /** A record that is still valid makes the change fail: its effect has happened already. */
  function keepIdempotency(record: IdempotencyDraft): void {
    const now = clock.now()
    const write = {
      sql: `INSERT INTO idempotency
              (tenant_id, key, route, fingerprint, status, body, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (tenant_id, key) DO UPDATE SET
              route = excluded.route, fingerprint = excluded.fingerprint, status = excluded.status,
              body = excluded.body, created_at = excluded.created_at, expires_at = excluded.expires_at
            WHERE expires_at <= excluded.created_at`,
      params: [
        record.tenant_id,
        record.key,
        record.route,
        record.fingerprint,
        record.status,
        record.body,
        now,
        record.expires_at,
      ],
    }
    runMust({ must: write, label: 'idempotency' })
  }

  return (actor, change) => {
    const rows = change.writes.map((write) => ('must' in write ? runMust(write) : runWrite(write)))
    if (change.idempotency !== undefined) keepIdempotency(change.idempotency)
    const webhooks = (change.events ?? []).flatMap((event) => storeEvent(actor.tenant_id, event))
    const drafts = auditDrafts(change)
    const audit = drafts.map((draft) => appendAudit(actor, draft))
    return { rows, notice: { tenant_id: actor.tenant_id, audit, webhooks } }
  }
}

function auditDrafts(change: Change): readonly AuditDraft[] {
  if ('none' in change.audit) return []
  const drafts = Array.isArray(change.audit) ? change.audit : [change.audit as AuditDraft]
  assert(drafts.length > 0, 'a change without an audit entry must say why')
  return drafts
}
