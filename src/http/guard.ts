/**
 * What every API route stands behind: `principal` in its context and `can` on the route. After permission comes
 * the idempotency key of a POST. A route without `can` fails the authorisation test.
 */
import { Elysia } from 'elysia'
import { problem } from '../lib/errors.ts'
import type { Principal } from '../lib/principal.ts'
import type { Idempotency } from './idempotency.ts'
import { stateOf } from './request.ts'

export interface GuardDeps {
  idempotency: Idempotency
  /** Told of every refused permission, for the audit log. */
  denied(principal: Principal, scope: string, action: string): Promise<void>
}

export function createGuard(deps: GuardDeps) {
  return new Elysia({ name: 'guard' })
    .derive({ as: 'scoped' }, ({ request }) => {
      const state = stateOf(request)
      if (state.principal === null) throw problem('unauthenticated')
      return { principal: state.principal, ip: state.ip }
    })
    .macro({
      can: (scope: string) => ({
        async beforeHandle({ request, body, route, ...context }) {
          if (scope === 'public') return undefined
          const { principal } = context as unknown as { principal: Principal }
          if (scope !== 'member' && !principal.scopes.has(scope)) {
            await deps.denied(principal, scope, `${request.method} ${route}`)
            throw missingScope(scope)
          }
          if (request.method === 'POST') return deps.idempotency.begin(request, principal, body)
          return undefined
        },
      }),
    })
    .onAfterHandle({ as: 'scoped' }, async ({ request, responseValue, set }) => {
      if (request.method !== 'POST') return
      const status = typeof set.status === 'number' ? set.status : 200
      await deps.idempotency.finish(request, status, responseValue)
    })
    .onError({ as: 'scoped' }, ({ request }) => {
      if (request.method === 'POST') deps.idempotency.release(request)
    })
}

export type Guard = ReturnType<typeof createGuard>

export function missingScope(scope: string) {
  return problem('insufficient_scope', `This needs the scope ${scope}.`, {
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    extra: { required_scope: scope },
  })
}
