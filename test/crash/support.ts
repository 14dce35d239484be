/** What is written before a crash, and what must be true after it. */
import { expect } from 'bun:test'
import { createAuditStore } from '../../src/audit/store.ts'
import { verifyChain } from '../../src/audit/verify.ts'
import { openDb } from '../../src/db/open.ts'
import type { Db } from '../../src/db/types.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { testActor } from '../support/db.ts'

const TENANTS = ['ten_a', 'ten_b', 'ten_c']

/** One change with everything a change can have: two rows, an entry with personal values, an event. */
export function randomWrite(id: string): Parameters<Db['commit']> {
  const tenant_id = TENANTS[Math.floor(Math.random() * TENANTS.length)]!
  const actor = testActor(tenant_id, {
    type: 'key',
    id: 'key_1',
    key_id: 'key_1',
    name: 'Ada',
    ip: '192.0.2.1',
  })
  const sql = 'INSERT INTO meta (key, value) VALUES (?, ?)'
  const size = Math.floor(Math.random() * 3000)
  return [
    actor,
    {
      writes: [
        { sql, params: [id, 'x'.repeat(size)] },
        { sql, params: [`${id}-twin`, ''] },
      ],
      audit: { action: 'settings.update', target: { type: 'setting', id } },
      events: [{ id: `evt_${id}`, type: 'RBL_LISTED', created_at: 0, data: { id } }],
    },
  ]
}

export interface Survivors {
  ids: Set<string>
}

/**
 * Starts on the data folder as the product does and checks all that must hold after any crash: the file is sound,
 * every chain whole, and each change there with all of its parts or not at all.
 */
export async function openAfterCrash(data_dir: string): Promise<Survivors> {
  const db = openDb({ data_dir, clock: systemClock, reserve_bytes: 0 })
  try {
    const [check] = await db.query<{ integrity_check: string }>('PRAGMA integrity_check')
    expect(check?.integrity_check).toBe('ok')
    const rows = await db.query<{
      id: string
      twin: string | null
      event: string | null
      entry: number | null
    }>(
      `SELECT m.key AS id, twin.key AS twin, v.id AS event, e.seq AS entry
         FROM meta m
         LEFT JOIN meta twin ON twin.key = m.key || '-twin'
         LEFT JOIN events v ON v.id = 'evt_' || m.key
         LEFT JOIN audit_entries e ON e.target_id = m.key
        WHERE m.key GLOB 'w*' AND m.key NOT GLOB '*-twin'`,
    )
    expect(rows.filter((row) => row.twin === null || row.event === null || row.entry === null)).toEqual([])
    let entries = 0
    for (const tenant_id of TENANTS) {
      const chain = { instance_id: db.instance_id, tenant_id }
      const result = await verifyChain(createAuditStore(db), chain, null)
      expect(result).toMatchObject({ ok: true, redacted: 0 })
      entries += result.checked
    }
    // No entry tells of a change that did not happen.
    expect(entries).toBe(rows.length)
    return { ids: new Set(rows.map((row) => row.id)) }
  } finally {
    await db.close()
  }
}
