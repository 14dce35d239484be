import { useEffect, useId, useRef, type ComponentProps, type ReactNode } from 'react'
import { Glyph, Icon } from './icons.tsx'

interface FieldProps {
  label: ReactNode
  hint?: ReactNode
  /** Replaces the hint; names the value that is wrong. */
  error?: string | undefined
  className?: string
  /** Gets the ids that tie the control to its texts. */
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode
}

/** Label above, hint or error below, tied by ids. */
export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId()
  const note = error !== undefined || (hint !== undefined && hint !== '')
  return (
    <div className={`field${className === undefined ? '' : ` ${className}`}`}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(note ? { 'aria-describedby': `${id}-n` } : {}),
        ...(error === undefined ? {} : { 'aria-invalid': true as const }),
      })}
      {error !== undefined ? (
        <span className="err" id={`${id}-n`} role="alert">
          <Glyph name="fail" />
          {error}
        </span>
      ) : (
        note && (
          <span className="hint" id={`${id}-n`}>
            {hint}
          </span>
        )
      )}
    </div>
  )
}

type Texts = {
  label: ReactNode
  hint?: ReactNode
  error?: string | undefined
  mono?: boolean
  fieldClass?: string
}

function texts(props: Texts): Omit<FieldProps, 'children'> {
  return {
    label: props.label,
    hint: props.hint,
    error: props.error,
    ...(props.fieldClass === undefined ? {} : { className: props.fieldClass }),
  }
}

/** A line of text. `onText` gets the value. */
export function TextField(props: Texts & ComponentProps<'input'> & { onText?: (value: string) => void }) {
  const { label, hint, error, mono, fieldClass, onText, ...rest } = props
  return (
    <Field {...texts({ label, hint, error, ...(fieldClass === undefined ? {} : { fieldClass }) })}>
      {(ids) => (
        <input
          {...rest}
          {...ids}
          className={mono === true ? 'in mono' : 'in'}
          {...(onText === undefined ? {} : { onChange: (event) => onText(event.target.value) })}
        />
      )}
    </Field>
  )
}

/** Several lines. */
export function TextArea(props: Texts & ComponentProps<'textarea'> & { onText?: (value: string) => void }) {
  const { label, hint, error, mono, fieldClass, onText, ...rest } = props
  return (
    <Field {...texts({ label, hint, error, ...(fieldClass === undefined ? {} : { fieldClass }) })}>
      {(ids) => (
        <textarea
          rows={3}
          {...rest}
          {...ids}
          className={mono === true ? 'in mono' : 'in'}
          {...(onText === undefined ? {} : { onChange: (event) => onText(event.target.value) })}
        />
      )}
    </Field>
  )
}

export interface Choice<V extends string = string> {
  value: V
  label: string
}

type SelectProps<V extends string> = Texts &
  Omit<ComponentProps<'select'>, 'value' | 'onChange'> & {
    value: V
    options: readonly Choice<V>[]
    onValue: (value: V) => void
  }

/** The platform's own list: best on touch, complete by keyboard. */
export function SelectField<V extends string>(props: SelectProps<V>) {
  const { label, hint, error, mono: _mono, fieldClass, options, value, onValue, ...rest } = props
  return (
    <Field {...texts({ label, hint, error, ...(fieldClass === undefined ? {} : { fieldClass }) })}>
      {(ids) => (
        <span className="sel">
          <select
            {...rest}
            {...ids}
            className="in"
            value={value}
            onChange={(event) => onValue(event.target.value as V)}
          >
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </span>
      )}
    </Field>
  )
}

type BoxProps = Omit<ComponentProps<'input'>, 'type'> & {
  label: ReactNode
  mixed?: boolean
  onValue?: (on: boolean) => void
}

/** A check box with its label; `mixed` is the third state. */
export function Check({ label, mixed = false, onValue, ...rest }: BoxProps) {
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = mixed
  }, [mixed])
  return (
    <label className="opt">
      <input
        ref={box}
        {...rest}
        type="checkbox"
        className={mixed ? 'cb is-mixed' : 'cb'}
        {...(onValue === undefined ? {} : { onChange: (event) => onValue(event.target.checked) })}
      />
      <span>{label}</span>
    </label>
  )
}

export function Radio({ label, onValue, mixed: _mixed, ...rest }: BoxProps) {
  return (
    <label className="opt">
      <input
        {...rest}
        type="radio"
        className="cb"
        {...(onValue === undefined ? {} : { onChange: (event) => onValue(event.target.checked) })}
      />
      <span>{label}</span>
    </label>
  )
}

/** Takes effect at once. */
export function Switch({ label, onValue, mixed: _mixed, ...rest }: BoxProps) {
  return (
    <label className="opt">
      <input
        {...rest}
        type="checkbox"
        role="switch"
        className="sw"
        {...(onValue === undefined ? {} : { onChange: (event) => onValue(event.target.checked) })}
      />
      <span>{label}</span>
    </label>
  )
}

/** Fixed from outside: read-only, names the variable that fixes it. */
export function FixedField({
  label,
  value,
  variable,
}: {
  label: ReactNode
  value: string
  variable: string
}) {
  return (
    <Field
      label={label}
      hint={
        <>
          Fixed by <span className="mono">{variable}</span>
        </>
      }
    >
      {(ids) => <input {...ids} className="in mono" readOnly value={value} />}
    </Field>
  )
}
