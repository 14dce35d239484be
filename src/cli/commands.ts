/**
 * What the command line can ask for, as functions over the services: the same whether they run in the server, behind
 * its control socket, or in the process of the command itself.
 */
import { access, constants, stat } from 'node:fs/promises'
import type { App } from '../app.ts'
import type { BackupOptions, Backups } from '../db/backup.ts'
import type { OpenedDb } from '../db/open.ts'
import { cliActor } from '../lib/actors.ts'
import { type Clock, isoTime, systemClock } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import { SETUP_LINK_TTL_MS } from '../lib/limits.ts'
import { type Principal, SCOPES, SYSTEM_CHAIN, type TenantContext } from '../lib/principal.ts'
import { filesUnder, importFiles, importPaths, type ImportSummary } from '../reports/import.ts'
import type { ReparseDone } from '../reports/reparse.ts'
import type { NewTenant as TenantInput } from '../tenants/setup.ts'
import type { KeyItem, NewTenant, TenantItem } from './access.verbs.ts'
import type { ChainCheck, MadeBackup } from './care.verbs.ts'
import type { Dispatch, Files, Progress } from './control.ts'
import type { Vitals } from './doctor.ts'
import { VERSION } from './version.ts'

export interface CommandDeps {
  app: App
  db: OpenedDb
  backups: Backups
  clock: Clock
}

const TENANTS_MAX = 10_000
const KEYS_MAX = 1000
const PROGRESS_EVERY_MS = 1000
const monotonic = (): number => systemClock.monotonic()

/** What became of how many. */
export type Counts = Record<string, number>

/** What the arguments are, the verb that sends them knows: both are parts of one executable. */
type Command = (args: never, progress: Progress, files: Files) => Promise<unknown>

