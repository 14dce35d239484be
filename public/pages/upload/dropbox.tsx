import { useEffect, useRef, useState, type DragEvent } from 'react'
import { filesOfDrop, filesOfPaste } from '../../lib/drop.ts'
import { addFiles } from '../../lib/uploads.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'

/** What is pasted anywhere on the page, but not into a field, is uploaded. */
function usePaste(allowed: boolean): void {
  useEffect(() => {
    if (!allowed) return undefined
    const paste = (event: ClipboardEvent) => {
      const target = event.target
      if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return
      if (event.clipboardData === null) return
      const found = filesOfPaste(event.clipboardData)
      if (found.length === 0) notify({ kind: 'info', text: 'What was pasted is neither a file nor a report' })
      addFiles(found)
    }
    addEventListener('paste', paste)
    return () => removeEventListener('paste', paste)
  }, [allowed])
}

/** Takes files by drop (folders too), by choosing, by pasting. `reason`: why it may not be used. */
export function DropBox({ reason }: { reason?: string | undefined }) {
  const [over, setOver] = useState(false)
  const allowed = reason === undefined
  usePaste(allowed)
  const drag = (event: DragEvent, on: boolean) => {
    event.preventDefault()
    setOver(on && allowed)
  }
  const drop = (event: DragEvent) => {
    drag(event, false)
    if (!allowed) return
    filesOfDrop(event.dataTransfer).then(addFiles, (error: unknown) => notifyProblem(error, 'Not read'))
  }
  return (
    <div
      className={over ? 'drop is-over' : 'drop'}
      role="group"
      aria-label="Files to upload"
      onDragEnter={(event) => drag(event, true)}
      onDragOver={(event) => drag(event, true)}
      onDragLeave={(event) => drag(event, false)}
      onDrop={drop}
    >
      <Icon name="upload" />
      <div className="grow">
        <b>Drop files or folders here</b>
        <span>XML, ZIP, GZIP, JSON, or the mail itself (.eml). Up to 25 MB per file, 512 MB unpacked.</span>
      </div>
      <span className="t3 t12 nw only-wide">
        or paste with <kbd>{navigator.userAgent.includes('Mac') ? '⌘V' : 'Ctrl V'}</kbd>
      </span>
      <Chooser reason={reason} />
      <Chooser folder reason={reason} />
    </div>
  )
}

function Chooser({ folder = false, reason }: { folder?: boolean; reason: string | undefined }) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    // React knows no such attribute; every browser does.
    if (folder) input.current?.setAttribute('webkitdirectory', '')
  }, [folder])
  return (
    <>
      <Button kind={folder ? 'quiet' : 'primary'} reason={reason} onClick={() => input.current?.click()}>
        {folder ? 'Choose folder' : 'Choose files'}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={folder ? 'Folder of reports' : 'Report files'}
        onChange={(event) => {
          addFiles([...(event.target.files ?? [])])
          event.target.value = ''
        }}
      />
    </>
  )
}
