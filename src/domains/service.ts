/**
 * The domains of a tenant: which it watches, that they are its own, and what DNS says about them. Reports belong to
 * the nearest domain by name; adding a domain adopts what is there, deleting one releases it.
 */
import { randomBytes } from 'node:crypto'
import { settleSubject } from '../alerts/settle.ts'
import { type Actor, Conflict, type Db } from '../db/types.ts'
import type { Clock } from '../lib/clock.ts'
import { HOUR_MS } from '../lib/clock.ts'
import { invalid, type Problem, problem } from '../lib/errors.ts'
import { isPublicSuffix, toALabels, toUnicodeName } from '../lib/hostname.ts'
import { newId } from '../lib/ids.ts'
import { formatCidr, normalizeIp, parseCidr } from '../lib/ip.ts'
import type { Principal } from '../lib/principal.ts'
import type { DnsResolver } from '../net/dns.ts'
import { markDomain } from './compliance.store.ts'
import { type DomainPolicy, lookupPolicy } from './policy-lookup.ts'
import { presentDomain, verificationName, verificationValue, windowAt } from './present.ts'
import type { DomainBulkInput, DomainCreateInput, DomainDto, DomainUpdateInput } from './schema.ts'
import {
  adoptableFigures,
  adoptReports,
  deleteDomain,
  type DomainFigures,
  type DomainFilter,
  type DomainPage,
  type DomainRow,
  domainExists,
  dueForCheck,
  findDomain,
  insertDomain,
  listDomains,
  policyDomainsOfDomain,
  releaseReports,
  trendsOf,
  updateDomain,
} from './store.ts'

export interface DomainPorts {
  db: Db
  clock: Clock
  resolver: DnsResolver
}

export type DomainsService = ReturnType<typeof createDomains>

const RECHECK_MS = 24 * HOUR_MS
const SELECTOR = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i