export function createCommands({ app, db, backups, clock }: CommandDeps): Dispatch {
  const { tenants, keys, members, setup, audit, ingest, reparse } = app.services

  const everyTenant = (): Promise<TenantItem[]> => tenants.list({ after: null, limit: TENANTS_MAX })

  /** The one that was named, or the only one there is. */
  async function tenantOf(args: { tenant: string | null }): Promise<string> {
    if (args.tenant !== null) return (await tenants.get(args.tenant)).id
    const [first, second] = await everyTenant()
    if (first === undefined)
      throw problem('conflict', 'There is no tenant yet: wardpost tenant create makes one.')
    if (second !== undefined)
      throw problem('invalid_request', 'There are several tenants: say which with --tenant.')
    return first.id
  }

  async function chains(tenant: string | null): Promise<string[]> {
    if (tenant === SYSTEM_CHAIN) return [SYSTEM_CHAIN]
    if (tenant !== null) return [await tenantOf({ tenant })]
    return [SYSTEM_CHAIN, ...(await everyTenant()).map((each) => each.id)]
  }

  const commands: Record<string, Command> = {
    async 'tenant.create'(args: TenantInput): Promise<NewTenant> {
      const made = await setup.createHeadless(cliActor(), args)
      const key = await keys.issue(cliActor(made.tenant_id), made.tenant_id, 'first key', ['*'])
      return { ...made, api_key: key.api_key }
    },

    async 'tenant.list'() {
      return { items: await everyTenant() }
    },

    async 'key.create'(args: {
      tenant: string | null
      name: string
      scopes: string[]
      expires_at: number | null
    }) {
      const tenant = await tenantOf(args)
      const made = await keys.issue(cliActor(tenant), tenant, args.name, args.scopes, args.expires_at)
      return { key_id: made.id, api_key: made.api_key }
    },

    async 'key.list'(args: { tenant: string | null }): Promise<{ items: KeyItem[] }> {
      const tenant = await tenantOf(args)
      return { items: await keys.list(tenant, { after: null, limit: KEYS_MAX }) }
    },

    async 'key.revoke'(args: { tenant: string | null; id: string }) {
      const tenant = await tenants.get(await tenantOf(args))
      await keys.revoke(principalOf(tenant), args.id)
    },

    async 'user.reset'(args: { email: string }) {
      return members.resetLinkByEmail(cliActor(), args.email)
    },

    async 'user.operator'(args: { email: string; is_operator: boolean }) {
      await members.setOperatorByEmail(cliActor(), args.email, args.is_operator)
    },

    async 'setup.link'() {
      const link = setup.renewLink()
      if (link === null)
        throw problem('conflict', 'Wardpost is set up already: wardpost user reset helps with logins.')
      return { link, expires_at: isoTime(clock.now() + SETUP_LINK_TTL_MS) }
    },

    async backup(args: { folder: string | null; with_key: boolean }): Promise<MadeBackup> {
      const options: BackupOptions = { with_key: args.with_key }
      if (args.folder !== null) options.into = args.folder
      const made = await backups.create('manual', options)
      await db.commit(cliActor(), {
        writes: [],
        audit: {
          action: 'backups.create',
          target: { type: 'backup', id: made.name },
          detail: { bytes: made.bytes, with_key: args.with_key },
        },
      })
      const { path, bytes, sha256, verified } = made
      return { path, bytes, sha256, verified }
    },

    /** Null when this process cannot read them: then they have to be sent. */
    async 'import.paths'(
      args: { tenant: string | null; paths: string[] },
      progress,
    ): Promise<ImportSummary | null> {
      const tenant = await tenantOf(args)
      if (!(await Promise.all(args.paths.map(readable))).every(Boolean)) return null
      return importPaths(ingest, cliActor(tenant), args.paths, monotonic, seldom(progress), 'upload')
    },

    async 'import.files'(args: { tenant: string | null }, progress, files): Promise<ImportSummary> {
      const options = { monotonic, told: seldom(progress), source: 'upload' as const }
      return importFiles(ingest, cliActor(await tenantOf(args)), files, options)
    },

    async reparse(args: { tenant: string | null }, progress): Promise<Counts> {
      const wanted =
        args.tenant === null ? (await everyTenant()).map((each) => each.id) : [await tenantOf(args)]
      const tell = seldom(progress)
      const done: ReparseDone[] = []
      for (const tenant of wanted) {
        done.push(await reparse.run(cliActor(tenant), (so_far) => tell(sum([...done, so_far]))))
      }
      return sum(done)
    },

    async vitals(): Promise<Vitals> {
      const { instance_id, schema_version } = db
      return {
        version: VERSION,
        instance_id,
        schema_version,
        settings: db.settings(),
        chains: await verify(null),
      }
    },

    async 'audit.verify'(args: { tenant: string | null; given: string[] }) {
      return { chains: await verify(args.tenant, args.given) }
    },
  }

  async function verify(tenant: string | null, given: readonly string[] = []): Promise<ChainCheck[]> {
    const out: ChainCheck[] = []
    for (const tenant_id of await chains(tenant)) {
      const result = await audit.verify(cliActor(tenant_id), null, asLines(given))
      const { ok, checked, verdicts, unanchored, first_bad } = result
      out.push({ tenant_id, ok, checked, verdicts, unanchored, first_bad })
    }
    return out
  }

  return (command, args, progress, files) => {
    const run = Object.hasOwn(commands, command) ? commands[command] : undefined
    if (run === undefined) {
      throw problem('invalid_request', `This server does not know the command ${command}.`)
    }
    return run(args as never, progress, files)
  }
}

async function* asLines(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

function sum(parts: readonly ReparseDone[]): Counts {
  const total: Counts = {}
  for (const part of parts) {
    for (const [name, count] of Object.entries(part)) total[name] = (total[name] ?? 0) + count
  }
  return total
}

/** Progress once a second, without the long lists that come at the end. */
function seldom(progress: Progress): (seen: object) => void {
  let told = monotonic()
  return (seen) => {
    if (monotonic() - told < PROGRESS_EVERY_MS) return
    told = monotonic()
    progress(Object.fromEntries(Object.entries(seen).filter(([, value]) => typeof value === 'number')))
  }
}

/** The whole of a folder, as far as one can tell before. */
async function readable(path: string): Promise<boolean> {
  const look = async (): Promise<void> => {
    await access(path, constants.R_OK)
    if ((await stat(path)).isDirectory())
      for (const { path: file } of await filesUnder(path)) await access(file, constants.R_OK)
  }
  return look().then(
    () => true,
    () => false,
  )
}

/** Somebody with a shell may do everything in every tenant. */
function principalOf(tenant: Omit<TenantContext, 'status'> & { status: string }): Principal {
  return {
    kind: 'session',
    tenant_id: tenant.id,
    tenant: { ...tenant, status: 'active' },
    user: null,
    key: null,
    session_id: null,
    role: 'owner',
    is_operator: true,
    scopes: new Set(Object.keys(SCOPES)),
    actor: cliActor(tenant.id),
  }
}
