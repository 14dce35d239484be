/** The drawing behind `Chart`. A default export, because React loads it lazily. */
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { day } from '../lib/format.ts'
import { useShownTheme } from '../lib/theme.ts'
import type { ChartColour, ChartProps } from './chart.tsx'

type PlotProps = Omit<ChartProps, 'at' | 'onAt'> & {
  height: number
  at: number | null
  onAt: (index: number | null) => void
}

interface Palette {
  axis: string
  grid: string
  text: string
  strong: string
  surface: string
  critical: string
  font: string
  colour: Record<ChartColour, string>
}

function palette(element: Element): Palette {
  const style = getComputedStyle(element)
  const token = (name: string) => style.getPropertyValue(name).trim()
  return {
    axis: token('--viz-axis'),
    grid: token('--viz-grid'),
    text: token('--text-3'),
    strong: token('--text'),
    surface: token('--surface'),
    critical: token('--critical'),
    font: style.fontFamily,
    colour: {
      quiet: token('--viz-quiet'),
      quiet2: token('--viz-quiet-2'),
      loud: token('--viz-loud'),
      line: token('--viz-line'),
      line2: token('--viz-line-2'),
    },
  }
}

/** Red and slate are alike in lightness: the failing part is hatched as well. */
function hatch(colours: Palette): CanvasPattern | string {
  const ratio = devicePixelRatio
  const size = Math.round(5 * ratio)
  const tile = document.createElement('canvas')
  tile.width = size
  tile.height = size
  const pen = tile.getContext('2d')
  if (pen === null) return colours.colour.loud
  pen.fillStyle = colours.colour.loud
  pen.fillRect(0, 0, size, size)
  pen.strokeStyle = colours.surface
  pen.globalAlpha = 0.55
  pen.lineWidth = 1.4 * ratio
  for (const shift of [-size, 0, size]) {
    pen.beginPath()
    pen.moveTo(shift, size)
    pen.lineTo(shift + size, 0)
    pen.stroke()
  }
  return pen.createPattern(tile, 'repeat') ?? colours.colour.loud
}

/** Values of the plot: bars are drawn as running sums, the largest first, so that each covers its part. */
function columns(props: PlotProps): (number | null)[][] {
  if (props.kind === 'line') return props.series.map((series) => [...series.values])
  const sums: (number | null)[][] = []
  let below = props.days.map(() => 0)
  for (const series of props.series) {
    below = below.map((sum, index) => sum + (series.values[index] ?? 0))
    sums.unshift(below)
  }
  return sums
}

/** At most `most` days to label, a whole number of weeks apart where there is room. */
function labelled(days: number, most: number): number[] {
  const step = Math.max(1, days <= most ? 1 : Math.ceil(days / most / 7) * 7)
  const found: number[] = []
  for (let index = days - 1; index >= 0; index -= step) found.unshift(index)
  return found
}

function options(props: PlotProps, colours: Palette, width: number): uPlot.Options {
  const font = `11px ${colours.font}`
  const bars = uPlot.paths.bars?.({ size: [0.82, 48], gap: 0 })
  const drawn = props.kind === 'bars' ? props.series.toReversed() : props.series
  const spline = props.kind === 'line'
  const gap_right = props.room ?? (spline ? 64 : 18)
  return {
    width,
    height: props.height,
    padding: [20, gap_right, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: spline } },
    scales: {
      x: { time: false, range: () => [-0.6, props.days.length - 0.4] },
      y: { range: (_plot, low, high) => span(props, low, high) },
    },
    axes: [
      {
        font,
        stroke: colours.text,
        size: 24,
        gap: 4,
        grid: { show: false },
        ticks: { stroke: colours.axis, width: 1, size: 4 },
        border: { show: true, stroke: colours.axis, width: 1 },
        splits: () => labelled(props.days.length, width < 420 ? 3 : 5),
        values: (_plot, splits) =>
          splits.map((index) => (props.days[index] === undefined ? '' : day(props.days[index]))),
      },
      {
        font,
        stroke: colours.text,
        size: 44,
        gap: 6,
        space: 32,
        grid: { stroke: colours.grid, width: 1 },
        ticks: { show: false },
        values: (_plot, splits) => splits.map((value) => props.format(value)),
      },
    ],
    series: [
      {},
      ...drawn.map((series): uPlot.Series => {
        const stroke = colours.colour[series.colour]
        if (spline)
          return { label: series.label, stroke, width: 1.75, points: { show: false }, spanGaps: true }
        const fill = series.colour === 'loud' ? hatch(colours) : stroke
        return {
          label: series.label,
          fill: () => fill,
          width: 0,
          points: { show: false },
          ...(bars === undefined ? {} : { paths: bars }),
        }
      }),
    ],
    hooks: {
      draw: [(plot) => annotate(plot, props, colours)],
      setCursor: [(plot) => props.onAt(plot.cursor.idx ?? null)],
    },
  }
}

