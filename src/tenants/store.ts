/** Queries over `tenants`. */
import type { Db, SqlValue, Write } from '../db/types.ts'
import type { Plan } from '../lib/principal.ts'

export interface TenantRow {
  id: string
  name: string
  plan: Plan
  status: 'active' | 'suspended'
  limits: string
  default_compliance_threshold: number
  /** JSON object: only what the tenant chose. */
  retention: string
  version: number
  created_at: number
  updated_at: number
}

export interface TenantCounts extends TenantRow {
  users: number
  domains: number
}

const COUNTS = `SELECT t.*, (SELECT count(*) FROM memberships m WHERE m.tenant_id = t.id) AS users,
  (SELECT count(*) FROM domains d WHERE d.tenant_id = t.id) AS domains FROM tenants t`

export type TenantStore = ReturnType<typeof createTenantStore>

export function createTenantStore(db: Db) {
  return {
    async find(tenantId: string): Promise<TenantCounts | undefined> {
      const [row] = await db.query<TenantCounts>(`${COUNTS} WHERE t.id = ?`, [tenantId])
      return row
    },
    list(filter: { q?: string; after: string | null; limit: number }): Promise<TenantCounts[]> {
      const where = ['1']
      const params: SqlValue[] = []
      if (filter.q !== undefined) {
        where.push('instr(lower(t.name), ?) > 0')
        params.push(filter.q.toLowerCase())
      }
      if (filter.after !== null) {
        where.push('t.id < ?')
        params.push(filter.after)
      }
      return db.query<TenantCounts>(`${COUNTS} WHERE ${where.join(' AND ')} ORDER BY t.id DESC LIMIT ?`, [
        ...params,
        filter.limit + 1,
      ])
    },
    insert(row: { id: string; name: string; plan: Plan; limits: string; now: number }): Write {
      return {
        sql: 'INSERT INTO tenants (id, name, plan, limits, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
        params: [row.id, row.name, row.plan, row.limits, row.now, row.now],
      }
    },
    /** Guarded by the version that was read. */
    update(row: TenantRow, change: Partial<TenantRow>, now: number): Write {
      const next = { ...row, ...change }
      return {
        sql: `UPDATE tenants SET name = ?, plan = ?, status = ?, limits = ?, default_compliance_threshold = ?,
          retention = ?, version = version + 1, updated_at = ? WHERE id = ? AND version = ?`,
        params: [
          next.name,
          next.plan,
          next.status,
          next.limits,
          next.default_compliance_threshold,
          next.retention,
          now,
          row.id,
          row.version,
        ],
      }
    },
  }
}
