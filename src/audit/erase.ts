/**
 * Erases the personal values of one person from the log: names, addresses and whatever else stands beside its entries.
 * The chain holds only their salted hash, so it stays whole; verification counts such entries as redacted. The entry
 * that records the erasure names the person by id or not at all.
 */
import type { Db, RawWrite } from '../db/types.ts'
import { invalid, problem } from '../lib/errors.ts'
import { normalizeIp } from '../lib/ip.ts'
import type { Principal } from '../lib/principal.ts'
import type { EraseInput } from './schema.ts'

export type Erasure = ReturnType<typeof createErasure>

/** Rows removed in one change. */
const ROWS_AT_ONCE = 500
/** Entries looked at between two turns of the event loop. */
const SLICE_ENTRIES = 20_000

/** One look at a slice of the rows beside the entries: `?1` tenant, `?2` and `?3` the slice, `?4` what is looked for. */
const BY = {
  user_id: `SELECT p.seq FROM audit_personal p JOIN audit_entries e ON e.tenant_id = p.tenant_id AND e.seq = p.seq
    WHERE p.tenant_id = ?1 AND p.seq BETWEEN ?2 AND ?3 AND (e.actor_id = ?4 OR e.target_id = ?4)`,
  ip: `SELECT seq FROM audit_personal WHERE tenant_id = ?1 AND seq BETWEEN ?2 AND ?3
    AND json_extract(body, '$.ip') = ?4`,
  email: `SELECT p.seq FROM audit_personal p WHERE p.tenant_id = ?1 AND p.seq BETWEEN ?2 AND ?3
    AND EXISTS (SELECT 1 FROM json_each(p.body) v WHERE v.type = 'text' AND lower(v.value) = ?4)`,
} as const

interface Search {
  by: keyof typeof BY
  value: string
}

export function createErasure({ db }: { db: Db }) {
  async function find(tenant_id: string, { by, value }: Search): Promise<number[]> {
    const [ends] = await db.query<{ last: number | null }>(
      'SELECT max(seq) AS last FROM audit_personal WHERE tenant_id = ?',
      [tenant_id],
    )
    const found: number[] = []
    for (let from = 1; from <= (ends?.last ?? 0); from += SLICE_ENTRIES) {
      const rows = await db.query<{ seq: number }>(BY[by], [tenant_id, from, from + SLICE_ENTRIES - 1, value])
      for (const { seq } of rows) found.push(seq)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return found
  }

  /** A person is also what the account of an address did here. */
  async function searches(tenant_id: string, subject: EraseInput['subject']): Promise<Search[]> {
    if ('user_id' in subject) return [{ by: 'user_id', value: subject.user_id }]
    if ('ip' in subject) {
      const ip = normalizeIp(subject.ip)
      if (ip === null) throw invalid('/subject/ip', 'invalid_address', 'This is no address.')
      return [{ by: 'ip', value: ip }]
    }
    const email = subject.email.trim().toLowerCase()
    const accounts = await db.query<{ id: string }>(
      `SELECT u.id FROM users u JOIN memberships m ON m.user_id = u.id AND m.tenant_id = ? WHERE u.email = ?`,
      [tenant_id, email],
    )
    return [
      { by: 'email', value: email },
      ...accounts.map(({ id }): Search => ({ by: 'user_id', value: id })),
    ]
  }

  return {
    /** Throws `insufficient_role` for anybody but owners, admins and keys that may change settings. */
    async erase(principal: Principal, { subject }: EraseInput): Promise<{ erased: number }> {
      const { tenant_id, actor, role } = principal
      if (principal.kind === 'session' && role !== 'owner' && role !== 'admin')
        throw problem('insufficient_role')
      const all = await searches(tenant_id, subject)
      const seqs = new Set<number>()
      for (const search of all) for (const seq of await find(tenant_id, search)) seqs.add(seq)
      const rows = [...seqs].sort((a, b) => a - b)
      for (let at = 0; at + ROWS_AT_ONCE < rows.length; at += ROWS_AT_ONCE) {
        await db.commit(actor, {
          writes: [remove(tenant_id, rows.slice(at, at + ROWS_AT_ONCE))],
          audit: { none: 'staging' },
        })
      }
      const rest = rows.slice(Math.floor(Math.max(0, rows.length - 1) / ROWS_AT_ONCE) * ROWS_AT_ONCE)
      const answer = { erased: rows.length }
      const people = all.filter(({ by }) => by === 'user_id').map(({ value }) => value)
      await db.commit(actor, {
        writes: [remove(tenant_id, rest), ...people.map((id) => forgetNetworks(tenant_id, id))],
        audit: {
          action: 'audit.erase',
          target: 'user_id' in subject ? { type: 'user', id: subject.user_id } : null,
          detail: { by: Object.keys(subject)[0]!, entries: rows.length },
        },
        ...(actor.reply === undefined ? {} : { idempotency: actor.reply(200, answer) }),
      })
      return answer
    },
  }
}

function remove(tenant_id: string, seqs: readonly number[]): RawWrite {
  return {
    sql: 'DELETE FROM audit_personal WHERE tenant_id = ? AND seq = ?',
    rows: seqs.map((seq) => [tenant_id, seq]),
  }
}

/** What the watch for the unusual knows of a person. */
function forgetNetworks(tenant_id: string, subject: string): RawWrite {
  return {
    sql: 'DELETE FROM audit_networks WHERE tenant_id = ? AND subject = ?',
    params: [tenant_id, subject],
  }
}
