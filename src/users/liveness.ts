/** Whether a credential that was good when a long answer began still is. Does not count as a use of it. */
import type { Db } from '../db/types.ts'
import type { Clock } from '../lib/clock.ts'
import { SESSION_IDLE_MS } from '../lib/limits.ts'
import type { Principal } from '../lib/principal.ts'

const KEY = `SELECT 1 FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
  WHERE k.id = ?1 AND k.tenant_id = ?2 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?3)
    AND t.status = 'active'`

/** With the same role as before: a person who may see less now must ask again. */
const SESSION = `SELECT 1 FROM sessions s
  LEFT JOIN memberships m ON m.user_id = s.user_id AND m.tenant_id = s.tenant_id
  WHERE s.id = ?1 AND s.tenant_id IS ?2 AND s.expires_at > ?3 AND s.last_seen_at > ?4 AND m.role IS ?5`

export function createLiveness({ db, clock }: { db: Pick<Db, 'query'>; clock: Clock }) {
  return async (principal: Principal): Promise<boolean> => {
    const now = clock.now()
    const { tenant_id, key, session_id, role } = principal
    const rows =
      key === null
        ? await db.query(SESSION, [session_id, tenant_id, now, now - SESSION_IDLE_MS, role])
        : await db.query(KEY, [key.id, tenant_id, now])
    return rows.length > 0
  }
}
