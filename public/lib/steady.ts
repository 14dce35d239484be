/**
 * Keeps a list still under the reader: rows that arrive by polling wait behind a pill until they are asked for. What
 * the person did (an upload, a new domain) shows at once.
 */
import { useState, useSyncExternalStore } from 'react'

let epoch = 0
const listeners = new Set<() => void>()

/** The person changed something: lists take what comes next as it is. */
export function acceptNews(): void {
  epoch++
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

interface Accepted {
  key: string
  epoch: number
  pages: number
  /** Each with its place. */
  ids: ReadonlyMap<unknown, number>
}

function idOf(item: unknown): unknown {
  const row = item as { id?: string; seq?: number; sender?: string; name?: string; n?: number }
  return row.id ?? row.seq ?? row.sender ?? row.name ?? row.n
}

export interface Steady<T> {
  items: T[]
  /** How many rows wait. */
  news: number
  showNews: () => void
}

/** `key` names the question, `pages` how many pages were loaded: a change of either is no news. */
export function useSteady<T>(key: string, pages: number, items: T[]): Steady<T> {
  const now = useSyncExternalStore(subscribe, () => epoch)
  const [accepted, setAccepted] = useState<Accepted>({ key: '', epoch: -1, pages: 0, ids: new Map() })
  const take = () =>
    setAccepted({ key, epoch: now, pages, ids: new Map(items.map((item, at) => [idOf(item), at])) })
  const same = accepted.key === key && accepted.epoch === now && accepted.pages === pages
  // An empty list that gets its first rows shows them.
  if (!same || accepted.ids.size === 0) {
    if (pages > 0 && (!same || items.length > 0)) take()
    return { items, news: 0, showNews: take }
  }
  // A row that changed stays where it is, wherever the server would put it now.
  const place = (item: T) => accepted.ids.get(idOf(item)) ?? -1
  const known = items.filter((item) => place(item) >= 0).sort((a, b) => place(a) - place(b))
  return { items: known, news: items.length - known.length, showNews: take }
}
