/** What the states of webhooks and deliveries are called: a shape and a word. */
import { duration, exact, moment, nowMs, plural, relative } from '../../lib/format.ts'
import { State, StateTag, type StateKind } from '../../ui/state.tsx'
import type { Attempt, Delivery, DeliveryStatus, Webhook } from './types.ts'

interface Words {
  kind: StateKind
  word: string
  /** Since when, how often. */
  note?: string
}

/** What it does now. A person's decision comes before what the receiver does. */
export function healthOf(item: Webhook): Words {
  if (item.status === 'paused') return { kind: 'pause', word: 'Paused' }
  if (item.status === 'disabled') return { kind: 'fail', word: 'Disabled' }
  if (item.health === 'failing') {
    const since = item.failing_since === null ? {} : { note: `since ${moment(item.failing_since)}` }
    return { kind: 'fail', word: 'Failing', ...since }
  }
  if (item.health === 'degraded') {
    return { kind: 'medium', word: 'Degraded', note: `${item.failures} failed in a row` }
  }
  return item.last_attempt_at === null
    ? { kind: 'none', word: 'Nothing sent yet' }
    : { kind: 'pass', word: 'Delivering' }
}

/** In a row of two lines. */
export function Health({ item }: { item: Webhook }) {
  const { kind, word, note } = healthOf(item)
  return (
    <>
      <State kind={kind}>{word}</State>
      {note !== undefined && <span className="sub">{note}</span>}
    </>
  )
}

export function HealthTag({ item }: { item: Webhook }) {
  const { kind, word } = healthOf(item)
  return <StateTag kind={kind}>{word}</StateTag>
}

/** Why it is in this state and what follows from it. */
export function explainHealth(item: Webhook): string {
  const failing = item.failing_since
  if (item.status === 'paused') {
    return 'Nothing is sent. What happens meanwhile is kept as skipped deliveries, which can be sent later.'
  }
  if (item.status === 'disabled') {
    return 'Five days of nothing but failures: sending was stopped. Put the receiver right, send a test, then resume it and send again what was missed.'
  }
  if (item.health === 'failing') {
    const until =
      failing === null
        ? ''
        : ` If nothing succeeds, it is disabled after twenty, ${disabledAt(failing)} at the earliest.`
    return `${plural(item.failures, 'attempt')} failed in a row. Each delivery is tried seven times over 31 hours.${until}`
  }
  if (item.health === 'degraded') {
    return `${plural(item.failures, 'attempt')} failed in a row. After ten in more than an hour it counts as failing; one success makes it healthy again.`
  }
  if (item.last_attempt_at === null)
    return 'No event of its kinds has happened yet. Send a test to see whether it works.'
  return item.failures === 0
    ? 'The last attempt was answered with success.'
    : `${plural(item.failures, 'attempt')} failed since the last success; they are tried again.`
}

const DISABLED_AFTER_DAYS = 5

function disabledAt(failing_since: string): string {
  const at = new Date(failing_since)
  at.setUTCDate(at.getUTCDate() + DISABLED_AFTER_DAYS)
  return `${exact(at.toISOString())} (${relative(at.toISOString())})`
}

export const DELIVERY_WORDS: Record<DeliveryStatus, Words> = {
  pending: { kind: 'pending', word: 'Waiting' },
  sending: { kind: 'pending', word: 'Sending' },
  retrying: { kind: 'half', word: 'Retrying' },
  succeeded: { kind: 'pass', word: 'Delivered' },
  failed: { kind: 'fail', word: 'Failed' },
  skipped: { kind: 'pause', word: 'Skipped' },
  cancelled: { kind: 'none', word: 'Cancelled' },
}

export function DeliveryState({ status }: { status: DeliveryStatus }) {
  const { kind, word } = DELIVERY_WORDS[status]
  return <State kind={kind}>{word}</State>
}

/** `timeout: no answer in 10 s` -> what it is and what was said. */
export function splitError(last_error: string): [string, string] {
  const at = last_error.indexOf(': ')
  return at === -1 ? ['', last_error] : [last_error.slice(0, at), last_error.slice(at + 2)]
}

/** The answer of the last attempt: its code, or why there was none. */
export function LastAnswer({ item }: { item: Delivery }) {
  if (item.last_status_code === null && item.last_error === null) return <span className="t3">–</span>
  const [what, said] = splitError(item.last_error ?? '')
  return (
    <span className={item.status === 'succeeded' ? '' : 'c-fail'} title={said === '' ? undefined : said}>
      {item.last_status_code ?? what}
    </span>
  )
}

/** `in 3 h 51 m`, `in 20 s`, or `now` when its time has come. */
export function comingIn(at: string | null): string {
  const gap = at === null ? 0 : Date.parse(at) - nowMs()
  return gap <= 0 ? 'now' : `in ${duration(gap)}`
}

/** When it is tried next, or why not. */
export function nextOf(item: Delivery): string {
  if (item.status === 'sending') return 'now'
  if (item.next_attempt_at !== null) return comingIn(item.next_attempt_at)
  const ends: Partial<Record<DeliveryStatus, string>> = {
    failed: 'given up',
    skipped: 'not sent',
    cancelled: 'never',
  }
  return ends[item.status] ?? ''
}

const PHRASES: Record<number, string> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  301: 'Moved Permanently',
  302: 'Found',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

const CLASS_WORDS: Record<string, string> = {
  redirect: 'Redirect, not followed',
  blocked: 'Address not allowed',
  dns: 'Name not found',
  connect: 'No connection',
  tls: 'TLS failed',
  timeout: 'No answer in 10 s',
  reset: 'Connection cut',
  protocol: 'Not HTTP',
  secret: 'Secret cannot be opened',
  expired: 'Event no longer kept',
}

type Answered = Pick<Attempt, 'status_code' | 'error_class'>

/** `503 Service Unavailable`, or what went wrong before there was an answer. */
export function answerWords({ status_code, error_class }: Answered): string {
  const said = error_class === null || error_class === 'http_status' ? undefined : CLASS_WORDS[error_class]
  const code = status_code === null ? undefined : `${status_code} ${PHRASES[status_code] ?? ''}`.trim()
  return [code, said].filter((part) => part !== undefined).join(', ') || (error_class ?? 'No answer')
}
