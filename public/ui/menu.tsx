import { DropdownMenu, Popover } from 'radix-ui'
import { useState, type ReactNode } from 'react'
import { Glyph, Icon, type IconName } from './icons.tsx'
import { A } from './link.tsx'

/** Menus are drawn here: outside of boxes that clip, inside a landmark. */
export function Overlays() {
  return <div id="overlays" role="region" aria-label="Menus" />
}

/** Asked when something opens: inside a modal dialog everything else of the page is inert. */
function overlays(): HTMLElement | null {
  return document.querySelector<HTMLElement>('dialog[open]') ?? document.getElementById('overlays')
}

interface MenuProps {
  /** The button that opens it. */
  trigger: ReactNode
  align?: 'start' | 'center' | 'end'
  /** Once it has closed; `preventDefault` keeps the focus from going back to the trigger. */
  onClosed?: (event: Event) => void
  children: ReactNode
}

/** A menu of things to do. Not modal: the page behind keeps its scroll bar and needs no injected style. */
export function Menu({ trigger, align = 'end', onClosed, children }: MenuProps) {
  const [open, setOpen] = useState(false)
  return (
    <DropdownMenu.Root modal={false} open={open} onOpenChange={setOpen}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={overlays()}>
        <DropdownMenu.Content
          className="menu"
          align={align}
          sideOffset={4}
          collisionPadding={8}
          {...(onClosed === undefined ? {} : { onCloseAutoFocus: onClosed })}
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

interface ItemProps {
  icon?: IconName
  danger?: boolean
  /** Shown under the label; an item with it cannot be chosen. */
  reason?: string | undefined
  note?: ReactNode
  checked?: boolean
  onSelect: () => void
  children: ReactNode
}

export function MenuItem({ icon, danger = false, reason, note, checked, onSelect, children }: ItemProps) {
  return (
    <DropdownMenu.Item
      className={danger ? 'menu__i is-danger' : 'menu__i'}
      disabled={reason !== undefined}
      onSelect={onSelect}
    >
      {icon !== undefined && <Icon name={icon} />}
      <span className="grow">
        {children}
        {(reason ?? note) !== undefined && <small>{reason ?? note}</small>}
      </span>
      {checked === true && <Glyph name="pass" />}
    </DropdownMenu.Item>
  )
}

export function MenuCheck({
  checked,
  onChange,
  children,
}: {
  checked: boolean
  onChange: (on: boolean) => void
  children: ReactNode
}) {
  return (
    <DropdownMenu.CheckboxItem
      className="menu__i"
      checked={checked}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
    >
      <span className="grow">{children}</span>
      {checked && <Glyph name="pass" />}
    </DropdownMenu.CheckboxItem>
  )
}

export function MenuLink({
  icon,
  href,
  children,
  download,
}: {
  icon?: IconName
  href: string
  children: ReactNode
  download?: boolean
}) {
  return (
    <DropdownMenu.Item className="menu__i" asChild>
      <A href={href} {...(download === true ? { download: '' } : {})}>
        {icon !== undefined && <Icon name={icon} />}
        <span className="grow">{children}</span>
      </A>
    </DropdownMenu.Item>
  )
}

export function MenuLine() {
  return <DropdownMenu.Separator className="menu__s" />
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <DropdownMenu.Label className="menu__l">{children}</DropdownMenu.Label>
}

interface PopProps {
  trigger: ReactNode
  open: boolean
  onOpenChange: (open: boolean) => void
  label: string
  children: ReactNode
}

/** A small form beside its button. */
export function Pop({ trigger, open, onOpenChange, label, children }: PopProps) {
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal container={overlays()}>
        <Popover.Content className="pop" align="start" sideOffset={4} collisionPadding={8} aria-label={label}>
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
