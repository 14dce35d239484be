import { Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useCrumbLabel } from '../lib/crumb.ts'
import { useLiveStream } from '../lib/live.ts'
import { covers, useMe } from '../lib/me.ts'
import { setTheme, useShownTheme } from '../lib/theme.ts'
import { useTitle, useView } from '../lib/view.ts'
import { PAGES, type PageRoute } from '../routes.ts'
import { CommandPalette, type PaletteEntry } from '../ui/palette.tsx'
import { Tabs, type Crumb } from '../ui/tabs.tsx'
import { Rail, RAIL } from './rail.tsx'
import { logOut, TopBar } from './topbar.tsx'

/** The page of a path: the longest one that is its beginning. */
function pageAt(path: string): PageRoute | undefined {
  let found: PageRoute | undefined
  for (const page of PAGES) {
    const fits = page.path === '/' ? path === '/' : path === page.path || path.startsWith(`${page.path}/`)
    if (fits && (found === undefined || page.path.length > found.path.length)) found = page
  }
  return found
}

/** The frame around every page: rail, top bar, palette. */
export function Shell() {
  const path = useRouterState({ select: (state) => state.location.pathname })
  const page = pageAt(path)
  const crumb = useCrumbLabel()
  const [sheet, setSheet] = useState(false)
  const [palette, setPalette] = useState(false)
  const main = useRef<HTMLElement>(null)
  useTitle(crumb, page?.title)
  usePaletteKey(setPalette)
  useLiveStream()
  // A new page takes the focus, so that reading starts there; a drawer on the same page has its own.
  const shown = useRef(page?.path)
  useEffect(() => {
    setSheet(false)
    if (shown.current === page?.path) return
    shown.current = page?.path
    main.current?.focus({ preventScroll: true })
  }, [page?.path])
  const crumbs: Crumb[] = [...(page?.crumbs ?? [])]
  if (crumb !== undefined) crumbs.push({ label: crumb })
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div className="app">
        <Rail area={page?.area} />
        <TopBar
          crumbs={crumbs}
          menuOpen={sheet}
          onMenu={() => setSheet(true)}
          onPalette={() => setPalette(true)}
        />
        <main id="main" ref={main} className={page?.flush === true ? 'flush' : ''} tabIndex={-1}>
          {page?.area === 'settings' && <SettingsTabs current={page.path} />}
          <Outlet />
        </main>
      </div>
      <Sheet open={sheet} onClose={() => setSheet(false)} page={page} />
      <CommandPalette open={palette} onClose={() => setPalette(false)} entries={useEntries()} />
    </>
  )
}

/** The rail behind the menu button of narrow screens. */
function Sheet({ open, onClose, page }: { open: boolean; onClose: () => void; page: PageRoute | undefined }) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = box.current
    if (open && dialog?.open === false) dialog.showModal()
    if (!open && dialog?.open === true) dialog.close()
  }, [open])
  return (
    <dialog
      ref={box}
      className="sheet"
      aria-label="Navigation"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === box.current) onClose()
      }}
    >
      {open && <Rail area={page?.area} onFollow={onClose} />}
    </dialog>
  )
}

function SettingsTabs({ current }: { current: string }) {
  const me = useMe()
  const may_read = covers(me.scopes, 'settings:read')
  const tabs = [
    { id: '/settings', label: 'Organisation', href: '/settings' },
    ...(may_read
      ? [
          { id: '/settings/notifications', label: 'Notifications', href: '/settings/notifications' },
          { id: '/settings/keys', label: 'API keys', href: '/settings/keys' },
          { id: '/settings/users', label: 'Users', href: '/settings/users' },
          { id: '/settings/sessions', label: 'Sessions', href: '/settings/sessions' },
        ]
      : []),
    ...(me.user?.is_operator === true
      ? [{ id: '/settings/instance', label: 'Instance', href: '/settings/instance' }]
      : []),
  ]
  return (
    <div className="subnav">
      <Tabs label="Settings" current={current} tabs={tabs} />
    </div>
  )
}

function usePaletteKey(setOpen: (open: boolean) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (
        event.key.toLowerCase() !== 'k' ||
        !(event.metaKey || event.ctrlKey) ||
        event.shiftKey ||
        event.altKey
      )
        return
      event.preventDefault()
      setOpen(document.querySelector('dialog[open]') === null)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [setOpen])
}

function useEntries(): PaletteEntry[] {
  const me = useMe()
  const view = useView()
  const theme = useShownTheme()
  const to = (group: string, label: string, icon: PaletteEntry['icon'], href: string): PaletteEntry => ({
    group,
    label,
    icon,
    run: () => view.go(href),
  })
  const areas = RAIL.flat()
    .filter((item) => item.scope === undefined || covers(me.scopes, item.scope))
    .map((item) => to('Go to', item.label, item.icon, item.href))
  const entries = [...areas]
  if (covers(me.scopes, 'reports:read')) {
    entries.push(
      to('Go to', 'TLS reports', 'reports', '/reports/tls'),
      to('Go to', 'Failure reports', 'reports', '/reports/failures'),
      to('Go to', 'Rejected files', 'reports', '/reports/rejected'),
      to('Go to', 'Unassigned reports', 'reports', '/reports/unassigned'),
    )
  }
  if (covers(me.scopes, 'webhooks:read')) {
    entries.push(
      to('Go to', 'Deliveries that failed', 'webhooks', '/webhooks/undelivered'),
      to('Go to', 'Event catalogue', 'book', '/webhooks?catalogue=1'),
    )
  }
  if (covers(me.scopes, 'settings:read')) {
    entries.push(
      to('Go to', 'Notifications', 'mail', '/settings/notifications'),
      to('Go to', 'API keys', 'key', '/settings/keys'),
      to('Go to', 'Users', 'users', '/settings/users'),
      to('Go to', 'Sessions', 'sessions', '/settings/sessions'),
    )
  }
  if (covers(me.scopes, 'alerts:read'))
    entries.push(to('Go to', 'Alerts assigned to me', 'alerts', '/alerts?status=all&assigned_to=me'))
  if (me.user?.is_operator === true) {
    entries.push(
      to('Go to', 'Instance', 'instance', '/settings/instance'),
      to('Go to', 'Mail server', 'mail', '/settings/instance/mail'),
      to('Go to', 'Anchors of the audit log', 'audit', '/settings/instance/anchors'),
      to('Go to', 'Jobs', 'refresh', '/settings/instance/jobs'),
    )
  }
  entries.push(to('Go to', 'Account', 'user', '/account'), to('Go to', 'API documentation', 'book', '/docs'))
  if (covers(me.scopes, 'domains:write')) entries.push(to('Do', 'Add a domain', 'plus', '/domains?add=1'))
  if (covers(me.scopes, 'reports:write'))
    entries.push(to('Do', 'Upload reports', 'upload', '/reports/upload'))
  if (covers(me.scopes, 'webhooks:write'))
    entries.push(
      to('Do', 'Add a webhook', 'plus', '/webhooks?add=1'),
      to('Do', 'Send again what was not delivered', 'refresh', '/webhooks/undelivered?again=1'),
    )
  if (covers(me.scopes, 'audit:read'))
    entries.push(to('Do', 'Verify the audit chain', 'audit', '/audit?verify=1'))
  entries.push(
    {
      group: 'Do',
      label: theme === 'dark' ? 'Use the light theme' : 'Use the dark theme',
      icon: 'theme',
      run: () => setTheme(theme === 'dark' ? 'light' : 'dark'),
    },
    { group: 'Do', label: 'Log out', icon: 'exit', run: () => void logOut() },
  )
  return entries
}
