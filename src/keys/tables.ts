import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const apiKeys = sqliteTable('api_keys', {
  id: text('id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  name: text('name').notNull(),
  publicId: text('public_id').notNull().unique(),
  last4: text('last4').notNull(),
  keyHash: blob('key_hash', { mode: 'buffer' }).notNull(),
  scopes: text('scopes').notNull(),
  allowedCidrs: text('allowed_cidrs').notNull().default('[]'),
  createdBy: text('created_by'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at'),
  lastUsedAt: integer('last_used_at'),
  lastUsedIp: text('last_used_ip'),
  revokedAt: integer('revoked_at'),
  replacedBy: text('replaced_by'),
})
