/**
 * Looks for what is wrong with an installation. The slow looks at the files are made by this process, so that a running
 * server does not stand still for them; what only the server knows was asked for before.
 */
import { runDoctor } from '../db/doctor.ts'
import type { OpenedDb } from '../db/open.ts'
import { isoTime, systemClock } from '../lib/clock.ts'
import type { ChainCheck } from './care.verbs.ts'
import { VERSION } from './version.ts'

export interface Finding {
  name: string
  status: 'ok' | 'warning' | 'failed'
  detail: string
}

/** What the server, or the opened folder, says of itself. */
export interface Vitals {
  version: string
  instance_id: string
  schema_version: number
  settings: ReturnType<OpenedDb['settings']>
  chains: ChainCheck[]
}

/** Before the year in which this was written, the clock of the machine is wrong. */
const CLOCK_FLOOR_MS = Date.UTC(2026, 0, 1)

export function examine(data_dir: string, vitals: Vitals): Finding[] {
  const now_ms = systemClock.now()
  const same = vitals.version === VERSION
  return [
    {
      name: 'version',
      status: same ? 'ok' : 'warning',
      detail: same
        ? `Wardpost ${VERSION}, instance ${vitals.instance_id}`
        : `the server is ${vitals.version}, this is ${VERSION}`,
    },
    { name: 'clock', status: now_ms > CLOCK_FLOOR_MS ? 'ok' : 'failed', detail: isoTime(now_ms) },
    ...runDoctor({ data_dir, now_ms, settings: vitals.settings }),
    ...vitals.chains.map(chainFinding),
  ]
}

function chainFinding({ tenant_id, ok, checked, first_bad }: ChainCheck): Finding {
  const detail =
    first_bad === undefined ? `${checked} entries` : `entry ${first_bad.seq} is ${first_bad.kind}`
  return { name: `chain ${tenant_id}`, status: ok ? 'ok' : 'failed', detail }
}
