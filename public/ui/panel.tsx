import type { ReactNode } from 'react'

interface PanelProps {
  title: ReactNode
  /** The accessible name when the title is not plain text. */
  label?: string
  sub?: ReactNode
  /** At the right of the head: buttons, links. */
  actions?: ReactNode
  foot?: ReactNode
  className?: string
  children: ReactNode
}

export function Panel({ title, label, sub, actions, foot, className, children }: PanelProps) {
  const name = label ?? (typeof title === 'string' ? title : undefined)
  return (
    <section className={`panel${className === undefined ? '' : ` ${className}`}`} aria-label={name}>
      <header className="panel__h">
        <h2>{title}</h2>
        {sub !== undefined && <span className="panel__sub">{sub}</span>}
        <span className="grow" />
        {actions}
      </header>
      {children}
      {foot !== undefined && <div className="panel__f">{foot}</div>}
    </section>
  )
}

/** The head of a page: title, one sentence, actions. */
export function PageHead({
  title,
  lead,
  actions,
}: {
  title: ReactNode
  lead?: ReactNode
  actions?: ReactNode
}) {
  return (
    <div className="head">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && (typeof lead === 'string' ? <p>{lead}</p> : lead)}
      </div>
      {actions !== undefined && <div className="acts">{actions}</div>}
    </div>
  )
}

export interface Figure {
  label: string
  value: ReactNode
  small?: ReactNode
  note?: ReactNode
}

/** Figures in two columns, each with what it is and what it means. */
export function Figures({ items }: { items: readonly Figure[] }) {
  return (
    <dl className="figs">
      {items.map((item) => (
        <div className="fig" key={item.label}>
          <dt>{item.label}</dt>
          <dd>
            {item.value}
            {item.small !== undefined && <small> {item.small}</small>}
          </dd>
          {item.note !== undefined && <dd className="fig__n">{item.note}</dd>}
        </div>
      ))}
    </dl>
  )
}
