/**
 * API keys: made, looked up on every request (no cache: revoking is immediate), rolled, revoked. Only the SHA-256 of a
 * key is kept. A key never carries a scope that its maker lacks.
 */
import type { Db } from '../db/types.ts'
import { type Clock, HOUR_MS, isoTime } from '../lib/clock.ts'
import { equalBytes } from '../lib/crypto.ts'
import { invalid, problem } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { cidrContains, formatCidr, parseCidr, parseIp } from '../lib/ip.ts'
import { KEY_TOUCH_MS, KEYS_PER_TENANT_MAX } from '../lib/limits.ts'
import { type Actor, expandScopes, INSTANCE_SCOPES, isScope, type Principal } from '../lib/principal.ts'
import { systemActor } from '../lib/actors.ts'
import { tenantContext } from '../tenants/context.ts'
import { makeKey, readKey } from './format.ts'
import type { KeyCreateInput, KeyDto, KeyUpdateInput, NewKeyDto } from './schema.ts'
import type { KeyListFilter, KeyLookup, KeyRecord, KeyStore } from './store.ts'

export type KeyService = ReturnType<typeof createKeys>

/** Scope sets by their text: parsing and expanding it once is enough, they are immutable. */
const scope_sets = new Map<string, ReadonlySet<string>>()