function span(props: PlotProps, low: number, high: number): [number, number] {
  if (props.kind === 'bars') return [0, Math.max(props.max ?? 0, high * 1.05, 1)]
  const limit = props.limit?.value
  const bottom = Math.min(low, limit ?? low)
  const room = Math.max((100 - bottom) * 0.15, 1)
  return [props.min ?? Math.max(0, Math.floor(bottom - room)), props.max ?? high]
}

/** The unit above the axis, the limit line with its label, the last value at its line. */
function annotate(plot: uPlot, props: PlotProps, colours: Palette): void {
  const ratio = devicePixelRatio
  const pen = plot.ctx
  const { left, top, width } = plot.bbox
  pen.save()
  pen.font = `${11 * ratio}px ${colours.font}`
  pen.textBaseline = 'alphabetic'
  pen.fillStyle = colours.text
  pen.textAlign = 'left'
  pen.fillText(props.unit, left, top - 8 * ratio)
  if (props.limit !== undefined) {
    const y = Math.round(plot.valToPos(props.limit.value, 'y', true)) + 0.5
    pen.strokeStyle = colours.colour.loud
    pen.lineWidth = ratio
    pen.setLineDash([4 * ratio, 3 * ratio])
    pen.beginPath()
    pen.moveTo(left, y)
    pen.lineTo(left + width, y)
    pen.stroke()
    pen.setLineDash([])
    pen.fillStyle = colours.critical
    pen.fillText(props.limit.label, left + width + 6 * ratio, y + 4 * ratio + lift(plot, props, ratio))
  }
  if (props.kind === 'line') lastValues(plot, props, colours)
  pen.restore()
}

/** Keeps the limit's label off the last value's. */
function lift(plot: uPlot, props: PlotProps, ratio: number): number {
  const last = props.series[0]?.values.findLast((value) => value !== null)
  if (last === undefined || last === null || props.limit === undefined) return 0
  const gap = plot.valToPos(props.limit.value, 'y', true) - plot.valToPos(last, 'y', true)
  if (Math.abs(gap) >= 14 * ratio) return 0
  return gap >= 0 ? 14 * ratio - gap : -14 * ratio - gap
}

function lastValues(plot: uPlot, props: PlotProps, colours: Palette): void {
  const ratio = devicePixelRatio
  const pen = plot.ctx
  for (const series of props.series) {
    const index = series.values.findLastIndex((value) => value !== null)
    const value = series.values[index]
    if (value === null || value === undefined) continue
    const x = plot.valToPos(index, 'x', true)
    const y = plot.valToPos(value, 'y', true)
    pen.fillStyle = colours.colour[series.colour]
    pen.beginPath()
    pen.arc(x, y, 2.5 * ratio, 0, 2 * Math.PI)
    pen.fill()
    pen.fillStyle = colours.strong
    pen.font = `600 ${11 * ratio}px ${colours.font}`
    pen.fillText(props.format(value), plot.bbox.left + plot.bbox.width + 6 * ratio, y + 4 * ratio)
  }
}

export default function Plot(props: PlotProps) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const theme = useShownTheme()
  const { days, series, at } = props
  const signature = JSON.stringify([days, series, props.limit, props.kind, props.height])
  // A new plot for new figures or another theme: a day chart is drawn in two milliseconds.
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const width = Math.max(120, element.clientWidth)
    const x = days.map((_day, index) => index)
    const made = new uPlot(
      options(props, palette(element), width),
      [x, ...columns(props)] as uPlot.AlignedData,
      element,
    )
    plot.current = made
    const observer = new ResizeObserver(() => {
      const next = Math.max(120, element.clientWidth)
      if (next !== made.width) made.setSize({ width: next, height: props.height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
    // `signature` stands for the figures; the callbacks only set state.
  }, [signature, theme])
  useEffect(() => {
    const made = plot.current
    if (made === null || at === null || made.cursor.idx === at) return
    made.setCursor({ left: made.valToPos(at, 'x'), top: 0 }, false)
  }, [at])
  return <div ref={host} className="plot__host" />
}
