/** Holds every answer in the tests against what the API reference says of its route. */
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import {
  documentedRoutes,
  type DocumentedRoute,
  documentedStatuses,
  type RouteLike,
} from '../../src/http/openapi.ts'

export function createContract(routes: readonly RouteLike[]) {
  const table = documentedRoutes(routes).map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replace(/\./g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    statuses: documentedStatuses(route),
    literal: !route.path.includes('{'),
  }))
  /** As the router does: a literal path before one with parameters. */
  const find = (method: string, path: string) => {
    const matching = table.filter((each) => each.route.method === method && each.pattern.test(path))
    return matching.find((each) => each.literal) ?? matching[0]
  }
  return {
    check(method: string, url: string, status: number, body: unknown): void {
      const { pathname, searchParams } = new URL(url, 'http://localhost')
      const found = find(method, pathname)
      if (found === undefined) return
      const name = `${method} ${found.route.path}`
      if (!found.statuses.has(status)) throw new Error(`${name} answered ${status}, which is not documented`)
      if (body === null || status >= 400 || searchParams.has('fields')) return
      const schema = answerSchema(found.route, status)
      if (schema === undefined || Value.Check(schema, body)) return
      const first = Value.Errors(schema, body).First()
      throw new Error(`${name} ${status} differs from its schema at ${first?.path}: ${first?.message}`)
    },
  }
}

function answerSchema(route: DocumentedRoute, status: number): TSchema | undefined {
  const answer = route.operation.answers[status]
  return answer !== undefined && 'schema' in answer ? answer.schema : undefined
}
