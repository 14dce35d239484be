/** Report files as receivers write them: each with its own habits of form, packing and naming. */
import { gzipSync, zipSync } from 'fflate'
import { DAY_MS, isoTime } from '../lib/clock.ts'
import { publishedAt, type DemoRecord } from './mailflow.ts'
import type { Chance } from './random.ts'
import type { DemoDomain, Receiver } from './scenario.ts'

export interface DemoFile {
  name: string
  content: Uint8Array
}

const utf8 = new TextEncoder()

/** The report of a receiver about a domain and day. */
export function reportFile(
  domain: DemoDomain,
  receiver: Receiver,
  day: number,
  days_ago: number,
  records: readonly DemoRecord[],
  chance: Chance,
): DemoFile {
  const begin = (day * DAY_MS) / 1000 + receiver.offset
  const end = begin + (receiver.style === 'enterprise' || receiver.style === 'old' ? 86_400 : 86_399)
  const id = reportId(receiver, domain, begin, chance)
  const xml = renderXml(domain, receiver, { begin, end, id, days_ago }, records)
  const base = `${receiver.email.split('@')[1]}!${domain.name}!${begin}!${end}`
  return pack(receiver, base, xml, day)
}

function reportId(receiver: Receiver, domain: DemoDomain, begin: number, chance: Chance): string {
  if (receiver.style === 'enterprise') return chance.hex(32)
  if (receiver.style === 'old') return `${domain.name}:${begin}`
  return `${chance.between(1_000_000_000, 9_999_999_999)}${chance.between(100_000_000, 999_999_999)}`
}

interface Heading {
  begin: number
  end: number
  id: string
  days_ago: number
}

function renderXml(
  domain: DemoDomain,
  receiver: Receiver,
  { begin, end, id, days_ago }: Heading,
  records: readonly DemoRecord[],
): string {
  const { p, sp } = publishedAt(domain, days_ago)
  const modern = receiver.style === 'rfc9990'
  const policy = [
    `<domain>${domain.name}</domain>`,
    ...(modern ? [] : ['<adkim>r</adkim>', '<aspf>r</aspf>']),
    `<p>${p}</p>`,
    ...(sp === undefined && receiver.style === 'plain' ? [] : [`<sp>${sp ?? p}</sp>`]),
    ...(modern
      ? [`<np>${p}</np>`, '<testing>n</testing>', '<discovery_method>treewalk</discovery_method>']
      : []),
    ...(modern ? [] : ['<pct>100</pct>']),
  ]
  const root = modern ? '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0">' : '<feedback>'
  return [
    '<?xml version="1.0" encoding="UTF-8" ?>',
    root,
    ...(receiver.style === 'old' || modern ? ['  <version>1.0</version>'] : []),
    '  <report_metadata>',
    `    <org_name>${receiver.org_name}</org_name>`,
    `    <email>${receiver.email}</email>`,
    `    <report_id>${id}</report_id>`,
    `    <date_range><begin>${begin}</begin><end>${end}</end></date_range>`,
    ...(modern ? ['    <generator>reporter/4.2</generator>'] : []),
    '  </report_metadata>',
    `  <policy_published>${policy.join('')}</policy_published>`,
    ...records.map((record) => renderRecord(record, receiver)),
    '</feedback>',
    '',
  ].join('\n')
}

function renderRecord(record: DemoRecord, receiver: Receiver): string {
  const { dkim, spf, reason } = record
  // One of them writes it its own way, which is put right and said.
  const verdict = (aligned: boolean): string => {
    const text = aligned ? 'pass' : 'fail'
    return receiver.style === 'old' ? text.toUpperCase() : text
  }
  const envelope = receiver.style === 'plain' ? '' : `<envelope_from>${record.envelope_from}</envelope_from>`
  const why =
    reason === null ? '' : `<reason><type>${reason.type}</type><comment>${reason.comment}</comment></reason>`
  const scope = receiver.style === 'plain' ? '' : '<scope>mfrom</scope>'
  const signature =
    dkim === null
      ? ''
      : `<dkim><domain>${dkim.domain}</domain><selector>${dkim.selector}</selector><result>${dkim.result}</result></dkim>`
  return `  <record>
    <row><source_ip>${record.ip}</source_ip><count>${record.count}</count><policy_evaluated><disposition>${record.disposition}</disposition><dkim>${verdict(record.dkim_aligned)}</dkim><spf>${verdict(record.spf_aligned)}</spf>${why}</policy_evaluated></row>
    <identifiers><header_from>${record.header_from}</header_from>${envelope}</identifiers>
    <auth_results>${signature}<spf><domain>${spf.domain}</domain>${scope}<result>${spf.result}</result></spf></auth_results>
  </record>`
}

