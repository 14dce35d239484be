/** Queries over users, memberships, sessions, links and recovery codes. */
import type { Db, SqlValue, Write } from '../db/types.ts'
import type { Role } from '../lib/principal.ts'
import { TENANT_COLUMNS, type TenantColumns } from '../tenants/context.ts'

export interface UserRow {
  id: string
  email: string
  name: string
  password_hash: string | null
  is_operator: 0 | 1
  totp_secret: string | null
  totp_pending: string | null
  totp_last_step: number
  created_at: number
  updated_at: number
  last_login_at: number | null
}

export interface SessionLookup extends TenantColumns {
  session_id: string
  secret_hash: Uint8Array
  last_seen_at: number
  expires_at: number
  user_id: string
  email: string
  user_name: string
  is_operator: 0 | 1
  role: Role
}

const SESSION = `SELECT s.id AS session_id, s.secret_hash, s.last_seen_at, s.expires_at, u.id AS user_id, u.email,
  u.name AS user_name, u.is_operator, m.role, ${TENANT_COLUMNS}
  FROM sessions s JOIN users u ON u.id = s.user_id
  JOIN memberships m ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
  JOIN tenants t ON t.id = s.tenant_id WHERE s.id = ?`

export interface SessionRow {
  id: string
  user_id: string
  user_name: string
  user_email: string
  created_at: number
  last_seen_at: number
  expires_at: number
  ip: string | null
  user_agent: string | null
}

export interface MemberRow {
  id: string
  name: string
  email: string
  role: Role
  is_operator: 0 | 1
  totp: 0 | 1
  last_login_at: number | null
  created_at: number
}

export interface LinkRow {
  id: string
  kind: 'invite' | 'reset'
  email: string
  user_id: string | null
  tenant_id: string | null
  role: Role | null
  created_by: string | null
  created_at: number
  expires_at: number
  used_at: number | null
}

export interface MembershipRow {
  tenant_id: string
  tenant_name: string
  role: Role
}

export interface PageAt {
  after: string | null
  limit: number
}

export type UserStore = ReturnType<typeof createUserStore>

