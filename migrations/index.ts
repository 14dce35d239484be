/** Every migration, in order. Append only: one that has been applied anywhere is never edited. */
import foundation from './0001_foundation.sql' with { type: 'text' }
import access from './0002_access.sql' with { type: 'text' }
import domains_reports from './0003_domains_reports.sql' with { type: 'text' }
import jobs from './0004_jobs.sql' with { type: 'text' }
import webhooks from './0005_webhooks.sql' with { type: 'text' }
import alerts from './0006_alerts.sql' with { type: 'text' }
import audit from './0007_audit.sql' with { type: 'text' }

export interface Migration {
  version: number
  name: string
  sql: string
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'foundation', sql: foundation },
  { version: 2, name: 'access', sql: access },
  { version: 3, name: 'domains_reports', sql: domains_reports },
  { version: 4, name: 'jobs', sql: jobs },
  { version: 5, name: 'webhooks', sql: webhooks },
  { version: 6, name: 'alerts', sql: alerts },
  { version: 7, name: 'audit', sql: audit },
]
