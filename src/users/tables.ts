import { blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Role } from '../lib/principal.ts'

export const users = sqliteTable('users', {
  id: text('id').primaryKey(),
  email: text('email').notNull().unique(),
  name: text('name').notNull(),
  passwordHash: text('password_hash'),
  isOperator: integer('is_operator').notNull().default(0),
  totpSecret: text('totp_secret'),
  totpPending: text('totp_pending'),
  totpLastStep: integer('totp_last_step').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  lastLoginAt: integer('last_login_at'),
})

export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    userId: text('user_id').notNull(),
    codeHash: blob('code_hash', { mode: 'buffer' }).notNull(),
    usedAt: integer('used_at'),
  },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
)

export const memberships = sqliteTable(
  'memberships',
  {
    tenantId: text('tenant_id').notNull(),
    userId: text('user_id').notNull(),
    role: text('role').$type<Role>().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.userId] })],
)

export const sessions = sqliteTable('sessions', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  tenantId: text('tenant_id'),
  secretHash: blob('secret_hash', { mode: 'buffer' }).notNull(),
  createdAt: integer('created_at').notNull(),
  lastSeenAt: integer('last_seen_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  ip: text('ip'),
  userAgent: text('user_agent'),
  mfaAt: integer('mfa_at'),
})

export const links = sqliteTable('links', {
  id: text('id').primaryKey(),
  kind: text('kind').$type<'invite' | 'reset'>().notNull(),
  tokenHash: blob('token_hash', { mode: 'buffer' }).notNull().unique(),
  email: text('email').notNull(),
  userId: text('user_id'),
  tenantId: text('tenant_id'),
  role: text('role').$type<Role>(),
  createdBy: text('created_by'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  usedAt: integer('used_at'),
})
