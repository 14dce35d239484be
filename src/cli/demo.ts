/** `demo`: a tenant with months of made-up reports, in a data folder of its own, with a made-up zone as its DNS. */
import type { OpenedDb } from '../db/open.ts'
import { createDemoResolver, DEMO_EMAIL, DEMO_PASSWORD, seedDemo } from '../demo/generate.ts'
import { systemClock } from '../lib/clock.ts'
import type { DnsResolver } from '../net/dns.ts'
import type { Product } from './product.ts'

/** Unless another is named: the demo must never lie among real data. */
export const DEMO_DATA = './wardpost-demo'

export interface DemoZone {
  resolver: DnsResolver
  /** What the zone answers for, filled as domains are verified. */
  tokens: Map<string, string>
}

export function createDemoZone(): DemoZone {
  const tokens = new Map<string, string>()
  return { resolver: createDemoResolver(tokens), tokens }
}

/** Fills an empty folder, or takes up one that was filled before. Answers what to tell the person at the terminal. */
export async function openDemo({ app, db }: Product, { tokens }: DemoZone): Promise<string[]> {
  if (app.services.setup.isSetUp()) await recallTokens(db, tokens)
  else await seedDemo(app.services, { clock: systemClock, tokens })
  return [`Sign in as ${DEMO_EMAIL} with the password: ${DEMO_PASSWORD}`]
}

/** The records that prove the demo's domains, as they were when it was made. */
async function recallTokens(db: OpenedDb, tokens: Map<string, string>): Promise<void> {
  const rows = await db.query<{ name: string; verification_token: string }>(
    `SELECT name, verification_token FROM domains WHERE status = 'verified'`,
  )
  for (const { name, verification_token } of rows) {
    tokens.set(`_wardpost.${name}`, `wardpost-verification=${verification_token}`)
  }
}
