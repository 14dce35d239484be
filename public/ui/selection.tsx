import { useRef, useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Check } from './field.tsx'

/** How many rows one bulk request may name. */
export const BULK_MAX = 500

export interface Selection {
  ids: ReadonlySet<string>
  /** `all` is the order of the rows: with `range`, everything from the last one toggled to this one. */
  toggle: (id: string, all: readonly string[], range: boolean) => void
  setAll: (ids: readonly string[]) => void
  clear: () => void
}

/** The checked rows of a list. */
export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const anchor = useRef<string | null>(null)
  return {
    ids,
    toggle(id, all, range) {
      const next = new Set(ids)
      const from = anchor.current === null ? -1 : all.indexOf(anchor.current)
      const to = all.indexOf(id)
      if (range && from !== -1 && to !== -1) {
        for (const item of all.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(item)
      } else if (next.has(id)) {
        next.delete(id)
      } else {
        next.add(id)
      }
      anchor.current = id
      setIds(next)
    },
    setAll: (all) => setIds(new Set(all)),
    clear() {
      anchor.current = null
      setIds(new Set())
    },
  }
}

export function SelectAll({ selection, ids }: { selection: Selection; ids: readonly string[] }) {
  const all = ids.length > 0 && ids.every((id) => selection.ids.has(id))
  return (
    <th scope="col" className="sel-c">
      <Check
        label={<span className="vh">Select all that are shown</span>}
        checked={all}
        mixed={!all && selection.ids.size > 0}
        onValue={(on) => (on ? selection.setAll(ids) : selection.clear())}
      />
    </th>
  )
}

interface SelectRowProps {
  selection: Selection
  id: string
  name: string
  all: readonly string[]
}

export function SelectRow({ selection, id, name, all }: SelectRowProps) {
  return (
    <td className="sel-c">
      <Check
        label={<span className="vh">Select {name}</span>}
        checked={selection.ids.has(id)}
        readOnly
        tabIndex={-1}
        onClick={(event) => selection.toggle(id, all, event.shiftKey)}
      />
    </td>
  )
}

/** Takes the place above the header; offers only what fits all that is checked. */
export function BulkBar({
  selection,
  noun,
  children,
}: {
  selection: Selection
  noun: string
  children: ReactNode
}) {
  if (selection.ids.size === 0) return null
  return (
    <div className="bulk" role="toolbar" aria-label="Selected rows">
      <b>
        {selection.ids.size} {selection.ids.size === 1 ? noun : `${noun}s`} selected
      </b>
      {children}
      <span className="grow" />
      <Button kind="quiet" small onClick={selection.clear}>
        Clear selection
      </Button>
    </div>
  )
}
