import { describe, expect, test } from 'bun:test'
import { createUnpacker } from '../../../src/lib/unpack.ts'
import { createRepairs } from '../../../src/reports/parse/repairs.ts'
import { PARSE_LIMITS } from '../../../src/reports/parse/types.ts'
import { createDocumentSink, type DocumentContext } from '../../../src/reports/parse/document.ts'
import {
  BEGIN,
  END,
  gzip,
  mail,
  read,
  readOne,
  report,
  zip,
  type Attachment,
} from '../../support/report-files.ts'

const XML = report()
const GZ = gzip(XML)
const ZIP = zip([{ name: 'report.xml', content: XML }])
const TEXT: Attachment = { type: 'text/plain; charset=utf-8', body: 'This is your report.' }
const attachment = (parts: Partial<Attachment> = {}): Attachment => ({
  type: 'application/gzip; name="r.xml.gz"',
  encoding: 'base64',
  content: GZ,
  ...parts,
})

describe('a report in a mail', () => {
  const cases: [name: string, text: string][] = [
    ['gzip', mail([TEXT, attachment()])],
    ['zip', mail([TEXT, attachment({ type: 'application/zip', content: ZIP })])],
    ['zip declared as gzip', mail([attachment({ content: ZIP })])],
    ['gzip declared as zip', mail([attachment({ type: 'application/zip; name=r.zip' })])],
    ['gzip as octet-stream', mail([attachment({ type: 'application/octet-stream' })])],
    ['gzip as a type that does not exist', mail([attachment({ type: 'application-x-gzip' })])],
    ['gzip without a type', mail([{ encoding: 'base64', content: GZ }])],
    [
      'gzip with lower-case headers',
      mail(
        [
          {
            headers: ['content-type: application/gzip', 'content-transfer-encoding: BASE64'],
            encoding: 'base64',
            content: GZ,
          },
        ].map(({ headers, content }) => ({ headers, body: Buffer.from(content).toString('base64') })),
      ),
    ],
    ['XML as base64', mail([attachment({ type: 'text/xml', content: XML })])],
    [
      'XML as quoted-printable',
      mail([{ type: 'text/xml; charset=utf-8', encoding: 'quoted-printable', content: XML }]),
    ],
    ['XML as it is', mail([{ type: 'application/xml', encoding: '8bit', content: XML }])],
    ['XML with a byte order mark', mail([attachment({ type: 'text/xml', content: `\ufeff${XML}` })])],
    ['XML as plain text', mail([{ type: 'text/plain', content: XML }])],
    ['the attachment before the text', mail([attachment(), TEXT])],
    ['a boundary in quotes with signs', mail([TEXT, attachment()], { boundary: '=_--(a:b)+c/d?' })],
    ['line feeds only', mail([TEXT, attachment()]).replaceAll('\r\n', '\n')],
    ['no preamble and no end', mail([TEXT, attachment()]).replace(/--b0undary--\r\n$/, '')],
    ['base64 in one line', mail([{ ...attachment(), body: Buffer.from(GZ).toString('base64') }])],
    [
      'base64 with odd signs between',
      mail([{ ...attachment(), body: ` ${[...Buffer.from(GZ).toString('base64')].join(' ')}!` }]),
    ],
    [
      'parts in parts',
      mail([
        {
          type: 'multipart/mixed; boundary=inner',
          body: `--inner\r\nContent-Type: text/plain\r\n\r\nx\r\n--inner\r\nContent-Type: application/gzip\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(GZ).toString('base64')}\r\n--inner--`,
        },
        TEXT,
      ]),
    ],
    [
      'one part only',
      `Subject: Report\r\nContent-Type: application/gzip\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(GZ).toString('base64')}\r\n`,
    ],
    [
      'forwarded as a message',
      mail([TEXT, { type: 'message/rfc822', body: mail([TEXT, attachment()], { boundary: 'inner' }) }]),
    ],
    [
      'forwarded twice',
      mail([
        {
          type: 'message/rfc822',
          body: mail([{ type: 'message/rfc822', body: mail([attachment()], { boundary: 'c' }) }], {
            boundary: 'b',
          }),
        },
      ]),
    ],
    [
      'forwarded as base64',
      mail([
        {
          type: 'message/rfc822',
          encoding: 'base64',
          content: mail([TEXT, attachment()], { boundary: 'inner' }),
        },
      ]),
    ],
    ['folded headers', mail([attachment({ type: 'application/gzip;\r\n\tname="r.xml.gz"' })])],
    [
      'a picture and markup beside it',
      mail([
        { type: 'text/html', body: '<html><body><feedback</body></html>' },
        { type: 'image/png', encoding: 'base64', content: Buffer.from('89504e470d0a1a0a', 'hex') },
        attachment(),
      ]),
    ],
    ['a first line of a mailbox', `From a@b.example Mon Feb  2 10:00:00 2026\r\n${mail([attachment()])}`],
    ['white space before the headers', `\r\n${mail([attachment()])}`],
  ]
  test.each(cases)('%s', (_name, text) => {
    const out = readOne(Buffer.from(text, 'utf8'), 'mail.eml')
    expect(out.totals).toMatchObject({ records: 1, messages: 3 })
    expect(out.origin.containers[0]).toBe('mail')
    expect(out.repairs).toEqual([])
  })

  test.each([1, 3, 64, 1000])('the same however the bytes are cut (pieces of %d)', (step) => {
    const bytes = Buffer.from(
      mail([TEXT, attachment(), { type: 'text/xml', encoding: 'quoted-printable', content: XML }]),
    )
    const found: string[] = []
    let index = 0
    const context: DocumentContext = {
      now: 0,
      limits: PARSE_LIMITS,
      emit: (message) => found.push(message.type),
      nextIndex: () => index++,
      repairs: createRepairs(),
      subject: null,
      rejected: (_, code) => found.push(code),
    }
    const unpacker = createUnpacker('m', bytes.length, PARSE_LIMITS, {
      open: (leaf, head) => createDocumentSink(leaf, head, context),
      refused: (_, refusal) => found.push(refusal.code),
      repaired: (code) => found.push(code),
    })
    for (let at = 0; at < bytes.length; at += step) unpacker.write(bytes.subarray(at, at + step))
    unpacker.end()
    expect(found).toEqual(['report', 'records', 'end', 'report', 'records', 'end'])
  })

  test('names in pieces, encoded and in words (RFC 2231, RFC 2047)', () => {
    const name = `receiver.example!tenant.example!${BEGIN}!${END}.xml.gz`
    const names: [string, string][] = [
      [`application/octet-stream;\r\n name*0=${name.slice(0, 30)};\r\n name*1=${name.slice(30)}`, name],
      [`application/gzip; name*=utf-8''b%C3%BCcher%21.xml`, 'b\u00fccher!.xml'],
      [`application/gzip; name*0*=utf-8'en'b%C3; name*1*=%BCcher; name*2=".xml"`, 'b\u00fccher.xml'],
      ['application/gzip; name="=?utf-8?B?YsO8Y2hlci54bWw=?="', 'b\u00fccher.xml'],
      ['application/gzip; name="=?iso-8859-1?Q?b=FCcher_1?= =?iso-8859-1?Q?.xml?="', 'b\u00fccher 1.xml'],
      ['application/gzip; name="a\\"b.xml"', 'a"b.xml'],
    ]
    for (const [type, expected] of names) {
      expect(readOne(mail([attachment({ type })]), 'm.eml').origin.name).toBe(expected)
    }
    const both = mail([
      attachment({ type: 'application/gzip; name=a', disposition: 'attachment; filename="b.xml"' }),
    ])
    expect(readOne(both).origin.name).toBe('b.xml')
    const body = Buffer.from(GZ).toString('base64')
    const headers = ['ContentType: application/gzip; name=c.gz']
    const misspelt = mail([{ headers, encoding: 'base64', body }])
    expect(readOne(misspelt).origin.name).toBe('c.gz')
  })

  test('the subject helps when the report says less', () => {
    const bare = report({ id: '', policy: '', records: '' })
    const out = readOne(
      mail([attachment({ content: gzip(bare) })], {
        headers: [
          'Subject: Report Domain: tenant.example Submitter: r.example\r\n Report-ID: <77@r.example>',
        ],
      }),
    )
    expect(out.meta).toMatchObject({ report_id: '77@r.example', policy: { domain: 'tenant.example' } })
  })

  test('several reports in a mail, several mails in a mailbox', () => {
    const two = mail([attachment(), attachment({ content: gzip(report({ id: 'two' })) })])
    expect(read(two).ends).toHaveLength(2)
    const line = 'From reporter@receiver.example Mon Feb  2 10:00:00 2026\n'
    const box = `${line}${mail([attachment()])}\n${line}${two}\n${line}${mail([TEXT])}`
    const out = read(box.replaceAll('\r\n', '\n'), 'box.mbox')
    expect(out.ends).toHaveLength(3)
    expect(out.rejected).toEqual([])
  })

  test('a mailbox may hold more mails than an archive files', () => {
    const one = `From a@b.example Mon Feb  2 10:00:00 2026\r\n${mail([attachment()])}\r\n`
    expect(read(one.repeat(60)).ends).toHaveLength(60)
  })

  test('a broken attachment is named, a mail without one is not a report', () => {
    const broken = read(mail([TEXT, attachment({ content: GZ.subarray(0, 100) })]))
    expect(broken.rejected).toEqual([expect.objectContaining({ code: 'archive_truncated' })])
    expect(read(mail([TEXT])).rejected).toEqual([expect.objectContaining({ code: 'not_a_report' })])
    expect(read(mail([TEXT, { type: 'text/html', body: '<p>Hi</p>' }])).rejected).toHaveLength(1)
  })

  test('limits: attachments, depth, headers', () => {
    const many = mail(Array.from({ length: 21 }, () => attachment()))
    expect(read(many).rejected.map((rejected) => rejected.code)).toEqual(['too_many_entries'])
    let deep = mail([attachment()], { boundary: 'b99' })
    for (let i = 0; i < 40; i++)
      deep = mail([{ type: 'multipart/mixed; boundary=b99', body: deep.slice(deep.indexOf('--b')) }], {
        boundary: 'b99',
      })
    expect(read(deep).messages.at(-1)!.type).toBe('done')
    const long = `X-Long: ${'x'.repeat(300_000)}\r\nSubject: a\r\n\r\nbody`
    expect(read(`Subject: x\r\n${long}`).rejected.map((rejected) => rejected.code)).toEqual([
      'token_too_long',
    ])
  })
})