export function createDomains({ db, clock, resolver }: DomainPorts) {
  const find = async (tenant_id: string, id: string): Promise<DomainFigures> => {
    const row = await findDomain(db, tenant_id, id, windowAt(clock.now()))
    if (row === null) throw problem('not_found', 'There is no such domain.')
    return row
  }

  const present = async (rows: readonly DomainFigures[]): Promise<DomainDto[]> => {
    const window = windowAt(clock.now())
    const days = await trendsOf(
      db,
      rows.map((row) => row.id),
      window,
    )
    const by_domain = Map.groupBy(days, (day) => day.domain_id)
    return rows.map((row) => presentDomain(row, by_domain.get(row.id) ?? [], window))
  }

  const get = async (tenant_id: string, id: string): Promise<DomainDto> =>
    (await present([await find(tenant_id, id)]))[0]!

  /** Changes a domain as it was read; somebody else's change in between makes it fail. */
  const change = async (
    actor: Actor,
    row: DomainRow,
    columns: Partial<DomainRow>,
    audit: { action: string; detail?: Record<string, string | number | boolean | string[]> },
  ): Promise<void> => {
    await db.commit(actor, {
      writes: [
        updateDomain(row, columns, clock.now()),
        // Against another threshold the same figures may mean something else.
        ...(columns.compliance_threshold === undefined ? [] : [markDomain(row.tenant_id, row.id)]),
      ],
      audit: { ...audit, target: { type: 'domain', id: row.id } },
    })
  }

  const storePolicy = (actor: Actor, id: string, policy: DomainPolicy, action: boolean): Promise<unknown> =>
    db.commit(actor, {
      writes: [
        {
          sql: 'UPDATE domains SET policy_json = ?, policy_checked_at = ? WHERE tenant_id = ? AND id = ?',
          params: [JSON.stringify(policy), clock.now(), actor.tenant_id, id],
        },
      ],
      audit: action
        ? { action: 'domains.check', target: { type: 'domain', id }, detail: { state: policy.state } }
        : { none: 'job' },
    })

  const check = async (actor: Actor, id: string): Promise<void> => {
    const row = await find(actor.tenant_id, id)
    await storePolicy(actor, id, await lookupPolicy(resolver, row.name), true)
  }

  const remove = async (actor: Actor, id: string): Promise<void> => {
    const row = await find(actor.tenant_id, id)
    try {
      await db.commit(actor, {
        writes: [
          releaseReports(actor.tenant_id, id),
          ...settleSubject(actor.tenant_id, { type: 'domain', id }, 'The domain was deleted.', clock.now()),
          deleteDomain(actor.tenant_id, id),
        ],
        audit: { action: 'domains.delete', target: { type: 'domain', id }, detail: { name: row.name } },
      })
    } catch (error) {
      if (error instanceof Conflict) throw problem('not_found', 'There is no such domain.')
      throw error
    }
  }

  const setTag = async (actor: Actor, id: string, tag: string, on: boolean): Promise<void> => {
    const row = await find(actor.tenant_id, id)
    const tags = (JSON.parse(row.tags_json) as string[]).filter((each) => each !== tag)
    if (on) tags.push(tag)
    const detail = on ? { tag } : { untag: tag }
    await change(actor, row, { tags_json: JSON.stringify(tags) }, { action: 'domains.update', detail })
  }

  return {
    get,

    /** Rows as stored, in order: the position of a page is in the row, the answer is made by `show`. */
    async list(tenant_id: string, filter: DomainFilter, page: DomainPage): Promise<DomainFigures[]> {
      return await listDomains(db, tenant_id, filter, windowAt(clock.now()), page)
    },

    show: present,

    /** Numbers of the policy domains whose reports belong to the domain. Throws `not_found`. */
    async policyDomains(
      tenant_id: string,
      id: string,
    ): Promise<{ name: string; policy_domain_ids: number[] }> {
      const row = await find(tenant_id, id)
      return { name: row.name, policy_domain_ids: await policyDomainsOfDomain(db, id) }
    },

    async create(principal: Principal, input: DomainCreateInput): Promise<DomainDto> {
      const { actor, tenant_id } = principal
      const name = readName(input.name)
      const now = clock.now()
      const max = principal.tenant.limits.domains
      const columns = readColumns(input)
      const row = {
        id: newId('dom', now),
        tenant_id,
        name,
        unicode_name: toUnicodeName(name),
        profile: input.profile ?? ('sending' as const),
        outbound_ips_json: columns.outbound_ips_json ?? '[]',
        dkim_selectors_json: columns.dkim_selectors_json ?? '[]',
        tags_json: columns.tags_json ?? '[]',
        verification_token: randomBytes(18).toString('base64url'),
        verification_checked_at: null,
        verification_detail: resolver.mode === 'none' ? 'unverified: no resolver' : null,
        verified_at: null,
        policy_json: null,
        policy_checked_at: null,
        version: 1,
        created_at: now,
        updated_at: now,
      }
      const reply = await replyOf(principal, row, input.compliance_threshold)
      try {
        await db.commit(actor, {
          writes: [
            insertDomain(row, max, input.compliance_threshold ?? null),
            adoptReports(tenant_id, row.id, name),
            markDomain(tenant_id, row.id),
          ],
          audit: { action: 'domains.create', target: { type: 'domain', id: row.id }, detail: { name } },
          ...reply,
        })
      } catch (error) {
        if (error instanceof Conflict) throw await whyRefused(tenant_id, name, error)
        throw error
      }
      return await get(tenant_id, row.id)
    },

    async update(
      principal: Principal,
      id: string,
      input: DomainUpdateInput,
      expected: number | undefined,
    ): Promise<DomainDto> {
      const row = await find(principal.tenant_id, id)
      if (expected !== undefined && expected !== row.version) throw problem('version_conflict')
      const columns = readColumns(input)
      if (Object.keys(columns).length > 0) {
        const changed = Object.keys(input)
        try {
          await change(principal.actor, row, columns, { action: 'domains.update', detail: { changed } })
        } catch (error) {
          if (error instanceof Conflict)
            throw problem(expected === undefined ? 'conflict' : 'version_conflict')
          throw error
        }
      }
      return await get(principal.tenant_id, id)
    },

    remove,

    /** Looks for the TXT record, or believes an operator. A domain that is verified stays so. */
    async verify(principal: Principal, id: string, by_hand: boolean): Promise<DomainDto> {
      const { actor, tenant_id } = principal
      const row = await find(tenant_id, id)
      if (by_hand && !principal.is_operator) {
        throw problem('operator_only', 'Only an operator can verify a domain by hand.')
      }
      if (row.status === 'pending') {
        const found = by_hand ? null : await findToken(row)
        const now = clock.now()
        const detail = by_hand ? 'Verified by hand.' : found
        const verified = by_hand || found === null
        const columns: Partial<DomainRow> = { verification_checked_at: now, verification_detail: detail }
        if (verified) Object.assign(columns, { status: 'verified', verified_at: now })
        try {
          await db.commit(actor, {
            writes: [updateDomain(row, columns, now)],
            audit: {
              action: by_hand ? 'domains.verify_by_hand' : 'domains.verify',
              target: { type: 'domain', id },
              outcome: verified ? 'success' : 'failure',
              detail: { name: row.name },
            },
          })
        } catch (error) {
          if (error instanceof Conflict)
            throw problem('conflict', 'The domain is verified elsewhere, or was changed just now.')
          throw error
        }
      }
      return await get(tenant_id, id)
    },

    async check(actor: Actor, id: string): Promise<DomainDto> {
      await check(actor, id)
      return await get(actor.tenant_id, id)
    },

    async bulk(
      actor: Actor,
      input: DomainBulkInput,
    ): Promise<{ id: string; status: 'ok' | 'failed'; code?: string }[]> {
      const { tag } = input
      if ((input.action === 'tag' || input.action === 'untag') && tag === undefined) {
        throw invalid('/tag', 'required', 'Say which tag.')
      }
      const results: { id: string; status: 'ok' | 'failed'; code?: string }[] = []
      for (const id of new Set(input.ids)) {
        try {
          if (input.action === 'delete') await remove(actor, id)
          else if (input.action === 'check') await check(actor, id)
          else await setTag(actor, id, tag!, input.action === 'tag')
          results.push({ id, status: 'ok' })
        } catch (error) {
          const code = error instanceof Conflict ? 'conflict' : codeOf(error)
          if (code === null) throw error
          results.push({ id, status: 'failed', code })
        }
      }
      return results
    },

    /** For the scheduler: looks up domains that nobody looked at for a day. Says how many. */
    async checkDue(limit = 50): Promise<number> {
      if (resolver.mode === 'none') return 0
      const due = await dueForCheck(db, clock.now() - RECHECK_MS, limit)
      for (const { id, tenant_id, name } of due) {
        const actor = {
          tenant_id,
          type: 'system',
          id: null,
          name: null,
          key_id: null,
          ip: null,
          request_id: null,
        } as const
        const policy = await lookupPolicy(resolver, name)
        await storePolicy(actor, id, policy, false)
      }
      return due.length
    },
  }

  async function replyOf(
    { actor, tenant_id }: Principal,
    row: Omit<DomainRow, 'status' | 'compliance_threshold'>,
    threshold: number | undefined,
  ) {
    if (actor.reply === undefined) return {}
    const window = windowAt(clock.now())
    const figures = await adoptableFigures(db, tenant_id, row.name, window)
    const [tenant] = await db.query<{ value: number }>(
      'SELECT default_compliance_threshold AS value FROM tenants WHERE id = ?',
      [tenant_id],
    )
    const full: DomainFigures = {
      ...row,
      ...figures,
      status: 'pending',
      compliance_threshold: threshold ?? tenant?.value ?? 95,
      rate: null,
    }
    return { idempotency: actor.reply(201, presentDomain(full, [], window)) }
  }

  async function whyRefused(tenant_id: string, name: string, conflict: Conflict): Promise<Problem> {
    if (await domainExists(db, tenant_id, name)) return problem('already_exists', `${name} is there already.`)
    if (conflict.label === 'domain limit') {
      return problem('plan_limit', 'The plan does not allow another domain.')
    }
    return problem('conflict', `The change was refused: ${conflict.label}.`)
  }

  /** null when the token was found, otherwise what was found in its place. */
  async function findToken(row: DomainRow): Promise<string | null> {
    const answer = await resolver.txt(verificationName(row.name))
    if (answer.state === 'unknown') return `unverified: ${answer.detail}`
    if (answer.state === 'missing')
      return `unverified: there is no TXT record at ${verificationName(row.name)}`
    const wanted = verificationValue(row.verification_token)
    if (answer.values.some((value) => value.trim() === wanted)) return null
    return 'unverified: the TXT record holds another value'
  }
}

