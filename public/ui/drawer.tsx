import { useEffect, useId, useRef, type ReactNode } from 'react'
import { IconButton } from './button.tsx'
import { Icon } from './icons.tsx'
import { useView } from '../lib/view.ts'

/** List at the left, drawer at the right when there is one. `wide`: a domain's drawer. */
export function Split({
  wide = false,
  children,
  drawer,
}: {
  wide?: boolean
  children: ReactNode
  drawer?: ReactNode
}) {
  return (
    <div
      className="split"
      {...(wide ? { style: { '--w': 'var(--w-drawer-l)' } as Record<string, string> } : {})}
    >
      <div className="list">{children}</div>
      {drawer}
    </div>
  )
}

interface DrawerProps {
  title: ReactNode
  /** The accessible name when the title is not plain text. */
  label?: string
  sub?: ReactNode
  /** A tag at the right of the title. */
  tag?: ReactNode
  /** The menu behind the three dots. */
  menu?: ReactNode
  /** Addresses; undefined at the ends of the list. */
  previous?: string | undefined
  next?: string | undefined
  close: string
  tabs?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/**
 * A detail at its own address beside its list. It takes the focus when it opens, Esc closes it and the list gives
 * the focus back to the row. On narrow screens it is the page.
 */
export function Drawer(props: DrawerProps) {
  const { title, label, sub, tag, menu, previous, next, close, tabs, actions, children } = props
  const box = useRef<HTMLElement>(null)
  const id = useId()
  const view = useView()
  useEffect(() => {
    box.current?.focus({ preventScroll: true })
    if (matchMedia('(max-width: 720px)').matches) window.scrollTo({ top: 0 })
  }, [])
  return (
    // Esc must work from anywhere inside; everything operable in here is a control of its own.
    <aside
      ref={box}
      className="drawer"
      tabIndex={-1}
      {...(label === undefined ? { 'aria-labelledby': id } : { 'aria-label': label })}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.preventDefault()
        view.go(close)
      }}
    >
      <div className="drawer__top">
        <header className="drawer__h">
          <IconButton
            icon="left"
            label="Back to the list"
            className="only-narrow"
            onClick={() => view.go(close)}
          />
          <div className="grow">
            <h2 id={id}>{title}</h2>
            {sub !== undefined && <div className="sub">{sub}</div>}
          </div>
          {tag}
          {(previous !== undefined || next !== undefined) && (
            <span className="flex only-wide g0">
              <Step icon="up" label="Previous" to={previous} />
              <Step icon="down" label="Next" to={next} />
            </span>
          )}
          {menu}
          <IconButton icon="x" label="Close" className="only-wide" onClick={() => view.go(close)} />
        </header>
        {tabs}
      </div>
      {actions !== undefined && <div className="drawer__acts">{actions}</div>}
      {children}
    </aside>
  )
}

function Step({ icon, label, to }: { icon: 'up' | 'down'; label: string; to: string | undefined }) {
  const view = useView()
  return (
    <IconButton
      icon={icon}
      label={to === undefined ? `${label}: none` : label}
      aria-disabled={to === undefined || undefined}
      onClick={() => {
        if (to !== undefined) view.go(to, true)
      }}
    />
  )
}

interface SectionProps {
  title: string
  count?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A section of a drawer: head, count, content. */
export function Section({ title, count, actions, children }: SectionProps) {
  return (
    <section className="sec" aria-label={title}>
      <div className="sec__h">
        <h3>{title}</h3>
        {count !== undefined && <span className="count">{count}</span>}
        <span className="grow" />
        {actions}
      </div>
      {children}
    </section>
  )
}

/** Properties: name and value, `false` rows are left out. */
export function Props({ items }: { items: readonly (readonly [string, ReactNode] | false)[] }) {
  return (
    <dl className="props">
      {items.map(
        (item) =>
          item !== false && (
            <div className="contents" key={item[0]}>
              <dt>{item[0]}</dt>
              <dd>{item[1]}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

export function Disclosure({
  summary,
  open = false,
  children,
}: {
  summary: ReactNode
  open?: boolean
  children: ReactNode
}) {
  return (
    <details className="disc" open={open}>
      <summary>
        {summary}
        <Icon name="down" />
      </summary>
      <div>{children}</div>
    </details>
  )
}

/** The raw record, last in a drawer, behind a disclosure. */
export function RawRecord({ path, value }: { path: string; value: unknown }) {
  return (
    <Disclosure
      summary={
        <>
          Raw record <span className="t3 t12 cut">GET {path}</span>
        </>
      }
    >
      {/* A box that scrolls must be reachable by keyboard. */}
      <pre className="raw" tabIndex={0} aria-label="Raw record">
        {JSON.stringify(value, null, 2)}
      </pre>
    </Disclosure>
  )
}
