/**
 * Kills the running executable again and again under write load and holds it to what it had acknowledged: every
 * domain and report whose request was answered 2xx is there, the audit chain is whole, every start is clean.
 * `bun run crashtest 100` runs it by itself; the tests run a shorter one.
 */
import { ask, emptyPlace, type Running, start } from '../smoke.ts'
import { aggregateXml } from './report.ts'

export interface CrashResult {
  kills: number
  acknowledged: number
  lost: string[]
  /** Requests that were cut off in the middle: done or not, both are right. */
  cut_off: number
  chain_checked: number
  slowest_start_ms: number
}

const WRITERS = 4

/** Runs the whole of it on a folder of its own. Throws where something is wrong that is not a lost write. */
export async function crashServer(kills: number, random: () => number = Math.random): Promise<CrashResult> {
  const place = emptyPlace()
  const acknowledged = new Map<string, 'domain' | 'report'>()
  let cut_off = 0
  let slowest_start_ms = 0
  let chain_checked = 0
  try {
    const made = await ask(
      place,
      'tenant',
      'create',
      '--name',
      'crash',
      '--email',
      'a@crash.test',
      '--plan',
      'enterprise',
      '--limits',
      'key=1000000,tenant=1000000',
    )
    const key = String(made['api_key'])
    for (let kill = 0; kill < kills; kill++) {
      const began = performance.now()
      const server = await start(place)
      slowest_start_ms = Math.max(slowest_start_ms, performance.now() - began)
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        writeUntilDead(server, key, `k${kill}w${writer}`, acknowledged, () => cut_off++),
      )
      await Bun.sleep(20 + random() * 280)
      await server.stop('SIGKILL')
      await Promise.all(writers)
    }
    const server = await start(place)
    const lost = await missing(server, key, acknowledged)
    chain_checked = await verify(server, key)
    if ((await server.stop()) !== 0) throw new Error('the last stop was not clean')
    await mustBeSound(place)
    return { kills, acknowledged: acknowledged.size, lost, cut_off, chain_checked, slowest_start_ms }
  } finally {
    place.remove()
  }
}

/** Adds domains and reports, one after the other, and notes each that was acknowledged. */
async function writeUntilDead(
  server: Running,
  key: string,
  name: string,
  acknowledged: Map<string, 'domain' | 'report'>,
  cutOff: () => void,
): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  for (let n = 0; ; n++) {
    const domain = `${name}n${n}.example`
    try {
      const added = await fetch(`${server.url}/v1/domains`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: domain }),
      })
      const { id } = (await added.json()) as { id: string }
      if (added.status !== 201) throw new Error(`POST /v1/domains answered ${added.status}`)
      acknowledged.set(id, 'domain')
      const uploaded = await fetch(`${server.url}/v1/reports/upload`, {
        method: 'POST',
        headers,
        body: aggregateXml(domain, `${name}-${n}`),
      })
      const answer = (await uploaded.json()) as { results: { reports: { id: string; status: string }[] }[] }
      const report = answer.results[0]?.reports[0]
      if (report?.status === 'created') acknowledged.set(report.id, 'report')
    } catch (error) {
      // The connection died with the server: what was asked last may or may not have happened.
      if (error instanceof Error && error.message.includes('answered')) throw error
      return cutOff()
    }
  }
}

async function missing(
  server: Running,
  key: string,
  acknowledged: ReadonlyMap<string, 'domain' | 'report'>,
): Promise<string[]> {
  const lost: string[] = []
  for (const [id, kind] of acknowledged) {
    const path = kind === 'domain' ? `/v1/domains/${id}` : `/v1/reports/${id}`
    const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } })
    await answer.arrayBuffer()
    if (answer.status !== 200) lost.push(`${id}: ${answer.status}`)
  }
  return lost
}

async function verify(server: Running, key: string): Promise<number> {
  const answer = await fetch(`${server.url}/v1/audit/verify`, { headers: { authorization: `Bearer ${key}` } })
  const found = (await answer.json()) as { ok: boolean; checked: number }
  if (!found.ok) throw new Error(`the audit chain is broken: ${JSON.stringify(found)}`)
  return found.checked
}

async function mustBeSound(place: ReturnType<typeof emptyPlace>): Promise<void> {
  const doctor = (await ask(place, 'doctor')) as { ok?: boolean; checks?: unknown }
  if (doctor.ok !== true) throw new Error(`doctor: ${JSON.stringify(doctor)}`)
}
