import type { ReactNode } from 'react'
import { A } from './link.tsx'

export interface TabLink {
  id: string
  label: string
  href: string
  count?: number | undefined
}

/** Tabs are links: each has its own address. */
export function Tabs({ label, current, tabs }: { label: string; current: string; tabs: readonly TabLink[] }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <A key={tab.id} href={tab.href} {...(tab.id === current ? { 'aria-current': 'page' as const } : {})}>
          {tab.label}
          {tab.count !== undefined && <em>{tab.count.toLocaleString('en-US')}</em>}
        </A>
      ))}
    </nav>
  )
}

export interface Crumb {
  label: ReactNode
  href?: string
}

export function Breadcrumb({ items }: { items: readonly Crumb[] }) {
  return (
    <nav className="crumbs" aria-label="Breadcrumb">
      <ol>
        {items.map((item, index) => (
          <li key={item.href ?? `at-${index}`}>
            {item.href === undefined || index === items.length - 1 ? (
              <span aria-current="page">{item.label}</span>
            ) : (
              <A href={item.href}>{item.label}</A>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}