function pack(receiver: Receiver, base: string, xml: string, day: number): DemoFile {
  const content = utf8.encode(xml)
  const mtime = day * DAY_MS + DAY_MS
  if (receiver.container === 'xml') return { name: `${base}.xml`, content }
  if (receiver.container === 'zip') {
    return { name: `${base}.zip`, content: zipSync({ [`${base}.xml`]: [content, { mtime, level: 6 }] }) }
  }
  const packed = gzipSync(content, { mtime, level: 6 })
  if (receiver.container === 'gz') return { name: `${base}.xml.gz`, content: packed }
  return { name: `${base}.eml`, content: mailWith(receiver, `${base}.xml.gz`, packed, mtime) }
}

function mailWith(receiver: Receiver, name: string, packed: Uint8Array, sent_ms: number): Uint8Array {
  const encoded = Buffer.from(packed).toString('base64').replaceAll(/.{76}/g, '$&\r\n')
  const date = new Date(sent_ms).toUTCString().replace('GMT', '+0000')
  return utf8.encode(
    [
      `From: ${receiver.org_name} <${receiver.email}>`,
      'To: dmarc@northlight.example',
      `Subject: Report Domain: ${name.split('!')[1]} Submitter: ${receiver.email.split('@')[1]} Report-ID: ${name}`,
      `Date: ${date}`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary="report"',
      '',
      '--report',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'This is a DMARC aggregate report.',
      '--report',
      `Content-Type: application/gzip; name="${name}"`,
      'Content-Transfer-Encoding: base64',
      `Content-Disposition: attachment; filename="${name}"`,
      '',
      encoded,
      '--report--',
      '',
    ].join('\r\n'),
  )
}

/** A TLS report (RFC 8460) of one day about the main domain. */
export function tlsFile(domain: string, receiver: Receiver, day: number, chance: Chance): DemoFile {
  const begin = day * DAY_MS
  const bad = chance.hit(0.25)
  const sessions = chance.between(300, 900)
  const failed = bad ? chance.between(2, 40) : 0
  const failure = {
    'result-type': chance.pick(['certificate-expired', 'starttls-not-supported', 'validation-failure']),
    'sending-mta-ip': '198.51.100.200',
    'receiving-mx-hostname': `mx2.${domain}`,
    'failed-session-count': failed,
  }
  const report = {
    'organization-name': receiver.org_name,
    'date-range': { 'start-datetime': isoTime(begin), 'end-datetime': isoTime(begin + DAY_MS - 1000) },
    'contact-info': receiver.email,
    'report-id': `${day}-${chance.hex(12)}`,
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1', 'mode: enforce', `mx: *.${domain}`, 'max_age: 604800'],
          'policy-domain': domain,
          'mx-host': [`*.${domain}`],
        },
        summary: { 'total-successful-session-count': sessions, 'total-failure-session-count': failed },
        ...(bad ? { 'failure-details': [failure] } : {}),
      },
    ],
  }
  const name = `${receiver.email.split('@')[1]}!${domain}!${begin / 1000}!${begin / 1000 + 86_399}.json.gz`
  return { name, content: gzipSync(utf8.encode(JSON.stringify(report)), { mtime: begin + DAY_MS }) }
}

/** A failure report (RFC 6591) about one spoofed mail. */
export function failureFile(domain: string, sent_ms: number, ip: string, subject: string): DemoFile {
  const date = new Date(sent_ms).toUTCString().replace('GMT', '+0000')
  const text = [
    'From: Quillmail <ruf@quillmail.example>',
    `To: ruf@${domain}`,
    `Subject: FW: ${subject}`,
    `Date: ${date}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="ruf"',
    '',
    '--ruf',
    'Content-Type: text/plain',
    '',
    'This is an authentication failure report.',
    '--ruf',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: auth-failure',
    'User-Agent: Quillmail/2.1',
    'Version: 1',
    'Original-Mail-From: <bounce@bulk-sender.example>',
    `Arrival-Date: ${date}`,
    `Source-IP: ${ip}`,
    `Reported-Domain: ${domain}`,
    'Auth-Failure: dmarc',
    'Delivery-Result: reject',
    'Identity-Alignment: none',
    '--ruf',
    'Content-Type: text/rfc822-headers',
    '',
    `From: "Accounts" <accounts@${domain}>`,
    'To: <someone@quillmail.example>',
    `Subject: ${subject}`,
    `Date: ${date}`,
    `Message-ID: <${sent_ms}@bulk-sender.example>`,
    '--ruf--',
    '',
  ].join('\r\n')
  return { name: `failure-${sent_ms}.eml`, content: utf8.encode(text) }
}
