/**
 * All tables in one place: for joins across areas, and for what must reach every table. A test compares the lists
 * with the schema, so that no table can be forgotten.
 */
export * from '../audit/tables.ts'
export * from '../jobs/tables.ts'
export * from '../keys/tables.ts'
export * from '../tenants/tables.ts'
export * from '../users/tables.ts'

/** Tables with rows of a tenant (`tenant_id`), in the order in which a tenant's rows can be deleted. */
export const TENANT_TABLES = [
  'mail_outbox',
  'alert_history',
  'alerts',
  'notification_settings',
  'notification_digests',
  'compliance_marks',
  'compliance_state',
  'report_loads',
  'report_chunks',
  'report_days',
  'reports',
  'reporter_days',
  'source_days',
  'source_months',
  'source_ips',
  'tls_reports',
  'failure_reports',
  'rejected_files',
  'policy_domains',
  'domains',
  'redeliveries',
  'delivery_attempts',
  'deliveries',
  'webhooks',
  'events',
  'idempotency',
  'api_keys',
  'links',
  'sessions',
  'memberships',
  'audit_findings',
  'audit_hours',
  'audit_networks',
  'audit_watch',
  'audit_incarnations',
  'audit_starts',
  'audit_checkpoints',
  'audit_personal',
  'audit_entries',
  'audit_heads',
] as const

/** Tables of the installation. Of `tenants` the tenant's own row goes last. */
export const INSTALLATION_TABLES = [
  'audit_anchors',
  'audit_keys',
  'job_runs',
  'leases',
  'mail_settings',
  'meta',
  'migrations',
  'recovery_codes',
  'tenants',
  'users',
] as const

/** What is sealed under the instance key, and therefore lost with it. */
export const SEALED_COLUMNS = [
  { table: 'users', column: 'totp_secret', what: 'second factors of users' },
  { table: 'mail_settings', column: 'password', what: 'the password of the mail server' },
  { table: 'webhooks', column: 'secret', what: 'secrets of webhooks' },
  { table: 'webhooks', column: 'next_secret', what: 'new secrets of webhooks' },
] as const
