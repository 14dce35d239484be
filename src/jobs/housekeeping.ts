/** Removes what has had its time: sessions, links, answers kept for a repeated request. */
import type { Db } from '../db/types.ts'
import { DAY_MS } from '../lib/clock.ts'
import { systemActor } from '../lib/actors.ts'

/** A used or expired link is kept this long, so that opening it again says why it is of no use. */
const LINKS_KEPT_MS = 7 * DAY_MS

const EXPIRED = [
  { what: 'sessions', where: 'expires_at <= ?', kept_ms: 0 },
  { what: 'links', where: 'expires_at <= ?', kept_ms: LINKS_KEPT_MS },
  { what: 'idempotency', where: 'expires_at <= ?', kept_ms: 0 },
] as const

export function createHousekeeping(db: Db) {
  return {
    /** Answers what was removed, in words, or nothing. */
    async expire(now: number): Promise<string | void> {
      const told: string[] = []
      for (const { what, where, kept_ms } of EXPIRED) {
        const [rows] = await db.commit(systemActor(), {
          writes: [{ sql: `DELETE FROM ${what} WHERE ${where} RETURNING 1`, params: [now - kept_ms] }],
          audit: { none: 'job' },
        })
        if (rows!.length > 0) told.push(`${rows!.length} ${what.replaceAll('_', ' ')}`)
      }
      if (told.length > 0) return told.join(', ')
    },
  }
}
