/**
 * Tenants: their settings for themselves, and the operator's view of all of them. Limits of its own only an
 * enterprise tenant has.
 */
import type { Db, MustWrite, Write } from '../db/types.ts'
import { operatorActor } from '../lib/actors.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { invalid, problem } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Actor, Plan, Principal, TenantLimits } from '../lib/principal.ts'
import { limitsOf } from './context.ts'
import type {
  SettingsDto,
  SettingsUpdateInput,
  TenantCreateInput,
  TenantDto,
  TenantUpdateInput,
} from './schema.ts'
import { type Retention, retentionOf } from './rules/retention.ts'
import type { TenantCounts, TenantRow, TenantStore } from './store.ts'

export type TenantService = ReturnType<typeof createTenants>

/** Makes the writes of an invitation that belongs to a new tenant, and its link. */
export type InviteMaker = (
  tenantId: string,
  email: string,
  role: 'owner',
  created_by: string | null,
) => { writes: Write[]; link: string }

export function createTenants(deps: { db: Db; store: TenantStore; clock: Clock; invite: InviteMaker }) {
  const { db, store, clock } = deps

  const load = async (tenantId: string): Promise<TenantCounts> => {
    const row = await store.find(tenantId)
    if (row === undefined) throw problem('not_found', 'There is no such tenant.')
    return row
  }

  const change = async (
    row: TenantRow,
    next: Partial<TenantRow>,
    actor: Actor,
    action: string,
  ): Promise<void> => {
    const write: MustWrite = { must: store.update(row, next, clock.now()), label: 'changed in the meantime' }
    const { limits, ...plain } = next
    await db.commit(actor, {
      writes: [write],
      audit: {
        action,
        target: { type: 'tenant', id: row.id },
        detail: { ...shown(plain), ...(limits === undefined ? {} : { limits }) },
      },
    })
  }

  /** The write and id of a new tenant, for whoever puts more into the same change. */
  const draft = (input: { name: string; plan: Plan; limits?: Partial<TenantLimits> }) => {
    if (input.limits !== undefined && Object.keys(input.limits).length > 0 && input.plan !== 'enterprise') {
      throw invalid('/limits', 'plan_limit', 'Only an enterprise tenant has limits of its own.')
    }
    const now = clock.now()
    const id = newId('ten', now)
    const limits = JSON.stringify(input.limits ?? {})
    const name = input.name.trim()
    return { id, now, write: store.insert({ id, name, plan: input.plan, limits, now }) }
  }

  return {
    async settings(tenantId: string): Promise<SettingsDto> {
      return settingsOf(await load(tenantId))
    },

    async updateSettings(
      principal: Principal,
      input: SettingsUpdateInput,
      expected: number | undefined,
    ): Promise<SettingsDto> {
      const row = await load(principal.tenant_id)
      if (expected !== undefined && expected !== row.version) throw problem('version_conflict')
      const next: Partial<TenantRow> = {}
      if (input.name !== undefined) next.name = input.name.trim()
      if (input.default_compliance_threshold !== undefined) {
        next.default_compliance_threshold = input.default_compliance_threshold
      }
      if (input.retention !== undefined) {
        next.retention = JSON.stringify({ ...(JSON.parse(row.retention) as object), ...input.retention })
      }
      await change(row, next, principal.actor, 'settings.update')
      return settingsOf(await load(principal.tenant_id))
    },

    draft,

    async create(
      principal: Principal,
      input: TenantCreateInput,
    ): Promise<TenantDto & { invite_link?: string }> {
      const drafted = draft({ name: input.name, plan: input.plan, limits: defined(input.limits) })
      const invite =
        input.owner_email === undefined
          ? null
          : deps.invite(drafted.id, input.owner_email, 'owner', principal.user?.id ?? null)
      const actor = operatorActor(principal)
      const dto = {
        id: drafted.id,
        name: input.name.trim(),
        plan: input.plan,
        status: 'active' as const,
        limits: limitsOf(input.plan, defined(input.limits)),
        users: 0,
        domains: 0,
        created_at: isoTime(drafted.now),
        ...(invite === null ? {} : { invite_link: invite.link }),
      }
      await db.commit(actor, {
        writes: [drafted.write, ...(invite?.writes ?? [])],
        audit: {
          action: 'tenants.create',
          target: { type: 'tenant', id: drafted.id },
          detail: { name: dto.name, plan: dto.plan },
        },
        ...(actor.reply === undefined ? {} : { idempotency: actor.reply(201, dto, { secret: true }) }),
      })
      return dto
    },

    /** One row more than `limit`, newest first. */
    async list(filter: Parameters<TenantStore['list']>[0]): Promise<TenantDto[]> {
      return (await store.list(filter)).map(tenantOf)
    },

    async get(tenantId: string): Promise<TenantDto> {
      return tenantOf(await load(tenantId))
    },

    async update(principal: Principal, tenantId: string, input: TenantUpdateInput): Promise<TenantDto> {
      const row = await load(tenantId)
      const plan = input.plan ?? row.plan
      const next: Partial<TenantRow> = { plan }
      if (input.name !== undefined) next.name = input.name.trim()
      if (input.status !== undefined) next.status = input.status
      if (input.limits !== undefined) {
        if (plan !== 'enterprise') {
          throw invalid('/limits', 'plan_limit', 'Only an enterprise tenant has limits of its own.')
        }
        next.limits = JSON.stringify({ ...(JSON.parse(row.limits) as object), ...input.limits })
      }
      await change(row, next, operatorActor(principal), 'tenants.update')
      return tenantOf(await load(tenantId))
    },
  }
}

function shown(change: Partial<TenantRow>): Record<string, string> {
  return Object.fromEntries(Object.entries(change).map(([name, value]) => [name, String(value)]))
}

/** Without the members that were sent as nothing. */
function defined(limits: TenantCreateInput['limits']): Partial<TenantLimits> {
  const named = Object.entries(limits ?? {}).filter(([, value]) => value !== undefined)
  return Object.fromEntries(named) as Partial<TenantLimits>
}

function settingsOf(row: TenantRow): SettingsDto {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    limits: limitsOf(row.plan, JSON.parse(row.limits) as Partial<TenantLimits>),
    default_compliance_threshold: row.default_compliance_threshold,
    retention: retentionOf(JSON.parse(row.retention) as Partial<Retention>),
    version: row.version,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  }
}

function tenantOf(row: TenantCounts): TenantDto {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    status: row.status,
    limits: limitsOf(row.plan, JSON.parse(row.limits) as Partial<TenantLimits>),
    users: row.users,
    domains: row.domains,
    created_at: isoTime(row.created_at),
  }
}
