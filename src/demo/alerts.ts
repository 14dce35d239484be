/** What the rules find in the demo's reports, and how somebody began to work on it. */
import type { AlertService } from '../alerts/service.ts'
import type { Watch } from '../alerts/watch.ts'
import type { Compliance } from '../domains/compliance.ts'
import type { Principal } from '../lib/principal.ts'

export interface DemoAlertServices {
  alerts: AlertService
  compliance: Compliance
  watch: Watch
}

const NOTE = 'The shop sends its receipts through a new service. Asked them for a DKIM key of our own.'

export async function makeAlerts(
  { alerts, compliance, watch }: DemoAlertServices,
  principal: Principal,
): Promise<void> {
  await compliance.evaluate()
  await watch.reportsStopped()
  await watch.importFailures()
  const { tenant_id } = principal
  const page = { sort: 'severity', after: null, limit: 1 } as const
  const [mildest] = await alerts.list(tenant_id, { kind: ['compliance_low'], severity: ['medium'] }, page)
  if (mildest === undefined || principal.user === null) return
  await alerts.assign(principal, mildest.id, principal.user.id)
  await alerts.note(principal, mildest.id, NOTE)
  await alerts.acknowledge(principal, mildest.id)
}
