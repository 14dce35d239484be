import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { api } from '../lib/api.ts'
import { setTheme, useShownTheme } from '../lib/theme.ts'
import { useTitle } from '../lib/view.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Mark } from '../ui/icons.tsx'
import { A } from '../ui/link.tsx'
import { ProblemNotice } from '../ui/notice.tsx'
import { Contents } from './docs/contents.tsx'
import { ChapterView, chaptersOf } from './docs/guide.tsx'
import { readReference } from './docs/model.ts'
import type { Obj, Operation, Reference } from './docs/model.ts'
import { Method, OperationView } from './docs/operation.tsx'

const subscribeHash = (listener: () => void): (() => void) => {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}
const readHash = (): string => decodeURIComponent(location.hash.slice(1))

/** The API reference at /docs: for everybody, from this server alone. The chosen operation is the fragment. */
export function DocsPage() {
  const document = useQuery({
    queryKey: ['/docs/json'],
    queryFn: () => api.get<Obj>('/docs/json', {}, { stay: true }),
    staleTime: Infinity,
  })
  const reference = useMemo(
    () => (document.data === undefined ? undefined : readReference(document.data)),
    [document.data],
  )
  return (
    <div className="doc">
      <a className="skip" href="#doc-main" onClick={skipToMain}>
        Skip to content
      </a>
      <DocsHead />
      {reference === undefined ? (
        <main id="doc-main" className="doc-main" tabIndex={-1}>
          <h1 className="vh">API reference</h1>
          {document.error === null ? (
            <p className="t13 t3" role="status">
              Reading the document
            </p>
          ) : (
            <ProblemNotice error={document.error} retry={() => void document.refetch()} />
          )}
        </main>
      ) : (
        <Viewer reference={reference} />
      )}
    </div>
  )
}

/** The fragment names the operation, so the skip link moves the focus itself. */
function skipToMain(event: { preventDefault: () => void }): void {
  event.preventDefault()
  document.getElementById('doc-main')?.focus()
}

function DocsHead() {
  const theme = useShownTheme()
  return (
    <header className="doc-top">
      <A href="/docs" className="doc-top__b">
        <Mark />
        <b>Wardpost</b>
        <span className="t2">API reference</span>
      </A>
      <span className="grow" />
      <A className="link only-wide" href="/docs/json" target="_blank">
        OpenAPI document
      </A>
      <A className="link" href="/">
        Open Wardpost
      </A>
      <IconButton
        icon="theme"
        label="Switch theme"
        onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}
      />
    </header>
  )
}

function Viewer({ reference }: { reference: Reference }) {
  const hash = useSyncExternalStore(subscribeHash, readHash)
  const [open, setOpen] = useState(false)
  const chapters = useMemo(() => chaptersOf(reference), [reference])
  const operations = useMemo(() => reference.groups.flatMap((group) => group.operations), [reference])
  const operation = operations.find((entry) => entry.id === hash)
  // Problem documents point at `/docs#error-<code>`.
  const chapter_id = hash.startsWith('error-') ? 'errors' : hash
  const chapter = chapters.find((entry) => entry.id === chapter_id) ?? chapters[0]
  const current = operation?.id ?? chapter?.id ?? 'about'
  useTitle(operation?.summary ?? chapter?.title, 'API reference')
  useEffect(() => {
    if (hash === '') return undefined
    const row = hash.startsWith('error-') ? document.getElementById(hash) : null
    if (row === null) scrollTo({ top: 0 })
    else row.scrollIntoView({ block: 'center' })
    document.getElementById('doc-title')?.focus({ preventScroll: true })
    // `:target` does not see rows that come after the page was loaded.
    row?.classList.add('is-checked')
    return () => row?.classList.remove('is-checked')
  }, [hash])
  useSlashSearch(() => setOpen(true))
  const base = reference.base.startsWith('http') ? reference.base : location.origin + reference.base

  return (
    <div className={open ? 'doc-body is-open' : 'doc-body'}>
      <div className="doc-side">
        <Button
          className="doc-toggle"
          icon="menu"
          aria-expanded={open}
          aria-controls="doc-contents"
          onClick={() => setOpen(!open)}
        >
          {operation?.summary ?? chapter?.title ?? 'Contents'}
        </Button>
        <div id="doc-contents">
          <Contents
            chapters={chapters}
            groups={reference.groups}
            current={current}
            onFollow={() => setOpen(false)}
          />
        </div>
      </div>
      <main id="doc-main" className="doc-main" tabIndex={-1}>
        {operation === undefined ? (
          <ChapterView id={chapter?.id ?? 'about'} reference={reference} />
        ) : (
          <OperationView operation={operation} document={reference.document} base={base} />
        )}
        <Neighbours operations={operations} operation={operation} />
      </main>
    </div>
  )
}

/** `/` goes to the search, unless something is being typed. */
function useSlashSearch(show: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const typing =
        event.target instanceof Element && event.target.closest('input, textarea, select') !== null
      if (event.key !== '/' || typing || event.metaKey || event.ctrlKey) return
      event.preventDefault()
      show()
      setTimeout(() => document.getElementById('doc-search')?.focus())
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
}

function Neighbours({
  operations,
  operation,
}: {
  operations: Operation[]
  operation: Operation | undefined
}) {
  const at = operation === undefined ? -1 : operations.indexOf(operation)
  const before = at > 0 ? operations[at - 1] : undefined
  const after = operations[at + 1]
  return (
    <nav className="doc-next" aria-label="Neighbours">
      {before === undefined ? <span /> : <NeighbourLink operation={before} word="Before" />}
      {after === undefined ? <span /> : <NeighbourLink operation={after} word="Next" />}
    </nav>
  )
}

function NeighbourLink({ operation, word }: { operation: Operation; word: string }) {
  return (
    <a href={`#${operation.id}`}>
      <small>{word}</small>
      <span>
        <Method operation={operation} /> {operation.summary}
      </span>
    </a>
  )
}
