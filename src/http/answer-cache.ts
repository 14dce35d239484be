/**
 * Answers of lists, kept while nothing of their tenant changes. Every commit tells its tenant before whoever made it
 * goes on, so an answer is never older than the last acknowledged change; the day is part of the key, since windows
 * move with it. Bounded in bytes, least recently used first out. One node's memory only: it saves work, it holds no truth.
 */
import type { Db } from '../db/types.ts'
import type { Clock } from '../lib/clock.ts'
import { dayOf } from '../lib/clock.ts'
import { ANSWER_CACHE_BYTES_MAX, ANSWER_CACHE_ENTRY_BYTES_MAX } from '../lib/limits.ts'
import { type Principal, SYSTEM_CHAIN } from '../lib/principal.ts'

export interface AnswerCache {
  /** The kept answer to this URL for this tenant, or the computed one. `compute` may throw; then nothing is kept. */
  json(principal: Principal, url: string, compute: () => Promise<unknown>): Promise<Response>
}

interface Entry {
  body: string
  generation: string
}

export function createAnswerCache(deps: { db: Pick<Db, 'onCommit'>; clock: Clock }): AnswerCache {
  const entries = new Map<string, Entry>()
  const changes = new Map<string, number>()
  let bytes = 0

  deps.db.onCommit(({ tenant_id }) => changes.set(tenant_id, (changes.get(tenant_id) ?? 0) + 1))
  // Jobs of the installation may touch any tenant.
  const generationOf = (tenant_id: string): string =>
    `${changes.get(tenant_id) ?? 0}.${changes.get(SYSTEM_CHAIN) ?? 0}.${dayOf(deps.clock.now())}`

  const drop = (key: string, entry: Entry): void => {
    entries.delete(key)
    bytes -= entry.body.length
  }
  const keep = (key: string, entry: Entry): void => {
    if (entry.body.length > ANSWER_CACHE_ENTRY_BYTES_MAX) return
    entries.set(key, entry)
    bytes += entry.body.length
    for (const [oldest, other] of entries) {
      if (bytes <= ANSWER_CACHE_BYTES_MAX) break
      drop(oldest, other)
    }
  }

  return {
    async json(principal, url, compute) {
      const key = `${principal.tenant_id}\n${url}`
      const generation = generationOf(principal.tenant_id)
      const kept = entries.get(key)
      if (kept !== undefined) {
        drop(key, kept)
        if (kept.generation === generation) {
          keep(key, kept)
          return answer(kept.body)
        }
      }
      const body = JSON.stringify(await compute())
      if (generationOf(principal.tenant_id) === generation && !entries.has(key))
        keep(key, { body, generation })
      return answer(body)
    },
  }
}

const HEADERS = { headers: { 'content-type': 'application/json;charset=utf-8' } }

function answer(body: string): Response {
  return new Response(body, HEADERS)
}
