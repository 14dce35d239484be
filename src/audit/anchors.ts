/**
 * Sends the checkpoints of the installation away, where nobody who holds this machine can change them: to a syslog
 * server and a webhook as they are made, by mail once a day. One checkpoint names all chains, so any one that arrived
 * proves everything before it. Progress is kept per destination: what could not be sent goes with the next.
 */
import type { Db, RawWrite } from '../db/types.ts'
import { operatorActor, systemActor } from '../lib/actors.ts'
import type { Checkpoint } from '../lib/audit-statement.ts'
import { readStatement } from '../lib/audit-statement.ts'
import { type Clock, DAY_MS, HOUR_MS, isoTime, MINUTE_MS } from '../lib/clock.ts'
import { problem } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { ANCHOR_RESPONSE_BYTES_MAX, ANCHOR_TIMEOUT_MS } from '../lib/limits.ts'
import { type Principal, SYSTEM_CHAIN } from '../lib/principal.ts'
import type { Egress } from '../net/http.ts'
import type { Syslog } from '../net/syslog.ts'
import type { CheckpointStore } from './checkpoint-store.ts'
import { anchorMail } from './formats/anchor-mail.ts'
import type { AnchorsDto, AnchorsInput } from './schema.ts'

export interface AnchorDeps {
  db: Db
  store: Pick<CheckpointStore, 'list' | 'recentSystemLines'>
  clock: Clock
  egress: Pick<Egress, 'refuses' | 'send'>
  syslog: Syslog
  /** Null when there is no mail server. */
  mail(letter: {
    id: string
    to: string
    subject: string
    text: string
    html: string
  }): Promise<{ ok: boolean; error?: string } | null>
  baseUrl(): string
  instance_id: string
  fingerprint: string
}

export type Anchors = ReturnType<typeof createAnchors>

type Kind = 'mail' | 'syslog' | 'webhook'

interface Row {
  kind: Kind
  settings: string
  sent_n: number
  sent_at: number | null
  tried_at: number | null
  error: string | null
}

interface Sent {
  n: number
  line: string
}

const SENT_AT_ONCE = 60
/** Mail is for people: the newest of each day. A little less than a day, so that the hour does not wander. */
const MAIL_EVERY_MS = DAY_MS - HOUR_MS / 2
const RETRY_MS = 5 * MINUTE_MS
/** More than an hour of rounds: among them is one that names every chain. */
const HOUR_OF_LINES = 70

