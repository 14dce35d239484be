/** Who in a tenant is told of alerts, when and how. Without settings of its own: owners and admins, by sensible rules. */
import type { AlertStatus, Severity } from '../alerts/types.ts'
import { Conflict, type Db } from '../db/types.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { invalid, problem } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Principal } from '../lib/principal.ts'
import { testMail } from './formats/mails.ts'
import { checkAddress, type MailService } from './mail.ts'
import { isTimeZone } from './rules/times.ts'
import type { NotificationSettingsDto, NotificationUpdateInput } from './schema.ts'
import { type NotificationStore, saveSettings } from './store.ts'

export type NotificationService = ReturnType<typeof createNotifications>

export type Settings = Omit<NotificationSettingsDto, 'mail_configured' | 'version' | 'updated_at'>

export const DEFAULTS: Settings = {
  email_enabled: true,
  recipients: [],
  immediate: ['critical', 'high'],
  digest: { enabled: true, at: '07:00', severities: ['medium', 'low'] },
  quiet_hours: { enabled: false, from: '22:00', to: '07:00', timezone: 'UTC' },
}

export function createNotifications(deps: {
  db: Db
  store: NotificationStore
  clock: Clock
  mail: Pick<MailService, 'isConfigured' | 'send'>
}) {
  const { db, store, clock, mail } = deps

  const read = async (tenantId: string) => {
    const row = await store.settings(tenantId)
    const settings = row === undefined ? DEFAULTS : (JSON.parse(row.settings_json) as Settings)
    return {
      settings,
      version: row?.version ?? 0,
      updated_at: row === undefined ? null : isoTime(row.updated_at),
    }
  }

  /** Users by id and addresses, as they are set; owners and admins when none are. */
  const recipients = async (tenantId: string, settings: Settings): Promise<string[]> =>
    settings.recipients.length > 0 ? settings.recipients : store.admins(tenantId)

  /** Where a recipient gets mail, or null: the user left. */
  const addressOf = async (tenantId: string, recipient: string): Promise<string | null> =>
    recipient.includes('@') ? recipient : ((await store.addressOf(tenantId, recipient)) ?? null)

  const check = async (tenantId: string, settings: Settings): Promise<Settings> => {
    const { quiet_hours } = settings
    if (!isTimeZone(quiet_hours.timezone)) {
      throw invalid(
        '/quiet_hours/timezone',
        'unknown_timezone',
        `There is no time zone "${quiet_hours.timezone}".`,
      )
    }
    if (quiet_hours.enabled && quiet_hours.from === quiet_hours.to) {
      throw invalid('/quiet_hours/to', 'empty_range', 'Quiet hours end when they begin.')
    }
    const checked: string[] = []
    for (const [at, text] of settings.recipients.entries()) {
      const where = `/recipients/${at}`
      if (text.includes('@')) checked.push(checkAddress(where, text))
      else if ((await store.addressOf(tenantId, text)) !== undefined) checked.push(text)
      else throw invalid(where, 'unknown_user', 'There is no such user in this tenant.')
    }
    return { ...settings, recipients: [...new Set(checked)] }
  }

  return {
    read,
    recipients,
    addressOf,

    async get(tenantId: string): Promise<NotificationSettingsDto> {
      const { settings, ...rest } = await read(tenantId)
      return { ...settings, mail_configured: await mail.isConfigured(), ...rest }
    },

    async update(
      principal: Principal,
      input: NotificationUpdateInput,
      expected: number | undefined,
    ): Promise<NotificationSettingsDto> {
      const { tenant_id } = principal
      const { settings: before, version } = await read(tenant_id)
      if (expected !== undefined && expected !== version) throw problem('version_conflict')
      const { digest, quiet_hours, ...plain } = input
      const settings = await check(tenant_id, {
        ...before,
        ...plain,
        digest: { ...before.digest, ...digest },
        quiet_hours: { ...before.quiet_hours, ...quiet_hours },
      })
      const now = clock.now()
      try {
        await db.commit(principal.actor, {
          writes: [saveSettings(tenant_id, JSON.stringify(settings), version, now)],
          audit: { action: 'notifications.update', detail: { changed: Object.keys(input) } },
        })
      } catch (error) {
        if (error instanceof Conflict) throw problem('version_conflict')
        throw error
      }
      const mail_configured = await mail.isConfigured()
      return { ...settings, mail_configured, version: version + 1, updated_at: isoTime(now) }
    },

    /** Sends a test to everybody who would be told. Throws `mail_not_configured`. */
    async test(principal: Principal) {
      const { tenant_id } = principal
      if (!(await mail.isConfigured())) throw problem('mail_not_configured')
      const { settings } = await read(tenant_id)
      const to = await recipients(tenant_id, settings)
      // What is sent cannot be taken back: it is written down first.
      await db.commit(principal.actor, {
        writes: [],
        audit: { action: 'notifications.test', detail: { recipients: to.length } },
      })
      const results: { to: string; ok: boolean; error: string | null }[] = []
      for (const recipient of to) {
        const address = await addressOf(tenant_id, recipient)
        if (address === null) {
          results.push({ to: recipient, ok: false, error: 'The user is not in the tenant any more.' })
          continue
        }
        const outcome = await mail.send({ ...testMail(), id: newId('eml', clock.now()), to: address })
        if (outcome === null) throw problem('mail_not_configured')
        results.push({ to: address, ok: outcome.ok, error: outcome.ok ? null : outcome.error })
        if (!outcome.ok && outcome.unreachable) break
      }
      return { results }
    },
  }
}

/** How a new alert is told of. */
export function routeOf(
  settings: Settings,
  alert: { severity: Severity; status: AlertStatus },
): 'queued' | 'digest' | 'none' {
  if (!settings.email_enabled || alert.status === 'resolved' || alert.status === 'silenced') return 'none'
  if (settings.immediate.includes(alert.severity)) return 'queued'
  return settings.digest.enabled && settings.digest.severities.includes(alert.severity) ? 'digest' : 'none'
}
