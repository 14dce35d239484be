/**
 * Sends mail by SMTP through the server that the operator named: a host in the local network is as good as any, since
 * no tenant can choose it. Nothing waits longer than ten seconds for the server, and a whole message not longer than
 * half a minute.
 */
import type { SMTPTransportOptions } from 'nodemailer/lib/smtp-transport'

export interface MailServer {
  host: string
  port: number
  /** `starttls` insists on TLS; `none` never asks for it. */
  security: 'none' | 'starttls' | 'tls'
  username: string | null
  password: string | null
}

export interface OutgoingMail {
  /** Makes the Message-ID: the same message sent twice can be told by the receiver. */
  id: string
  from: { name: string | null; address: string }
  reply_to: string | null
  to: string
  subject: string
  text: string
  html: string
}

export type MailOutcome = { ok: true; response: string } | MailFailure

export interface MailFailure {
  ok: false
  /** What went wrong, with the words of the server. */
  error: string
  /** The server refused this message for good: trying again is of no use. */
  permanent: boolean
  /** The server could not be talked to: other messages will not do better now. */
  unreachable: boolean
}

export interface Mailer {
  /** `dialogue` collects what both sides said, line by line, without secrets. Never throws. */
  send(server: MailServer, mail: OutgoingMail, dialogue?: string[]): Promise<MailOutcome>
}

const STEP_TIMEOUT_MS = 10_000
const MESSAGE_TIMEOUT_MS = 30_000
const DIALOGUE_LINES_MAX = 200
const ERROR_CHARS_MAX = 500

export interface MailerOptions {
  /** Certificates in PEM that are trusted, in place of the usual ones; null for those. */
  ca: readonly string[] | null
  /** How long each step may take: connecting, the greeting, every answer. */
  step_ms?: number
}

export function createMailer({ ca, step_ms = STEP_TIMEOUT_MS }: MailerOptions): Mailer {
  return {
    async send(server, mail, dialogue) {
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        ...optionsOf(server, dialogue),
        ...stepsOf(step_ms),
        tls: tlsOf(ca),
      })
      let timer: ReturnType<typeof setTimeout> | undefined
      try {
        const late = new Promise<never>((_, reject) => {
          timer = setTimeout(() => {
            transport.close()
            reject(new Error(`the server took longer than ${MESSAGE_TIMEOUT_MS / 1000} s`))
          }, MESSAGE_TIMEOUT_MS)
        })
        const sent = await Promise.race([transport.sendMail(messageOf(mail)), late])
        return { ok: true, response: sent.response }
      } catch (error) {
        return failureOf(error)
      } finally {
        clearTimeout(timer)
        transport.close()
      }
    },
  }
}

function stepsOf(ms: number): SMTPTransportOptions {
  return { dnsTimeout: ms, connectionTimeout: ms, greetingTimeout: ms, socketTimeout: ms }
}

function tlsOf(ca: readonly string[] | null) {
  return { minVersion: 'TLSv1.2' as const, ...(ca === null ? {} : { ca: [...ca] }) }
}

function optionsOf(server: MailServer, dialogue?: string[]): SMTPTransportOptions {
  const { host, port, security, username, password } = server
  return {
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(username === null ? {} : { auth: { user: username, pass: password ?? '' } }),
    // What we write has no attachments: nothing is read from disk or fetched for a message.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dialogue === undefined ? {} : { debug: true, logger: listener(dialogue, secretsOf(server)) }),
  }
}

function messageOf(mail: OutgoingMail) {
  const domain = mail.from.address.split('@')[1] ?? 'localhost'
  return {
    messageId: `<${mail.id}@${domain}>`,
    from: { name: mail.from.name ?? '', address: mail.from.address },
    to: mail.to,
    ...(mail.reply_to === null ? {} : { replyTo: mail.reply_to }),
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    // No out-of-office answers (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  }
}

interface SmtpError extends Error {
  code?: string
  command?: string
  response?: string
  responseCode?: number
}

/** With these the server speaks of this one message; with all others, of us or not at all. */
const OF_THE_MESSAGE = new Set(['EENVELOPE', 'EMESSAGE'])

function failureOf(thrown: unknown): MailFailure {
  const error = thrown as SmtpError
  const words = error.response ?? error.message
  const where = error.command === undefined || error.command === 'API' ? '' : `${error.command}: `
  const unreachable = error.code === undefined || !OF_THE_MESSAGE.has(error.code)
  const refused = error.responseCode !== undefined && error.responseCode >= 500
  return {
    ok: false,
    error: `${where}${words}`.replaceAll(/\s+/g, ' ').slice(0, ERROR_CHARS_MAX),
    permanent: refused && !unreachable,
    unreachable,
  }
}

function secretsOf({ username, password }: MailServer): string[] {
  if (password === null || password === '') return []
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  return [password, base64(password), base64(`\0${username ?? ''}\0${password}`)]
}

/** A logger that keeps the lines of the dialogue: `C:` what we said, `S:` what the server said. */
function listener(dialogue: string[], secrets: readonly string[]) {
  const keep = (entry: { tnx?: string }, message: string, ...args: unknown[]): void => {
    const side = entry.tnx === 'client' ? 'C: ' : entry.tnx === 'server' ? 'S: ' : ''
    if (side === '' || dialogue.length >= DIALOGUE_LINES_MAX) return
    let text = args.reduce<string>((line, value) => line.replace(/%[sd]/, () => String(value)), message)
    for (const secret of secrets) text = text.replaceAll(secret, '***')
    for (const line of text.trimEnd().split('\n')) dialogue.push(side + line.slice(0, ERROR_CHARS_MAX))
  }
  return { level() {}, trace: keep, debug: keep, info: keep, warn: keep, error: keep, fatal: keep }
}
