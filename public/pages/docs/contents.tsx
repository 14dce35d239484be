import { useEffect, useMemo, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { Icon } from '../../ui/icons.tsx'
import type { Chapter } from './guide.tsx'
import { searchGroups } from './model.ts'
import type { Group } from './model.ts'
import { Method } from './operation.tsx'

interface Props {
  chapters: Chapter[]
  groups: Group[]
  current: string
  /** Called when a link was followed: on narrow screens the list closes. */
  onFollow: () => void
}

/** The left column: chapters, then operations by tag, with a search over both. Arrow keys walk through the links. */
export function Contents({ chapters, groups, current, onFollow }: Props) {
  const [text, setText] = useState('')
  const box = useRef<HTMLElement>(null)
  const found = useMemo(() => searchGroups(groups, text), [groups, text])
  const shownChapters = text === '' ? chapters : []
  const total = found.reduce((sum, group) => sum + group.operations.length, 0)

  // A deep link may name an operation far down the column.
  useEffect(() => {
    box.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [current])

  const walk = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    const stops = [...(box.current?.querySelectorAll<HTMLElement>('input, a') ?? [])]
    const at = stops.findIndex((stop) => stop === document.activeElement)
    const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)]
    if (next === undefined) return
    event.preventDefault()
    next.focus()
  }

  return (
    <nav className="doc-nav" aria-label="Contents" ref={box} onKeyDown={walk}>
      <div className="doc-nav__s">
        <span className="inwrap">
          <Icon name="search" />
          <input
            id="doc-search"
            className="in"
            type="search"
            aria-label="Search operations"
            placeholder="Path, word or scope  ( / )"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </span>
        <span className="vh" role="status">
          {text === '' ? '' : `${total} operations`}
        </span>
      </div>
      {shownChapters.length === 0 ? null : (
        <ul>
          {shownChapters.map((chapter) => (
            <li key={chapter.id}>
              <a
                href={`#${chapter.id}`}
                aria-current={current === chapter.id ? 'page' : undefined}
                onClick={onFollow}
              >
                {chapter.title}
              </a>
            </li>
          ))}
        </ul>
      )}
      {found.map((group) => (
        <GroupLinks key={group.tag} group={group} current={current} onFollow={onFollow} />
      ))}
      {total === 0 ? <p className="doc-nav__e">No operation holds “{text}”.</p> : null}
    </nav>
  )
}

interface GroupProps {
  group: Group
  current: string
  onFollow: () => void
}

function GroupLinks({ group, current, onFollow }: GroupProps) {
  const id = `tag-${group.tag.replaceAll(/\W+/g, '-')}`
  return (
    <div>
      <h2 id={id}>{group.tag}</h2>
      <ul aria-labelledby={id}>
        {group.operations.map((operation) => (
          <li key={operation.id}>
            <a
              href={`#${operation.id}`}
              aria-current={current === operation.id ? 'page' : undefined}
              title={operation.kind === 'event' ? operation.path : `${operation.method} ${operation.path}`}
              onClick={onFollow}
            >
              <Method operation={operation} />
              <span className="cut">{operation.summary}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}
