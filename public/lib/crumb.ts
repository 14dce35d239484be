import { useEffect, useSyncExternalStore } from 'react'

/** The last part of the breadcrumb, when a page knows a better name than its route (a domain's name). */
let label: string | undefined
const listeners = new Set<() => void>()

function set(next: string | undefined): void {
  label = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useCrumbLabel(): string | undefined {
  return useSyncExternalStore(subscribe, () => label)
}

/** While the calling page is shown, `text` is the last crumb. */
export function useCrumb(text: string | undefined): void {
  useEffect(() => {
    set(text)
    return () => set(undefined)
  }, [text])
}
