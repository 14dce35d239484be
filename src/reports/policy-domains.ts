/**
 * The policy domains reports were about, each with the tenant's domain it belongs to: the nearest parent, or none.
 * They are made when a report first names them and never go away, so their numbers can be remembered.
 */
import type { Actor, Db, SqlValue } from '../db/types.ts'

export interface PolicyDomains {
  /** Numbers of the names, made where they are new. `span` is the longest period among the reports about to land. */
  ensure(actor: Actor, wanted: ReadonlyMap<string, number>): Promise<Map<string, number>>
}

/** The name of the row that stands for all policy domains of a tenant. */
export const ALL = '*'

/** Remembered names of all tenants together; a miss costs one query. */
const REMEMBERED_MAX = 20_000

const insertWith = (
  nearest: string,
): string => `INSERT INTO policy_domains (tenant_id, name, domain_id, span_max)
SELECT ?1, ?2, ${nearest}, ?3
WHERE true ON CONFLICT (tenant_id, name) DO UPDATE SET span_max = max(span_max, excluded.span_max)`

/** Nearly all names have at most four labels: for them each parent is looked up, nearest first. */
const FEW_LABELS = 4
const OWN = (mark: string): string => `(SELECT id FROM domains WHERE tenant_id = ?1 AND name = ${mark})`
const INSERT_FEW = insertWith(`coalesce(${['?4', '?5', '?6', '?7'].map(OWN).join(', ')})`)
const INSERT_MANY = insertWith(`(SELECT id FROM domains WHERE tenant_id = ?1
  AND name IN (SELECT value FROM json_each(?4)) ORDER BY length(name) DESC LIMIT 1)`)

export function createPolicyDomains(db: Db): PolicyDomains {
  const known = new Map<string, { id: number; span: number }>()

  return {
    async ensure(actor, wanted) {
      const tenant = actor.tenant_id
      const out = new Map<string, number>()
      const missing: [string, number][] = []
      for (const [name, span] of wanted) {
        const found = known.get(`${tenant} ${name}`)
        if (found !== undefined && found.span >= span) out.set(name, found.id)
        else missing.push([name, span])
      }
      if (missing.length === 0) return out
      const few: SqlValue[][] = []
      const many: SqlValue[][] = []
      for (const [name, span] of missing) {
        const parents = parentsOf(name)
        if (parents.length > FEW_LABELS) many.push([tenant, name, span, JSON.stringify(parents)])
        else
          few.push([tenant, name, span, ...Array.from({ length: FEW_LABELS }, (_, i) => parents[i] ?? null)])
      }
      const writes = [
        { sql: INSERT_FEW, rows: few },
        { sql: INSERT_MANY, rows: many },
      ].filter(({ rows }) => rows.length > 0)
      await db.commit(actor, { writes, audit: { none: 'staging' } })
      const found = await db.query<{ id: number; name: string; span_max: number }>(
        `SELECT id, name, span_max FROM policy_domains
WHERE tenant_id = ? AND name IN (SELECT value FROM json_each(?))`,
        [tenant, JSON.stringify(missing.map(([name]) => name))],
      )
      if (known.size + found.length > REMEMBERED_MAX) known.clear()
      for (const { id, name, span_max } of found) {
        known.set(`${tenant} ${name}`, { id, span: span_max })
        out.set(name, id)
      }
      return out
    },
  }
}

/** The name and all its parents, nearest first: a.b.example -> a.b.example, b.example, example. */
export function parentsOf(name: string): string[] {
  const labels = name.split('.')
  return labels.map((_, i) => labels.slice(i).join('.'))
}
