import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import { api } from '../lib/api.ts'
import { covers, useMe } from '../lib/me.ts'
import type { Alert, Domain, Page, Report } from '../lib/types.ts'
import { useView } from '../lib/view.ts'
import { Icon, type IconName } from './icons.tsx'

export interface PaletteEntry {
  group: string
  label: string
  note?: string
  icon: IconName
  run: () => void
}

interface PaletteProps {
  open: boolean
  onClose: () => void
  /** Pages and actions of the shell. */
  entries: readonly PaletteEntry[]
}

/** ⌘K: pages, actions, domains and reports by name. */
export function CommandPalette({ open, onClose, entries }: PaletteProps) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = box.current
    if (open && dialog?.open === false) dialog.showModal()
    if (!open && dialog?.open === true) dialog.close()
  }, [open])
  return (
    <dialog
      ref={box}
      className="dialog pal"
      aria-label="Search or jump to"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === box.current) onClose()
      }}
    >
      {open && <Inside onClose={onClose} entries={entries} />}
    </dialog>
  )
}

function useFound(text: string): PaletteEntry[] {
  const me = useMe()
  const view = useView()
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), 150)
    return () => clearTimeout(timer)
  }, [text])
  const enabled = asked.length > 1
  const domains = useQuery({
    queryKey: ['/v1/domains', 'palette', asked],
    queryFn: () => api.get<Page<Domain>>('/v1/domains', { q: asked, limit: 6 }),
    enabled: enabled && covers(me.scopes, 'domains:read'),
  })
  const reports = useQuery({
    queryKey: ['/v1/reports', 'palette', asked],
    queryFn: () => api.get<Page<Report>>('/v1/reports', { q: asked, limit: 4 }),
    enabled: enabled && covers(me.scopes, 'reports:read'),
  })
  const alerts = useQuery({
    queryKey: ['/v1/alerts', 'palette', asked],
    queryFn: () =>
      api.get<Page<Alert>>('/v1/alerts', {
        q: asked,
        status: 'open,acknowledged,silenced',
        limit: 4,
        fields: 'id,title,status',
      }),
    enabled: enabled && covers(me.scopes, 'alerts:read'),
  })
  if (!enabled) return []
  const titled = (alerts.data?.items ?? []).filter(({ title }) =>
    title.toLowerCase().includes(asked.toLowerCase()),
  )
  return [
    ...(domains.data?.items ?? []).map((domain): PaletteEntry => ({
      group: 'Domains',
      label: domain.unicode_name,
      note: domain.compliance.rate === null ? domain.status : `${domain.compliance.rate.toFixed(1)} %`,
      icon: 'domains',
      run: () => view.go(`/domains/${domain.id}`),
    })),
    ...(reports.data?.items ?? []).map((report): PaletteEntry => ({
      group: 'Reports',
      label: `${report.org_name} about ${report.domain}`,
      note: report.date_end.slice(0, 10),
      icon: 'reports',
      run: () => view.go(`/reports/${report.id}`),
    })),
    ...titled.map((alert): PaletteEntry => ({
      group: 'Alerts',
      label: alert.title,
      note: alert.status,
      icon: 'alerts',
      run: () => view.go(`/alerts/${alert.id}`),
    })),
  ]
}

function Inside({ onClose, entries }: Omit<PaletteProps, 'open'>) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const wanted = text.trim().toLowerCase()
  const found = useFound(text)
  const fitting = entries.filter((entry) => wanted === '' || entry.label.toLowerCase().includes(wanted))
  const all = [...found, ...fitting]
  const chosen = Math.min(at, all.length - 1)
  useEffect(() => setAt(0), [wanted])
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, chosen])
  const run = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.run()
  }
  const keys = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      setAt((chosen + step + all.length) % Math.max(1, all.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(all[chosen])
    }
  }
  return (
    <>
      <div className="pal__i">
        <Icon name="search" />
        <input
          // The palette is opened to type into it.
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-l`}
          aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
          aria-label="Search or jump to"
          placeholder="Search or jump to"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={keys}
        />
        <kbd>esc</kbd>
      </div>
      <div className="pal__l" role="listbox" id={`${id}-l`} aria-label="Results">
        {all.map((entry, index) => (
          <Option
            // Two alerts can have the same words.
            key={`${entry.group}-${entry.label}-${index}`}
            id={`${id}-${index}`}
            entry={entry}
            heads={all[index - 1]?.group !== entry.group}
            chosen={index === chosen}
            onPoint={() => setAt(index)}
            onRun={() => run(entry)}
          />
        ))}
      </div>
      {all.length === 0 && <p className="pal__e">Nothing is called “{text.trim()}” here.</p>}
    </>
  )
}

interface OptionProps {
  id: string
  entry: PaletteEntry
  /** The first of its group: the group's name stands above it. */
  heads: boolean
  chosen: boolean
  onPoint: () => void
  onRun: () => void
}

/** Operated through the keys of the box above; the pointer is a second way. */
function Option({ id, entry, heads, chosen, onPoint, onRun }: OptionProps) {
  return (
    <div role="presentation">
      {heads && (
        <p className="pal__g" role="presentation">
          {entry.group}
        </p>
      )}
      <div role="option" id={id} tabIndex={-1} aria-selected={chosen} onMouseMove={onPoint} onClick={onRun}>
        <Icon name={entry.icon} />
        <span className="grow cut">{entry.label}</span>
        {entry.note !== undefined && <span className="t3 t12">{entry.note}</span>}
        {chosen && <kbd>↵</kbd>}
      </div>
    </div>
  )
}