export function createUserStore(db: Db) {
  const one = async <Row extends object>(sql: string, params: SqlValue[]): Promise<Row | undefined> =>
    (await db.query<Row>(sql, params))[0]
  return {
    byId: (id: string) => one<UserRow>('SELECT * FROM users WHERE id = ?', [id]),
    byEmail: (email: string) => one<UserRow>('SELECT * FROM users WHERE email = ?', [email]),
    memberships: (user_id: string) =>
      db.query<MembershipRow>(
        `SELECT m.tenant_id, t.name AS tenant_name, m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id
         WHERE m.user_id = ? ORDER BY t.name, t.id`,
        [user_id],
      ),
    async recoveryCodesLeft(user_id: string): Promise<number> {
      const row = await one<{ n: number }>(
        'SELECT count(*) AS n FROM recovery_codes WHERE user_id = ? AND used_at IS NULL',
        [user_id],
      )
      return row?.n ?? 0
    },
    insertUser: (row: {
      id: string
      email: string
      name: string
      password_hash: string | null
      is_operator: boolean
      now: number
    }): Write => ({
      sql: `INSERT INTO users (id, email, name, password_hash, is_operator, created_at, updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      params: [row.id, row.email, row.name, row.password_hash, row.is_operator ? 1 : 0, row.now, row.now],
    }),
    /** Sets the named columns. Names come from our own code only. */
    updateUser(id: string, columns: Partial<Omit<UserRow, 'id' | 'created_at'>>, now: number): Write {
      const names = Object.keys(columns)
      return {
        sql: `UPDATE users SET ${names.map((name) => `${name} = ?`).join(', ')}, updated_at = ? WHERE id = ?`,
        params: [...(Object.values(columns) as SqlValue[]), now, id],
      }
    },
    /** Takes a TOTP step: one changed row, or the code was used already. */
    takeTotpStep: (id: string, step: number): Write => ({
      sql: 'UPDATE users SET totp_last_step = ? WHERE id = ? AND totp_last_step < ?',
      params: [step, id, step],
    }),
    insertRecoveryCodes: (user_id: string, hashes: readonly Uint8Array[]): Write => ({
      sql: 'INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, ?)',
      rows: hashes.map((hash) => [user_id, hash]),
    }),
    deleteRecoveryCodes: (user_id: string): Write => ({
      sql: 'DELETE FROM recovery_codes WHERE user_id = ?',
      params: [user_id],
    }),
    /** One changed row, or the code is not one or was used. */
    useRecoveryCode: (user_id: string, hash: Uint8Array, now: number): Write => ({
      sql: 'UPDATE recovery_codes SET used_at = ? WHERE user_id = ? AND code_hash = ? AND used_at IS NULL',
      params: [now, user_id, hash],
    }),

    session: (id: string) => one<SessionLookup>(SESSION, [id]),
    insertSession: (row: {
      id: string
      user_id: string
      tenant_id: string | null
      secret_hash: Uint8Array
      now: number
      expires_at: number
      ip: string | null
      user_agent: string | null
      mfa_at: number | null
    }): Write => ({
      sql: `INSERT INTO sessions (id, user_id, tenant_id, secret_hash, created_at, last_seen_at, expires_at, ip, user_agent, mfa_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      params: [
        row.id,
        row.user_id,
        row.tenant_id,
        row.secret_hash,
        row.now,
        row.now,
        row.expires_at,
        row.ip,
        row.user_agent,
        row.mfa_at,
      ],
    }),
    touchSession: (id: string, now: number): Write => ({
      sql: 'UPDATE sessions SET last_seen_at = ? WHERE id = ?',
      params: [now, id],
    }),
    setSessionTenant: (id: string, tenant_id: string): Write => ({
      sql: 'UPDATE sessions SET tenant_id = ? WHERE id = ?',
      params: [tenant_id, id],
    }),
    deleteSession: (id: string): Write => ({ sql: 'DELETE FROM sessions WHERE id = ?', params: [id] }),
    deleteSessionsOf: (user_id: string, but: string | null): Write => ({
      sql: 'DELETE FROM sessions WHERE user_id = ? AND id IS NOT ?',
      params: [user_id, but],
    }),
    deleteExpired: (now: number, idle_before: number): Write[] => [
      { sql: 'DELETE FROM sessions WHERE expires_at <= ? OR last_seen_at <= ?', params: [now, idle_before] },
      { sql: 'DELETE FROM links WHERE expires_at <= ?', params: [now] },
      { sql: 'DELETE FROM idempotency WHERE expires_at <= ?', params: [now] },
    ],
    /** Sessions of one user, or of the whole tenant, newest first; one more than the limit. */
    sessions(
      tenantId: string,
      user_id: string | null,
      live_since: number,
      page: PageAt,
    ): Promise<SessionRow[]> {
      const where = user_id === null ? 's.tenant_id = ?' : 's.user_id = ?'
      return db.query<SessionRow>(
        `SELECT s.id, s.user_id, u.name AS user_name, u.email AS user_email, s.created_at, s.last_seen_at, s.expires_at,
           s.ip, s.user_agent FROM sessions s JOIN users u ON u.id = s.user_id
         WHERE ${where} AND s.last_seen_at > ? AND (? IS NULL OR s.id < ?) ORDER BY s.id DESC LIMIT ?`,
        [user_id ?? tenantId, live_since, page.after, page.after, page.limit + 1],
      )
    },

    members(tenantId: string, q: string | null, page: PageAt): Promise<MemberRow[]> {
      return db.query<MemberRow>(
        `SELECT u.id, u.name, u.email, m.role, u.is_operator, u.totp_secret IS NOT NULL AS totp, u.last_login_at, m.created_at
         FROM memberships m JOIN users u ON u.id = m.user_id
         WHERE m.tenant_id = ? AND (? IS NULL OR instr(lower(u.name || ' ' || u.email), ?) > 0) AND (? IS NULL OR u.id < ?)
         ORDER BY u.id DESC LIMIT ?`,
        [tenantId, q, q, page.after, page.after, page.limit + 1],
      )
    },
    member: (tenantId: string, user_id: string) =>
      one<MemberRow>(
        `SELECT u.id, u.name, u.email, m.role, u.is_operator, u.totp_secret IS NOT NULL AS totp, u.last_login_at, m.created_at
         FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.tenant_id = ? AND m.user_id = ?`,
        [tenantId, user_id],
      ),
    addMember: (tenantId: string, user_id: string, role: Role, now: number): Write => ({
      sql: 'INSERT INTO memberships (tenant_id, user_id, role, created_at) VALUES (?, ?, ?, ?)',
      params: [tenantId, user_id, role, now],
    }),
    /** Changes a role; changes no row when that would leave the tenant without an owner. */
    setRole: (tenantId: string, user_id: string, role: Role): Write => ({
      sql: `UPDATE memberships SET role = ? WHERE tenant_id = ? AND user_id = ? AND (? = 'owner' OR role <> 'owner'
        OR (SELECT count(*) FROM memberships WHERE tenant_id = ? AND role = 'owner') > 1)`,
      params: [role, tenantId, user_id, role, tenantId],
    }),
    /** Removes a member; changes no row when that would leave the tenant without an owner. */
    removeMember: (tenantId: string, user_id: string): Write => ({
      sql: `DELETE FROM memberships WHERE tenant_id = ? AND user_id = ? AND (role <> 'owner'
        OR (SELECT count(*) FROM memberships WHERE tenant_id = ? AND role = 'owner') > 1)`,
      params: [tenantId, user_id, tenantId],
    }),
    endSessionsIn: (tenantId: string, user_id: string): Write => ({
      sql: 'DELETE FROM sessions WHERE tenant_id = ? AND user_id = ?',
      params: [tenantId, user_id],
    }),

    users(q: string | null, page: PageAt): Promise<UserRow[]> {
      return db.query<UserRow>(
        `SELECT * FROM users WHERE (? IS NULL OR instr(lower(name || ' ' || email), ?) > 0) AND (? IS NULL OR id < ?)
         ORDER BY id DESC LIMIT ?`,
        [q, q, page.after, page.after, page.limit + 1],
      )
    },
    /** Changes no row when that would leave the installation without an operator. */
    setOperator: (id: string, is_operator: boolean): Write => ({
      sql: `UPDATE users SET is_operator = ? WHERE id = ?
        AND (? = 1 OR (SELECT count(*) FROM users WHERE is_operator = 1 AND id <> ?) > 0)`,
      params: [is_operator ? 1 : 0, id, is_operator ? 1 : 0, id],
    }),

    link: (token_hash: Uint8Array) => one<LinkRow>('SELECT * FROM links WHERE token_hash = ?', [token_hash]),
    insertLink: (row: Omit<LinkRow, 'used_at'> & { token_hash: Uint8Array }): Write => ({
      sql: `INSERT INTO links (id, kind, token_hash, email, user_id, tenant_id, role, created_by, created_at, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      params: [
        row.id,
        row.kind,
        row.token_hash,
        row.email,
        row.user_id,
        row.tenant_id,
        row.role,
        row.created_by,
        row.created_at,
        row.expires_at,
      ],
    }),
    /** One changed row, or it was used already. */
    useLink: (id: string, now: number): Write => ({
      sql: 'UPDATE links SET used_at = ? WHERE id = ? AND used_at IS NULL AND expires_at > ?',
      params: [now, id, now],
    }),
    /** Open reset links of a user: an older one ends when a newer is made or the password changes. */
    closeResetLinks: (user_id: string, now: number): Write => ({
      sql: "UPDATE links SET used_at = ? WHERE user_id = ? AND kind = 'reset' AND used_at IS NULL",
      params: [now, user_id],
    }),
    deleteInvite: (tenantId: string, id: string): Write => ({
      sql: "DELETE FROM links WHERE tenant_id = ? AND id = ? AND kind = 'invite' AND used_at IS NULL",
      params: [tenantId, id],
    }),
    invites(
      tenantId: string,
      now: number,
      page: PageAt,
    ): Promise<(LinkRow & { created_by_name: string | null })[]> {
      return db.query(
        `SELECT l.*, u.name AS created_by_name FROM links l LEFT JOIN users u ON u.id = l.created_by
         WHERE l.tenant_id = ? AND l.kind = 'invite' AND l.used_at IS NULL AND l.expires_at > ? AND (? IS NULL OR l.id < ?)
         ORDER BY l.id DESC LIMIT ?`,
        [tenantId, now, page.after, page.after, page.limit + 1],
      )
    },
  }
}
