/** View state lives in the URL: filters, tab, sort. Values are plain strings; an empty one is no member at all. */
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { address, type Query } from './api.ts'

export type Search = Record<string, string>

/** `?a=1&b=x` -> strings, never JSON. */
export function parseSearch(text: string): Search {
  const found: Search = {}
  for (const [name, value] of new URLSearchParams(text)) found[name] = value
  return found
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (typeof value === 'string' && value !== '') params.set(name, value)
    if (typeof value === 'number' || typeof value === 'boolean') params.set(name, String(value))
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

export interface View {
  path: string
  search: Search
  get: (name: string) => string | undefined
  /** Changes members of the URL's search; `undefined` removes. Replaces unless `push` is set. */
  set: (patch: Record<string, string | undefined>, push?: boolean) => void
  /** The address of this page with changed members: for links. */
  with: (patch: Record<string, string | undefined>) => string
  /** Another path that keeps these members (a row's drawer keeps the list's filters). */
  at: (path: string, patch?: Record<string, string | undefined>) => string
  go: (to: string, replace?: boolean) => void
}

export function useView(): View {
  const navigate = useNavigate()
  const location = useRouterState({ select: (state) => state.location })
  const path = location.pathname
  const search = parseSearch(location.searchStr)
  const at = (to: string, patch: Record<string, string | undefined> = {}) => {
    const next: Query = { ...search, ...patch }
    return address(to, next)
  }
  const go = (to: string, replace = false) => void navigate({ href: to, replace, resetScroll: false })
  return {
    path,
    search,
    get: (name) => search[name],
    set: (patch, push = false) => go(at(path, patch), !push),
    with: (patch) => at(path, patch),
    at,
    go,
  }
}

/** `Domains · Wardpost` */
export function useTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter((part) => part !== undefined && part !== ''), 'Wardpost'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}
