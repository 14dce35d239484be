/** Unknown paths, and known paths asked with a method they do not have (405 with `Allow`). */
import { type Problem, problem } from '../lib/errors.ts'
import type { RouteLike } from './openapi.ts'

export type NotFound = (method: string, path: string) => Problem

/** `routes` is read at the first miss, when all of them are there. */
export function createNotFound(routes: () => readonly RouteLike[]): NotFound {
  let table: { pattern: RegExp; methods: Set<string>; literal: boolean }[] | null = null
  const build = () => {
    const by_path = new Map<string, Set<string>>()
    for (const route of routes()) {
      if (route.path.includes('*')) continue
      by_path.set(route.path, (by_path.get(route.path) ?? new Set()).add(route.method))
    }
    return [...by_path].map(([path, methods]) => ({
      pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}/?$`),
      methods,
      literal: !path.includes(':'),
    }))
  }
  return (method, path) => {
    table ??= build()
    const matching = table.filter((each) => each.pattern.test(path))
    const named = matching.filter((each) => each.literal)
    const allowed = new Set((named.length > 0 ? named : matching).flatMap((each) => [...each.methods]))
    if (allowed.size === 0 || allowed.has(method))
      return problem('not_found', 'There is nothing at this path.')
    const allow = [...allowed].sort().join(', ')
    return problem('method_not_allowed', `This path knows ${allow}.`, { headers: { allow } })
  }
}
