/** What needs a person now, derived from what is known; the most severe first. */
import { isBelow, POLICY_STATE_WORDS } from '../../lib/dmarc.ts'
import { count, DAY_MS, nowMs, percent, plural, relative } from '../../lib/format.ts'
import type { Alert, AlertSummary, Backup, Domain, Me, Summary } from '../../lib/types.ts'
import type { Level } from '../../ui/state.tsx'

export interface Need {
  id: string
  level: Level
  title: string
  detail: string
  /** Since when, where that is known. */
  since: string | null
  action: string
  href: string
}

/** Days without a report before it is said: receivers send one a day. */
const SILENT_DAYS = 3
const BACKUP_HOURS_MAX = 48

export interface JobRow {
  name: string
  last_status: string | null
  last_run_at: string | null
}

export interface Known {
  me: Me
  domains: readonly Domain[]
  summary: Summary | undefined
  backups: readonly Backup[] | undefined
  jobs: readonly JobRow[] | undefined
  alerts: {
    /** The open ones, most severe first; maybe not all of them. */
    open: readonly Alert[]
    /** Somebody is on them: they are not said again. */
    handled: readonly Pick<Alert, 'kind' | 'subject'>[]
    summary: AlertSummary | undefined
  }
}

const ORDER: readonly Level[] = ['critical', 'high', 'medium', 'low', 'info']

export function needsOf(known: Known): Need[] {
  const derived = [
    ...known.domains.flatMap(domainNeeds),
    ...pendingNeeds(known.domains),
    ...reportNeeds(known),
    ...backupNeeds(known),
    ...accountNeeds(known.me),
  ]
  const said = new Set([...known.alerts.open, ...known.alerts.handled].map(saidBy))
  const found = [...known.alerts.open.map(alertNeed), ...derived.filter(({ id }) => !said.has(id))]
  // Of the same severity alerts come first.
  return found.sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level))
}

function alertNeed(alert: Alert): Need {
  return {
    id: alert.id,
    level: alert.severity,
    title: alert.title,
    detail: alert.summary,
    since: alert.first_at,
    action: 'Review',
    href: `/alerts/${alert.id}`,
  }
}

/** The derived item that says the same as an alert. */
function saidBy({ kind, subject }: Pick<Alert, 'kind' | 'subject'>): string | undefined {
  if (kind === 'compliance_low') return `below-${subject.id}`
  if (kind === 'reports_stopped') return 'silent'
  if (kind === 'import_failures') return 'rejected'
  return kind === 'backup_failed' ? 'backup' : undefined
}

function domainNeeds(domain: Domain): Need[] {
  const name = domain.unicode_name
  const found: Need[] = []
  if (isBelow(domain)) {
    const { rate, fail, messages, window_days } = domain.compliance
    found.push({
      id: `below-${domain.id}`,
      level: 'critical',
      title: `${name} is below its limit: ${percent(rate)} compliant over ${window_days} days, limit ${domain.compliance_threshold}`,
      detail: `${count(fail)} of ${count(messages)} messages failed both checks`,
      since: null,
      action: 'Review',
      href: `/domains/${domain.id}`,
    })
  }
  if (domain.status === 'verified' && ['missing', 'multiple', 'invalid'].includes(domain.policy.state)) {
    found.push({
      id: `policy-${domain.id}`,
      level: 'high',
      title: `DMARC of ${name}: ${POLICY_STATE_WORDS[domain.policy.state].toLowerCase()}`,
      detail: domain.policy.detail ?? 'Receivers apply no policy and send no reports',
      since: null,
      action: 'Open',
      href: `/domains/${domain.id}?tab=dns`,
    })
  }
  return found
}

/** One by one while they are few, together when they are many. */
function pendingNeeds(domains: readonly Domain[]): Need[] {
  const pending = domains.filter((domain) => domain.status === 'pending')
  const oldest = pending.map((domain) => domain.created_at).sort()[0] ?? null
  if (pending.length > 2) {
    return [
      {
        id: 'pending',
        level: 'medium',
        title: `${count(pending.length)} domains are not verified`,
        detail: pending.map((domain) => domain.unicode_name).join(', '),
        since: oldest,
        action: 'Verify',
        href: '/domains?status=pending',
      },
    ]
  }
  return pending.map((domain) => ({
    id: `pending-${domain.id}`,
    level: 'medium',
    title: `${domain.unicode_name} is not verified`,
    detail: domain.verification.detail ?? `Publish the TXT record ${domain.verification.record_name}`,
    since: domain.created_at,
    action: 'Verify',
    href: `/domains/${domain.id}?tab=dns`,
  }))
}

