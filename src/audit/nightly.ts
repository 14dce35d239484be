/** Verifies every chain by itself each night: a log that is not whole must not wait for somebody to ask. */
import type { AlertDraft, AlertRaiser } from '../alerts/types.ts'
import type { Db } from '../db/types.ts'
import { systemActor } from '../lib/actors.ts'
import { SYSTEM_CHAIN } from '../lib/principal.ts'
import type { AuditService } from './service.ts'
import type { Bad, Verification } from './verify.ts'

export interface NightlyDeps {
  db: Pick<Db, 'query'>
  audit: Pick<AuditService, 'verify'>
  alerts: Pick<AlertRaiser, 'raiseNow' | 'settleNow' | 'raiseForOperators' | 'settleForOperators'>
}

export type Nightly = ReturnType<typeof createNightly>

export function createNightly({ db, audit, alerts }: NightlyDeps) {
  async function tell(tenant_id: string, result: Verification): Promise<void> {
    const key = `audit:not_whole:${tenant_id}`
    if (result.first_bad === undefined) {
      const why = 'The log is whole again.'
      if (tenant_id === SYSTEM_CHAIN) await alerts.settleForOperators(key, why)
      else await alerts.settleNow(tenant_id, key, why)
      return
    }
    const draft = alertOf(tenant_id, result.first_bad, key)
    if (tenant_id === SYSTEM_CHAIN) await alerts.raiseForOperators(draft)
    else await alerts.raiseNow(systemActor(tenant_id), draft)
  }

  return {
    /** Answers how many chains were verified, and how many of them are not whole. */
    async run(signal: AbortSignal): Promise<{ chains: number; bad: number }> {
      const done = { chains: 0, bad: 0 }
      const tenants = await db.query<{ id: string }>('SELECT id FROM tenants ORDER BY id')
      for (const tenant_id of [SYSTEM_CHAIN, ...tenants.map(({ id }) => id)]) {
        if (signal.aborted) break
        const result = await audit.verify(systemActor(tenant_id), null)
        await tell(tenant_id, result)
        done.chains += 1
        if (!result.ok) done.bad += 1
      }
      return done
    },
  }
}

function alertOf(tenant_id: string, bad: Bad, dedupe_key: string): AlertDraft {
  return {
    kind: 'audit_anomaly',
    severity: 'critical',
    title: 'The audit log is not whole',
    summary: `Entry ${bad.seq} is ${bad.kind}. ${bad.detail} Somebody changed the database past Wardpost, or a disk is failing. Keep the checkpoints that were sent elsewhere, and export the log as evidence before anything else.`,
    subject: { type: 'audit', id: tenant_id },
    evidence: { ...bad },
    dedupe_key,
  }
}
