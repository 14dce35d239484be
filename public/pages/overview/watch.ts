import { isBelow } from '../../lib/dmarc.ts'
import { bytes, compact, moment, plural, relative, time } from '../../lib/format.ts'
import type { Known } from './needs.ts'
import type { StateKind } from '../../ui/state.tsx'

export interface WatchRow {
  name: string
  kind: StateKind
  word: string
  value: string
  note: string
}

/** What is looked after all the time and how it stands. */
export function watchRows(known: Known): WatchRow[] {
  return [
    ...alertRow(known),
    ...domainRows(known),
    ...reportRows(known),
    ...backupRow(known),
    ...accountRow(known),
  ]
}

function alertRow({ alerts: { summary } }: Known): WatchRow[] {
  if (summary === undefined) return []
  const { open, acknowledged, by_severity } = summary
  const urgent = by_severity.critical + by_severity.high
  return [
    {
      name: 'Alerts',
      kind: open === 0 ? 'pass' : urgent > 0 ? 'warn' : 'medium',
      word: open === 0 ? 'none open' : 'some open',
      value: open === 0 ? 'none open' : `${open} open`,
      note:
        urgent > 0 ? `${urgent} critical or high` : acknowledged > 0 ? `${acknowledged} acknowledged` : '',
    },
  ]
}

function domainRows({ domains }: Known): WatchRow[] {
  const verified = domains.filter((domain) => domain.status === 'verified')
  const sending = domains.filter((domain) => domain.compliance.rate !== null && domain.profile === 'sending')
  const within = sending.filter((domain) => !isBelow(domain))
  const strict = verified.filter((domain) => domain.policy.p === 'quarantine' || domain.policy.p === 'reject')
  const open = domains.length - verified.length
  const row = (name: string, good: boolean, value: string, note: string): WatchRow => ({
    name,
    kind: good ? 'pass' : 'warn',
    word: good ? 'within limits' : 'not within limits',
    value,
    note,
  })
  if (domains.length === 0)
    return [{ name: 'Domains', kind: 'none', word: 'none', value: 'none', note: 'add one' }]
  return [
    row(
      'Domains',
      open === 0,
      `${verified.length} of ${domains.length} verified`,
      open === 0 ? '' : `${open} pending`,
    ),
    {
      ...row(
        'Compliance',
        within.length === sending.length,
        `${within.length} of ${sending.length} within`,
        '',
      ),
      note: sending.length === within.length ? '' : `${sending.length - within.length} below`,
    },
    {
      ...row(
        'Policy',
        strict.length === verified.length,
        `${strict.length} of ${verified.length} enforce`,
        '',
      ),
      note: verified.some((domain) => domain.policy.p === 'none') ? 'others only report' : '',
    },
  ]
}

function reportRows({ summary }: Known): WatchRow[] {
  if (summary === undefined) return []
  const last = summary.last_report_at
  return [
    {
      name: 'Reports',
      kind: last === null ? 'none' : 'pass',
      word: last === null ? 'none yet' : 'coming in',
      value: `${compact(summary.reports)} in 30 d`,
      note: last === null ? 'none yet' : `last ${moment(last)}`,
    },
    {
      name: 'Unassigned',
      kind: summary.unassigned_reports === 0 ? 'pass' : 'medium',
      word: summary.unassigned_reports === 0 ? 'none' : 'some',
      value: summary.unassigned_reports === 0 ? 'none' : plural(summary.unassigned_reports, 'report'),
      note: '',
    },
    {
      name: 'Rejected',
      kind: summary.rejected_files === 0 ? 'pass' : 'medium',
      word: summary.rejected_files === 0 ? 'none' : 'some',
      value: summary.rejected_files === 0 ? 'none' : plural(summary.rejected_files, 'file'),
      note: '',
    },
  ]
}

function backupRow({ backups }: Known): WatchRow[] {
  if (backups === undefined) return []
  const newest = backups[0]
  if (newest === undefined) {
    return [{ name: 'Backup', kind: 'none', word: 'none yet', value: 'none yet', note: 'made every night' }]
  }
  return [
    {
      name: 'Backup',
      kind: newest.verified ? 'pass' : 'fail',
      word: newest.verified ? 'verified' : 'not verified',
      value: newest.verified ? 'verified' : 'not verified',
      note: `${moment(newest.created_at) === time(newest.created_at) ? time(newest.created_at) : relative(newest.created_at)}, ${bytes(newest.bytes)}`,
    },
  ]
}

function accountRow({ me }: Known): WatchRow[] {
  if (me.user === null) return []
  const on = me.user.totp_enabled
  return [
    {
      name: 'Second factor',
      kind: on ? 'pass' : 'medium',
      word: on ? 'on' : 'off',
      value: on ? 'on' : 'off',
      note: on ? plural(me.user.recovery_codes_left, 'recovery code') : 'for your account',
    },
  ]
}
