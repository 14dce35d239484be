/**
 * Random histories: reports, revisions, duplicates and broken files of two tenants, domains that come and go, a
 * restart now and then. Whatever happened, the roll-ups are what a recount of the records says, every report belongs
 * to the nearest domain, and neither tenant sees the other.
 */
import { expect, test } from 'bun:test'
import { createDomains } from '../../src/domains/service.ts'
import { createChance } from '../../src/demo/random.ts'
import type { Principal } from '../../src/lib/principal.ts'
import { createResolver } from '../../src/net/dns.ts'
import { createBlobs } from '../../src/reports/blobs.ts'
import { createIngest } from '../../src/reports/ingest.ts'
import { openTestDb, testActor, type TestDb } from '../support/db.ts'
import { recount, rollupRows } from '../support/recount.ts'
import { addTenant, BEGIN, DAY, type ReportSpec, specFile, specPool } from '../support/reports.ts'

const TENANTS = ['ten_a', 'ten_b']
const NAMES = ['a.example', 'b.a.example', 'c.b.a.example', 'z.example', 'xa.example']
const STEPS = 60

async function nearestOwner(at: TestDb): Promise<void> {
  const domains = await at.db.query<{ id: string; tenant_id: string; name: string }>('SELECT * FROM domains')
  const policies = await at.db.query<{ tenant_id: string; name: string; domain_id: string | null }>(
    'SELECT tenant_id, name, domain_id FROM policy_domains',
  )
  for (const policy of policies) {
    const above = domains.filter(
      ({ tenant_id, name }) =>
        tenant_id === policy.tenant_id && (policy.name === name || policy.name.endsWith(`.${name}`)),
    )
    above.sort((a, b) => b.name.length - a.name.length)
    expect([policy.name, policy.domain_id]).toEqual([policy.name, above[0]?.id ?? null])
  }
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`history ${seed}`, async () => {
    const chance = createChance(seed)
    const at = await openTestDb()
    for (const tenant of TENANTS) await addTenant(at.db, tenant)
    const make = () => {
      const blobs = createBlobs(at.data_dir, at.clock)
      return createIngest({ db: at.db, clock: at.clock, pool: specPool(), blobs, networks: null })
    }
    let ingest = make()
    const resolver = createResolver({ servers: 'none', timeout_ms: 1 })
    const domains = createDomains({ db: at.db, clock: at.clock, resolver })
    const report = (): ReportSpec => ({
      id: `r${chance.between(1, 4)}`,
      domain: chance.pick(NAMES),
      begin: BEGIN + chance.between(0, 2) * DAY,
      ...(chance.hit(0.15) ? { end: BEGIN + 40 * DAY } : {}),
      ...(chance.hit(0.1) ? { breaks: true as const } : {}),
      ...(chance.hit(0.2) ? { late_meta: true as const } : {}),
      rows: Array.from({ length: chance.hit(0.1) ? 1200 : chance.between(0, 5) }, () => ({
        ip: `192.0.${chance.between(1, 4)}.${chance.between(1, 30)}`,
        count: chance.between(1, 40),
        dkim: chance.hit(0.5),
        spf: chance.hit(0.4),
        disposition: chance.pick(['none', 'quarantine', 'reject', 'pass'] as const),
      })),
    })
    for (let step = 0; step < STEPS; step++) {
      at.clock.advance(1000)
      const tenant = chance.pick(TENANTS)
      const actor = testActor(tenant)
      const what = chance.next()
      if (what < 0.65) {
        const files = Array.from({ length: chance.between(1, 4) }, (_, i) => ({
          name: `${i}`,
          content: specFile(chance.hit(0.1) ? 'nothing' : [report(), report()]),
        }))
        await Promise.all([ingest.upload(actor, 'upload', files), ingest.upload(actor, 'upload', files)])
      } else if (what < 0.8) {
        const limits = { domains: null } as Principal['tenant']['limits']
        const principal = { actor, tenant_id: tenant, tenant: { limits } } as unknown as Principal
        await domains.create(principal, { name: chance.pick(NAMES) }).catch((error: { code: string }) => {
          expect(error.code).toBe('already_exists')
        })
      } else if (what < 0.93) {
        const [found] = await at.db.query<{ id: string }>(
          'SELECT id FROM domains WHERE tenant_id = ? LIMIT 1',
          [tenant],
        )
        if (found !== undefined) await domains.remove(actor, found.id)
      } else {
        ingest = make()
        await ingest.recover()
      }
    }
    expect(await rollupRows(at.db)).toEqual(await recount(at.db))
    await nearestOwner(at)
    const loose = await at.db.query(
      'SELECT 1 FROM report_chunks WHERE rid NOT IN (SELECT rid FROM reports) UNION ALL SELECT 1 FROM report_loads',
    )
    expect(loose).toEqual([])
    const foreign = await at.db.query(
      `SELECT 1 FROM reports r JOIN policy_domains p ON p.id = r.policy_domain_id WHERE p.tenant_id <> r.tenant_id
UNION ALL SELECT 1 FROM report_chunks c JOIN reports r USING (rid) WHERE c.tenant_id <> r.tenant_id`,
    )
    expect(foreign).toEqual([])
    await at.close()
  }, 30_000)
}
