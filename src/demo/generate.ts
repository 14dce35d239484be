/**
 * Fills an empty installation with the demo tenant. Nothing is put into tables by hand: people, keys and domains are
 * made by the services, and months of report files, written by a generator in the forms that receivers use, go
 * through the same ingest as anybody's.
 */
import { DAY_MS, dayOf, type Clock } from '../lib/clock.ts'
import { type Principal, ROLE_SCOPES } from '../lib/principal.ts'
import type { DomainsService } from '../domains/service.ts'
import type { KeyService } from '../keys/service.ts'
import type { DnsResolver } from '../net/dns.ts'
import { inParallel } from '../reports/blobs.ts'
import type { Ingest } from '../reports/ingest.ts'
import type { SetupService } from '../tenants/setup.ts'
import type { LoginService } from '../users/login.ts'
import type { MemberService } from '../users/members.ts'
import { type DemoAlertServices, makeAlerts } from './alerts.ts'
import { type DemoFile, failureFile, reportFile, tlsFile } from './files.ts'
import { recordsOf } from './mailflow.ts'
import { type Chance, createChance } from './random.ts'
import { DEMO_DAYS, type DemoDomain, DOMAINS, FORGOTTEN, RECEIVERS } from './scenario.ts'

export interface DemoServices extends DemoAlertServices {
  setup: SetupService
  login: LoginService
  members: MemberService
  keys: KeyService
  domains: DomainsService
  ingest: Ingest
}

export interface DemoAccount {
  tenant_id: string
  email: string
  password: string
  /** A key with every scope. */
  api_key: string
  files: number
}

export const DEMO_EMAIL = 'ada@northlight.example'
export const DEMO_PASSWORD = 'northern lights over the lab'
const FILES_AT_ONCE = 16
const CLIENT = { ip: null, user_agent: 'demo', request_id: 'demo' }

/** The zone of the demo, for `createApp`: records of its domains, and the proof that they are its own. */
export function createDemoResolver(tokens: ReadonlyMap<string, string>): DnsResolver {
  return {
    mode: 'servers',
    detail: 'Demo: a made-up zone',
    async txt(name) {
      const value = tokens.get(name) ?? recordOf(name)
      return value === null ? { state: 'missing' } : { state: 'found', values: [value] }
    },
  }
}

function recordOf(name: string): string | null {
  const domain = DOMAINS.find((each) => name === `_dmarc.${each.name}`)
  return domain?.record ?? null
}

/**
 * Seeds an installation that nobody owns yet. `tokens` is the map the resolver answers from. Throws when the
 * installation is set up already.
 */
export async function seedDemo(
  services: DemoServices,
  options: { clock: Clock; tokens: Map<string, string>; seed?: number; days?: number },
): Promise<DemoAccount> {
  const chance = createChance(options.seed ?? 20_261_121)
  const today = dayOf(options.clock.now())
  const principal = await createPeople(services)
  await createDomains(services, principal, options.tokens)
  const files = demoFiles(today, options.days ?? DEMO_DAYS, chance)
  const run = services.ingest.run(principal.actor, 'upload', 'reports.import', () => undefined)
  await inParallel(files, FILES_AT_ONCE, (file) => run.add(file))
  await run.finish()
  // After everything else has landed: sent again, and sent again with more in it.
  const again = files.filter((_, i) => i % 120 === 7)
  await services.ingest.upload(principal.actor, 'upload', [...again, ...revisedFiles(files)])
  await makeAlerts(services, principal)
  const key = await services.keys.create(principal, { name: 'SIEM export', scopes: ['*:read'] })
  await services.keys.create(principal, { name: 'Report forwarder', scopes: ['reports:write'] })
  const everything = await services.keys.create(principal, { name: 'Automation', scopes: ['*'] })
  await services.keys.revoke(principal, key.id)
  return {
    tenant_id: principal.tenant_id,
    email: DEMO_EMAIL,
    password: DEMO_PASSWORD,
    api_key: everything.api_key,
    files: files.length,
  }
}

async function createPeople({ setup, members, login }: DemoServices): Promise<Principal> {
  const link = setup.renewLink()
  if (link === null) throw new Error('the demo needs an empty data folder')
  const owner = {
    token: link.split('#')[1]!,
    name: 'Ada Nordin',
    email: DEMO_EMAIL,
    password: DEMO_PASSWORD,
    organisation: 'Northlight Labs',
  }
  const { user, tenant } = await setup.complete(owner, CLIENT)
  const principal = principalOf(user, tenant)
  const colleagues = [
    ['Milo Varga', 'milo', 'admin'],
    ['Sanna Oduya', 'sanna', 'analyst'],
    ['Theo Brandt', 'theo', 'viewer'],
  ] as const
  for (const [name, local, role] of colleagues) {
    const invite = await members.invite(principal, `${local}@northlight.example`, role)
    const token = invite.link.split('#')[1]!
    await login.accept({ token, name, password: `${DEMO_PASSWORD}, ${local}` }, CLIENT)
  }
  await members.invite(principal, 'ines@northlight.example', 'analyst')
  return principal
}

