/** Small drawings beside a printed value; hidden from screen readers, which read the value. */

interface MeterProps {
  /** 0..100 */
  value: number
  bad?: boolean
  accent?: boolean
  full?: boolean
  width?: number
  /** Limits, 0..100. */
  ticks?: readonly number[]
}

export function Meter({
  value,
  bad = false,
  accent = false,
  full = false,
  width = 64,
  ticks = [],
}: MeterProps) {
  const name = `meter${bad ? ' m-bad' : ''}${accent ? ' m-acc' : ''}${full ? ' m-full' : ''}`
  return (
    <span className={name} {...(full ? {} : { style: { width } })} aria-hidden="true">
      <span className="meter__f" style={{ width: `${Math.min(100, Math.max(0, value))}%` }} />
      {ticks.map((tick) => (
        <span key={tick} className="meter__t" style={{ left: `${tick}%` }} />
      ))}
    </span>
  )
}

interface ScaleProps {
  value: number
  /** Where it was before, a hollow needle. */
  before?: number | undefined
  limit?: number | undefined
  min?: number
  max?: number
}

/** A figure on a scale: needle now, hollow needle before, tick limit, what was lost in red. */
export function Scale({ value, before, limit, min = 0, max = 100 }: ScaleProps) {
  const at = (figure: number) => `${Math.min(100, Math.max(0, ((figure - min) / (max - min)) * 100))}%`
  const bad = limit !== undefined && value < limit
  return (
    <div className="scale" aria-hidden="true">
      <span className="scale__base" />
      <span className={bad ? 'scale__fill m-bad' : 'scale__fill'} style={{ width: at(value) }} />
      <span className="scale__tick is-start" style={{ left: 0 }}>
        <span>{min}</span>
      </span>
      {limit !== undefined && (
        <span className="scale__tick" style={{ left: at(limit) }}>
          <span>limit {limit}</span>
        </span>
      )}
      <span className="scale__tick is-end" style={{ left: '100%' }}>
        {/* The limit's label needs the room when it is close to the end. */}
        {(limit === undefined || (limit - min) / (max - min) < 0.86) && <span>{max}</span>}
      </span>
      <span className="scale__needle" style={{ left: at(value) }} />
      {before !== undefined && <span className="scale__needle is-was" style={{ left: at(before) }} />}
    </div>
  )
}

export type StripCell = 'ok' | 'warn' | 'fail' | 'none' | 'quiet'

const STRIP_CLASS: Record<StripCell, string> = { ok: '', warn: 's-w', fail: 's-f', none: 's-n', quiet: 's-q' }

/** One mark per day or run. */
export function Strip({ cells }: { cells: readonly StripCell[] }) {
  return (
    <span className="strip" aria-hidden="true">
      {cells.map((cell, index) => (
        // Cells have no identity of their own: the position is the day.
        <i key={index} className={STRIP_CLASS[cell]} />
      ))}
    </span>
  )
}

/** A trend of 56 by 20. Red only when it fell. */
export function Sparkline({ values, fell = false }: { values: readonly (number | null)[]; fell?: boolean }) {
  const known = values.filter((value) => value !== null)
  if (known.length < 2) return <span className="spark" style={{ width: 56, height: 20 }} />
  const low = Math.min(...known)
  const span = Math.max(Math.max(...known) - low, 0.5)
  const points: [number, number][] = []
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    points.push([1 + (index / (values.length - 1)) * 52, 16 - ((value - low) / span) * 12])
  }
  const last = points.at(-1)
  const colour = fell ? 'var(--viz-loud)' : 'var(--viz-line-2)'
  return (
    <svg className="spark" width="56" height="20" viewBox="0 0 56 20" aria-hidden="true">
      <polyline
        points={points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')}
        fill="none"
        stroke={colour}
        strokeWidth="1.25"
        strokeLinejoin="round"
      />
      {last !== undefined && <circle cx={last[0]} cy={last[1]} r="1.75" fill={colour} />}
    </svg>
  )
}

/** Long work: bar, count, and that one can leave. */
export function ProgressLine({
  label,
  done,
  total,
  note,
}: {
  label: string
  done: number
  total: number
  note?: string
}) {
  const part = total === 0 ? 0 : (done / total) * 100
  return (
    <div className="jobp">
      <div
        className="prog"
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done}
      >
        <i style={{ width: `${part}%` }} />
      </div>
      {note !== undefined && <p>{note}</p>}
    </div>
  )
}
