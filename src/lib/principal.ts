/**
 * Who makes a request, and what they may do. Made by the gate from an API key or a browser session; everything
 * behind it asks only the principal.
 */
/** Who does it. `tenant_id` names the audit chain: a tenant's id, or `_system`. */
export interface Actor {
  tenant_id: string
  type: 'user' | 'key' | 'operator' | 'cli' | 'system' | 'anonymous'
  id: string | null
  /** Personal: kept beside the chain, erasable. */
  name: string | null
  key_id: string | null
  /** Personal: kept beside the chain, erasable. */
  ip: string | null
  request_id: string | null
  /** Makes the idempotency record of the request this is done in; absent when the client sent no key. */
  reply?: (status: number, body: unknown, options?: { secret: boolean }) => IdempotencyDraft
}

/** An idempotency record that lands together with the effect. */
export interface IdempotencyDraft {
  /** Whose key it is; not always whose audit chain the change belongs to. */
  tenant_id: string
  key: string
  route: string
  /** SHA-256 of method, route and canonical body. */
  fingerprint: string
  status: number
  body: string
  expires_at: number
}

/** The chain of the installation itself. */
export const SYSTEM_CHAIN = '_system'

/** Every scope that a key can be given, with what it allows. */
export const SCOPES: Readonly<Record<string, string>> = {
  'domains:read': 'See domains, their records, timelines and sources',
  'domains:write': 'Add, change, verify and delete domains',
  'reports:read': 'See and export DMARC, TLS and failure reports',
  'reports:write': 'Upload reports',
  'alerts:read': 'See alerts',
  'alerts:write': 'Acknowledge, silence and resolve alerts',
  'phishing:read': 'See reported mail',
  'phishing:write': 'Report, classify and act on reported mail',
  'awareness:read': 'See employees and campaigns',
  'awareness:write': 'Change employees, create and send campaigns',
  'sspm:read': 'See identities, apps, inbox rules and shares',
  'sspm:write': 'Revoke apps and disable inbox rules',
  'webhooks:read': 'See webhooks and deliveries',
  'webhooks:write': 'Create, change and redeliver webhooks',
  'takedowns:read': 'See takedowns',
  'takedowns:write': 'Draft and send takedowns',
  'settings:read': 'See settings, keys, users and sessions',
  'settings:write': 'Change settings, keys, users and sessions',
  'threats:read': 'Read and query the indicator feed',
  'threats:write': 'Add, withdraw and judge indicators',
  'intel:use': 'Look up domains; uses the intelligence quota',
  'audit:read': 'Query, export and verify the audit log',
  'export:read': 'Export tenant data, with the read scope of each domain of data',
}

/** Scopes of the installation itself: operators, and keys made on the command line. */
export const INSTANCE_SCOPES = ['instance:read', 'instance:write'] as const

export type Role = 'owner' | 'admin' | 'analyst' | 'viewer'
export const ROLES: readonly Role[] = ['owner', 'admin', 'analyst', 'viewer']

export type Plan = 'free' | 'pro' | 'enterprise'

export interface TenantLimits {
  /** How many domains; null is no limit. */
  domains: number | null
  key_per_minute: number
  tenant_per_minute: number
  phishing_upload_per_minute: number
  detonate_per_hour: number
  threats_query_per_minute: number
}

export interface TenantContext {
  id: string
  name: string
  plan: Plan
  status: 'active' | 'suspended'
  limits: TenantLimits
}

export interface Principal {
  kind: 'key' | 'session'
  tenant_id: string
  tenant: TenantContext
  user: { id: string; name: string; email: string } | null
  key: { id: string; name: string } | null
  session_id: string | null
  role: Role | null
  is_operator: boolean
  /** Expanded: wildcards are resolved. */
  scopes: ReadonlySet<string>
  /** What goes into commits and audit entries. */
  actor: Actor
}

const ALL = Object.keys(SCOPES)
const READS = ALL.filter((scope) => scope.endsWith(':read'))

/** Resolves `*`, `*:read` and instance wildcards into single scopes. Unknown names are dropped. */
export function expandScopes(granted: readonly string[]): Set<string> {
  const out = new Set<string>()
  for (const scope of granted) {
    if (scope === '*') for (const each of ALL) out.add(each)
    else if (scope === '*:read') for (const each of READS) out.add(each)
    else if (scope === 'instance:*') for (const each of INSTANCE_SCOPES) out.add(each)
    else if (scope in SCOPES) out.add(scope)
  }
  return out
}

/** True for a name that a key may be asked to carry. */
export function isScope(name: string): boolean {
  return name === '*' || name === '*:read' || name in SCOPES
}

const ANALYST = [
  ...READS.filter((scope) => scope !== 'settings:read'),
  'reports:write',
  'alerts:write',
  'phishing:write',
  'threats:write',
  'takedowns:write',
  'intel:use',
]
const VIEWER = READS.filter(
  (scope) => !['settings:read', 'audit:read', 'export:read', 'awareness:read'].includes(scope),
)

/** The fixed scope set of each role. */
export const ROLE_SCOPES: Readonly<Record<Role, ReadonlySet<string>>> = {
  owner: new Set(ALL),
  admin: new Set(ALL),
  analyst: new Set(ANALYST),
  viewer: new Set([...VIEWER, 'awareness:read']),
}