function principalOf(
  user: { id: string; name: string; email: string },
  tenant: { id: string; name: string },
): Principal {
  const limits = {
    domains: null,
    key_per_minute: 0,
    tenant_per_minute: 0,
    phishing_upload_per_minute: 0,
    detonate_per_hour: 0,
    threats_query_per_minute: 0,
  }
  return {
    kind: 'session',
    tenant_id: tenant.id,
    tenant: { ...tenant, plan: 'pro', status: 'active', limits },
    user,
    key: null,
    session_id: null,
    role: 'owner',
    is_operator: true,
    scopes: ROLE_SCOPES.owner,
    actor: {
      tenant_id: tenant.id,
      type: 'user',
      id: user.id,
      name: user.name,
      key_id: null,
      ip: null,
      request_id: null,
    },
  }
}

async function createDomains(
  { domains }: DemoServices,
  principal: Principal,
  tokens: Map<string, string>,
): Promise<void> {
  for (const demo of DOMAINS) {
    const { id, verification } = await domains.create(principal, {
      name: demo.name,
      profile: demo.profile,
      tags: demo.tags,
      ...(demo.threshold === undefined ? {} : { compliance_threshold: demo.threshold }),
      ...(demo.dkim_selectors === undefined ? {} : { dkim_selectors: demo.dkim_selectors }),
      ...(demo.outbound_ips === undefined ? {} : { outbound_ips: demo.outbound_ips }),
    })
    if (demo.verified) {
      tokens.set(verification.record_name, verification.record_value)
      await domains.verify(principal, id, false)
    }
    await domains.check(principal.actor, id)
  }
}

/** Every file, oldest first. */
export function demoFiles(today: number, days: number, chance: Chance): DemoFile[] {
  const files: DemoFile[] = []
  for (let days_ago = days; days_ago >= 1; days_ago--) {
    const day = today - days_ago
    for (const domain of [...DOMAINS, FORGOTTEN]) files.push(...filesOfDay(domain, day, days_ago, chance))
    if (days_ago % 3 === 0) files.push(tlsFile('northlight.example', RECEIVERS[0]!, day, chance))
    if (days_ago % 7 === 0) files.push(tlsFile('northlight.example', RECEIVERS[1]!, day, chance))
  }
  const subjects = [
    'Overdue invoice 88213',
    'Your mailbox is almost full',
    'Payment details changed',
    'Re: contract',
  ]
  for (const [i, subject] of subjects.entries()) {
    const sent = (today - 74 + i * 3) * DAY_MS + i * 4_000_000
    files.push(failureFile('northlight.example', sent, `198.18.${37 + i}.${40 + i}`, subject))
  }
  return [...files, ...brokenFiles(files)]
}

function filesOfDay(domain: DemoDomain, day: number, days_ago: number, chance: Chance): DemoFile[] {
  const files: DemoFile[] = []
  for (const { receiver: name, share } of domain.reported_by) {
    if (!chance.hit(share)) continue
    const receiver = RECEIVERS.find((each) => each.name === name)!
    const records = recordsOf(domain, receiver, day, days_ago, chance)
    if (records.length > 0) files.push(reportFile(domain, receiver, day, days_ago, records, chance))
  }
  return files
}

/** Reports that their sender sent once more, with a record it had left out. */
function revisedFiles(files: readonly DemoFile[]): DemoFile[] {
  const late = `  <record>
    <row><source_ip>198.51.100.13</source_ip><count>3</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated></row>
    <identifiers><header_from>northlight.example</header_from></identifiers>
    <auth_results><dkim><domain>northlight.example</domain><selector>mx2026</selector><result>pass</result></dkim></auth_results>
  </record>
</feedback>`
  const plain = files.filter(
    (file) => file.name.includes('!northlight.example!') && file.name.endsWith('.xml'),
  )
  return plain.slice(-3).map(({ name, content }) => {
    const text = new TextDecoder().decode(content).replace('</feedback>', late)
    return { name, content: new TextEncoder().encode(text) }
  })
}

/** What also arrives at a report address, and is refused. */
function brokenFiles(files: readonly DemoFile[]): DemoFile[] {
  const utf8 = new TextEncoder()
  const zipped = files.find((file) => file.name.endsWith('.gz'))!
  return [
    { name: 'invoice_4711.html', content: utf8.encode('<html><body>Please see attached</body></html>') },
    {
      name: zipped.name.replace(/!\d+!/, '!1!'),
      content: zipped.content.slice(0, zipped.content.length >> 1),
    },
    { name: 'unused.xml.gz', content: utf8.encode('unused') },
    {
      name: 'logo.png',
      content: new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
    },
  ]
}
