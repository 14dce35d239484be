/** Every documented route, asked by nobody, by the wrong key and for another tenant's things. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemActor } from '../src/lib/actors.ts'
import { documentedRoutes, type DocumentedRoute } from '../src/http/openapi.ts'
import { INSTANCE_SCOPES, SCOPES } from '../src/lib/principal.ts'
import { openTestApp, type TestApp } from './support/app.ts'

let t: TestApp
let routes: DocumentedRoute[]
let other_key: string

/** A path with ids that no tenant has, or those of the other tenant where there is one. */
const filled = (path: string, id = 'dom_00000000000000000000000000'): string =>
  path.replace(/\{seq\}/g, '999999').replace(/\{\w+\}/g, id)

beforeAll(async () => {
  t = await openTestApp()
  await t.tenant('First')
  const other = await t.tenant('Other', ['*'], 'enterprise')
  other_key = other.key
  routes = documentedRoutes(t.app.http.routes)
})
afterAll(() => t.close())

describe('every route', () => {
  test('under /v1 declares what it takes', () => {
    const undocumented = t.app.http.routes
      .filter((route) => route.path.startsWith('/v1'))
      .filter((route) => !routes.some((each) => each.method === route.method && each.hooks === route.hooks))
      .map((route) => `${route.method} ${route.path}`)
    expect(undocumented).toEqual([])
    expect(routes.length).toBeGreaterThan(40)
    for (const { can } of routes) {
      const known =
        can === 'public' || can === 'member' || can in SCOPES || INSTANCE_SCOPES.some((each) => each === can)
      expect(known ? can : `unknown permission ${can}`).toBe(can)
    }
  })

  test('answers 401 without a credential, whatever the body', async () => {
    for (const route of routes.filter((each) => each.can !== 'public')) {
      const body = route.method === 'GET' || route.method === 'DELETE' ? undefined : '{"not": json'
      const answer = await t.call(route.method, filled(route.path), { body })
      expect(`${route.method} ${route.path} ${answer.status} ${answer.body?.code}`).toBe(
        `${route.method} ${route.path} 401 unauthenticated`,
      )
      expect(answer.headers.get('www-authenticate')).toContain('Bearer')
    }
  })

  test('answers 403 without its scope, and names it', async () => {
    const tenant = await t.tenant('Scopeless', ['intel:use'])
    for (const route of routes.filter((each) => each.can.includes(':'))) {
      const answer = await t.call(route.method, filled(route.path), { key: tenant.key })
      t.clock.advance(2000)
      // A wrong body may be seen before the permission is; a right one never gets further.
      if (answer.status === 422 || answer.status === 400 || answer.status === 415) continue
      expect(`${route.method} ${route.path} ${answer.status} ${answer.body?.required_scope}`).toBe(
        `${route.method} ${route.path} 403 ${route.can}`,
      )
    }
  })

  test('answers 404 for what another tenant has', async () => {
    const victim = await t.tenant('Victim')
    const key = await t.call('POST', '/v1/settings/keys', {
      key: victim.key,
      body: { name: 'k', scopes: ['*'] },
    })
    const invite = await t.call('POST', '/v1/settings/invites', {
      key: victim.key,
      body: { email: 'a@victim.example', role: 'viewer' },
    })
    const domain = await t.call('POST', '/v1/domains', { key: victim.key, body: { name: 'victim.example' } })
    const alert = await t.app.services.raiser.raiseNow(systemActor(victim.tenant_id), {
      kind: 'import_failures',
      severity: 'low',
      title: 'Files',
      summary: 'Files.',
      subject: { type: 'tenant', id: victim.tenant_id },
      evidence: {},
      dedupe_key: 'files',
    })
    const ids: Record<string, string> = {
      '/v1/settings/keys': key.body.id,
      '/v1/settings/invites': invite.body.id,
      '/v1/settings/users': victim.user_id,
      '/v1/domains': domain.body.id,
      '/v1/alerts': alert.id,
    }
    expect([key.status, invite.status, domain.status]).toEqual([201, 201, 201])
    for (const route of routes.filter(
      (each) => each.path.includes('{id}') && !each.path.startsWith('/v1/instance'),
    )) {
      const area = Object.keys(ids).find((prefix) => route.path.startsWith(`${prefix}/`))
      const bodies = { PATCH: route.path.includes('users') ? { role: 'viewer' } : { name: 'x', tags: ['x'] } }
      const body = route.method === 'POST' ? { overlap_hours: 1 } : bodies[route.method as 'PATCH']
      const answer = await t.call(
        route.method,
        filled(route.path, area === undefined ? undefined : ids[area]),
        {
          key: other_key,
          body: route.method === 'GET' || route.method === 'DELETE' ? undefined : body,
        },
      )
      t.clock.advance(2000)
      if (answer.status === 422) continue
      expect(`${route.method} ${route.path} ${answer.status}`).toBe(`${route.method} ${route.path} 404`)
    }
    const still = await t.call('GET', `/v1/settings/keys/${key.body.id}`, { key: victim.key })
    expect(still.body.status).toBe('active')
  })
})
