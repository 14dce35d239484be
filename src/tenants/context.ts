/** From a tenant's row to what requests need of it: plan and limits, the plan's own or the tenant's. Pure. */
import {
  DOMAINS_FREE_PLAN_MAX,
  RATE_DETONATE_PER_HOUR,
  RATE_KEY_PER_MINUTE,
  RATE_PHISHING_UPLOAD_PER_MINUTE,
  RATE_TENANT_PER_MINUTE,
  RATE_THREATS_QUERY_PER_MINUTE,
} from '../lib/limits.ts'
import type { Plan, TenantContext, TenantLimits } from '../lib/principal.ts'

/** The columns of `tenants` that a request needs, under the names the joins give them. */
export interface TenantColumns {
  tenant_id: string
  tenant_name: string
  plan: Plan
  tenant_status: 'active' | 'suspended'
  limits: string
}

export const TENANT_COLUMNS =
  't.id AS tenant_id, t.name AS tenant_name, t.plan AS plan, t.status AS tenant_status, t.limits AS limits'

const CONTRACT: Omit<TenantLimits, 'domains'> = {
  key_per_minute: RATE_KEY_PER_MINUTE,
  tenant_per_minute: RATE_TENANT_PER_MINUTE,
  phishing_upload_per_minute: RATE_PHISHING_UPLOAD_PER_MINUTE,
  detonate_per_hour: RATE_DETONATE_PER_HOUR,
  threats_query_per_minute: RATE_THREATS_QUERY_PER_MINUTE,
}

/** The limits of a plan; only enterprise tenants have limits of their own (the contract's "may negotiate"). */
export function limitsOf(plan: Plan, own: Partial<TenantLimits>): TenantLimits {
  const domains = plan === 'free' ? DOMAINS_FREE_PLAN_MAX : null
  return plan === 'enterprise' ? { ...CONTRACT, domains, ...own } : { ...CONTRACT, domains }
}

export function tenantContext(row: TenantColumns): TenantContext {
  const own = row.limits === '{}' ? {} : (JSON.parse(row.limits) as Partial<TenantLimits>)
  return {
    id: row.tenant_id,
    name: row.tenant_name,
    plan: row.plan,
    status: row.tenant_status,
    limits: limitsOf(row.plan, own),
  }
}
