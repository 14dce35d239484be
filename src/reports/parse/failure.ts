/**
 * Failure reports (RUF): the machine-readable part of RFC 5965 with the fields of RFC 6591 and RFC 9991, and the
 * mails in plain text that some senders write instead. Bodies of reported messages are never kept.
 */
import { readDomain, readIp, readMailDate } from './fields.ts'
import type { MailMessage } from './mail.ts'
import { decodeWords, headerValue, parseHeaders, type Header } from './mime.ts'
import { createRepairs, quote, type Repairs } from './repairs.ts'
import type { FailureMeta, Repair } from './types.ts'

const FIELDS_MAX = 64
const VALUE_CHARS_MAX = 2048
const RCPT_MAX = 20

export interface FailureReport {
  meta: FailureMeta
  repairs: Repair[]
}

/** The failure report that a message is, or null when it is none. */
export function readFailureReport(message: MailMessage): FailureReport | null {
  const repairs = createRepairs()
  if (message.feedback !== null) {
    return { meta: fromFields(message, parseHeaders(message.feedback), repairs), repairs: repairs.list() }
  }
  const meta = fromText(message, repairs)
  return meta === null ? null : { meta, repairs: repairs.list() }
}

function fromFields(message: MailMessage, fields: Header[], repairs: Repairs): FailureMeta {
  const value = (name: string): string | null => clean(headerValue(fields, name))
  const original = originalOf(message)
  const source = value('source-ip')
  const ip = source === null ? null : readIp(source)
  if (source !== null && ip === null) repairs.add('field_invalid', `Source-IP ${quote(source)}`)
  if (value('feedback-type') === null) repairs.add('field_missing', 'Feedback-Type is absent')
  const reported = domainOf(value('reported-domain')) || domainOf(original.from)
  if (reported === '') repairs.add('field_missing', 'Reported-Domain is absent')
  return {
    ...common(message, original),
    feedback_type: value('feedback-type')?.toLowerCase() ?? 'unknown',
    auth_failure: value('auth-failure')?.toLowerCase() ?? null,
    user_agent: value('user-agent'),
    reported_domain: reported,
    source_ip: ip?.value ?? null,
    arrival_date: dateOf(
      value('arrival-date') ?? value('received-date') ?? headerValue(message.headers, 'date'),
    ),
    original_mail_from: value('original-mail-from'),
    original_rcpt_to: fields
      .filter((field) => field.name === 'original-rcpt-to')
      .slice(0, RCPT_MAX)
      .map((field) => clean(field.value) ?? '')
      .filter((address) => address !== ''),
    identity_alignment: value('identity-alignment')?.toLowerCase() ?? null,
    delivery_result: value('delivery-result')?.toLowerCase() ?? null,
    dkim_domain: domainOf(value('dkim-domain')) || null,
    dkim_selector: value('dkim-selector'),
    spf_dns: value('spf-dns'),
    authentication_results: value('authentication-results'),
    incidents: incidentsOf(value('incidents'), repairs),
    fields: fields
      .slice(0, FIELDS_MAX)
      .map((field) => ({ name: field.name.slice(0, 100), value: clean(field.value) ?? '' })),
  }
}

