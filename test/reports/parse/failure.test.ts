import { describe, expect, test } from 'bun:test'
import { mail, read, gzip, report } from '../../support/report-files.ts'
import type { FailureMeta } from '../../../src/reports/parse/types.ts'

const FIELDS = [
  'Feedback-Type: auth-failure',
  'User-Agent: Reporter/1.0',
  'Version: 1',
  'Original-Mail-From: <bounce@tenant.example>',
  'Original-Rcpt-To: <user@receiver.example>',
  'Arrival-Date: Mon, 02 Feb 2026 10:00:00 +0100 (CET)',
  'Source-IP: ::ffff:192.0.2.1',
  'Reported-Domain: Tenant.Example',
  'Auth-Failure: dmarc',
  'Identity-Alignment: spf, dkim',
  'Delivery-Result: Reject',
  'DKIM-Domain: mailer.example',
  'DKIM-Selector: s1',
  'Incidents: 3',
  'Authentication-Results: mx.example; dmarc=fail (p=none)',
  ' header.from=tenant.example',
].join('\r\n')
const ORIGINAL = [
  'Received: from x',
  'From: =?utf-8?B?QmrDtnJu?= <info@tenant.example>',
  'Subject: =?utf-8?Q?Invoice_=E2=82=AC?=',
  'Message-ID: <1@tenant.example>',
  'Date: Mon, 2 Feb 2026 09:59:00 +0100',
  '',
  'secret body',
].join('\r\n')
const HEADERS = ['From: Reporter <ruf@receiver.example>', 'Subject: DMARC failure report']

function failureOf(text: string): FailureMeta {
  const out = read(text, 'ruf.eml')
  const end = out.ends[0]
  if (end?.kind !== 'failure') throw new Error(`no failure report: ${JSON.stringify(out.rejected)}`)
  expect(out.messages[0]).toMatchObject({ type: 'report', kind: 'failure', index: 0 })
  return end.meta
}

describe('failure reports', () => {
  test('the machine-readable part and the reported header are read, the body is not kept', () => {
    const text = mail(
      [
        { type: 'text/plain', body: 'This is an authentication failure report.' },
        { type: 'message/feedback-report', body: FIELDS },
        { type: 'message/rfc822', body: ORIGINAL },
      ],
      { headers: HEADERS },
    )
    const meta = failureOf(text)
    expect(meta).toMatchObject({
      feedback_type: 'auth-failure',
      auth_failure: 'dmarc',
      reporter: 'Reporter <ruf@receiver.example>',
      reported_domain: 'tenant.example',
      source_ip: '192.0.2.1',
      arrival_date: Date.UTC(2026, 1, 2, 9),
      original_mail_from: '<bounce@tenant.example>',
      original_rcpt_to: ['<user@receiver.example>'],
      identity_alignment: 'spf, dkim',
      delivery_result: 'reject',
      dkim_domain: 'mailer.example',
      dkim_selector: 's1',
      incidents: 3,
      authentication_results: 'mx.example; dmarc=fail (p=none) header.from=tenant.example',
      header_from: 'Bj\u00f6rn <info@tenant.example>',
      subject: 'Invoice \u20ac',
      message_id: '<1@tenant.example>',
      report_subject: 'DMARC failure report',
    })
    expect(JSON.stringify(meta)).not.toContain('secret body')
  })

  test('the part may be base64, and the header may come as text/rfc822-headers', () => {
    const text = mail(
      [
        { type: 'message/feedback-report; name="ATT1"', encoding: 'base64', content: FIELDS },
        { type: 'text/rfc822-headers', body: ORIGINAL.split('\r\n\r\n')[0]! },
      ],
      { headers: HEADERS },
    )
    expect(failureOf(text)).toMatchObject({ source_ip: '192.0.2.1', subject: 'Invoice \u20ac' })
  })

  test('an attachment of the reported mail is not taken for a report', () => {
    const inner = mail([{ type: 'application/gzip', encoding: 'base64', content: gzip(report()) }], {
      boundary: 'inner',
    })
    const out = read(
      mail(
        [
          { type: 'message/feedback-report', body: FIELDS },
          { type: 'message/rfc822', body: inner },
        ],
        { headers: HEADERS },
      ),
    )
    expect(out.ends.map((end) => end.kind)).toEqual(['failure'])
  })

  test('a mail in plain text is read as well as can be', () => {
    const body = [
      'A message claiming to be from you has failed the published DMARC policy.',
      '  Sender Domain: tenant.example',
      '  Sender IP Address: 203.0.113.68',
      '  Received date: Mon, 02 Feb 2026 23:16:09 +0200',
      '  SPF Alignment: no',
      '  DKIM Alignment: yes',
      '  DMARC Results: None, Accept',
      '',
      '------ This is a copy of the headers that were received before the error was detected.',
      '',
      'From: <user@tenant.example>',
      'Subject: Payment',
    ].join('\r\n')
    const out = read(
      mail([{ type: 'text/plain', body }], {
        headers: [
          'From: a@r.example',
          'Subject: DMARC Forensic Report for tenant.example from IP 203.0.113.68',
        ],
      }),
    )
    expect(out.ends[0]).toMatchObject({
      kind: 'failure',
      meta: {
        feedback_type: 'plain_text',
        reported_domain: 'tenant.example',
        source_ip: '203.0.113.68',
        arrival_date: Date.UTC(2026, 1, 2, 21, 16, 9),
        identity_alignment: 'dkim',
        delivery_result: 'none, accept',
        subject: 'Payment',
      },
      repairs: [{ code: 'field_missing' }],
    })
  })

  test('missing and broken fields are named, not fatal', () => {
    const out = read(
      mail([{ type: 'message/feedback-report', body: 'Source-IP: nowhere\r\nIncidents: many' }], {
        headers: HEADERS,
      }),
    )
    expect(out.ends[0]).toMatchObject({
      kind: 'failure',
      meta: { feedback_type: 'unknown', source_ip: null, incidents: 1 },
    })
    expect(out.ends[0]!.repairs.map((repair) => repair.code)).toEqual([
      'field_invalid',
      'field_missing',
      'field_missing',
      'field_invalid',
    ])
  })

  test('an ordinary mail is none', () => {
    expect(read(mail([{ type: 'text/plain', body: 'Our DMARC policy is fine.' }])).ends).toEqual([])
  })
})
