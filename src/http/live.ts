/**
 * `GET /v1/live`: what changes in a tenant, as it happens (server-sent events). Every message is one entry of the
 * audit log, its `id` the entry's number, so a client that comes back with `Last-Event-ID` misses nothing: a stream
 * is only woken by commits, what it sends it reads from the log, after the last number it sent.
 *
 * A message says that something changed, not what: `{seq, topic, id}`. Topics that the caller may not read are left
 * out. A stream ends when its credential does.
 */
import { Elysia, t } from 'elysia'
import type { CommitNotice } from '../db/types.ts'
import { SECOND_MS } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import { LIVE_REPLAY_ENTRIES_MAX, LIVE_STREAMS_PER_TENANT_MAX } from '../lib/limits.ts'
import { type Principal, SCOPES } from '../lib/principal.ts'
import type { Guard } from './guard.ts'
import { op } from './schema.ts'

/** An entry of the audit log, as far as the stream tells of it. */
export interface LiveChange {
  seq: number
  action: string
  /** What it was done to. */
  target_id: string | null
}

export interface LiveDeps {
  onCommit(listener: (done: CommitNotice) => void): () => void
  /** The number of the tenant's last entry; 0 when there is none. */
  head(tenant_id: string): Promise<number>
  /** Entries after a number, ascending. */
  changes(tenant_id: string, after: number, limit: number): Promise<LiveChange[]>
  /** Whether the credential is still good for this tenant. */
  alive(principal: Principal): Promise<boolean>
  heartbeat_ms?: number
}

export interface Live {
  /** `after` is the last number that the client has; null begins now. Throws `rate_limited` over the tenant's cap. */
  open(principal: Principal, after: number | null): Promise<ReadableStream<Uint8Array>>
  /** Ends every stream, and every one that is asked for from now on. */
  close(): void
}

interface Stream {
  last: number
  dirty: boolean
  ended: boolean
  wake: (() => void) | null
}

const HEARTBEAT_MS = 15 * SECOND_MS
/** Commits that come within this after the one that woke a stream are told together. */
const GATHER_MS = 50
const PAGE_ENTRIES = 200

export function createLive(deps: LiveDeps): Live {
  const { heartbeat_ms = HEARTBEAT_MS } = deps
  const utf8 = new TextEncoder()
  const tenants = new Map<string, Set<Stream>>()
  let closed = false

  const poke = (stream: Stream): void => {
    stream.dirty = true
    stream.wake?.()
  }
  const end = (tenant_id: string, stream: Stream): void => {
    stream.ended = true
    const streams = tenants.get(tenant_id)
    if (streams?.delete(stream) === true && streams.size === 0) tenants.delete(tenant_id)
    stream.wake?.()
  }
  const stop = deps.onCommit(({ tenant_id, audit }) => {
    if (audit.length > 0) for (const stream of tenants.get(tenant_id) ?? []) poke(stream)
  })

  /** The next text for the client: changes it may see, or a sign of life. Null: the stream is over. */
  async function next(principal: Principal, stream: Stream): Promise<string | null> {
    const { tenant_id } = principal
    for (;;) {
      if (!stream.dirty && !stream.ended) {
        await sleep(stream, heartbeat_ms)
        if (stream.dirty) await Bun.sleep(GATHER_MS)
      }
      if (stream.ended || closed || !(await deps.alive(principal))) return null
      if (!stream.dirty) return ': still here\n\n'
      stream.dirty = false
      const changes = await deps.changes(tenant_id, stream.last, PAGE_ENTRIES)
      stream.dirty ||= changes.length === PAGE_ENTRIES
      stream.last = changes.at(-1)?.seq ?? stream.last
      const text = changes.filter((change) => maySee(principal, change)).map(message)
      if (text.length > 0) return text.join('')
    }
  }

  return {
    async open(principal, after) {
      const { tenant_id } = principal
      const streams = tenants.get(tenant_id) ?? new Set<Stream>()
      if (closed) throw problem('shutting_down')
      if (streams.size >= LIVE_STREAMS_PER_TENANT_MAX) throw tooMany()
      const stream: Stream = { last: 0, dirty: true, ended: false, wake: null }
      tenants.set(tenant_id, streams.add(stream))
      const head = await deps.head(tenant_id)
      const known = after ?? head
      // From another life of the log, or too far behind to be told one by one: read everything anew.
      const reset = known > head || head - known > LIVE_REPLAY_ENTRIES_MAX
      stream.last = reset ? head : known
      let greeting: string | null =
        `retry: 2000\n${reset ? 'event: reset\ndata: {}\n' : ''}id: ${stream.last}\n\n`
      return new ReadableStream({
        async pull(controller) {
          const text = greeting ?? (await next(principal, stream))
          greeting = null
          if (text !== null) return controller.enqueue(utf8.encode(text))
          end(tenant_id, stream)
          controller.close()
        },
        cancel: () => end(tenant_id, stream),
      })
    },
    close() {
      closed = true
      stop()
      for (const [tenant_id, streams] of tenants) for (const stream of streams) end(tenant_id, stream)
    },
  }
}

/** Until the stream is woken, at most this long. */
function sleep(stream: Stream, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      stream.wake = null
      resolve()
    }
    stream.wake = done
  })
}

function message({ seq, action, target_id }: LiveChange): string {
  return `id: ${seq}\ndata: ${JSON.stringify({ seq, topic: topicOf(action), id: target_id })}\n\n`
}

/** The area of an action: `domains` of `domains.create`. */
function topicOf(action: string): string {
  return action.slice(0, action.indexOf('.'))
}

/** Topics that have no scope of their own name. */
const TOPIC_SCOPES: Readonly<Record<string, string>> = {
  keys: 'settings:read',
  users: 'settings:read',
  invites: 'settings:read',
  sessions: 'settings:read',
  tenants: 'settings:read',
  notifications: 'settings:read',
}

function maySee(principal: Principal, { action }: LiveChange): boolean {
  const topic = topicOf(action)
  const scope = TOPIC_SCOPES[topic] ?? `${topic}:read`
  return principal.scopes.has(scope in SCOPES ? scope : 'audit:read')
}

function tooMany() {
  return problem('rate_limited', `At most ${LIVE_STREAMS_PER_TENANT_MAX} streams are open at once.`, {
    headers: { 'retry-after': '10', 'x-ratelimit-scope': 'tenant' },
  })
}

export const liveRoutes = (deps: { guard: Guard; live: Live }) =>
  new Elysia({ name: 'live', prefix: '/v1/live', tags: ['Live'], normalize: false }).use(deps.guard).get(
    '',
    async ({ principal, request, server }) => {
      const last = request.headers.get('last-event-id')
      const after = last !== null && /^\d{1,15}$/.test(last) ? Number(last) : null
      const stream = await deps.live.open(principal, after)
      // A quiet stream is not an idle connection.
      server?.timeout(request, 0)
      return new Response(stream, {
        headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
      })
    },
    op('member', {
      summary: 'Follow what changes',
      description:
        'Server-sent events: `data` is `{seq, topic, id}` of every change that the caller may see, `id` the number of its entry in the audit log. Come back with `Last-Event-ID` and nothing is missed. `event: reset` says that this is not possible: read everything anew.',
      answers: {
        200: {
          description: 'The stream.',
          content: {
            'text/event-stream': {
              schema: t.Object({ data: t.String({ description: 'JSON: `{seq, topic, id}`.' }) }),
              example:
                'id: 4711\ndata: {"seq":4711,"topic":"domains","id":"dom_01k3v8q2m7x0c9tbe4h6ynp5rz"}\n\n',
            },
          },
        },
      },
    }),
  )