export function createKeys(deps: { db: Db; store: KeyStore; clock: Clock }) {
  const { db, store, clock } = deps
  const uses = new Map<string, { at: number; ip: string | null; written: number }>()

  const load = async (tenantId: string, id: string): Promise<KeyRecord> => {
    const row = await store.find(tenantId, id)
    if (row === undefined) throw problem('not_found', 'There is no such key.')
    return row
  }

  const insert = (tenantId: string, input: Checked, created_by: string | null) => {
    const now = clock.now()
    const made = makeKey()
    const id = newId('key', now)
    const write = store.insert(
      tenantId,
      {
        id,
        name: input.name,
        publicId: made.public_id,
        last4: made.last4,
        keyHash: Buffer.from(made.hash),
        scopes: JSON.stringify(input.scopes),
        allowedCidrs: JSON.stringify(input.allowed_cidrs),
        createdBy: created_by,
        createdAt: now,
        expiresAt: input.expires_at,
      },
      KEYS_PER_TENANT_MAX,
    )
    return { id, made, now, write: { must: write, label: `at most ${KEYS_PER_TENANT_MAX} keys are allowed` } }
  }

  const newDto = (
    input: Checked,
    made: ReturnType<typeof insert>,
    by: { id: string; name: string | null } | null,
  ): NewKeyDto => ({
    id: made.id,
    name: input.name,
    prefix: `wdp_${made.made.public_id}`,
    last4: made.made.last4,
    scopes: input.scopes,
    allowed_cidrs: input.allowed_cidrs,
    status: 'active',
    created_by: by,
    created_at: isoTime(made.now),
    expires_at: input.expires_at === null ? null : isoTime(input.expires_at),
    last_used_at: null,
    last_used_ip: null,
    revoked_at: null,
    replaced_by: null,
    api_key: made.made.text,
  })

  return {
    /** The principal of a key. Unknown, expired, revoked or used from elsewhere: why not. */
    async authenticate(text: string, request: { ip: string | null; id: string }) {
      const read = readKey(text)
      if (read === null) return refused(false, 'unauthenticated', 'This is not an API key.')
      const row = await store.lookup(read.public_id)
      if (row === undefined || !equalBytes(row.key_hash, read.hash)) {
        return refused(true, 'unauthenticated', 'The API key is not known.')
      }
      const now = clock.now()
      if (row.revoked_at !== null) return refused(false, 'key_revoked')
      if (row.expires_at !== null && row.expires_at <= now) return refused(false, 'key_expired')
      if (row.tenant_status !== 'active') return refused(false, 'unauthenticated', 'The tenant is suspended.')
      if (!addressAllowed(row.allowed_cidrs, request.ip)) return refused(false, 'ip_not_allowed')
      const use = uses.get(row.id)
      if (use === undefined) uses.set(row.id, { at: now, ip: request.ip, written: 0 })
      else {
        use.at = now
        use.ip = request.ip
      }
      return principalOf(row, request)
    },

    /** Writes last uses that are not written yet. Called by a job, and at the end. */
    async flushUses(): Promise<void> {
      const now = clock.now()
      const due = [...uses].filter(([, use]) => use.at > use.written)
      for (const [id, use] of uses) if (use.at < now - 10 * KEY_TOUCH_MS) uses.delete(id)
      if (due.length === 0) return
      for (const [, use] of due) use.written = use.at
      await db.commit(systemActor(), {
        writes: [store.touch(due.map(([id, use]) => [id, use.at, use.ip]))],
        audit: { none: 'last_used' },
      })
    },

    /** One row more than `limit`, newest first. */
    async list(tenantId: string, filter: KeyListFilter): Promise<KeyDto[]> {
      const now = clock.now()
      return (await store.list(tenantId, filter, now)).map((row) => dtoOf(row, now))
    },

    async get(tenantId: string, id: string): Promise<KeyDto> {
      return dtoOf(await load(tenantId, id), clock.now())
    },

    /** Makes a key. Throws 422 for unknown scopes or networks, 403 for scopes that the maker lacks. */
    async create(principal: Principal, input: KeyCreateInput): Promise<NewKeyDto> {
      const checked = check(input, clock.now())
      checkGrant(principal, checked.scopes)
      const made = insert(principal.tenant_id, checked, principal.user?.id ?? null)
      const dto = newDto(checked, made, principal.user)
      const { actor } = principal
      await db.commit(actor, {
        writes: [made.write],
        audit: created(made.id, checked),
        ...(actor.reply === undefined ? {} : { idempotency: actor.reply(201, dto, { secret: true }) }),
      })
      return dto
    },

    /** A key made on the command line: the only way to one that carries `instance:*`. */
    async issue(
      actor: Actor,
      tenantId: string,
      name: string,
      scopes: readonly string[],
      expires_at: number | null = null,
    ): Promise<NewKeyDto> {
      for (const scope of scopes) {
        if (!isScope(scope) && scope !== 'instance:*' && !INSTANCE_SCOPES.some((each) => each === scope)) {
          throw invalid('/scopes', 'unknown_scope', `There is no scope "${scope}".`)
        }
      }
      const checked: Checked = { name, scopes: [...scopes], allowed_cidrs: [], expires_at }
      const made = insert(tenantId, checked, null)
      await db.commit(actor, { writes: [made.write], audit: created(made.id, checked) })
      return newDto(checked, made, null)
    },

    async update(principal: Principal, id: string, input: KeyUpdateInput): Promise<KeyDto> {
      const row = await load(principal.tenant_id, id)
      const name = input.name ?? row.name
      const cidrs =
        input.allowed_cidrs === undefined ? row.allowed_cidrs : JSON.stringify(networks(input.allowed_cidrs))
      await db.commit(principal.actor, {
        writes: [{ must: store.update(principal.tenant_id, id, name, cidrs), label: 'the key is gone' }],
        audit: {
          action: 'keys.update',
          target: { type: 'key', id },
          detail: { name, allowed_cidrs: JSON.parse(cidrs) as string[] },
        },
      })
      return dtoOf({ ...row, name, allowed_cidrs: cidrs }, clock.now())
    },

    /** A successor with the same scopes and networks; the old key goes on for the overlap. */
    async roll(principal: Principal, id: string, overlap_hours: number): Promise<NewKeyDto> {
      const row = await load(principal.tenant_id, id)
      const now = clock.now()
      if (statusOf(row, now) !== 'active') throw problem('conflict', 'Only an active key can be rolled.')
      if (row.replaced_by !== null) throw problem('conflict', 'The key was rolled already.')
      const input: Checked = {
        name: row.name,
        scopes: JSON.parse(row.scopes) as string[],
        allowed_cidrs: JSON.parse(row.allowed_cidrs) as string[],
        expires_at: row.expires_at,
      }
      checkGrant(principal, input.scopes)
      const made = insert(principal.tenant_id, input, principal.user?.id ?? null)
      const until = now + overlap_hours * HOUR_MS
      const dto = newDto(input, made, principal.user)
      const { actor } = principal
      await db.commit(actor, {
        writes: [
          made.write,
          {
            must: store.replace(principal.tenant_id, id, made.id, until),
            label: 'the key was changed meanwhile',
          },
        ],
        audit: {
          action: 'keys.roll',
          target: { type: 'key', id },
          detail: { successor: made.id, old_until: isoTime(until) },
        },
        ...(actor.reply === undefined ? {} : { idempotency: actor.reply(201, dto, { secret: true }) }),
      })
      return dto
    },

    /** Immediate. A key cannot revoke itself. */
    async revoke(principal: Principal, id: string): Promise<void> {
      const row = await load(principal.tenant_id, id)
      if (principal.key?.id === id) throw problem('own_credential', 'A key cannot revoke itself.')
      if (row.revoked_at !== null) return
      await db.commit(principal.actor, {
        writes: [store.revoke(principal.tenant_id, id, clock.now())],
        audit: { action: 'keys.revoke', target: { type: 'key', id }, detail: { name: row.name } },
      })
    },
  }
}

