import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Plan } from '../lib/principal.ts'

export const tenants = sqliteTable('tenants', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  plan: text('plan').$type<Plan>().notNull(),
  status: text('status').$type<'active' | 'suspended'>().notNull().default('active'),
  limits: text('limits').notNull().default('{}'),
  defaultComplianceThreshold: real('default_compliance_threshold').notNull().default(95),
  retention: text('retention').notNull().default('{}'),
  version: integer('version').notNull().default(1),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})
