import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { Icon, type IconName } from './icons.tsx'
import { A } from './link.tsx'

export type ButtonKind = 'plain' | 'primary' | 'quiet' | 'danger' | 'danger-solid'

interface Look {
  kind?: ButtonKind | undefined
  small?: boolean | undefined
  icon?: IconName | undefined
}

function look({ kind = 'plain', small = false }: Look, more?: string): string {
  const names = ['btn']
  if (kind !== 'plain') names.push(`btn--${kind}`)
  if (small) names.push('btn--s')
  if (more !== undefined) names.push(more)
  return names.join(' ')
}

type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> &
  Look & {
    /** Why it cannot be used now: it stays focusable and says so. */
    reason?: string | undefined
    /** Show the reason beside the button, not only on hover and to screen readers. */
    showReason?: boolean
    /** The work it started goes on; the label says what. */
    busy?: boolean | undefined
  }

/** Every button of the product. Disabled always has a reason. */
export function Button(props: ButtonProps) {
  const { kind, small, icon, reason, showReason, busy, className, children, onClick, type, ...rest } = props
  const off = reason !== undefined || busy === true
  const click = (event: MouseEvent<HTMLButtonElement>) => {
    if (off) event.preventDefault()
    else onClick?.(event)
  }
  const button = (
    <button
      {...rest}
      type={off ? 'button' : (type ?? 'button')}
      className={look({ kind, small }, className)}
      aria-disabled={off || undefined}
      aria-busy={busy || undefined}
      title={reason ?? rest.title}
      onClick={click}
    >
      {busy === true ? <Icon name="refresh" /> : icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
      {reason !== undefined && <span className="vh">. Not available: {reason}</span>}
    </button>
  )
  if (reason === undefined || showReason !== true) return button
  return (
    <>
      <Why>{reason}</Why>
      {button}
    </>
  )
}

type LinkButtonProps = ComponentProps<'a'> & Look & { href: string; reason?: string | undefined }

/** Looks like a button, goes somewhere. */
export function LinkButton({
  kind,
  small,
  icon,
  className,
  children,
  reason,
  href,
  ...rest
}: LinkButtonProps) {
  if (reason !== undefined) {
    return (
      <Button kind={kind} small={small} icon={icon} reason={reason}>
        {children}
      </Button>
    )
  }
  return (
    <A {...rest} href={href} className={look({ kind, small }, className)}>
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </A>
  )
}

type IconButtonProps = Omit<ComponentProps<'button'>, 'children'> & {
  icon: IconName
  label: string
  small?: boolean
}

/** A square with an icon; `label` is its name. */
export function IconButton({ icon, label, small = false, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`ib${small ? ' ib--s' : ''}${className === undefined ? '' : ` ${className}`}`}
      aria-label={label}
      title={label}
    >
      <Icon name={icon} />
    </button>
  )
}

/** The reason beside a control. */
export function Why({ children }: { children: ReactNode }) {
  return (
    <span className="why">
      <Icon name="info" />
      {children}
    </span>
  )
}

interface SegProps<V extends string> {
  label: string
  value: V
  options: readonly { value: V; label: ReactNode }[]
  onChange: (value: V) => void
}

/** One of a few, side by side. */
export function Seg<V extends string>({ label, value, options, onChange }: SegProps<V>) {
  return (
    <span className="seg" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </span>
  )
}
