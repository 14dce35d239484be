/** What people are told about each kind of alert: why it matters, what to do, where to go. */
import { plural } from '../../lib/format.ts'
import type { Alert } from '../../lib/types.ts'
import type { StateKind } from '../../ui/state.tsx'

export interface KindHelp {
  title: string
  why: string
  how: readonly string[]
}

export const KINDS: Readonly<Record<string, KindHelp>> = {
  compliance_low: {
    title: 'Compliance fell below the threshold',
    why: 'Mail that fails is quarantined or rejected once the policy enforces, and until then anybody can send in your name.',
    how: [
      'Look at the senders below: is it one of yours, or a stranger?',
      'Yours: turn on DKIM with your domain, or add its SPF include.',
      'A stranger: raise the policy to quarantine or reject, so that receivers refuse it.',
    ],
  },
  reports_stopped: {
    title: 'Reports stopped',
    why: 'Without reports nobody sees who sends in your name, and compliance says nothing.',
    how: [
      'Check where rua= in the DMARC record points.',
      'Check that the mailbox behind it takes mail and is read.',
      'Upload by hand what has piled up there.',
    ],
  },
  import_failures: {
    title: 'Files could not be read',
    why: 'What cannot be read counts for nothing: figures are lower than they are.',
    how: [
      'Look at the reasons under Rejected files.',
      'Files that are no reports should not go to that mailbox; damaged ones can be asked for again.',
    ],
  },
  webhook_disabled: {
    title: 'A webhook was disabled',
    why: 'The system behind it learns of nothing any more.',
    how: ['Make the receiver answer 2xx again.', 'Resume the webhook and send again what was skipped.'],
  },
  audit_anomaly: {
    title: 'Unusual activity',
    why: 'It can be a colleague on a journey, or somebody with a stolen password or key.',
    how: [
      'Ask the person whose account or key it is.',
      'If nobody knows of it: end the sessions, revoke the key, read what was done since.',
    ],
  },
  disk_low: {
    title: 'Disk space is low',
    why: 'When nothing is left, uploads and changes are refused with 507.',
    how: ['Make room, or move the data folder to a larger disk.', 'Shorten how long originals are kept.'],
  },
  job_failed: {
    title: 'A job keeps failing',
    why: 'What it does by itself is not done: figures, clean-up or mails are late.',
    how: ['Read the reason below and remove its cause.', 'Run it again under Jobs.'],
  },
  backup_failed: {
    title: 'The backup failed',
    why: 'If the disk breaks now, everything since the last good backup is lost.',
    how: ['Read the reason below: most often the disk is full.', 'Make a backup by hand.'],
  },
  mail_failed: {
    title: 'Mail could not be sent',
    why: 'Nobody is told of alerts unless they look here.',
    how: [
      'Read what the mail server said below.',
      'Test the mail server in the settings of the installation.',
    ],
  },
}

export function kindTitle(kind: string): string {
  return KINDS[kind]?.title ?? words(kind)
}

/** `probable_cause` -> Probable cause */
export function words(name: string): string {
  const text = name.replaceAll('_', ' ')
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Where what it is about can be looked at. */
export function subjectLink({ kind, subject }: Alert): { href: string; label: string } | undefined {
  const { type, id } = subject
  if (kind === 'import_failures') return { href: '/reports/rejected', label: 'Rejected files' }
  if (kind === 'backup_failed') return { href: '/settings/instance/backups', label: 'Backups' }
  if (kind === 'mail_failed') return { href: '/settings/instance/mail', label: 'The mail server' }
  if (kind === 'compliance_low')
    return { href: `/domains/${id}?tab=sources`, label: 'The senders of the domain' }
  if (type === 'domain') return { href: `/domains/${id}?tab=dns`, label: 'The DNS records of the domain' }
  if (type === 'webhook') return { href: `/webhooks/${id}`, label: 'The webhook' }
  if (type === 'job')
    return { href: `/settings/instance/jobs?job=${encodeURIComponent(id)}`, label: 'Runs of the job' }
  if (type === 'key') return { href: `/settings/keys/${id}`, label: 'The API key' }
  if (type === 'user') return { href: `/audit?actor=${encodeURIComponent(id)}`, label: 'What they did' }
  if (type === 'audit_entry') return { href: `/audit/${id}`, label: 'The audit entry' }
  return type === 'instance' ? { href: '/settings/instance', label: 'The installation' } : undefined
}

export const STATUSES: Readonly<Record<Alert['status'], { kind: StateKind; word: string }>> = {
  open: { kind: 'accent', word: 'Open' },
  acknowledged: { kind: 'half', word: 'Acknowledged' },
  silenced: { kind: 'none', word: 'Silenced' },
  resolved: { kind: 'pass', word: 'Resolved' },
}

export type AlertAction = 'ack' | 'resolve' | 'silence'

const ALLOWED: Readonly<Record<AlertAction, readonly Alert['status'][]>> = {
  ack: ['open', 'silenced'],
  resolve: ['open', 'acknowledged', 'silenced'],
  silence: ['open', 'acknowledged'],
}

/** Why this cannot be done to all of them; undefined when it can. */
export function refusal(action: AlertAction, alerts: readonly Alert[]): string | undefined {
  const off = alerts.filter(({ status }) => !ALLOWED[action].includes(status))
  const first = off[0]
  if (first === undefined) return undefined
  if (alerts.length === 1) return `it is ${first.status}`
  return `${plural(off.length, 'of them is', 'of them are')} ${first.status}`
}

export const DURATIONS = [
  { value: '1h', label: '1 hour' },
  { value: '4h', label: '4 hours' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
] as const