export function createAnchors(deps: AnchorDeps) {
  const { db, store, clock } = deps
  const rows = () => db.query<Row>('SELECT * FROM audit_anchors ORDER BY kind')

  const upsert = (kind: Kind, settings: unknown): RawWrite => ({
    sql: `INSERT INTO audit_anchors (kind, settings) VALUES (?1, ?2)
          ON CONFLICT DO UPDATE SET settings = ?2, error = NULL, tried_at = NULL`,
    params: [kind, JSON.stringify(settings)],
  })
  const remove = (kind: Kind): RawWrite => ({
    sql: 'DELETE FROM audit_anchors WHERE kind = ?',
    params: [kind],
  })

  async function show(): Promise<AnchorsDto> {
    const all = await rows()
    const of = (kind: Kind): unknown => {
      const row = all.find((each) => each.kind === kind)
      return row === undefined ? null : JSON.parse(row.settings)
    }
    const newest = (await store.list(SYSTEM_CHAIN, { before: null, limit: 1 }))[0]
    return {
      mail_to: (of('mail') ?? []) as string[],
      syslog: of('syslog') as AnchorsDto['syslog'],
      webhook_url: of('webhook') as string | null,
      targets: all.map(({ kind, sent_n, sent_at, tried_at, error }) => ({
        kind,
        sent_n,
        sent_at: sent_at === null ? null : isoTime(sent_at),
        tried_at: tried_at === null ? null : isoTime(tried_at),
        error,
      })),
      latest: newest === undefined ? null : { n: newest.n, line: newest.line },
    }
  }

  /** What a destination has not got yet, oldest first. Of mail only the newest that names every chain. */
  async function due(row: Row): Promise<Sent[]> {
    if (row.kind === 'mail') {
      const all = (await store.recentSystemLines(HOUR_OF_LINES)).map((line) => {
        const { n, chains = [] } = readStatement(line)!.statement as Checkpoint
        return { n, line, chains: chains.length }
      })
      const most = Math.max(...all.map((each) => each.chains))
      const full = all.find((each) => each.chains === most && each.n > row.sent_n)
      return full === undefined ? [] : [full]
    }
    const newest = await store.list(SYSTEM_CHAIN, { before: null, limit: SENT_AT_ONCE })
    return newest.filter(({ n }) => n > row.sent_n).reverse()
  }

  const isTime = ({ kind, sent_at, tried_at, error }: Row): boolean => {
    const now = clock.now()
    if (error !== null) return tried_at === null || now - tried_at >= RETRY_MS
    return kind !== 'mail' || sent_at === null || now - sent_at >= MAIL_EVERY_MS
  }

  /** Throws with the reason when it did not arrive. */
  async function send(row: Row, lines: readonly Sent[]): Promise<void> {
    if (row.kind === 'syslog') {
      const target = JSON.parse(row.settings) as NonNullable<AnchorsDto['syslog']>
      const hostname = new URL(deps.baseUrl()).hostname
      const time = isoTime(clock.now())
      return deps.syslog.send(
        target,
        lines.map(({ line }) => ({ time, hostname, id: 'checkpoint', text: line })),
      )
    }
    if (row.kind === 'webhook') return post(JSON.parse(row.settings) as string, lines)
    for (const to of JSON.parse(row.settings) as string[]) {
      const { instance_id, fingerprint } = deps
      const letter = anchorMail({
        line: lines.at(-1)!.line,
        instance_id,
        fingerprint,
        base_url: deps.baseUrl(),
      })
      const outcome = await deps.mail({ id: newId('eml', clock.now()), to, ...letter })
      if (outcome === null) throw new Error('no mail server is set up')
      if (!outcome.ok) throw new Error(outcome.error ?? 'the mail server refused it')
    }
  }

  async function post(url: string, lines: readonly Sent[]): Promise<void> {
    const answer = await deps.egress.send({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'wardpost' },
      body: Buffer.from(JSON.stringify({ checkpoints: lines.map(({ line }) => line) })),
      timeout_ms: ANCHOR_TIMEOUT_MS,
      response_bytes: ANCHOR_RESPONSE_BYTES_MAX,
    })
    if (answer.error !== null) throw new Error(answer.error.detail)
    if (answer.status === null || answer.status < 200 || answer.status > 299) {
      throw new Error(`it answered ${answer.status}`)
    }
  }

  const note = (sql: string, params: RawWrite['params'] & {}) =>
    db.commit(systemActor(), { writes: [{ sql, params }], audit: { none: 'job' } })

  return {
    show,

    /** Replaces all of it. Throws `webhook_url_blocked`. */
    async put(principal: Principal, input: AnchorsInput): Promise<AnchorsDto> {
      const refused = input.webhook_url === null ? null : await deps.egress.refuses(input.webhook_url)
      if (refused !== null) {
        const errors = [{ pointer: '/webhook_url', code: `url_${refused.reason}`, detail: refused.detail }]
        throw problem('webhook_url_blocked', refused.detail, { errors })
      }
      const { mail_to, syslog, webhook_url } = input
      await db.commit(operatorActor(principal), {
        writes: [
          mail_to.length === 0 ? remove('mail') : upsert('mail', mail_to),
          syslog === null ? remove('syslog') : upsert('syslog', syslog),
          webhook_url === null ? remove('webhook') : upsert('webhook', webhook_url),
        ],
        audit: {
          action: 'audit.anchors',
          detail: {
            mail: mail_to.length,
            syslog: syslog === null ? null : { ...syslog },
            webhook: webhook_url === null ? null : new URL(webhook_url).host,
          },
          ...(mail_to.length === 0 ? {} : { personal: { mail_to } }),
        },
      })
      return show()
    },

    /** Sends what is due. Throws, after all were tried, when something did not arrive. */
    async run(): Promise<number> {
      let sent = 0
      const failures: string[] = []
      for (const row of await rows()) {
        const lines = isTime(row) ? await due(row) : []
        if (lines.length === 0) continue
        const now = clock.now()
        try {
          await send(row, lines)
          await note(
            'UPDATE audit_anchors SET sent_n = max(sent_n, ?), sent_at = ?, tried_at = ?, error = NULL WHERE kind = ?',
            [lines.at(-1)!.n, now, now, row.kind],
          )
          sent += lines.length
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error)
          failures.push(`${row.kind}: ${reason}`)
          await note('UPDATE audit_anchors SET tried_at = ?, error = ? WHERE kind = ?', [
            now,
            reason.slice(0, 500),
            row.kind,
          ])
        }
      }
      if (failures.length > 0) throw new Error(`checkpoints did not arrive by ${failures.join('; ')}`)
      return sent
    },
  }
}
