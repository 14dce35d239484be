import { useEffect, useRef, useState, type ReactNode } from 'react'
import { copyText } from '../lib/clipboard.ts'
import { Button, IconButton } from './button.tsx'
import { notify } from './toast.tsx'

/** Copies and shows for a moment that it did; says so when the browser refuses. */
function useCopy(text: string): [boolean, () => void] {
  const [done, setDone] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const attempt = async () => {
    if (!(await copyText(text))) {
      notify({ kind: 'fail', text: 'The browser refused to copy. Select the text and copy it by hand.' })
      return
    }
    setDone(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setDone(false), 1500)
  }
  const copy = () => void attempt()
  return [done, copy]
}

/** A small square beside a value. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [done, copy] = useCopy(text)
  return (
    <IconButton
      small
      icon={done ? 'check' : 'copy'}
      label={done ? `Copied ${what}` : `Copy ${what}`}
      className={done ? 'is-done' : ''}
      onClick={copy}
    />
  )
}

/** With a word. */
export function CopyTextButton({ text, children }: { text: string; children: string }) {
  const [done, copy] = useCopy(text)
  return (
    <Button kind="quiet" small icon={done ? 'check' : 'copy'} onClick={copy}>
      {done ? 'Copied' : children}
    </Button>
  )
}

/** A record to publish or a command to run: mono, wraps, copies. `children` may mark parts; `text` is what is copied. */
export function RecordBox({ text, what, children }: { text: string; what: string; children?: ReactNode }) {
  return (
    <div className="rec">
      {children ?? text}
      <CopyButton text={text} what={what} />
    </div>
  )
}
