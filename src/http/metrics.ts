/**
 * Numbers about the running process, in the Prometheus text format (version 0.0.4). Labels are route templates,
 * never paths, so that a scanner cannot make a million series; each family also has a cap of its own.
 */

/** Label values, in the order in which the family names its labels. */
export type LabelValues = readonly string[]

export interface Counter {
  add(amount?: number, labels?: LabelValues): void
}

export interface Histogram {
  observe(value: number, labels?: LabelValues): void
}

export interface Registry {
  counter(name: string, help: string, labels?: readonly string[]): Counter
  /** Read when the page is asked for. */
  gauge(name: string, help: string, read: () => number): void
  histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram
  /** Facts as labels of a series that is always 1. */
  info(name: string, help: string, facts: Readonly<Record<string, string>>): void
  render(): string
}

export interface Metrics {
  registry: Registry
  /** One answered request: `route` is the template (`/v1/domains/:id`), `ms` how long it took. */
  observe(route: string, method: string, status: number, ms: number): void
  commits: Counter
  /** How many changes shared one transaction. */
  commit_group: Histogram
  /** Child processes ended for passing a limit; label: why. */
  sandbox_kills: Counter
  /** Reports taken in; labels: kind of the file, outcome. */
  ingest_reports: Counter
  rate_limited: Counter
  /** Attempts to deliver an event; label: `ok`, or why not. */
  deliveries: Counter
  delivery_duration: Histogram
  close(): void
}

/** A family with more series than this takes no new ones: they are added up under `other`. */
const SERIES_MAX = 2000
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const
const GROUP = [1, 2, 4, 8, 16, 32, 64] as const
const LAG_TICK_MS = 500

export function createRegistry(series_max: number = SERIES_MAX): Registry {
  const families: (() => string)[] = []
  const head = (name: string, help: string, type: string): string =>
    `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
  return {
    counter(name, help, labels = []) {
      const series = createSeries(labels, series_max, () => ({ value: 0 }))
      if (labels.length === 0) series.at([])
      families.push(() => {
        const lines = series.all().map(([text, each]) => `${name}${braced(text)} ${each.value}\n`)
        return head(name, help, 'counter') + lines.join('')
      })
      return { add: (amount = 1, values = []) => void (series.at(values).value += amount) }
    },
    gauge(name, help, read) {
      families.push(() => `${head(name, help, 'gauge')}${name} ${read()}\n`)
    },
    histogram(name, help, buckets, labels = []) {
      const series = createSeries(labels, series_max, () => ({
        counts: Array.from<number>({ length: buckets.length + 1 }).fill(0),
        sum: 0,
      }))
      families.push(() => {
        const lines = series.all().map(([text, each]) => renderHistogram(name, text, buckets, each))
        return head(name, help, 'histogram') + lines.join('')
      })
      return {
        observe(value, values = []) {
          const each = series.at(values)
          const found = buckets.findIndex((bound) => value <= bound)
          each.counts[found < 0 ? buckets.length : found]! += 1
          each.sum += value
        },
      }
    },
    info(name, help, facts) {
      const text = Object.entries(facts)
        .map(([label, value]) => `${label}="${escape(value)}"`)
        .join(',')
      families.push(() => `${head(name, help, 'gauge')}${name}${braced(text)} 1\n`)
    },
    render: () => families.map((family) => family()).join(''),
  }
}

/** The registry with everything that the product counts. `close` stops the clock that measures the event loop. */
export function createMetrics(ports: { version: string; monotonic: () => number }): Metrics {
  const registry = createRegistry()
  const requests = registry.counter('wardpost_http_requests_total', 'Requests answered.', [
    'route',
    'method',
    'status',
  ])
  const durations = registry.histogram(
    'wardpost_http_request_duration_seconds',
    'Time to answer a request.',
    SECONDS,
    ['route', 'method'],
  )
  const metrics = {
    registry,
    observe(route: string, method: string, status: number, ms: number) {
      requests.add(1, [route, method, String(status)])
      durations.observe(ms / 1000, [route, method])
    },
    commits: registry.counter('wardpost_db_commits_total', 'Changes committed.'),
    commit_group: registry.histogram(
      'wardpost_db_commit_group_size',
      'Changes that shared one transaction.',
      GROUP,
    ),
    sandbox_kills: registry.counter('wardpost_sandbox_kills_total', 'Child processes ended at a limit.', [
      'reason',
    ]),
    ingest_reports: registry.counter('wardpost_ingest_reports_total', 'Reports taken in.', [
      'kind',
      'outcome',
    ]),
    deliveries: registry.counter('wardpost_webhook_attempts_total', 'Attempts to deliver an event.', [
      'outcome',
    ]),
    delivery_duration: registry.histogram(
      'wardpost_webhook_attempt_duration_seconds',
      'Time until a receiver had answered, or not.',
      SECONDS,
    ),
    rate_limited: registry.counter('wardpost_http_rate_limited_total', 'Requests refused by a limit.', [
      'scope',
    ]),
  }
  registry.gauge('process_resident_memory_bytes', 'Resident memory of this process.', () =>
    process.memoryUsage.rss(),
  )
  registry.gauge('process_uptime_seconds', 'Time since the start.', () => process.uptime())
  registry.gauge('process_cpu_seconds_total', 'User and system time used.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  registry.info('wardpost_build_info', 'What is running.', { version: ports.version, bun: Bun.version })
  const stop = measureEventLoop(registry, ports.monotonic)
  return { ...metrics, close: stop }
}

/** The largest delay of a timer since the page was last asked for. */
function measureEventLoop(registry: Registry, monotonic: () => number): () => void {
  let worst_ms = 0
  let last = monotonic()
  const timer = setInterval(() => {
    const now = monotonic()
    worst_ms = Math.max(worst_ms, now - last - LAG_TICK_MS)
    last = now
  }, LAG_TICK_MS)
  timer.unref()
  registry.gauge('wardpost_event_loop_lag_seconds', 'Largest timer delay since the last scrape.', () => {
    const seconds = Math.max(0, worst_ms) / 1000
    worst_ms = 0
    return seconds
  })
  return () => clearInterval(timer)
}

interface Series<T> {
  at(values: LabelValues): T
  all(): [string, T][]
}

function createSeries<T>(labels: readonly string[], max: number, make: () => T): Series<T> {
  const by_text = new Map<string, T>()
  return {
    at(values) {
      const text = labels.map((label, i) => `${label}="${escape(values[i] ?? '')}"`).join(',')
      const known = by_text.get(text)
      if (known !== undefined) return known
      const full = by_text.size >= max
      const name = full ? labels.map((label) => `${label}="other"`).join(',') : text
      const fresh = by_text.get(name) ?? make()
      by_text.set(name, fresh)
      return fresh
    },
    all: () => [...by_text],
  }
}

function renderHistogram(
  name: string,
  text: string,
  buckets: readonly number[],
  each: { counts: number[]; sum: number },
): string {
  let total = 0
  let out = ''
  const prefix = text === '' ? '' : `${text},`
  for (const [i, count] of each.counts.entries()) {
    total += count
    out += `${name}_bucket{${prefix}le="${buckets[i] ?? '+Inf'}"} ${total}\n`
  }
  return `${out}${name}_sum${braced(text)} ${each.sum}\n${name}_count${braced(text)} ${total}\n`
}

const braced = (text: string): string => (text === '' ? '' : `{${text}}`)

function escape(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
