/**
 * Tells people of alerts by mail. First it is decided, in one change per alert, whether it goes at once, with the daily
 * summary or not at all; what goes is in the outbox from then on. Sending takes one mail after the other, tries again
 * with growing pauses, and gives up in the end.
 */
import type { AlertDraft, AlertRaiser } from '../alerts/types.ts'
import { Conflict, type Change, type Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { type Clock, HOUR_MS, isoTime, MINUTE_MS } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { MAIL_ATTEMPTS_MAX, MAIL_KEPT_MS } from '../lib/limits.ts'
import { alertMail, type AlertWords, digestMail, type Written } from './formats/mails.ts'
import type { MailService } from './mail.ts'
import { lastAt, quietUntil } from './rules/times.ts'
import { type NotificationService, routeOf, type Settings } from './service.ts'
import {
  claimDigest,
  claimMail,
  decide,
  dropDigest,
  endMail,
  forgetMails,
  type NotificationStore,
  type OutboxRow,
  postponeMail,
  queue,
  retryMail,
  toldInDigest,
  type UntoldAlert,
} from './store.ts'

export type Notifier = ReturnType<typeof createNotifier>

const DECIDED_AT_ONCE_MAX = 500
const SENT_AT_ONCE_MAX = 100
const DIGEST_ALERTS_MAX = 200
/** A server may take half a minute for a message; after this, whoever sent it is gone. */
const LEASE_MS = 2 * MINUTE_MS
const MAIL_FAILED = 'mail_failed'
/** After each failed attempt. */
const PAUSES_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS]

