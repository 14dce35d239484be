import { useSyncExternalStore } from 'react'
import { Menu, MenuCheck, MenuLabel } from './menu.tsx'
import { IconButton } from './button.tsx'
import type { Column } from './table.tsx'

/** Which columns a person hid, remembered per list in this browser. */
const hidden_by_list = new Map<string, ReadonlySet<string>>()
const listeners = new Set<() => void>()
const NONE: ReadonlySet<string> = new Set()

function read(list: string): ReadonlySet<string> {
  const known = hidden_by_list.get(list)
  if (known !== undefined) return known
  let found = NONE
  try {
    const stored = localStorage.getItem(`wardpost.columns.${list}`)
    if (stored !== null) found = new Set(stored.split(',').filter((key) => key !== ''))
  } catch {
    found = NONE
  }
  hidden_by_list.set(list, found)
  return found
}

function hide(list: string, key: string, hidden: boolean): void {
  const next = new Set(read(list))
  if (hidden) next.add(key)
  else next.delete(key)
  hidden_by_list.set(list, next)
  try {
    localStorage.setItem(`wardpost.columns.${list}`, [...next].join(','))
  } catch {
    // Kept for this visit only.
  }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useHiddenColumns(list: string): ReadonlySet<string> {
  return useSyncExternalStore(subscribe, () => read(list))
}

/** The menu behind the columns button of a list. */
export function ColumnPicker<T>({ list, columns }: { list: string; columns: readonly Column<T>[] }) {
  const hidden = useHiddenColumns(list)
  return (
    <Menu trigger={<IconButton icon="columns" label="Choose columns" />}>
      <MenuLabel>Columns</MenuLabel>
      {columns
        .filter((column) => column.fixed !== true)
        .map((column) => (
          <MenuCheck
            key={column.key}
            checked={!hidden.has(column.key)}
            onChange={(on) => hide(list, column.key, !on)}
          >
            {column.title}
          </MenuCheck>
        ))}
    </Menu>
  )
}