/** `Sender Domain: …`, `Sender IP Address: …` and the like, in a mail whose subject or text speaks of DMARC. */
function fromText(message: MailMessage, repairs: Repairs): FailureMeta | null {
  const text = message.plain ?? ''
  const subject = decodeWords(headerValue(message.headers, 'subject') ?? '')
  const named = /\bDMARC\b[^\n]{0,60}\b(failure|forensic)\b|\b(failure|forensic)\b[^\n]{0,60}\bDMARC\b/i
  if (!named.test(subject) && !/authentication[- ]failure report/i.test(text.slice(0, 4096))) return null
  const source =
    find(text, /^[ \t]*(?:Sender|Source)[ -]IP(?:[ -]Address)?:[ \t]*(\S+)/im) ??
    find(`${subject}\n${text}`, /\bIP[:= ]+(\[?[\da-f.:]{3,45}\]?)/i)
  const ip = source === null ? null : readIp(source.replace(/[.,;)]+$/, ''))
  const split = /^-{2,}[^\n]*(?:copy of the (?:headers|message)|original message)[^\n]*\r?\n\s*/im.exec(text)
  if (split !== null) message.original ??= text.slice(split.index + split[0].length, split.index + 16_384)
  const original = originalOf(message)
  const domain =
    find(text, /^[ \t]*(?:Sender|Reported|From)[ -]Domain:[ \t]*(\S+)/im) ??
    find(subject, /\bfor (\S+\.\S+)/i)
  const reported = domainOf(domain) || domainOf(original.from)
  if (ip === null && reported === '') return null
  repairs.add('field_missing', 'There is no machine-readable part; its text was read')
  return {
    ...common(message, original),
    feedback_type: 'plain_text',
    auth_failure: null,
    user_agent: null,
    reported_domain: reported,
    source_ip: ip?.value ?? null,
    arrival_date: dateOf(
      find(text, /^[ \t]*(?:Received|Arrival)[ -]Date:[ \t]*([^\r\n]+)/im) ??
        headerValue(message.headers, 'date'),
    ),
    original_mail_from: null,
    original_rcpt_to: [],
    identity_alignment: alignmentOf(text),
    delivery_result: clean(find(text, /^[ \t]*DMARC Results?:[ \t]*([^\r\n]+)/im))?.toLowerCase() ?? null,
    dkim_domain: null,
    dkim_selector: null,
    spf_dns: null,
    authentication_results: clean(original.authentication_results),
    incidents: 1,
    fields: [],
  }
}

interface Original {
  from: string | null
  subject: string | null
  message_id: string | null
  date: string | null
  authentication_results: string | null
  block: string
}

function originalOf(message: MailMessage): Original {
  const block = message.original ?? ''
  const headers = parseHeaders(block)
  return {
    from: headerValue(headers, 'from'),
    subject: headerValue(headers, 'subject'),
    message_id: headerValue(headers, 'message-id'),
    date: headerValue(headers, 'date'),
    authentication_results: headerValue(headers, 'authentication-results'),
    block,
  }
}

function common(
  message: MailMessage,
  original: Original,
): Pick<
  FailureMeta,
  | 'reporter'
  | 'header_from'
  | 'subject'
  | 'message_id'
  | 'message_date'
  | 'original_headers'
  | 'report_subject'
> {
  return {
    reporter: clean(decodeWords(headerValue(message.headers, 'from') ?? '')) ?? '',
    header_from: clean(original.from === null ? null : decodeWords(original.from)),
    subject: clean(original.subject === null ? null : decodeWords(original.subject)),
    message_id: clean(original.message_id),
    message_date: dateOf(original.date),
    original_headers: printable(original.block),
    report_subject: clean(decodeWords(headerValue(message.headers, 'subject') ?? '')),
  }
}

function alignmentOf(text: string): string | null {
  const spf = find(text, /^[ \t]*SPF Alignment:[ \t]*(\w+)/im)
  const dkim = find(text, /^[ \t]*DKIM Alignment:[ \t]*(\w+)/im)
  if (spf === null && dkim === null) return null
  const aligned = [
    /^(yes|pass|true)$/i.test(dkim ?? '') ? 'dkim' : '',
    /^(yes|pass|true)$/i.test(spf ?? '') ? 'spf' : '',
  ]
  return aligned.filter((name) => name !== '').join(',') || 'none'
}

function incidentsOf(text: string | null, repairs: Repairs): number {
  if (text === null) return 1
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (count >= 1) return count
  repairs.add('field_invalid', `Incidents ${quote(text)}, read as 1`)
  return 1
}

function domainOf(text: string | null): string {
  if (text === null) return ''
  const address = /<([^<>]*)>/.exec(text)?.[1] ?? text
  const read = readDomain(address.trim().replace(/[.,;)]+$/, ''))
  return read.repaired === 'invalid' ? '' : read.value
}

function dateOf(text: string | null): number | null {
  return text === null ? null : readMailDate(text)
}

function find(text: string, pattern: RegExp): string | null {
  return pattern.exec(text)?.[1] ?? null
}

function clean(text: string | null): string | null {
  if (text === null) return null
  // oxlint-disable-next-line no-control-regex
  const out = text
    .replaceAll(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, VALUE_CHARS_MAX)
  return out === '' ? null : out
}

function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '').slice(0, 16_384)
}
