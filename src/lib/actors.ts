/** Actors that are not a request's principal. */
import { type Actor, type Principal, SYSTEM_CHAIN } from './principal.ts'

/** Wardpost itself: jobs, boot, roll-ups. */
export function systemActor(tenant_id: string = SYSTEM_CHAIN): Actor {
  return {
    tenant_id,
    type: 'system',
    id: null,
    name: 'Wardpost',
    key_id: null,
    ip: null,
    request_id: null,
  }
}

/** Somebody with a shell on the machine. */
export function cliActor(tenant_id: string = SYSTEM_CHAIN): Actor {
  return { ...systemActor(tenant_id), type: 'cli', name: 'command line' }
}

/** Nobody known: logins, links, set-up. */
export function anonymousActor(
  ip: string | null,
  request_id: string | null,
  tenant_id = SYSTEM_CHAIN,
): Actor {
  return { tenant_id, type: 'anonymous', id: null, name: null, key_id: null, ip, request_id }
}

/** The principal acting on the installation: its entry goes to the system chain. */
export function operatorActor(principal: Principal): Actor {
  return { ...principal.actor, tenant_id: SYSTEM_CHAIN, type: 'operator' }
}
