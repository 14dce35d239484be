import { blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Read here, written by the database door alone. `ts` and the columns after it are generated from `entry`. */
export const auditEntries = sqliteTable(
  'audit_entries',
  {
    tenantId: text('tenant_id').notNull(),
    seq: integer('seq').notNull(),
    entry: text('entry').notNull(),
    hash: blob('hash', { mode: 'buffer' }).notNull(),
    ts: integer('ts'),
    action: text('action'),
    actorId: text('actor_id'),
    targetId: text('target_id'),
    outcome: text('outcome'),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.seq] })],
)

export const auditPersonal = sqliteTable(
  'audit_personal',
  {
    tenantId: text('tenant_id').notNull(),
    seq: integer('seq').notNull(),
    salt: blob('salt', { mode: 'buffer' }).notNull(),
    body: text('body').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.seq] })],
)

export const auditHeads = sqliteTable('audit_heads', {
  tenantId: text('tenant_id').primaryKey(),
  seq: integer('seq').notNull(),
  hash: blob('hash', { mode: 'buffer' }).notNull(),
  ts: integer('ts').notNull(),
})
