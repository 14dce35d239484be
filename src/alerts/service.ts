/**
 * Alerts as people work through them: look, acknowledge, silence, resolve, assign, write a note. Every step is one
 * guarded statement: of two people who do it at once, one is told that the state does not allow it any more.
 */
import { Conflict, type Db, type MustWrite, type RawWrite } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { invalid, Problem, problem } from '../lib/errors.ts'
import type { Principal } from '../lib/principal.ts'
import { presentAlert } from './present.ts'
import { readDuration } from './rules/duration.ts'
import { type AlertAction, statusAt, TRANSITIONS } from './rules/transitions.ts'
import type { AlertBulkInput, AlertDto, AlertSummaryDto } from './schema.ts'
import {
  type AlertFilter,
  type AlertPage,
  type AlertRow,
  type AlertStore,
  endSilence,
  historyInsert,
} from './store.ts'
import type { HistoryEntry } from './store.ts'
import { SEVERITIES } from './types.ts'

export type AlertService = ReturnType<typeof createAlerts>

/** Silences ended in one run of the job; the rest is for the next one, a minute later. */
const REOPENED_AT_ONCE_MAX = 500

/** A step in the life of an alert, as it is written down and shown. */
interface Step {
  write: MustWrite
  entry: Omit<HistoryEntry, 'at' | 'actor'>
  audit: { action: string; detail?: Record<string, string | number | null> }
  /** What changes in the answer. */
  shown: Partial<AlertDto>
  user?: { id: string; name: string | null } | null
}

export function createAlerts(deps: { db: Db; store: AlertStore; clock: Clock }) {
  const { db, store, clock } = deps

  const load = async (tenantId: string, id: string): Promise<AlertRow> => {
    const row = await store.find(tenantId, id)
    if (row === undefined) throw problem('not_found', 'There is no such alert.')
    return row
  }

  const show = async (tenantId: string, rows: readonly AlertRow[]): Promise<AlertDto[]> => {
    const now = clock.now()
    const ids = rows.map((row) => row.id)
    const history = Map.groupBy(await store.history(tenantId, ids), (entry) => entry.alert_id)
    return rows.map((row) => presentAlert(row, history.get(row.id) ?? [], now))
  }

  /** Does a step, and answers the alert as it is then. Somebody else was faster: 409. */
  const take = async (principal: Principal, row: AlertRow, now: number, step: Step): Promise<AlertDto> => {
    const { actor, tenant_id } = principal
    const [before] = await show(tenant_id, [row])
    const entry: HistoryEntry = { ...step.entry, at: now, actor: { type: actor.type, id: actor.id } }
    const dto = {
      ...before!,
      ...step.shown,
      history: [...before!.history, shownEntry(principal, entry, step)],
    }
    try {
      await db.commit(actor, {
        writes: [...endSilence(tenant_id, row.id, now), step.write, historyInsert(tenant_id, row.id, entry)],
        audit: { ...step.audit, target: { type: 'alert', id: row.id } },
        ...(actor.reply === undefined ? {} : { idempotency: actor.reply(200, dto) }),
      })
    } catch (error) {
      if (error instanceof Conflict && error.label !== 'idempotency') throw changed()
      throw error
    }
    return dto
  }

  const act = async (
    principal: Principal,
    id: string,
    action: AlertAction,
    silence_ms: number | null,
  ): Promise<AlertDto> => {
    const row = await load(principal.tenant_id, id)
    const now = clock.now()
    const transition = TRANSITIONS[action]
    const status = statusAt(row, now)
    if (!transition.from.includes(status)) {
      throw problem('conflict', `The alert is ${status}: it cannot be ${transition.to} now.`)
    }
    const until = silence_ms === null ? null : now + silence_ms
    return take(principal, row, now, {
      write: transitionWrite(row, action, now, until),
      entry: { action: transition.history, until },
      audit: {
        action: transition.audit,
        detail: { title: row.title, ...(until === null ? {} : { until: isoTime(until) }) },
      },
      shown: { status: transition.to, silenced_until: until === null ? null : isoTime(until) },
    })
  }

  return {
    show,

    async get(tenantId: string, id: string): Promise<AlertDto> {
      const [dto] = await show(tenantId, [await load(tenantId, id)])
      return dto!
    },

    list: (tenantId: string, filter: AlertFilter, page: AlertPage): Promise<AlertRow[]> =>
      store.list(tenantId, filter, page, clock.now()),

    /** How many there are to work through. */
    async summary(tenantId: string): Promise<AlertSummaryDto> {
      const out: AlertSummaryDto = {
        open: 0,
        acknowledged: 0,
        silenced: 0,
        by_severity: Object.fromEntries(
          SEVERITIES.map((each) => [each, 0]),
        ) as AlertSummaryDto['by_severity'],
      }
      for (const { status, severity, n } of await store.counts(tenantId, clock.now())) {
        if (status === 'resolved') continue
        out[status] += n
        if (status === 'open') out.by_severity[severity] = n + out.by_severity[severity]
      }
      return out
    },

    acknowledge: (principal: Principal, id: string) => act(principal, id, 'ack', null),
    resolve: (principal: Principal, id: string) => act(principal, id, 'resolve', null),
    silence: (principal: Principal, id: string, duration: string) =>
      act(principal, id, 'silence', silenceOf('?duration', duration)),

    /** To a user of the tenant, or to nobody. Not once it is resolved. */
    async assign(principal: Principal, id: string, user_id: string | null): Promise<AlertDto> {
      const { tenant_id } = principal
      const row = await load(tenant_id, id)
      const name = user_id === null ? null : await store.isMember(tenant_id, user_id)
      if (user_id !== null && name === null) {
        throw invalid('/user_id', 'unknown_user', 'There is no such user in this tenant.')
      }
      const user = user_id === null ? null : { id: user_id, name }
      return take(principal, row, clock.now(), {
        write: assignWrite(row, user_id),
        entry: { action: user_id === null ? 'unassigned' : 'assigned', user_id },
        audit: { action: 'alerts.assign', detail: { title: row.title, user_id } },
        shown: { assigned_to: user },
        user,
      })
    },

    /** Words for the history, in any state. */
    async note(principal: Principal, id: string, text: string): Promise<AlertDto> {
      const row = await load(principal.tenant_id, id)
      return take(principal, row, clock.now(), {
        write: { must: touchWrite(row), label: 'the alert is gone' },
        entry: { action: 'note', note: text.trim() },
        audit: { action: 'alerts.note', detail: { title: row.title } },
        shown: {},
      })
    },

    /** The same step for many: each has its own result. */
    async bulk(principal: Principal, input: AlertBulkInput) {
      const silence_ms = input.action === 'silence' ? silenceOf('/duration', input.duration ?? '') : null
      // The answer of the whole is kept for a repeated request, not that of its first alert.
      const { reply: _, ...actor } = principal.actor
      const one = async (id: string) => {
        try {
          await act({ ...principal, actor }, id, input.action, silence_ms)
          return { id, status: 'ok' as const }
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          return { id, status: 'failed' as const, code: error.code as string }
        }
      }
      return Promise.all([...new Set(input.ids)].map(one))
    },

    /** For the scheduler: writes down which silences are over. Says how many. */
    async endSilences(): Promise<number> {
      const now = clock.now()
      const over = await store.silenceOver(now, REOPENED_AT_ONCE_MAX)
      for (const { id, tenant_id } of over) {
        await db.commit(systemActor(tenant_id), {
          writes: endSilence(tenant_id, id, now),
          audit: { action: 'alerts.reopen', target: { type: 'alert', id } },
        })
      }
      return over.length
    },
  }
}

