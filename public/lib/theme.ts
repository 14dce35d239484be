import { useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark' | 'system'

const KEY = 'wardpost.theme'
const listeners = new Set<() => void>()

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system'
  }
}

let theme = stored()
const system = matchMedia('(prefers-color-scheme: dark)')
system.addEventListener('change', announce)

function announce(): void {
  for (const listener of listeners) listener()
}

/** Sets and remembers the theme; `system` forgets the choice. */
export function setTheme(next: Theme): void {
  theme = next
  if (next === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = next
  try {
    if (next === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, next)
  } catch {
    // Not remembered, still applied.
  }
  announce()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What was chosen. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => theme)
}

/** What is shown, `system` resolved: charts are redrawn when it changes. */
export function useShownTheme(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, () => {
    if (theme !== 'system') return theme
    return system.matches ? 'dark' : 'light'
  })
}
