import { useEffect, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react'
import type { ListState } from '../lib/query.ts'
import { useView } from '../lib/view.ts'
import { Button } from './button.tsx'
import { useHiddenColumns } from './columns.tsx'
import { Icon } from './icons.tsx'
import { ProblemNotice } from './notice.tsx'
import { SelectAll, SelectRow, type Selection } from './selection.tsx'
import { useRowWindow, useSlow } from './window.ts'

export interface Column<T> {
  key: string
  title: string
  cell: (row: T) => ReactNode
  /** The field the server sorts by. */
  sort?: string
  /** The first press sorts descending. */
  down?: boolean
  num?: boolean
  /** 4 is the first to go when the list gets narrow, 1 the last; without: never. */
  priority?: 1 | 2 | 3 | 4
  /** Cannot be hidden by choice. */
  fixed?: boolean
  className?: string
}

interface TableProps<T> {
  /** The list's name: remembers the columns. */
  name: string
  caption: string
  columns: readonly Column<T>[]
  list: ListState<T>
  rowId: (row: T) => string
  /** What a row is called by screen readers and in the selection. */
  rowName: (row: T) => string
  /** Where a row leads; without it rows are not operable. */
  href?: (row: T) => string
  /** The row whose drawer is open. */
  current?: string | undefined
  /** Sort of the URL (`sort`), or this one. */
  defaultSort?: string
  /** Rows of two lines. */
  two?: boolean
  selection?: Selection
  className?: string
  /** Instead of an empty table. */
  empty: ReactNode
  /** Right of the count below the rows. */
  foot?: ReactNode
}

/**
 * The list of the product: sortable headers, columns that give way, keyboard (j, k, arrows, Home, End, Enter, x),
 * pages loaded as they are needed, a drawn window of rows when there are many.
 */
export function Table<T>(props: TableProps<T>) {
  const { name, caption, list, rowId, current, two, selection, empty } = props
  const hidden = useHiddenColumns(name)
  const columns = props.columns.filter((column) => column.fixed === true || !hidden.has(column.key))
  const body = useRef<HTMLTableSectionElement>(null)
  const rows = list.items
  const shown = useRowWindow(body, rows.length)
  const slow = useSlow(list.isPending)
  const keys = useRowKeys(props, body)
  useFocusBack(current, body)
  useAutoLoad(list, shown.to)

  if (list.error !== null && rows.length === 0) {
    return (
      <div className="pad">
        <ProblemNotice error={list.error} retry={list.refetch} />
      </div>
    )
  }
  if (!list.isPending && rows.length === 0) return empty
  const width = columns.length + (selection === undefined ? 0 : 1)
  const look = ['t', props.href === undefined ? '' : 'rows', two === true ? 'two' : '', props.className ?? '']
  return (
    <>
      {list.news > 0 && (
        <div className="news">
          <button type="button" className="pill" onClick={list.showNews}>
            <Icon name="up" />
            {list.news} new
          </button>
        </div>
      )}
      <table
        className={look.filter((part) => part !== '').join(' ')}
        aria-busy={list.isRefreshing || undefined}
      >
        <caption className="vh">{caption}</caption>
        <thead>
          <tr>
            {selection !== undefined && <SelectAll selection={selection} ids={rows.map(rowId)} />}
            {columns.map((column) => (
              <Head key={column.key} column={column} defaultSort={props.defaultSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={keys}>
          {list.isPending && slow && <Skeleton columns={columns} extra={selection !== undefined} />}
          {shown.before_px > 0 && <Gap height={shown.before_px} width={width} />}
          {rows.slice(shown.from, shown.to).map((row, offset) => (
            <Row
              key={rowId(row)}
              row={row}
              index={shown.from + offset}
              first={shown.from + offset === 0}
              columns={columns}
              table={props}
              ids={rows}
            />
          ))}
          {shown.after_px > 0 && <Gap height={shown.after_px} width={width} />}
        </tbody>
      </table>
      {!list.isPending && <Foot list={list} count={rows.length} foot={props.foot} />}
    </>
  )
}

function Head<T>({ column, defaultSort }: { column: Column<T>; defaultSort: string | undefined }) {
  const view = useView()
  const sort = view.get('sort') ?? defaultSort ?? ''
  const by = column.sort
  const sorted = by !== undefined && (sort === by || sort === `-${by}`)
  const descending = sort.startsWith('-')
  const name = [column.num === true ? 'num' : '', priority(column)].join(' ').trim()
  const press = () => {
    if (by === undefined) return
    if (!sorted) view.set({ sort: column.down === true ? `-${by}` : by })
    else view.set({ sort: descending ? by : `-${by}` })
  }
  return (
    <th
      scope="col"
      className={name === '' ? undefined : name}
      aria-sort={sorted ? (descending ? 'descending' : 'ascending') : undefined}
    >
      {by === undefined ? (
        column.title
      ) : (
        <button type="button" onClick={press}>
          {column.title}
          {sorted && <Icon name={descending ? 'down' : 'up'} />}
        </button>
      )}
    </th>
  )
}

function priority<T>(column: Column<T>): string {
  return column.priority === undefined ? '' : `p${column.priority}`
}

interface RowProps<T> {
  row: T
  index: number
  first: boolean
  columns: readonly Column<T>[]
  table: TableProps<T>
  ids: readonly T[]
}

function Row<T>({ row, index, first, columns, table, ids }: RowProps<T>) {
  const view = useView()
  const { rowId, rowName, href, current, selection } = table
  const id = rowId(row)
  const open = current === id
  const checked = selection?.ids.has(id) === true
  const click = (event: MouseEvent<HTMLTableRowElement>) => {
    if (href === undefined || isControl(event.target)) return
    if (event.metaKey || event.ctrlKey) {
      window.open(href(row), '_blank', 'noopener')
      return
    }
    if (getSelection()?.isCollapsed === false) return
    view.go(href(row))
  }
  const operable = href !== undefined || selection !== undefined
  return (
    <tr
      data-row={id}
      data-index={index}
      className={checked ? 'is-checked' : undefined}
      aria-selected={open || undefined}
      tabIndex={operable ? (open || (current === undefined && first) ? 0 : -1) : undefined}
      onClick={click}
    >
      {selection !== undefined && (
        <SelectRow selection={selection} id={id} name={rowName(row)} all={ids.map(rowId)} />
      )}
      {columns.map((column) => (
        <td
          key={column.key}
          className={
            [column.num === true ? 'num' : '', priority(column), column.className ?? ''].join(' ').trim() ||
            undefined
          }
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input, select, label, summary') !== null
}

/** Moves the focus over the rows; asks for more near the end. */
function useRowKeys<T>(props: TableProps<T>, body: React.RefObject<HTMLTableSectionElement | null>) {
  const view = useView()
  const { list, rowId, href, selection } = props
  const move = (index: number) => {
    const to = Math.max(0, Math.min(list.items.length - 1, index))
    const row = body.current?.querySelector<HTMLElement>(`tr[data-index="${to}"]`)
    if (row !== null && row !== undefined) {
      row.focus()
      row.scrollIntoView({ block: 'nearest' })
    }
  }
  // j and k work from anywhere on the page where nothing else has the keys.
  useEffect(() => {
    const start = (event: globalThis.KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      const idle = document.activeElement === document.body || document.activeElement?.id === 'main'
      if (!idle || document.querySelector('dialog[open]') !== null) return
      if (event.key === 'j' || event.key === 'k') {
        event.preventDefault()
        move(0)
      }
    }
    addEventListener('keydown', start)
    return () => removeEventListener('keydown', start)
  })
  return (event: KeyboardEvent<HTMLTableSectionElement>) => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('tr[data-row]') : null
    if (row === null || event.metaKey || event.ctrlKey || event.altKey) return
    const on_row = event.target === row
    const index = Number(row.dataset['index'])
    const item = list.items[index]
    if (item === undefined) return
    const steps: Record<string, number> = {
      j: index + 1,
      ArrowDown: index + 1,
      k: index - 1,
      ArrowUp: index - 1,
    }
    const edges: Record<string, number> = { Home: 0, End: list.items.length - 1 }
    const to = steps[event.key] ?? (on_row ? edges[event.key] : undefined)
    if (to !== undefined) {
      event.preventDefault()
      move(to)
    } else if (event.key === 'Enter' && on_row && href !== undefined) {
      event.preventDefault()
      view.go(href(item))
    } else if ((event.key.toLowerCase() === 'x' || event.key === ' ') && on_row && selection !== undefined) {
      event.preventDefault()
      selection.toggle(rowId(item), list.items.map(rowId), event.shiftKey)
    }
  }
}

/** When the drawer closes, its row gets the focus. */
function useFocusBack(
  current: string | undefined,
  body: React.RefObject<HTMLTableSectionElement | null>,
): void {
  const before = useRef(current)
  useEffect(() => {
    const was = before.current
    before.current = current
    if (was === undefined || current !== undefined) return
    const row = body.current?.querySelector<HTMLElement>(`tr[data-row="${CSS.escape(was)}"]`)
    row?.focus()
  }, [current, body])
}

/** The next page is asked for before the last row comes into view. */
function useAutoLoad<T>(list: ListState<T>, drawn_to: number): void {
  useEffect(() => {
    if (!list.hasMore || list.isLoadingMore) return undefined
    const check = () => {
      const left = document.documentElement.scrollHeight - scrollY - innerHeight
      if (scrollY > 0 && left < 1200) list.loadMore()
    }
    check()
    addEventListener('scroll', check, { passive: true })
    return () => removeEventListener('scroll', check)
  }, [list, drawn_to])
}

function Gap({ height, width }: { height: number; width: number }) {
  return (
    <tr aria-hidden="true">
      <td colSpan={width} style={{ height, padding: 0 }} />
    </tr>
  )
}

function Skeleton<T>({ columns, extra }: { columns: readonly Column<T>[]; extra: boolean }) {
  return [0, 1, 2, 3, 4].map((row) => (
    <tr key={row} aria-hidden="true">
      {extra && <td />}
      {columns.map((column, index) => (
        <td key={column.key} className={priority(column) || undefined}>
          <span className="sk" style={{ width: `${[62, 40, 54, 36, 48][(row + index) % 5]}%` }} />
        </td>
      ))}
    </tr>
  ))
}

function Foot<T>({ list, count, foot }: { list: ListState<T>; count: number; foot: ReactNode }) {
  return (
    <div className="more">
      <span>
        {count.toLocaleString('en-US')}
        {list.hasMore ? ' shown' : ' in all'}
      </span>
      {list.hasMore && (
        <Button small busy={list.isLoadingMore} onClick={list.loadMore}>
          Show more
        </Button>
      )}
      <span className="grow" />
      {foot}
    </div>
  )
}

/** Below a short table of a drawer: the next page. */
export function LoadMore<T>({ list }: { list: ListState<T> }) {
  if (!list.hasMore) return null
  return (
    <div className="mt-3">
      <Button small busy={list.isLoadingMore} onClick={list.loadMore}>
        Show more
      </Button>
    </div>
  )
}
