import { api } from '../lib/api.ts'
import { initials } from '../lib/format.ts'
import { useMe } from '../lib/me.ts'
import { queries } from '../lib/query.ts'
import { setTheme, useTheme, type Theme } from '../lib/theme.ts'
import { useView } from '../lib/view.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icons.tsx'
import { Menu, MenuItem, MenuLabel, MenuLine } from '../ui/menu.tsx'
import { Breadcrumb, type Crumb } from '../ui/tabs.tsx'
import { notifyProblem } from '../ui/toast.tsx'

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

interface TopBarProps {
  crumbs: readonly Crumb[]
  onMenu: () => void
  menuOpen: boolean
  onPalette: () => void
}

export function TopBar({ crumbs, onMenu, menuOpen, onPalette }: TopBarProps) {
  return (
    <header className="top">
      <IconButton
        icon="menu"
        label="Open navigation"
        className="only-narrow"
        aria-expanded={menuOpen}
        onClick={onMenu}
      />
      <Breadcrumb items={crumbs} />
      <button type="button" className="palette" onClick={onPalette} aria-haspopup="dialog">
        <Icon name="search" />
        <span>Search or jump to</span>
        <kbd aria-hidden="true">{isApple() ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <ThemeMenu />
      <AccountMenu />
    </header>
  )
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent)
}

export function ThemeMenu() {
  const theme = useTheme()
  return (
    <Menu trigger={<IconButton icon="theme" label="Switch theme" />}>
      <MenuLabel>Theme</MenuLabel>
      {THEMES.map((option) => (
        <MenuItem key={option.value} checked={theme === option.value} onSelect={() => setTheme(option.value)}>
          {option.label}
        </MenuItem>
      ))}
    </Menu>
  )
}

/** Ends the session and leaves nothing of it in memory. */
export async function logOut(): Promise<void> {
  try {
    await api.post('/auth/logout')
  } catch (error) {
    notifyProblem(error, 'Not logged out')
    return
  }
  queries.clear()
  location.assign('/login')
}

function AccountMenu() {
  const me = useMe()
  const view = useView()
  const name = me.user?.name ?? me.key?.name ?? ''
  return (
    <Menu
      trigger={
        <button type="button" className="me">
          <span className="vh">Account: {name}</span>
          <span aria-hidden="true">{initials(name)}</span>
        </button>
      }
    >
      <MenuLabel>
        <b className="block">{name}</b>
        {me.user?.email}
        {me.role !== null && `, ${me.role}`}
      </MenuLabel>
      <MenuLine />
      <MenuItem icon="user" onSelect={() => view.go('/account')}>
        Account and sessions
      </MenuItem>
      <MenuItem
        icon="lock"
        note={me.user?.totp_enabled === true ? 'Second factor is on' : 'Second factor is off'}
        onSelect={() => view.go('/account')}
      >
        Password and second factor
      </MenuItem>
      <MenuItem icon="book" onSelect={() => view.go('/docs')}>
        API documentation
      </MenuItem>
      <MenuLine />
      <MenuItem icon="exit" onSelect={() => void logOut()}>
        Log out
      </MenuItem>
    </Menu>
  )
}
