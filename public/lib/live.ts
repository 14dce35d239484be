/**
 * The stream of what changes (`GET /v1/live`): lists that a change touches are asked for again at once. It says that
 * something changed, never what; polling goes on beside it, for what leaves no entry in the log and for the time
 * when the stream is down.
 *
 * Only a visible page holds a stream: browsers allow few connections to one host, and a tab nobody sees needs none.
 */
import { useEffect, useSyncExternalStore } from 'react'
import { askAgain } from './query.ts'

const PATH = '/v1/live'
/** Changes that come together are told together. */
const GATHER_MS = 400
/** An import makes hundreds of changes: lists are asked for again this often at most. */
const PAUSE_MS = 3000
const RETRY_MS = 5000
const RETRY_MS_MAX = 60_000

/** What a change of a topic touches. Settings are left out: a form that somebody fills in must not change under them. */
const TOPIC_PATHS: Readonly<Record<string, readonly string[]>> = {
  alerts: ['/v1/alerts'],
  domains: ['/v1/domains', '/v1/reports'],
  reports: ['/v1/reports', '/v1/domains'],
  webhooks: ['/v1/webhooks'],
  keys: ['/v1/settings/keys'],
  users: ['/v1/settings/users'],
  invites: ['/v1/settings/invites'],
  sessions: ['/v1/settings/sessions'],
}
/** Every message is an entry of the log. */
const ALWAYS = ['/v1/audit/query']

let live = false
const listeners = new Set<() => void>()

function setLive(next: boolean): void {
  if (live === next) return
  live = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** True while the server tells of changes by itself. */
export function useIsLive(): boolean {
  return useSyncExternalStore(subscribe, () => live)
}

/** Nobody knows what was missed. Forms are left alone. */
function askAll(): void {
  askAgain((path) => path.startsWith('/v1/') && !path.startsWith('/v1/settings'))
}

/** Gathers topics, and asks again for what they touch, not too often. */
function createGatherer() {
  let waiting = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let last_ms = 0
  const flush = () => {
    timer = undefined
    last_ms = performance.now()
    const touched = [...waiting].flatMap((topic) => TOPIC_PATHS[topic] ?? []).concat(ALWAYS)
    waiting = new Set()
    askAgain((path) => touched.some((prefix) => path.startsWith(prefix)))
  }
  return {
    hear(topic: string): void {
      waiting.add(topic)
      timer ??= setTimeout(flush, Math.max(GATHER_MS, last_ms + PAUSE_MS - performance.now()))
    },
    stop: () => clearTimeout(timer),
  }
}

function topicOf(text: string): string | undefined {
  try {
    const { topic } = JSON.parse(text) as { topic?: unknown }
    return typeof topic === 'string' ? topic : undefined
  } catch {
    return undefined
  }
}

/** Follows the stream until the answer is called. */
function follow(): () => void {
  const gatherer = createGatherer()
  let source: EventSource | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let missed = false

  const close = () => {
    clearTimeout(retry)
    source?.close()
    source = undefined
    setLive(false)
  }
  const open = () => {
    const stream = new EventSource(PATH)
    source = stream
    stream.addEventListener('open', () => {
      failures = 0
      setLive(true)
      // A new stream begins now; the browser itself comes back with the last number and misses nothing.
      if (missed) askAll()
      missed = true
    })
    stream.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const topic = topicOf(data)
      if (topic !== undefined) gatherer.hear(topic)
    })
    stream.addEventListener('reset', () => askAll())
    stream.addEventListener('error', () => {
      setLive(false)
      // Refused (too many streams, signed out): the browser does not try again by itself.
      if (stream.readyState !== EventSource.CLOSED || source !== stream) return
      const wait_ms = Math.min(RETRY_MS * 2 ** failures++, RETRY_MS_MAX)
      retry = setTimeout(open, wait_ms)
    })
  }
  const look = () => {
    if (document.visibilityState === 'hidden') close()
    else if (source === undefined) open()
  }
  look()
  document.addEventListener('visibilitychange', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    gatherer.stop()
    close()
  }
}

/** Once, in the frame: changes are told while it is shown. */
export function useLiveStream(): void {
  useEffect(follow, [])
}
