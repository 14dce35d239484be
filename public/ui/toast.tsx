import { useSyncExternalStore } from 'react'
import { explain } from '../lib/api.ts'
import { Button, IconButton } from './button.tsx'
import { Glyph } from './icons.tsx'

export interface ToastInput {
  kind: 'pass' | 'fail' | 'info'
  text: string
  action?: { label: string; run: () => void }
}

interface Shown extends ToastInput {
  id: number
}

const KEEP_MS = { pass: 6000, info: 6000, fail: 12_000 } as const
let next_id = 1
let shown: Shown[] = []
const listeners = new Set<() => void>()

function change(next: Shown[]): void {
  shown = next
  for (const listener of listeners) listener()
}

function dismiss(id: number): void {
  change(shown.filter((toast) => toast.id !== id))
}

/** Says the result of something the person just did. */
export function notify(toast: ToastInput): void {
  const id = next_id++
  change([...shown.slice(-3), { ...toast, id }])
  setTimeout(() => dismiss(id), KEEP_MS[toast.kind])
}

/** For `catch`: the server's words. */
export function notifyProblem(error: unknown, what?: string): void {
  notify({ kind: 'fail', text: what === undefined ? explain(error) : `${what}: ${explain(error)}` })
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Once, at the root. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown)
  return (
    <div className="toasts" role="region" aria-label="Results" aria-live="polite">
      {toasts.map((toast) => (
        <div className="toast" key={toast.id} role={toast.kind === 'fail' ? 'alert' : 'status'}>
          <span className={`c-${toast.kind}`}>
            <Glyph name={toast.kind} />
          </span>
          <span className="grow">{toast.text}</span>
          {toast.action !== undefined && (
            <Button
              kind="quiet"
              small
              onClick={() => {
                toast.action?.run()
                dismiss(toast.id)
              }}
            >
              {toast.action.label}
            </Button>
          )}
          <IconButton icon="x" label="Dismiss" onClick={() => dismiss(toast.id)} />
        </div>
      ))}
    </div>
  )
}
