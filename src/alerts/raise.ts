/**
 * Raising and settling alerts, for every area. The same problem again adds to the alert that is there: a UNIQUE key
 * over unresolved alerts decides, so two that see a problem at once make one alert of count two.
 */
import { type Actor, Conflict, type Db, type RawWrite, type SqlValue } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { settleKey } from './settle.ts'
import { type AlertStore, historyInsert } from './store.ts'
import type { AlertDraft, AlertPieces, AlertRaiser } from './types.ts'

/** Each loss of a race means that somebody else raised or settled: more in a row do not happen. */
const ATTEMPTS_MAX = 10
const SYSTEM = { type: 'system', id: null }

const rank = (of: string): string =>
  `(CASE ${of} WHEN 'critical' THEN 5 WHEN 'high' THEN 4 WHEN 'medium' THEN 3 WHEN 'low' THEN 2 ELSE 1 END)`
/** Raises the severity to the worst so far. Who was not told yet is asked for again: it may be urgent now. */
const worsen = (
  to: string,
): string => `severity = CASE WHEN ${rank(to)} > severity_rank THEN ${to} ELSE severity END,
mail = CASE WHEN ${rank(to)} > severity_rank AND mail IN ('digest', 'none') THEN 'new' ELSE mail END`

const INSERT = `INSERT INTO alerts
(id, tenant_id, kind, severity, title, summary, subject_type, subject_id, evidence_json, dedupe_key, first_at, last_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?11, ?11) ON CONFLICT (tenant_id, dedupe_key) WHERE status <> 'resolved'`
const ADD = `DO UPDATE SET count = count + 1, last_at = max(last_at, excluded.last_at),
${worsen('excluded.severity')}, title = excluded.title, summary = excluded.summary, evidence_json = excluded.evidence_json`

export function createRaiser(deps: { db: Db; store: AlertStore; clock: Clock }): AlertRaiser {
  const { db, store, clock } = deps

  function raise(tenant_id: string, draft: AlertDraft): AlertPieces {
    const now = clock.now()
    const id = newId('alr', now)
    return {
      writes: [
        { sql: `${INSERT} ${ADD}`, params: valuesOf(tenant_id, id, draft, now) },
        raised(tenant_id, id, now),
      ],
      audit: auditOf(draft, draft.subject),
    }
  }

  async function raiseNow(actor: Actor, draft: AlertDraft): Promise<{ id: string; created: boolean }> {
    for (let attempt = 1; ; attempt++) {
      const found = await store.unresolved(actor.tenant_id, draft.dedupe_key)
      try {
        if (found === undefined) return { id: await open(actor, draft), created: true }
        await add(actor, found, draft)
        return { id: found, created: false }
      } catch (error) {
        if (!(error instanceof Conflict) || attempt === ATTEMPTS_MAX) throw error
      }
    }
  }

  async function open(actor: Actor, draft: AlertDraft): Promise<string> {
    const now = clock.now()
    const { tenant_id } = actor
    const id = newId('alr', now)
    const insert = { sql: `${INSERT} DO NOTHING`, params: valuesOf(tenant_id, id, draft, now) }
    await db.commit(actor, {
      writes: [{ must: insert, label: 'raised meanwhile' }, raised(tenant_id, id, now)],
      audit: auditOf(draft, { type: 'alert', id }),
    })
    return id
  }

  /** Leaves no audit entry: the problem was recorded when it began, and its count is in the alert. */
  async function add(actor: Actor, id: string, draft: AlertDraft): Promise<void> {
    await db.commit(actor, {
      writes: [
        {
          must: {
            sql: `UPDATE alerts SET count = count + 1, last_at = max(last_at, ?2), ${worsen('?1')},
title = ?3, summary = ?4, evidence_json = ?5 WHERE tenant_id = ?6 AND id = ?7 AND status <> 'resolved'`,
            params: [
              draft.severity,
              clock.now(),
              draft.title,
              draft.summary,
              JSON.stringify(draft.evidence),
              actor.tenant_id,
              id,
            ],
          },
          label: 'resolved meanwhile',
        },
      ],
      audit: { none: 'job' },
    })
  }

  const settle: AlertRaiser['settle'] = (tenant_id, dedupe_key, why) =>
    settleKey(tenant_id, dedupe_key, why, clock.now())

  async function settleNow(tenant_id: string, dedupe_key: string, why: string): Promise<boolean> {
    const id = await store.unresolved(tenant_id, dedupe_key)
    if (id === undefined) return false
    const [history, resolve] = settle(tenant_id, dedupe_key, why)
    try {
      await db.commit(systemActor(tenant_id), {
        writes: [history!, { must: resolve!, label: 'resolved meanwhile' }],
        audit: { action: 'alerts.settle', target: { type: 'alert', id }, detail: { why } },
      })
      return true
    } catch (error) {
      if (error instanceof Conflict) return false
      throw error
    }
  }

  return {
    raise,
    raiseNow,
    settle,
    settleNow,
    async raiseForOperators(draft) {
      for (const tenant_id of await store.operatorTenants()) await raiseNow(systemActor(tenant_id), draft)
    },
    async settleForOperators(dedupe_key, why) {
      for (const tenant_id of await store.tenantsWith(dedupe_key)) await settleNow(tenant_id, dedupe_key, why)
    },
  }
}

function valuesOf(tenant_id: string, id: string, draft: AlertDraft, now: number): SqlValue[] {
  return [
    id,
    tenant_id,
    draft.kind,
    draft.severity,
    draft.title,
    draft.summary,
    draft.subject.type,
    draft.subject.id,
    JSON.stringify(draft.evidence),
    draft.dedupe_key,
    now,
  ]
}

/** Only a new alert has this id: adding to another leaves no entry. */
function raised(tenant_id: string, id: string, now: number): RawWrite {
  return historyInsert(tenant_id, id, { at: now, action: 'raised', actor: SYSTEM })
}

function auditOf(draft: AlertDraft, target: { type: string; id: string }): AlertPieces['audit'] {
  const { kind, severity, title, dedupe_key } = draft
  return { action: 'alerts.raise', target, detail: { kind, severity, title, dedupe_key } }
}
