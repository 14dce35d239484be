import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const leases = sqliteTable('leases', {
  name: text('name').primaryKey(),
  holder: text('holder').notNull(),
  epoch: integer('epoch').notNull(),
  until: integer('until').notNull(),
})

export const jobRuns = sqliteTable('job_runs', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  epoch: integer('epoch').notNull(),
  status: text('status', { enum: ['running', 'ok', 'failed', 'interrupted'] }).notNull(),
  detail: text('detail'),
  startedAt: integer('started_at').notNull(),
  endedAt: integer('ended_at'),
})
