import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { useView } from '../lib/view.ts'
import { Button } from './button.tsx'
import { SelectField, TextField, type Choice } from './field.tsx'
import { Icon } from './icons.tsx'
import { Menu, MenuItem, Pop } from './menu.tsx'

export interface FilterDef {
  /** The member of the URL and of the request. */
  name: string
  label: string
  kind: 'choice' | 'text' | 'date'
  options?: readonly Choice[]
  hint?: string
  /** How a set value reads on its chip. */
  show?: (value: string) => string
}

interface FilterBarProps {
  /** The free-text box; `q` in the URL. Left out: no box. */
  search?: string
  filters: readonly FilterDef[]
  /** At the right: columns, export. */
  children?: ReactNode
}

/** Search box, chips of the set filters, "+ Filter". Everything is in the URL. */
export function FilterBar({ search, filters, children }: FilterBarProps) {
  const view = useView()
  const [adding, setAdding] = useState<string | null>(null)
  const chosen = useRef<string | null>(null)
  const set = filters.filter((filter) => view.get(filter.name) !== undefined)
  const open = filters.filter((filter) => view.get(filter.name) === undefined && filter.name !== adding)
  const shown =
    adding === null
      ? set
      : [...set.filter((filter) => filter.name !== adding), ...filters.filter((f) => f.name === adding)]
  return (
    <div className="tools">
      {search !== undefined && <SearchBox placeholder={search} />}
      {shown.map((filter) => (
        <FilterChip
          key={filter.name}
          filter={filter}
          value={view.get(filter.name)}
          startOpen={filter.name === adding}
          onDone={() => setAdding(null)}
          onValue={(value) => view.set({ [filter.name]: value }, true)}
        />
      ))}
      {open.length > 0 && (
        <Menu
          align="start"
          onClosed={(event) => {
            // The chip's own form takes the focus, not the button behind the menu.
            if (chosen.current === null) return
            event.preventDefault()
            setAdding(chosen.current)
            chosen.current = null
          }}
          trigger={
            <button type="button" className="chip chip--add">
              <span>
                <Icon name="plus" />
                Filter
              </span>
            </button>
          }
        >
          {open.map((filter) => (
            <MenuItem
              key={filter.name}
              onSelect={() => {
                chosen.current = filter.name
              }}
            >
              {filter.label}
            </MenuItem>
          ))}
        </Menu>
      )}
      {set.length > 1 && (
        <Button
          kind="quiet"
          small
          onClick={() =>
            view.set(Object.fromEntries(filters.map((filter) => [filter.name, undefined])), true)
          }
        >
          Clear
        </Button>
      )}
      <span className="grow" />
      {children}
    </div>
  )
}

interface ChipProps {
  filter: FilterDef
  value: string | undefined
  startOpen: boolean
  onDone: () => void
  onValue: (value: string | undefined) => void
}

function FilterChip({ filter, value, startOpen, onDone, onValue }: ChipProps) {
  const [open, setOpen] = useState(startOpen)
  const [text, setText] = useState(value ?? filter.options?.[0]?.value ?? '')
  useEffect(() => setText(value ?? filter.options?.[0]?.value ?? ''), [value, filter.options])
  const change = (next: boolean) => {
    setOpen(next)
    if (!next) onDone()
  }
  const apply = (event: FormEvent) => {
    event.preventDefault()
    onValue(text.trim() === '' ? undefined : text.trim())
    change(false)
  }
  const shown = value === undefined ? undefined : (filter.show?.(value) ?? labelOf(filter, value))
  return (
    <span className={value === undefined ? 'chip' : 'chip chip--set'}>
      <Pop
        open={open}
        onOpenChange={change}
        label={`Filter by ${filter.label}`}
        trigger={
          <button type="button">
            <span>
              {filter.label}
              {shown !== undefined && (
                <>
                  {' '}
                  <b>{verb(filter)}</b> {shown}
                </>
              )}
            </span>
          </button>
        }
      >
        <form className="col g12" onSubmit={apply}>
          {filter.kind === 'choice' ? (
            <SelectField label={filter.label} value={text} options={filter.options ?? []} onValue={setText} />
          ) : (
            <TextField
              label={filter.label}
              hint={filter.hint}
              type={filter.kind === 'date' ? 'date' : 'text'}
              value={text}
              onText={setText}
              autoComplete="off"
            />
          )}
          <Button kind="primary" small type="submit">
            Apply
          </Button>
        </form>
      </Pop>
      {value !== undefined && (
        <button type="button" aria-label={`Remove filter ${filter.label}`} onClick={() => onValue(undefined)}>
          <Icon name="x" />
        </button>
      )}
    </span>
  )
}

function verb(filter: FilterDef): string {
  if (filter.kind === 'date') return ''
  return filter.kind === 'choice' ? 'is' : 'has'
}

function labelOf(filter: FilterDef, value: string): string {
  return filter.options?.find((option) => option.value === value)?.label ?? value
}

/** Free text; asks 250 ms after the last key. */
export function SearchBox({ placeholder, name = 'q' }: { placeholder: string; name?: string }) {
  const view = useView()
  const current = view.get(name) ?? ''
  const [text, setText] = useState(current)
  useEffect(() => setText(current), [current])
  useEffect(() => {
    if (text === current) return undefined
    const timer = setTimeout(() => view.set({ [name]: text.trim() === '' ? undefined : text.trim() }), 250)
    return () => clearTimeout(timer)
    // Only typing starts the clock; the view object is new on every render.
  }, [text])
  return (
    <span className="inwrap">
      <Icon name="search" />
      <input
        className="in"
        type="search"
        aria-label={placeholder}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </span>
  )
}