export function createNotifier(deps: {
  db: Db
  store: NotificationStore
  clock: Clock
  notifications: Pick<NotificationService, 'read' | 'recipients' | 'addressOf'>
  mail: Pick<MailService, 'isConfigured' | 'send'>
  raiser: Pick<AlertRaiser, 'raiseForOperators' | 'settleForOperators'>
  baseUrl(): string
}) {
  const { db, store, clock, notifications, mail, raiser, baseUrl } = deps
  const stop = Promise.withResolvers<'stopped'>()
  let stopped = false

  /** False when somebody else was faster. */
  const commit = async (tenant_id: string, writes: Change['writes']): Promise<boolean> => {
    try {
      await db.commit(systemActor(tenant_id), { writes, audit: { none: 'job' } })
      return true
    } catch (error) {
      if (error instanceof Conflict) return false
      throw error
    }
  }

  const toAll = async (tenant_id: string, settings: Settings, written: Written, alert_id: string | null) => {
    const now = clock.now()
    return (await notifications.recipients(tenant_id, settings)).map((recipient) => ({
      id: newId('eml', now),
      tenant_id,
      kind: alert_id === null ? ('digest' as const) : ('alert' as const),
      alert_id,
      recipient,
      ...written,
      now,
    }))
  }

  /** Decides about alerts that are new. Says how many mails were put into the outbox. */
  async function decideNew(): Promise<number> {
    const configured = await mail.isConfigured()
    let queued = 0
    for (const alert of await store.untold(DECIDED_AT_ONCE_MAX)) {
      const { settings } = await notifications.read(alert.tenant_id)
      const route = configured ? routeOf(settings, alert) : 'none'
      const mails =
        route === 'queued'
          ? await toAll(alert.tenant_id, settings, alertMail(wordsOf(alert), baseUrl()), alert.id)
          : []
      const done = await commit(alert.tenant_id, [decide(alert, route), ...queueing(mails)])
      if (done) queued += mails.length
    }
    return queued
  }

  /** Puts the daily summaries that are due into the outbox. Says how many. */
  async function digests(): Promise<number> {
    let made = 0
    for (const tenant_id of await store.tenantsWithDigest()) {
      const { settings } = await notifications.read(tenant_id)
      if (!settings.email_enabled || !settings.digest.enabled || !(await mail.isConfigured())) {
        await commit(tenant_id, [dropDigest(tenant_id)])
        continue
      }
      const due_at = lastAt(settings.digest.at, settings.quiet_hours.timezone, clock.now())
      const alerts = await store.forDigest(tenant_id, due_at, DIGEST_ALERTS_MAX)
      if (alerts.length === 0) continue
      const written = digestMail(alerts.map(wordsOf), baseUrl())
      const mails = await toAll(tenant_id, settings, written, null)
      const ids = alerts.map((alert) => alert.id)
      const writes = [
        claimDigest(tenant_id, due_at),
        toldInDigest(tenant_id, ids, 'queued'),
        ...queueing(mails),
      ]
      if (await commit(tenant_id, writes)) made += mails.length
    }
    return made
  }

  /** Sends what is due. Says how many were sent. */
  async function send(): Promise<number> {
    let sent = 0
    for (const row of await store.due(clock.now(), SENT_AT_ONCE_MAX)) {
      if (stopped) break
      const outcome = await sendOne(row)
      if (outcome === 'sent') sent++
      if (outcome === 'unreachable') break
    }
    if (sent > 0) await raiser.settleForOperators(MAIL_FAILED, 'Mail is sent again.')
    return sent
  }

  async function sendOne(row: OutboxRow): Promise<'sent' | 'unreachable' | 'other'> {
    const now = clock.now()
    const { tenant_id } = row
    const drop = async (why: string) => {
      await commit(tenant_id, [endMail(row.id, 'dropped', why, now)])
      return 'other' as const
    }
    const { settings } = await notifications.read(tenant_id)
    if (!settings.email_enabled) return drop('mail was turned off')
    if (row.alert_id !== null && row.alert_status === 'resolved') return drop('the alert was resolved before')
    const quiet_until = quietUntil(settings.quiet_hours, now)
    if (quiet_until > now) {
      await commit(tenant_id, [postponeMail(row, quiet_until)])
      return 'other'
    }
    const to = await notifications.addressOf(tenant_id, row.recipient)
    if (to === null) return drop('the user is not in the tenant any more')
    if (row.attempts >= MAIL_ATTEMPTS_MAX) return drop('was cut off in every attempt')
    if (!(await commit(tenant_id, [claimMail(row, now + LEASE_MS)]))) return 'other'
    const { id, subject, body_text: text, body_html: html } = row
    const outcome = await Promise.race([mail.send({ id, to, subject, text, html }), stop.promise])
    // Nobody waits for the server now. Whoever comes next finds the mail when its lease is over.
    if (outcome === 'stopped') return 'unreachable'
    if (outcome === null) return drop('there is no mail server any more')
    const attempts = row.attempts + 1
    const end = clock.now()
    if (outcome.ok) await commit(tenant_id, [endMail(id, 'sent', null, end)])
    else if (outcome.permanent || attempts >= MAIL_ATTEMPTS_MAX) {
      await commit(tenant_id, [endMail(id, 'failed', outcome.error, end)])
      await raiser.raiseForOperators(givenUp(outcome.error, attempts))
    } else await commit(tenant_id, [retryMail(id, outcome.error, end + PAUSES_MS[attempts - 1]!)])
    if (outcome.ok) return 'sent'
    return outcome.unreachable ? 'unreachable' : 'other'
  }

  let running: Promise<number> | null = null
  async function round(): Promise<number> {
    if (stopped) return 0
    await decideNew()
    await digests()
    return send()
  }

  return {
    /** Decides, summarises and sends. One round at a time: who asks meanwhile gets the running one. */
    run(): Promise<number> {
      running ??= round().finally(() => {
        running = null
      })
      return running
    },

    /** Sends nothing more, and does not wait for a server that is slow. */
    stop(): void {
      stopped = true
      stop.resolve('stopped')
    },

    /** Forgets mails that were sent or given up long ago. Says how many. */
    async forget(): Promise<number> {
      const [rows] = await db.commit(systemActor(), {
        writes: [forgetMails(clock.now() - MAIL_KEPT_MS)],
        audit: { none: 'job' },
      })
      return rows!.length
    },
  }
}

/** Without who should have got it: operators of one tenant need not know the people of another. */
function givenUp(words: string, attempts: number): AlertDraft {
  const error = words.replaceAll(/[^\s<>]+@[^\s<>]+/g, '(address)')
  return {
    kind: 'mail_failed',
    severity: 'high',
    title: 'Mail about alerts could not be sent',
    summary: `A mail was given up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${error}. Test the mail server under Settings, Instance.`,
    subject: { type: 'instance', id: 'mail' },
    evidence: { error, attempts },
    dedupe_key: MAIL_FAILED,
  }
}

function queueing(mails: Parameters<typeof queue>[0]) {
  return mails.length === 0 ? [] : [queue(mails)]
}

function wordsOf(alert: UntoldAlert): AlertWords {
  return {
    id: alert.id,
    severity: alert.severity,
    status: alert.status,
    title: alert.title,
    summary: alert.summary,
    evidence: JSON.parse(alert.evidence_json) as Record<string, unknown>,
    first_at: isoTime(alert.first_at),
    count: alert.count,
  }
}
