/** How figures, times and sizes are written. Times are UTC everywhere; the zone is said once per view. */

const SPACE = '\u00a0'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
export const DAY_MS = 86_400_000

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** 1,204 */
export function count(value: number): string {
  return grouped.format(value).replace('-', '−')
}

/** 1.92 M, 206 k: for the one figure of a panel. */
export function compact(value: number): string {
  if (value < 100_000) return count(value)
  if (value < 1_000_000) return `${(value / 1000).toFixed(0)}${SPACE}k`
  if (value < 1_000_000_000) return `${(value / 1_000_000).toFixed(2)}${SPACE}M`
  return `${(value / 1_000_000_000).toFixed(2)}${SPACE}G`
}

/** 94.1 % of a value already in percent. `null` is a dash. Never rounds up to a full 100. */
export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  const shown = value < 100 && value > 99.9 ? Math.floor(value * 10) / 10 : value
  const text = shown === 100 || shown === 0 ? shown.toFixed(0) : shown.toFixed(1)
  return `${text}${SPACE}%`
}

/** Percent of a part of a whole, `null` when there is no whole. */
export function share(part: number, whole: number): number | null {
  return whole === 0 ? null : (part / whole) * 100
}

/** 1.9 MB, decimal units. */
export function bytes(value: number): string {
  if (value < 1000) return `${value}${SPACE}B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let size = value / 1000
  let unit = 0
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000
    unit++
  }
  return `${size < 10 ? size.toFixed(1) : size.toFixed(0)}${SPACE}${units[unit]}`
}

/** 3 h 21 m, at most two parts. */
export function duration(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000)
  if (seconds < 60) return `${seconds}${SPACE}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}${SPACE}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours}${SPACE}h ${String(minutes % 60).padStart(2, '0')}${SPACE}m`
  const days = Math.floor(hours / 24)
  if (days < 60) return hours % 24 === 0 ? `${days}${SPACE}d` : `${days}${SPACE}d ${hours % 24}${SPACE}h`
  return `${days}${SPACE}d`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

/** 19 Nov, with the year when it is not this one. Takes `2026-11-19` or a timestamp. */
export function day(iso: string, now: number = nowMs()): string {
  const date = new Date(iso.length === 10 ? `${iso}T00:00:00Z` : iso)
  const text = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
  return date.getUTCFullYear() === new Date(now).getUTCFullYear() ? text : `${text} ${date.getUTCFullYear()}`
}

/** Tue 17 Nov */
export function weekday(iso: string): string {
  const date = new Date(iso.length === 10 ? `${iso}T00:00:00Z` : iso)
  return `${DAYS[date.getUTCDay()]} ${day(iso)}`
}

/** 09:42 */
export function time(iso: string | number): string {
  const date = new Date(iso)
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`
}

/** 09:42:18 */
export function timeSeconds(iso: string | number): string {
  return `${time(iso)}:${two(new Date(iso).getUTCSeconds())}`
}

/** 4 Sep 2025 10:12:44 UTC: the exact form, for titles and properties. */
export function exact(iso: string): string {
  const date = new Date(iso)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()} ${timeSeconds(iso)} UTC`
}

/** Today the time, this year the day, before that the day with its year. */
export function moment(iso: string, now: number = nowMs()): string {
  const date = new Date(iso)
  if (now - date.getTime() < DAY_MS && date.getUTCDate() === new Date(now).getUTCDate()) return time(iso)
  return day(iso, now)
}

/** `3 h 21 m ago`, or `in 2 d`. */
export function relative(iso: string, now: number = nowMs()): string {
  const gap = now - new Date(iso).getTime()
  if (Math.abs(gap) < 45_000) return 'just now'
  return gap > 0 ? `${duration(gap)} ago` : `in ${duration(gap)}`
}

/** `2026-11-19` of a time. */
export function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** The day `days` before today, as `2026-11-19`. */
export function daysAgo(days: number): string {
  return isoDay(nowMs() - days * DAY_MS)
}

/** 1 report, 2 reports. */
export function plural(value: number, one: string, many: string = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** `Mara Lindqvist` -> ML */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/)
  const first = words[0]?.[0] ?? '?'
  const last = words.length > 1 ? (words.at(-1)?.[0] ?? '') : (words[0]?.[1] ?? '')
  return `${first}${last}`.toUpperCase()
}

/** The only reader of the browser's clock. */
export function nowMs(): number {
  return Date.now()
}
