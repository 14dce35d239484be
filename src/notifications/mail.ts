/**
 * The mail server of the installation, named by an operator. Its password is sealed, and never shown again. A change
 * is an entry in the chain of the installation.
 */
import { Conflict, type Db } from '../db/types.ts'
import { operatorActor } from '../lib/actors.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { Keyring } from '../lib/crypto.ts'
import { invalid, problem } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Principal } from '../lib/principal.ts'
import type { Mailer, MailOutcome, MailServer, OutgoingMail } from '../net/mail-out.ts'
import { testMail } from './formats/mails.ts'
import type { MailSettingsDto, MailTestResultDto, MailUpdateInput } from './schema.ts'

export type MailService = ReturnType<typeof createMail>

interface Kept {
  host: string
  port: number
  security: MailServer['security']
  username: string | null
  from_address: string
  from_name: string | null
  reply_to: string | null
}

interface Row {
  settings_json: string
  password: string | null
  version: number
  updated_at: number
}

/** What a mail says, without who sends it. */
export type Letter = Pick<OutgoingMail, 'id' | 'to' | 'subject' | 'text' | 'html'>

const ADDRESS = /^[^\s@"(),:;<>[\\\]]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i
const HOST = /^[a-z0-9:]([a-z0-9.:_-]*[a-z0-9:])?\.?$/i

export function createMail(deps: { db: Db; clock: Clock; keyring: Keyring; mailer: Mailer }) {
  const { db, clock, keyring, mailer } = deps

  const load = async (): Promise<Row | undefined> => {
    const rows = await db.query<Row>(
      'SELECT settings_json, password, version, updated_at FROM mail_settings WHERE id = 1',
    )
    return rows[0]
  }

  /** How it goes with the mail of all tenants. */
  const queue = async (): Promise<MailSettingsDto['queue']> => {
    const [row] = await db.query<{
      waiting: number
      failed: number
      last_error: string | null
      last_sent: number | null
    }>(
      `SELECT count(*) FILTER (WHERE status IN ('pending', 'sending')) AS waiting,
count(*) FILTER (WHERE status = 'failed') AS failed,
(SELECT last_error FROM mail_outbox WHERE last_error IS NOT NULL AND status <> 'dropped' ORDER BY id DESC LIMIT 1)
  AS last_error,
max(done_at) FILTER (WHERE status = 'sent') AS last_sent FROM mail_outbox`,
    )
    const { waiting, failed, last_error, last_sent } = row!
    return { waiting, failed, last_error, last_sent_at: last_sent === null ? null : isoTime(last_sent) }
  }

  const deliver = async (row: Row, letter: Letter, dialogue?: string[]): Promise<MailOutcome> => {
    const kept = JSON.parse(row.settings_json) as Kept
    const password = row.password === null ? null : keyring.open(row.password)
    if (row.password !== null && password === null) {
      const error = 'The password cannot be opened with the instance key: set it again.'
      return { ok: false, error, permanent: false, unreachable: true }
    }
    const { host, port, security, username } = kept
    const from = { name: kept.from_name, address: kept.from_address }
    const mail = { ...letter, from, reply_to: kept.reply_to }
    return mailer.send({ host, port, security, username, password }, mail, dialogue)
  }

  return {
    async isConfigured(): Promise<boolean> {
      return (await load()) !== undefined
    },

    /** Null when there is no mail server. */
    async send(letter: Letter): Promise<MailOutcome | null> {
      const row = await load()
      return row === undefined ? null : deliver(row, letter)
    },

    async get(): Promise<MailSettingsDto> {
      return shown(await load(), await queue())
    },

    async put(principal: Principal, input: MailUpdateInput, expected?: number): Promise<MailSettingsDto> {
      const kept = check(input)
      const row = await load()
      if (expected !== undefined && expected !== (row?.version ?? 0)) throw problem('version_conflict')
      const sealed = typeof input.password === 'string' && input.password !== ''
      const password = sealed
        ? keyring.seal(input.password!)
        : input.password === undefined
          ? row?.password
          : null
      const next: Row = {
        settings_json: JSON.stringify(kept),
        password: password ?? null,
        version: (row?.version ?? 0) + 1,
        updated_at: clock.now(),
      }
      const { host, port, security, from_address } = kept
      try {
        await db.commit(operatorActor(principal), {
          writes: [{ must: upsert(next), label: 'mail settings' }],
          audit: { action: 'mail.update', detail: { host, port, security, from_address } },
        })
      } catch (error) {
        if (error instanceof Conflict) throw problem('version_conflict')
        throw error
      }
      return shown(next, await queue())
    },

    async remove(principal: Principal): Promise<void> {
      await db.commit(operatorActor(principal), {
        writes: [{ sql: 'DELETE FROM mail_settings', params: [] }],
        audit: { action: 'mail.update', detail: { host: null } },
      })
    },

    /** Sends a test mail at once and tells what was said. Throws `mail_not_configured`. */
    async test(principal: Principal, to: string): Promise<MailTestResultDto> {
      const row = await load()
      if (row === undefined) throw problem('mail_not_configured')
      const address = checkAddress('/to', to)
      // What is sent cannot be taken back: it is written down first.
      await db.commit(operatorActor(principal), {
        writes: [],
        audit: { action: 'mail.test', personal: { to: address } },
      })
      const started = clock.monotonic()
      const dialogue: string[] = []
      const letter = { ...testMail(), id: newId('eml', clock.now()), to: address }
      const outcome = await deliver(row, letter, dialogue)
      return {
        ok: outcome.ok,
        response: outcome.ok ? outcome.response : null,
        error: outcome.ok ? null : outcome.error,
        dialogue,
        ms: Math.round(clock.monotonic() - started),
      }
    },
  }
}

function upsert(row: Row) {
  return {
    sql: `INSERT INTO mail_settings (id, settings_json, password, version, updated_at) VALUES (1, ?1, ?2, ?3, ?4)
ON CONFLICT (id) DO UPDATE SET settings_json = ?1, password = ?2, version = ?3, updated_at = ?4
WHERE mail_settings.version = ?3 - 1`,
    params: [row.settings_json, row.password, row.version, row.updated_at],
  }
}

/** Throws 422 unless it is one plain address. */
export function checkAddress(where: string, text: string): string {
  const address = text.trim()
  if (address.length <= 254 && ADDRESS.test(address) && !address.includes('..')) return address
  throw invalid(where, 'invalid_email', `"${text.slice(0, 80)}" is not an e-mail address.`)
}

function check(input: MailUpdateInput): Kept {
  const host = input.host.trim()
  if (!HOST.test(host)) throw invalid('/host', 'invalid_host', 'This is not the name or address of a server.')
  const username = textOr(input.username)
  if (username === null && typeof input.password === 'string' && input.password !== '') {
    throw invalid('/username', 'required', 'A password needs a user name.')
  }
  return {
    host,
    port: input.port,
    security: input.security,
    username,
    from_address: checkAddress('/from_address', input.from_address),
    from_name: textOr(input.from_name),
    reply_to: textOr(input.reply_to) === null ? null : checkAddress('/reply_to', input.reply_to!),
  }
}

function textOr(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? null : trimmed
}

function shown(row: Row | undefined, queue: MailSettingsDto['queue']): MailSettingsDto {
  const kept = row === undefined ? null : (JSON.parse(row.settings_json) as Kept)
  return {
    configured: kept !== null,
    host: kept?.host ?? null,
    port: kept?.port ?? null,
    security: kept?.security ?? null,
    username: kept?.username ?? null,
    has_password: (row?.password ?? null) !== null,
    from_address: kept?.from_address ?? null,
    from_name: kept?.from_name ?? null,
    reply_to: kept?.reply_to ?? null,
    queue,
    version: row?.version ?? 0,
    updated_at: row === undefined ? null : isoTime(row.updated_at),
  }
}
