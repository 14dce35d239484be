/**
 * The catalogue of what is audited: every `action` of an entry, with the words that people see. Actions are
 * `area.verb`; a name, once used, is never given another meaning. A test fails on an action that is not here.
 */
export const AUDIT_ACTIONS = {
  'auth.login': 'Signed in',
  'auth.login_failed': 'Sign-in failed',
  'auth.logout': 'Signed out',
  'auth.totp_failed': 'Second factor was wrong',
  'auth.recovery_code_used': 'Signed in with a recovery code',
  'auth.reset': 'Set a new password with a reset link',
  'auth.accept': 'Accepted an invitation',
  'auth.denied': 'Was refused for lack of rights',
  'auth.denied_count': 'Was refused repeatedly for lack of rights',
  'auth.unauthenticated_count': 'Requests without a valid credential',
  'auth.rate_limited_count': 'Requests over a rate limit',

  'me.update': 'Changed the own profile',
  'me.password': 'Changed the own password',
  'me.totp_setup': 'Began to set up the second factor',
  'me.totp_enable': 'Turned the second factor on',
  'me.totp_disable': 'Turned the second factor off',
  'me.recovery_codes': 'Made new recovery codes',
  'me.tenant': 'Changed to another tenant',

  'sessions.revoke': 'Ended a session',
  'sessions.revoke_all': 'Ended all other sessions',

  'keys.create': 'Created an API key',
  'keys.update': 'Changed an API key',
  'keys.roll': 'Replaced an API key',
  'keys.revoke': 'Revoked an API key',

  'users.role': "Changed a user's role",
  'users.remove': 'Removed a user from the tenant',
  'users.reset_link': 'Made a password reset link',
  'users.operator': 'Changed who is an operator',
  'invites.create': 'Invited a user',
  'invites.delete': 'Withdrew an invitation',

  'tenants.create': 'Created a tenant',
  'tenants.update': 'Changed a tenant',
  'settings.update': 'Changed settings',

  'domains.create': 'Added a domain',
  'domains.update': 'Changed a domain',
  'domains.delete': 'Deleted a domain',
  'domains.verify': 'Verified a domain',
  'domains.verify_by_hand': 'Verified a domain by hand',
  'domains.compliance_low': 'Compliance of a domain fell below its threshold',
  'domains.compliance_recovered': 'Compliance of a domain recovered',
  'domains.check': 'Checked the DNS records of a domain',

  'reports.upload': 'Uploaded reports',
  'reports.import': 'Imported reports from a folder',
  'reports.reparse': 'Read stored reports again',
  'reports.raw': 'Downloaded the original of a report',
  'reports.export': 'Exported reports',

  'alerts.raise': 'Raised an alert',
  'alerts.acknowledge': 'Acknowledged an alert',
  'alerts.silence': 'Silenced an alert',
  'alerts.reopen': 'The silence of an alert ended',
  'alerts.resolve': 'Resolved an alert',
  'alerts.settle': 'An alert resolved itself: its cause is gone',
  'alerts.assign': 'Assigned an alert',
  'alerts.note': 'Wrote a note on an alert',
  'notifications.update': 'Changed who is told of alerts',
  'notifications.test': 'Sent a test notification',
  'mail.update': 'Changed the mail server',
  'mail.test': 'Tested the mail server',

  'webhooks.create': 'Added a webhook',
  'webhooks.update': 'Changed a webhook',
  'webhooks.delete': 'Deleted a webhook',
  'webhooks.pause': 'Paused a webhook',
  'webhooks.resume': 'Resumed a webhook',
  'webhooks.disable': 'Disabled a webhook after days of failures',
  'webhooks.rotate': 'Gave a webhook a new secret',
  'webhooks.promote': 'Made the new secret of a webhook the only one',
  'webhooks.test': 'Sent a test to a webhook',
  'webhooks.redeliver': 'Sent a delivery again',
  'webhooks.redeliver_many': 'Sent what was not delivered again',
  'webhooks.blocked_count': 'A webhook led to a forbidden address',

  'audit.export': 'Exported the audit log',
  'audit.verify': 'Verified the audit log',
  'audit.bundle': 'Exported evidence of the audit log',
  'audit.erase': 'Erased personal values of the audit log',
  'audit.prune': 'Removed entries that were past keeping',
  'audit.anomaly': 'Noticed something unusual',
  'audit.anchors': 'Changed where checkpoints are sent',
  'audit.incarnation': 'Began a new life of the log after a restore',

  'retention.apply': 'Removed what was past keeping',
  'jobs.run': 'Started a job by hand',

  'instance.start': 'Wardpost started',
  'instance.stop': 'Wardpost stopped',
  'instance.restore': 'Restored from a backup',
  'backups.create': 'Made a backup',
  'backups.delete': 'Deleted an old backup',
} as const satisfies Record<string, string>

export type AuditAction = keyof typeof AUDIT_ACTIONS

/** Resolves a comma list of actions and `area.*` into the actions it names; null when one names nothing. */
export function expandActions(list: string): AuditAction[] | null {
  const out = new Set<AuditAction>()
  for (const name of list.split(',').map((each) => each.trim())) {
    const prefix = name.endsWith('.*') ? name.slice(0, -1) : null
    const found = (Object.keys(AUDIT_ACTIONS) as AuditAction[]).filter((action) =>
      prefix === null ? action === name : action.startsWith(prefix),
    )
    if (found.length === 0) return null
    for (const action of found) out.add(action)
  }
  return [...out]
}