interface Checked {
  name: string
  scopes: string[]
  allowed_cidrs: string[]
  expires_at: number | null
}

function check(input: KeyCreateInput, now: number): Checked {
  for (const [index, scope] of input.scopes.entries()) {
    if (!isScope(scope)) throw invalid(`/scopes/${index}`, 'unknown_scope', `There is no scope "${scope}".`)
  }
  const expires_at = input.expires_at == null ? null : Date.parse(input.expires_at)
  if (expires_at !== null && !(expires_at > now)) {
    throw invalid('/expires_at', 'invalid_time', 'expires_at must be a time in the future.')
  }
  return {
    name: input.name.trim(),
    scopes: [...new Set(input.scopes)],
    allowed_cidrs: networks(input.allowed_cidrs ?? []),
    expires_at,
  }
}

function networks(texts: readonly string[]): string[] {
  return texts.map((text, index) => {
    const cidr = parseCidr(text.trim())
    if (cidr === null) {
      throw invalid(`/allowed_cidrs/${index}`, 'invalid_network', `"${text}" is not an address or network.`)
    }
    return formatCidr(cidr)
  })
}

function checkGrant(principal: Principal, scopes: readonly string[]): void {
  const missing = [...expandScopes(scopes)].filter((scope) => !principal.scopes.has(scope))
  if (missing.length === 0) return
  throw problem('insufficient_scope', `A key cannot be given what you do not have: ${missing.join(', ')}.`, {
    extra: { required_scope: missing[0], missing_scopes: missing },
  })
}

function created(id: string, input: Checked) {
  return {
    action: 'keys.create',
    target: { type: 'key', id },
    detail: {
      name: input.name,
      scopes: input.scopes,
      allowed_cidrs: input.allowed_cidrs,
      expires_at: input.expires_at === null ? null : isoTime(input.expires_at),
    },
  }
}

function refused(unknown: boolean, code: Parameters<typeof problem>[0], detail?: string) {
  const headers = { 'www-authenticate': 'Bearer realm="wardpost", error="invalid_token"' }
  return { refused: problem(code, detail, { headers }), unknown }
}

function addressAllowed(cidrs: string, ip: string | null): boolean {
  if (cidrs === '[]') return true
  const address = ip === null ? null : parseIp(ip)
  if (address === null) return false
  return (JSON.parse(cidrs) as string[]).some((text) => {
    const cidr = parseCidr(text)
    return cidr !== null && cidrContains(cidr, address)
  })
}

function scopesOf(text: string): ReadonlySet<string> {
  const known = scope_sets.get(text)
  if (known !== undefined) return known
  const granted = JSON.parse(text) as string[]
  const made = expandScopes(granted)
  for (const scope of INSTANCE_SCOPES) if (granted.includes(scope)) made.add(scope)
  if (scope_sets.size > 1000) scope_sets.clear()
  scope_sets.set(text, made)
  return made
}

function principalOf(row: KeyLookup, request: { ip: string | null; id: string }): Principal {
  return {
    kind: 'key',
    tenant_id: row.tenant_id,
    tenant: tenantContext(row),
    user: null,
    key: { id: row.id, name: row.name },
    session_id: null,
    role: null,
    is_operator: false,
    scopes: scopesOf(row.scopes),
    actor: {
      tenant_id: row.tenant_id,
      type: 'key',
      id: row.id,
      name: row.name,
      key_id: row.id,
      ip: request.ip,
      request_id: request.id,
    },
  }
}

function statusOf(row: KeyRecord, now: number): KeyDto['status'] {
  if (row.revoked_at !== null) return 'revoked'
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : 'active'
}

const iso = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

function dtoOf(row: KeyRecord, now: number): KeyDto {
  return {
    id: row.id,
    name: row.name,
    prefix: `wdp_${row.public_id}`,
    last4: row.last4,
    scopes: JSON.parse(row.scopes) as string[],
    allowed_cidrs: JSON.parse(row.allowed_cidrs) as string[],
    status: statusOf(row, now),
    created_by: row.created_by === null ? null : { id: row.created_by, name: row.created_by_name },
    created_at: isoTime(row.created_at),
    expires_at: iso(row.expires_at),
    last_used_at: iso(row.last_used_at),
    last_used_ip: row.last_used_ip,
    revoked_at: iso(row.revoked_at),
    replaced_by: row.replaced_by,
  }
}
