import { useEffect, useLayoutEffect, useState, type RefObject } from 'react'

/** Below this many rows everything is rendered. */
const WINDOW_MIN_ROWS = 200
/** Rows rendered above and below what is visible. */
const OVERSCAN_ROWS = 30

export interface RowWindow {
  from: number
  to: number
  before_px: number
  after_px: number
}

/**
 * Which rows of a long table to render, from the scroll position of the page. Rows are equally high: the height is
 * measured on the first one. A table of 10,000 rows renders about a hundred.
 */
export function useRowWindow(body: RefObject<HTMLTableSectionElement | null>, rows: number): RowWindow {
  const [height, setHeight] = useState(36)
  const [range, setRange] = useState({ from: 0, to: WINDOW_MIN_ROWS })
  const long = rows > WINDOW_MIN_ROWS
  useLayoutEffect(() => {
    const first = body.current?.querySelector('tr[data-row]')
    if (first !== null && first !== undefined) {
      const measured = first.getBoundingClientRect().height
      if (measured > 0 && Math.abs(measured - height) > 0.5) setHeight(measured)
    }
  }, [body, rows, height])
  useEffect(() => {
    if (!long) return undefined
    const update = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0
      const from = Math.max(0, Math.floor(-top / height) - OVERSCAN_ROWS)
      const to = Math.min(rows, from + Math.ceil(innerHeight / height) + 2 * OVERSCAN_ROWS)
      setRange((old) =>
        Math.abs(old.from - from) < OVERSCAN_ROWS / 2 && old.to >= to - OVERSCAN_ROWS / 2 && old.to <= rows
          ? old
          : { from, to },
      )
    }
    update()
    addEventListener('scroll', update, { passive: true })
    addEventListener('resize', update)
    return () => {
      removeEventListener('scroll', update)
      removeEventListener('resize', update)
    }
  }, [body, rows, height, long])
  if (!long) return { from: 0, to: rows, before_px: 0, after_px: 0 }
  const to = Math.min(rows, Math.max(range.to, range.from + 1))
  return { from: range.from, to, before_px: range.from * height, after_px: (rows - to) * height }
}

/** True once `pending` has lasted 300 ms: short waits show nothing, so that nothing flickers. */
export function useSlow(pending: boolean): boolean {
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    if (!pending) {
      setSlow(false)
      return undefined
    }
    const timer = setTimeout(() => setSlow(true), 300)
    return () => clearTimeout(timer)
  }, [pending])
  return slow
}
