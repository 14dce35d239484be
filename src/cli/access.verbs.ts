/** Tenants, keys and users from the command line: what one needs before the first login and after losing it. */
import { limitsFrom } from './limits-option.ts'
import { table, UsageError, type Verb } from './verb.ts'

export interface NewTenant {
  tenant_id: string
  user_id: string
  api_key: string
}

export interface TenantItem {
  id: string
  name: string
  plan: string
  status: string
  users: number
  domains: number
  created_at: string
}

export interface KeyItem {
  id: string
  name: string
  prefix: string
  scopes: string[]
  status: string
  created_at: string
  expires_at: string | null
  last_used_at: string | null
}

const TENANT = { name: 'tenant', value: 'ID', doc: 'The tenant. Default: the only one there is.' } as const
const NONE = { operands_min: 0, operands_max: 0 } as const

export const ACCESS_VERBS: readonly Verb[] = [
  {
    ...NONE,
    name: 'tenant create',
    summary: 'Make a tenant, its owner and an API key with every scope. Ends the setup.',
    flags: [
      { name: 'name', value: 'NAME', doc: 'Name of the organisation.', required: true },
      { name: 'email', value: 'ADDRESS', doc: 'The owner.', required: true },
      { name: 'plan', value: 'PLAN', doc: 'free, pro (default) or enterprise.' },
      {
        name: 'limits',
        value: 'NAME=N,…',
        doc: 'Enterprise only: key, tenant, phishing_upload, detonate, threats_query, domains.',
      },
    ],
    async run({ call, flag, io, json }) {
      const limits = flag('limits')
      const made = await call<NewTenant>('tenant.create', {
        name: flag('name'),
        email: flag('email'),
        plan: flag('plan') ?? 'pro',
        limits: limits === undefined ? {} : limitsFrom(limits),
      })
      if (json) io.out(JSON.stringify(made))
      else {
        io.out(`Tenant   ${made.tenant_id}\nOwner    ${made.user_id}\nAPI key  ${made.api_key}`)
        io.err('The key is not shown again. The owner signs in after: wardpost user reset --email …')
      }
      return 0
    },
  },
  {
    ...NONE,
    name: 'tenant list',
    summary: 'List the tenants.',
    flags: [],
    async run({ call, io, json }) {
      const { items } = await call<{ items: TenantItem[] }>('tenant.list', {})
      if (json) io.out(JSON.stringify({ items }))
      else {
        const rows = items.map((each) => [each.id, each.name, each.plan, each.status, String(each.domains)])
        io.out(table(['ID', 'NAME', 'PLAN', 'STATUS', 'DOMAINS'], rows))
      }
      return 0
    },
  },
  {
    ...NONE,
    name: 'key create',
    summary: 'Make an API key. The only way to one with instance:* scopes.',
    flags: [
      TENANT,
      { name: 'name', value: 'NAME', doc: 'What the key is for.', required: true },
      { name: 'scopes', value: 'A,B', doc: 'Comma list, for example reports:write,*:read.', required: true },
      { name: 'expires', value: 'DATE', doc: 'ISO 8601 date or time. Default: never.' },
    ],
    async run({ call, flag, io, json }) {
      const made = await call<{ key_id: string; api_key: string }>('key.create', {
        tenant: flag('tenant') ?? null,
        name: flag('name'),
        scopes: listOf(flag('scopes')!),
        expires_at: timeOf(flag('expires')),
      })
      if (json) io.out(JSON.stringify(made))
      else {
        io.out(`Key      ${made.key_id}\nAPI key  ${made.api_key}`)
        io.err('The key is not shown again.')
      }
      return 0
    },
  },
  {
    ...NONE,
    name: 'key list',
    summary: 'List the API keys of a tenant.',
    flags: [TENANT],
    async run({ call, flag, io, json }) {
      const { items } = await call<{ items: KeyItem[] }>('key.list', { tenant: flag('tenant') ?? null })
      if (json) io.out(JSON.stringify({ items }))
      else {
        const rows = items.map((each) => [
          each.id,
          each.prefix,
          each.name,
          each.status,
          each.last_used_at ?? 'never',
          each.scopes.join(','),
        ])
        io.out(table(['ID', 'KEY', 'NAME', 'STATUS', 'LAST USE', 'SCOPES'], rows))
      }
      return 0
    },
  },
  {
    name: 'key revoke',
    summary: 'Revoke an API key. It stops working at once.',
    operands: 'KEY_ID',
    operands_min: 1,
    operands_max: 1,
    flags: [TENANT],
    async run({ call, flag, positionals, io, json }) {
      const id = positionals[0]!
      await call('key.revoke', { tenant: flag('tenant') ?? null, id })
      io.out(json ? JSON.stringify({ key_id: id, status: 'revoked' }) : `${id} is revoked.`)
      return 0
    },
  },
  {
    ...NONE,
    name: 'user reset',
    summary: 'Make a one-time link with which a user sets a new password.',
    flags: [{ name: 'email', value: 'ADDRESS', doc: 'The user.', required: true }],
    async run({ call, flag, io, json }) {
      const made = await call<{ link: string; expires_at: string }>('user.reset', { email: flag('email') })
      io.out(json ? JSON.stringify(made) : `${made.link}\nUsable once, until ${made.expires_at}.`)
      return 0
    },
  },
  {
    ...NONE,
    name: 'user operator',
    summary: 'Make a user an operator of this installation, or take it back.',
    flags: [
      { name: 'email', value: 'ADDRESS', doc: 'The user.', required: true },
      { name: 'off', doc: 'Take it back.' },
    ],
    async run({ call, flag, io, json }) {
      const is_operator = flag('off') === undefined
      const email = flag('email')!
      await call('user.operator', { email, is_operator })
      const text = `${email} is ${is_operator ? 'now an operator' : 'no longer an operator'}.`
      io.out(json ? JSON.stringify({ email, is_operator }) : text)
      return 0
    },
  },
  {
    ...NONE,
    name: 'setup-link',
    summary: 'Make a new link for the first run. The one before stops working.',
    flags: [],
    async run({ call, io, json }) {
      const made = await call<{ link: string; expires_at: string }>('setup.link', {})
      io.out(json ? JSON.stringify(made) : `${made.link}\nUsable once, until ${made.expires_at}.`)
      return 0
    },
  },
]

function listOf(text: string): string[] {
  const items = text.split(',').map((item) => item.trim())
  if (items.includes('')) throw new UsageError(`--scopes has an empty entry: '${text}'`)
  return items
}

/** Milliseconds, or null without a value. */
function timeOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw new UsageError(`--expires: '${text}' is not an ISO 8601 date or time`)
  return time
}
