/**
 * `Idempotency-Key` on POST: the same key with the same request replays the first answer, with another request it is
 * refused, and while the first still runs the second waits outside (409). The record lands in the commit of the
 * effect: services take `actor.reply` for that. Answers that hold a secret are sealed.
 */
import type { Db, IdempotencyDraft } from '../db/types.ts'
import type { Clock } from '../lib/clock.ts'
import { type Keyring, sha256Hex } from '../lib/crypto.ts'
import { invalid, problem } from '../lib/errors.ts'
import { IDEMPOTENCY_KEY_CHARS_MAX, IDEMPOTENCY_TTL_MS } from '../lib/limits.ts'
import type { Principal } from '../lib/principal.ts'
import { stateOf } from './request.ts'

export interface Idempotency {
  /** The answer to replay, or undefined: go on. Puts `reply` on the principal's actor. */
  begin(request: Request, principal: Principal, body: unknown): Promise<Response | undefined>
  /** Keeps the answer of a request whose handler had nothing to commit. */
  finish(request: Request, status: number, answer: unknown): Promise<void>
  release(request: Request): void
}

interface Running {
  slot: string
  principal: Principal
  draft(status: number, body: unknown, options?: { secret: boolean }): IdempotencyDraft
  recorded: boolean
}

interface Stored {
  fingerprint: string
  status: number
  body: string
}

export function createIdempotency(deps: { db: Db; clock: Clock; keyring: Keyring }): Idempotency {
  const running = new Map<string, Request>()
  const requests = new WeakMap<Request, Running>()

  const draftFor = (key: string, route: string, fingerprint: string, run: () => Running) =>
    function draft(status: number, body: unknown, options?: { secret: boolean }): IdempotencyDraft {
      run().recorded = true
      const text = JSON.stringify(body ?? null)
      const kept = options?.secret === true ? `sealed:${deps.keyring.seal(text)}` : text
      const expires_at = deps.clock.now() + IDEMPOTENCY_TTL_MS
      return { tenant_id: run().principal.tenant_id, key, route, fingerprint, status, body: kept, expires_at }
    }

  const replay = (stored: Stored, fingerprint: string): Response => {
    if (stored.fingerprint !== fingerprint) {
      throw problem('idempotency_key_reused', 'This Idempotency-Key was used for a different request.')
    }
    const text = stored.body.startsWith('sealed:') ? deps.keyring.open(stored.body.slice(7)) : stored.body
    if (text === null)
      throw problem('outcome_unknown', 'The first answer held a secret that can no longer be opened.')
    const headers = { 'idempotency-replayed': 'true', 'content-type': 'application/json' }
    const body = stored.status === 204 ? null : text
    return new Response(body, { status: stored.status, headers })
  }

  const release = (request: Request): void => {
    const run = requests.get(request)
    if (run !== undefined && running.get(run.slot) === request) running.delete(run.slot)
  }

  return {
    release,
    async begin(request, principal, body) {
      const key = request.headers.get('idempotency-key')
      if (key === null || stateOf(request).path.endsWith('/upload')) return undefined
      if (!/^[\x21-\x7e]+$/.test(key) || key.length > IDEMPOTENCY_KEY_CHARS_MAX) {
        throw invalid(
          '/Idempotency-Key',
          'invalid_idempotency_key',
          'Idempotency-Key: 1 to 255 visible ASCII characters.',
        )
      }
      const url = new URL(request.url)
      const route = `POST ${url.pathname}`
      const fingerprint = sha256Hex(`${route}${url.search}\n${stable(body)}`)
      const slot = `${principal.tenant_id}\n${key}`
      if (running.has(slot)) {
        throw problem('idempotency_in_progress', undefined, { headers: { 'retry-after': '1' } })
      }
      running.set(slot, request)
      const run: Running = {
        slot,
        principal,
        recorded: false,
        draft: draftFor(key, route, fingerprint, () => run),
      }
      requests.set(request, run)
      const [stored] = await deps.db.query<Stored>(
        'SELECT fingerprint, status, body FROM idempotency WHERE tenant_id = ? AND key = ? AND expires_at > ?',
        [principal.tenant_id, key, deps.clock.now()],
      )
      if (stored !== undefined) {
        release(request)
        return replay(stored, fingerprint)
      }
      principal.actor.reply = run.draft
      return undefined
    },
    async finish(request, status, answer) {
      const run = requests.get(request)
      if (run === undefined) return
      const kept = run.recorded || answer instanceof Response || run.principal.actor.reply === undefined
      if (kept || status >= 400) return release(request)
      await deps.db.commit(run.principal.actor, {
        writes: [],
        audit: { none: 'staging' },
        // Nobody said what is in it, so it is kept like a secret.
        idempotency: run.draft(status, answer, { secret: true }),
      })
      release(request)
    },
  }
}

/** JSON with sorted keys: two bodies that mean the same read the same. */
function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([name, each]) => `${JSON.stringify(name)}:${stable(each)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