function reportNeeds({ summary, domains }: Known): Need[] {
  if (summary === undefined) return []
  const found: Need[] = []
  const last = summary.last_report_at
  if (last !== null && nowMs() - new Date(last).getTime() > SILENT_DAYS * DAY_MS) {
    found.push({
      id: 'silent',
      level: 'high',
      title: `No report has come since ${relative(last)}`,
      detail: 'Receivers send one a day. Check where rua= points and whether that mailbox is read',
      since: last,
      action: 'Open',
      href: '/reports',
    })
  }
  if (last === null && domains.length > 0) {
    found.push({
      id: 'first',
      level: 'low',
      title: 'No report has come yet',
      detail: 'Upload what receivers have sent so far, or wait a day after publishing the DMARC record',
      since: null,
      action: 'Upload',
      href: '/reports/upload',
    })
  }
  if (summary.unassigned_reports > 0) {
    found.push({
      id: 'unassigned',
      level: 'medium',
      title: `${plural(summary.unassigned_reports, 'report')} about domains that are not yours`,
      detail: 'They are kept and count for nothing until the domain is added',
      since: null,
      action: 'Assign',
      href: '/reports/unassigned',
    })
  }
  if (summary.rejected_files > 0) {
    found.push({
      id: 'rejected',
      level: 'low',
      title: `${plural(summary.rejected_files, 'file')} could not be read`,
      detail: 'Each is kept with its reason for 30 days',
      since: null,
      action: 'Open',
      href: '/reports/rejected',
    })
  }
  return found
}

function backupNeeds({ backups, jobs }: Known): Need[] {
  const job = jobs?.find((entry) => entry.name.includes('backup'))
  if (
    job !== undefined &&
    job.last_status !== null &&
    !['ok', 'done', 'success', 'succeeded'].includes(job.last_status)
  ) {
    return [backupNeed('The last backup failed', job.last_run_at)]
  }
  const newest = backups?.[0]
  if (newest === undefined) return []
  if (!newest.verified)
    return [backupNeed(`The backup ${newest.name} could not be verified`, newest.created_at)]
  if (nowMs() - new Date(newest.created_at).getTime() > BACKUP_HOURS_MAX * 3_600_000) {
    return [backupNeed(`The newest backup was made ${relative(newest.created_at)}`, newest.created_at)]
  }
  return []
}

function backupNeed(title: string, since: string | null): Need {
  return {
    id: 'backup',
    level: 'high',
    title,
    detail: 'Make one now and look at the reason under Instance',
    since,
    action: 'Open',
    href: '/settings/instance/backups',
  }
}

function accountNeeds(me: Me): Need[] {
  if (me.user === null) return []
  const strong = me.role === 'owner' || me.role === 'admin' || me.user.is_operator
  if (strong && !me.user.totp_enabled) {
    return [
      {
        id: 'totp',
        level: 'medium',
        title: `Your ${me.role ?? 'operator'} account has no second factor`,
        detail: 'Whoever learns the password can change everything here',
        since: null,
        action: 'Turn on',
        href: '/account',
      },
    ]
  }
  if (me.user.totp_enabled && me.user.recovery_codes_left < 3) {
    return [
      {
        id: 'codes',
        level: 'low',
        title: `${plural(me.user.recovery_codes_left, 'recovery code')} left`,
        detail: 'Make new ones before the last is used',
        since: null,
        action: 'Renew',
        href: '/account',
      },
    ]
  }
  return []
}

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

function words(value: number): string {
  return NUMBERS[value] ?? count(value)
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** The one sentence a page opens with. */
export function sentenceOf(needs: readonly Need[], watched: number): string {
  if (watched === 0)
    return 'Nothing is watched yet. Add a domain, or upload the reports that receivers have sent.'
  if (needs.length === 0) return 'Nothing needs you. Everything is within its limits.'
  const critical = needs.filter((need) => need.level === 'critical').length
  const rest = needs.length - critical
  const thing = (value: number) => (value === 1 ? 'thing' : 'things')
  if (critical === 0) return `Nothing is critical. ${capital(words(rest))} ${thing(rest)} can wait a little.`
  const first = `${capital(words(critical))} ${thing(critical)} ${critical === 1 ? 'is' : 'are'} critical`
  const second = rest === 0 ? '' : `, ${words(rest)} can wait`
  return `${first}${second}. Everything else is within its limits.`
}