function silenceOf(where: string, text: string): number {
  const ms = readDuration(text)
  if (ms !== null) return ms
  throw invalid(where, 'invalid_duration', 'duration is a number and m, h, d or w: 1m to 90d.')
}

function transitionWrite(row: AlertRow, action: AlertAction, now: number, until: number | null): MustWrite {
  const { from, to } = TRANSITIONS[action]
  return {
    must: {
      sql: `UPDATE alerts SET status = ?, silenced_until = ?, resolved_at = ?
WHERE tenant_id = ? AND id = ? AND status IN (SELECT value FROM json_each(?))`,
      params: [to, until, to === 'resolved' ? now : null, row.tenant_id, row.id, JSON.stringify(from)],
    },
    label: 'the state of the alert',
  }
}

function assignWrite(row: AlertRow, user_id: string | null): MustWrite {
  return {
    must: {
      sql: `UPDATE alerts SET assigned_to = ?1 WHERE tenant_id = ?2 AND id = ?3 AND status <> 'resolved'
AND (?1 IS NULL OR EXISTS (SELECT 1 FROM memberships WHERE tenant_id = ?2 AND user_id = ?1))`,
      params: [user_id, row.tenant_id, row.id],
    },
    label: 'the state of the alert',
  }
}

/** Changes nothing, and fails when the alert is gone. */
function touchWrite(row: AlertRow): RawWrite {
  return {
    sql: 'UPDATE alerts SET title = title WHERE tenant_id = ? AND id = ?',
    params: [row.tenant_id, row.id],
  }
}

function changed(): Problem {
  return problem('conflict', 'The alert was changed in the meantime, or is resolved.')
}

function shownEntry(principal: Principal, entry: HistoryEntry, step: Step): AlertDto['history'][number] {
  const { type, id, name } = principal.actor
  return {
    at: isoTime(entry.at),
    action: entry.action,
    actor: { type, id, name },
    note: entry.note ?? null,
    until: entry.until === null || entry.until === undefined ? null : isoTime(entry.until),
    user: step.user ?? null,
  }
}
