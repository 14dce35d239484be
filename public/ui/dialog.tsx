import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { CopyTextButton } from './copy.tsx'
import { TextField } from './field.tsx'
import { ProblemNotice } from './notice.tsx'

interface DialogProps {
  open: boolean
  title: ReactNode
  onClose: () => void
  /** False: Esc and a click outside do not close it. */
  dismissable?: boolean
  wide?: boolean
  footer?: ReactNode
  /** Makes the whole dialog a form. */
  onSubmit?: () => void
  children: ReactNode
}

/**
 * The platform's modal dialog: focus stays inside, the page behind is inert, Esc closes, the focus goes back to
 * where it was. Its content exists only while it is open, so that a new opening starts afresh.
 */
export function Dialog({
  open,
  title,
  onClose,
  dismissable = true,
  wide = false,
  footer,
  onSubmit,
  children,
}: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = box.current
    if (dialog === null) return
    if (open && !dialog.open) dialog.showModal()
    if (!open && dialog.open) dialog.close()
  }, [open])
  useEffect(() => {
    const dialog = box.current
    return () => dialog?.close()
  }, [])
  const content = (
    <>
      <header>
        <h2 id={id}>{title}</h2>
      </header>
      <div className="body">{children}</div>
      {footer !== undefined && <footer>{footer}</footer>}
    </>
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    event.stopPropagation()
    onSubmit?.()
  }
  return (
    <dialog
      ref={box}
      className={wide ? 'dialog dialog--wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        if (dismissable) onClose()
      }}
      onKeyDown={(event) => {
        // What lies behind must not hear the keys (list navigation, drawer's Esc).
        event.stopPropagation()
        if (event.key === 'Escape' && !dismissable) event.preventDefault()
      }}
      onMouseDown={(event) => {
        if (event.target === box.current && dismissable) onClose()
      }}
    >
      {open &&
        (onSubmit === undefined ? (
          content
        ) : (
          <form noValidate onSubmit={submit}>
            {content}
          </form>
        ))}
    </dialog>
  )
}

interface FormDialogProps {
  open: boolean
  title: ReactNode
  onClose: () => void
  submitLabel: string
  /** Rejects with the problem; it is shown unless `hideError` says that the fields show it. */
  onSubmit: () => Promise<void>
  error?: unknown
  busy?: boolean
  reason?: string | undefined
  wide?: boolean
  hideError?: boolean
  children: ReactNode
}

/** A dialog with fields, Cancel and one primary button. */
export function FormDialog(props: FormDialogProps) {
  const { open, title, onClose, submitLabel, onSubmit, error, busy, reason, wide, hideError, children } =
    props
  const submit = () => {
    if (busy !== true && reason === undefined) void onSubmit()
  }
  return (
    <Dialog
      open={open}
      title={title}
      onClose={onClose}
      onSubmit={submit}
      wide={wide ?? false}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={busy} reason={reason}>
            {submitLabel}
          </Button>
        </>
      }
    >
      {children}
      {error !== undefined && error !== null && hideError !== true && <ProblemNotice error={error} />}
    </Dialog>
  )
}

interface ConfirmProps {
  open: boolean
  title: string
  confirmLabel: string
  onConfirm: () => Promise<unknown>
  onClose: () => void
  /** What must be typed before it can be confirmed (where a key, domain or tenant dies). */
  typed?: string
  danger?: boolean
  /** The object, the effect, who is hit now, the gentler way. */
  children: ReactNode
}

/** Names its object and effect. Solid red only here. */
export function ConfirmDialog({
  open,
  title,
  confirmLabel,
  onConfirm,
  onClose,
  typed,
  danger = true,
  children,
}: ConfirmProps) {
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    if (open) {
      setText('')
      setError(null)
      setBusy(false)
    }
  }, [open])
  const missing = typed !== undefined && text.trim() !== typed
  const confirm = async () => {
    if (missing || busy) return
    setBusy(true)
    setError(null)
    try {
      await onConfirm()
      onClose()
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      open={open}
      title={title}
      onClose={onClose}
      onSubmit={() => void confirm()}
      footer={
        <>
          <Button onClick={onClose} autoFocus={typed === undefined}>
            Cancel
          </Button>
          <Button
            kind={danger ? 'danger-solid' : 'primary'}
            type="submit"
            busy={busy}
            reason={missing ? `type ${typed} first` : undefined}
          >
            {confirmLabel}
          </Button>
        </>
      }
    >
      {children}
      {typed !== undefined && (
        <TextField
          label={
            <>
              Type <b>{typed}</b> to confirm
            </>
          }
          autoComplete="off"
          spellCheck={false}
          autoFocus
          value={text}
          onText={setText}
        />
      )}
      {error !== null && <ProblemNotice error={error} />}
    </Dialog>
  )
}

interface SecretProps {
  open: boolean
  title: string
  /** What the secret is: the label of the field. */
  label: string
  secret: string
  /** Several lines, for example recovery codes. */
  multiline?: boolean
  /** Why it must be saved now. */
  why?: string
  onSaved: () => void
  children?: ReactNode
}

/** Shown once; only "I have saved it" closes it. Without a clipboard the field can be selected. */
export function SecretDialog({
  open,
  title,
  label,
  secret,
  multiline = false,
  why = 'It is not stored and cannot be shown again.',
  onSaved,
  children,
}: SecretProps) {
  return (
    <Dialog
      open={open}
      title={title}
      dismissable={false}
      onClose={() => {}}
      footer={
        <Button kind="primary" onClick={onSaved}>
          I have saved it
        </Button>
      }
    >
      <p className="t2">{why} Only “I have saved it” closes this dialog.</p>
      <div className="secret">
        <TextAreaSecret label={label} secret={secret} rows={multiline ? 6 : 2} />
        <CopyTextButton text={secret}>Copy</CopyTextButton>
      </div>
      {children}
    </Dialog>
  )
}

function TextAreaSecret({ label, secret, rows }: { label: string; secret: string; rows: number }) {
  const id = useId()
  return (
    <div className="field grow">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="in mono brk"
        readOnly
        rows={rows}
        value={secret}
        spellCheck={false}
        onFocus={(event) => event.target.select()}
        aria-describedby={`${id}-n`}
      />
      <span className="hint" id={`${id}-n`}>
        No clipboard over plain HTTP? Select the field and copy by hand.
      </span>
    </div>
  )
}