function codeOf(error: unknown): string | null {
  const code = (error as Partial<Problem>).code
  return error instanceof Error && error.name === 'Problem' && code !== undefined ? code : null
}

function readName(text: string): string {
  const name = toALabels(text)
  if (name === null) throw invalid('/name', 'invalid_domain', 'This is not a domain name.')
  if (isPublicSuffix(name)) {
    throw invalid('/name', 'public_suffix', `Others register names under ${name}; it cannot be one domain.`)
  }
  return name
}

function readColumns(input: DomainUpdateInput): Partial<DomainRow> {
  const columns: Partial<DomainRow> = {}
  if (input.profile !== undefined) columns.profile = input.profile
  if (input.compliance_threshold !== undefined) columns.compliance_threshold = input.compliance_threshold
  if (input.tags !== undefined) columns.tags_json = JSON.stringify(input.tags.map((tag) => tag.trim()))
  if (input.outbound_ips !== undefined)
    columns.outbound_ips_json = JSON.stringify(input.outbound_ips.map(readIp))
  if (input.dkim_selectors !== undefined) {
    for (const [i, selector] of input.dkim_selectors.entries()) {
      if (SELECTOR.test(selector)) continue
      throw invalid(`/dkim_selectors/${i}`, 'invalid_selector', 'This is not a DKIM selector.')
    }
    columns.dkim_selectors_json = JSON.stringify(input.dkim_selectors)
  }
  return columns
}

function readIp(text: string, at: number): string {
  const ip = normalizeIp(text)
  if (ip !== null) return ip
  const cidr = text.includes('/') ? parseCidr(text) : null
  if (cidr === null) throw invalid(`/outbound_ips/${at}`, 'invalid_address', 'This is no address or network.')
  return formatCidr(cidr)
}
