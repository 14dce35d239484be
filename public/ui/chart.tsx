import { lazy, Suspense, useState, type KeyboardEvent, type ReactNode } from 'react'
import { day } from '../lib/format.ts'
import { Button } from './button.tsx'

export type ChartColour = 'quiet' | 'quiet2' | 'loud' | 'line' | 'line2'

export interface ChartSeries {
  label: string
  /** One per day, oldest first. */
  values: readonly (number | null)[]
  colour: ChartColour
}

export interface ChartProps {
  /** What is shown and its gist, for screen readers. */
  label: string
  /** Said above the axis. */
  unit: string
  kind: 'bars' | 'line'
  days: readonly string[]
  /** Bars are stacked in this order from the bottom; the loud one is hatched. */
  series: readonly ChartSeries[]
  format: (value: number) => string
  min?: number
  max?: number
  limit?: { value: number; label: string } | undefined
  height?: number
  /** The sentence of a day below the chart; none where another chart on the same days says it. */
  readout?: (index: number) => ReactNode
  /** The chosen day, when several charts share it. */
  at?: number | null
  onAt?: (index: number | null) => void
  /** Room at the right for the last value and the limit, in px. */
  room?: number
}

const Plot = lazy(() => import('./plot.tsx'))

/**
 * A chart by days. The day under the pointer, or chosen with the left and right keys, is read out as text below;
 * without one it is the newest. The plotting library is loaded when the first chart is shown.
 */
export function Chart(props: ChartProps) {
  const { days, readout, label, height = 176 } = props
  const [own, setOwn] = useState<number | null>(null)
  const at = props.at === undefined ? own : props.at
  const setAt = props.onAt ?? setOwn
  const shown = at === null || at >= days.length ? days.length - 1 : at
  const keys = (event: KeyboardEvent) => {
    const moves: Record<string, number> = {
      ArrowLeft: Math.max(0, shown - 1),
      ArrowRight: Math.min(days.length - 1, shown + 1),
      Home: 0,
      End: days.length - 1,
    }
    const next = moves[event.key]
    if (next === undefined) return
    event.preventDefault()
    setAt(next)
  }
  return (
    <figure className="plot">
      <div
        className="plot__box"
        // A chart is operated by arrow keys alone, like a slider over its days.
        role="slider"
        tabIndex={0}
        aria-label={`${label}. Choose a day with the left and right keys.`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, days.length - 1)}
        aria-valuenow={Math.max(0, shown)}
        aria-valuetext={days[shown] === undefined ? 'no day' : day(days[shown])}
        onKeyDown={keys}
        onBlur={() => setAt(null)}
        style={{ minHeight: height }}
      >
        <Suspense fallback={null}>
          <Plot {...props} height={height} at={at} onAt={setAt} />
        </Suspense>
      </div>
      {shown >= 0 && readout !== undefined && <figcaption className="readout">{readout(shown)}</figcaption>}
    </figure>
  )
}

interface LegendItem {
  label: string
  colour: ChartColour
}

const SWATCH: Record<ChartColour, string> = {
  quiet: 'var(--viz-quiet)',
  quiet2: 'var(--viz-quiet-2)',
  loud: 'var(--viz-loud)',
  line: 'var(--viz-line)',
  line2: 'var(--viz-line-2)',
}

export function Legend({ items }: { items: readonly LegendItem[] }) {
  return (
    <div className="legend">
      {items.map((item) => (
        <span key={item.label}>
          <svg viewBox="0 0 14 10" aria-hidden="true">
            <rect width="14" height="10" fill={SWATCH[item.colour]} />
            {item.colour === 'loud' && (
              <path
                d="M-2 6 6-2M0 10 10 0M4 12 14 2M9 12l8-8"
                stroke="var(--surface)"
                strokeOpacity="0.55"
                strokeWidth="1.3"
              />
            )}
          </svg>
          {item.label}
        </span>
      ))}
    </div>
  )
}

/** `const [button, shown] = useShowData()`: the button for the head, and whether the table is open. */
export function useShowData(): [ReactNode, boolean] {
  const [shown, setShown] = useState(false)
  const button = (
    <Button kind="quiet" small icon="data" aria-pressed={shown} onClick={() => setShown(!shown)}>
      {shown ? 'Hide data' : 'Show data'}
    </Button>
  )
  return [button, shown]
}

interface DataTableProps {
  caption: string
  days: readonly string[]
  columns: readonly { label: string; values: readonly (number | null)[]; format: (value: number) => string }[]
}

/** The figures of a chart, newest day first. */
export function ChartData({ caption, days, columns }: DataTableProps) {
  return (
    <div className="scroll plot__data" role="region" aria-label={caption} tabIndex={0}>
      <table className="t t--sub">
        <caption className="vh">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {columns.map((column) => (
              <th scope="col" className="num" key={column.label}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days
            .map((date, index) => (
              <tr key={date}>
                <th scope="row" className="nw">
                  {day(date)}
                </th>
                {columns.map((column) => {
                  const value = column.values[index]
                  return (
                    <td className="num" key={column.label}>
                      {value === null || value === undefined ? '–' : column.format(value)}
                    </td>
                  )
                })}
              </tr>
            ))
            .toReversed()}
        </tbody>
      </table>
    </div>
  )
}
