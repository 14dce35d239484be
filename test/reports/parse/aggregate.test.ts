import { describe, expect, test } from 'bun:test'
import {
  BEGIN,
  END,
  POLICY,
  read,
  readOne,
  readRefused,
  record,
  repairsOf,
  report,
} from '../../support/report-files.ts'

describe('a good aggregate report', () => {
  test('gives its metadata, policy, rows and totals, with nothing repaired', () => {
    const out = readOne(report())
    expect(out.meta).toEqual({
      org_name: 'receiver.example',
      org_email: 'dmarc@receiver.example',
      extra_contact_info: null,
      report_id: 'report-1',
      report_id_norm: 'report-1',
      reporter_key: 'receiver.example',
      date_begin: BEGIN * 1000,
      date_end: END * 1000,
      version: '1.0',
      standard: 'rfc7489',
      generator: null,
      errors: [],
      policy: {
        domain: 'tenant.example',
        p: 'reject',
        sp: 'quarantine',
        np: null,
        adkim: 'r',
        aspf: 's',
        pct: 100,
        fo: '1',
        testing: null,
        discovery_method: null,
      },
    })
    expect(out.rows).toEqual([
      {
        n: 1,
        source_ip: '192.0.2.10',
        count: 3,
        disposition: 'none',
        dkim_aligned: true,
        spf_aligned: true,
        reasons: [],
        header_from: 'tenant.example',
        envelope_from: null,
        envelope_to: null,
        dkim: [{ domain: 'tenant.example', selector: 's1', result: 'pass', human_result: null }],
        spf: [{ domain: 'tenant.example', scope: 'mfrom', result: 'pass', human_result: null }],
      },
    ])
    expect(out.totals).toEqual({
      records: 1,
      skipped: 0,
      messages: 3,
      pass: 3,
      fail: 0,
      by_disposition: { none: 3, pass: 0, quarantine: 0, reject: 0 },
      both: 3,
      dkim_only: 0,
      spf_only: 0,
      neither: 0,
    })
    expect(out.repairs).toEqual([])
  })

  test('says its metadata early when it is large and they stand before the records, else late', () => {
    const records = record().repeat(501)
    const early = read(report({ records })).messages[0]
    expect(early).toMatchObject({ type: 'report', index: 0, meta: { report_id: 'report-1' } })
    expect(read(report()).messages[0]).toMatchObject({ type: 'report', meta: null })
    const metadata = /<report_metadata>.*<\/report_metadata>/s.exec(report())![0]
    const late = read(`<feedback>${records}${POLICY}${metadata}</feedback>`)
    expect(late.messages[0]).toMatchObject({ type: 'report', meta: null })
    expect(late.ends[0]).toMatchObject({
      meta: { report_id: 'report-1', policy: { domain: 'tenant.example' } },
    })
  })

  test('counts a message as passed when DKIM or SPF is aligned, never by disposition or raw results', () => {
    const out = readOne(
      report({
        records: [
          record({ count: '1', dkim: 'pass', spf: 'fail' }),
          record({ count: '2', dkim: 'fail', spf: 'pass', disposition: 'quarantine' }),
          record({ count: '4', dkim: 'fail', spf: 'fail' }),
          record({ count: '8', disposition: 'reject' }),
        ].join('\n'),
      }),
    )
    expect(out.totals).toMatchObject({
      messages: 15,
      pass: 11,
      fail: 4,
      both: 8,
      dkim_only: 1,
      spf_only: 2,
      neither: 4,
    })
    expect(out.totals.by_disposition).toEqual({ none: 5, pass: 0, quarantine: 2, reject: 8 })
  })

  test('reads RFC 9990: np, testing, discovery_method, generator, extension, pass, policy_test_mode', () => {
    const out = readOne(
      report({
        root: '<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2.0" xmlns:ext="urn:x">',
        metadata:
          '<report_metadata><org_name>r.example</org_name><email>a@r.example</email><report_id>1</report_id>' +
          `<date_range><begin>${BEGIN}</begin><end>${END}</end></date_range><error>one</error><error>two</error>` +
          '<generator>Maker 1</generator></report_metadata>',
        policy:
          '<policy_published><domain>tenant.example</domain><p>none</p><np>reject</np><testing>y</testing>' +
          '<discovery_method>treewalk</discovery_method></policy_published>' +
          '<extension><record><row><source_ip>203.0.113.1</source_ip><count>9</count></row></record></extension>',
        records: record({
          disposition: 'pass',
          reason: '<reason><type>policy_test_mode</type><comment lang="en">test</comment></reason>',
        }).replace('</record>', '<ext:thing><domain>x</domain></ext:thing></record>'),
      }),
    )
    expect(out.meta).toMatchObject({
      standard: 'rfc9990',
      generator: 'Maker 1',
      errors: ['one', 'two'],
      version: '1.0',
    })
    expect(out.meta.policy).toMatchObject({
      p: 'none',
      sp: null,
      np: 'reject',
      testing: true,
      discovery_method: 'treewalk',
    })
    expect(out.meta.policy).toMatchObject({ adkim: 'r', aspf: 'r', pct: null })
    expect(out.rows).toHaveLength(1)
    expect(out.rows[0]).toMatchObject({
      disposition: 'pass',
      reasons: [{ type: 'policy_test_mode', comment: 'test' }],
    })
    expect(out.repairs).toEqual([])
  })

  test('keeps every signature, selector and human result', () => {
    const auth = Array.from(
      { length: 12 },
      (_, i) =>
        `<dkim><domain>d${i}.example</domain><selector>s${i}</selector><result>pass</result><human_result>h${i}</human_result></dkim>`,
    ).join('')
    const [row] = readOne(report({ records: record({ auth }) })).rows
    expect(row!.dkim).toHaveLength(12)
    expect(row!.dkim[11]).toEqual({
      domain: 'd11.example',
      selector: 's11',
      result: 'pass',
      human_result: 'h11',
    })
    expect(row!.spf).toEqual([])
  })

  test('gives several reports of one file, each with its own hash', () => {
    const out = read(report({ id: 'one' }) + report({ id: 'two', records: record({ count: '5' }) }))
    expect(out.ends.map((end) => end.kind === 'dmarc' && end.meta.report_id)).toEqual(['one', 'two'])
    expect(new Set(out.ends.map((end) => end.content_sha256)).size).toBe(2)
    expect(out.messages.at(-1)).toMatchObject({ type: 'done', reports: 2, rejected: 0, input_kind: 'xml' })
  })

  test('gives rows in chunks of at most 500', () => {
    const out = read(report({ records: record().repeat(1201) }))
    const sizes = out.messages.flatMap((message) => (message.type === 'records' ? [message.rows.length] : []))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1201)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(500)
    expect(out.rows.at(-1)!.n).toBe(1201)
  })

  test('has the same rows hash in other white space, and another one for other rows', () => {
    const plain = readOne(report({ records: record().repeat(700) }))
    const spaced = readOne(report({ records: record().replaceAll('><', '>\r\n  <').repeat(700) }))
    expect(spaced.rows_sha256).toBe(plain.rows_sha256)
    expect(spaced.content_sha256).not.toBe(plain.content_sha256)
    expect(readOne(report({ records: record({ count: '4' }) })).rows_sha256).not.toBe(
      readOne(report()).rows_sha256,
    )
  })
})

describe('quirks of the XML', () => {
  const accepted: [name: string, xml: string, repairs: string[]][] = [
    [
      'a control character in a comment is dropped',
      report({
        records: record({ reason: '<reason><type>other</type><comment>a\u0007b</comment></reason>' }),
      }),
      ['control_characters'],
    ],
    ['a control character as reference is dropped', report({ org: 'a&#7;b' }), ['control_characters']],
    [
      'prefixed elements',
      report()
        .replaceAll(/<(\/?)(?=[a-z])/g, '<$1d:')
        .replace('<d:feedback>', '<d:feedback xmlns:d="http://dmarc.org/dmarc-xml/0.1">'),
      [],
    ],
    ['a misspelt namespace', report({ root: '<feedback xmlns="http//dmarc.org/dmarc-xml/0.1">' }), []],
    [
      'upper-case element names',
      report().replaceAll(
        /<(\/?)([a-z_]+)>/g,
        (_, slash: string, name: string) => `<${slash}${name.toUpperCase()}>`,
      ),
      [],
    ],
    ['no prolog', report({ prolog: '' }), []],
    ['no line break after the prolog', report({ prolog: '<?xml version="1.0"?>' }), []],
    [
      'comments and processing instructions anywhere',
      report({
        prolog: '<?xml version="1.0"?><!-- a > b --><?x y?>',
        records: `<!-- <record> -->${record()}`,
      }),
      [],
    ],
    ['CDATA', report({ org: '<![CDATA[receiver.example]]>' }), []],
    [
      'a bare document type',
      report({ prolog: '<?xml version="1.0"?><!DOCTYPE feedback>' }),
      ['doctype_ignored'],
    ],
    [
      'an unclosed tag of a schema under the root',
      report({ root: '<feedback><xs:schema xmlns:xs="x">' }),
      ['unclosed_tag'],
    ],
    [
      'an unclosed tag of a schema around the root',
      report({ prolog: '<xs:schema xmlns:xs="x">' }),
      ['unclosed_tag'],
    ],
    ['a cut last sign', report({ tail: '</feedback' }), ['completed_end']],
    ['a cut end tag', report({ tail: '\n</feed' }), ['completed_end']],
    ['bare signs in text', report({ org: 'a & b < c > d' }), []],
    ['an address in angle brackets', report({ email: '<dmarc@receiver.example>' }), ['bare_markup']],
    ['a bare sign before an end tag', report({ org: 'bad<name.example' }), ['bare_markup']],
    ['a stray end tag', report({ records: `</b>${record()}` }), ['stray_close_tag']],
    [
      'a self-closing element',
      report({ policy: POLICY.replace('<sp>quarantine</sp>', '<sp />') }),
      ['field_missing'],
    ],
    ['garbage after the report', `${report()}\n-- \nsent by a mailer`, []],
    [
      'unknown elements are skipped',
      report({ records: record().replace('</row>', '<x><count>99</count><y/></x></row>') }),
      [],
    ],
    ['attributes with signs in them', report({ root: '<feedback note="a > b" other=\'<c>\'>' }), []],
    ['one overlong value', report({ org: `receiver.example ${'x'.repeat(5000)}` }), ['text_truncated']],
    [
      'identities instead of identifiers',
      report({ records: record().replaceAll('identifiers>', 'identities>') }),
      ['misnamed_element'],
    ],
    [
      'a second policy: the first counts',
      report({ policy: POLICY + POLICY.replaceAll('reject', 'none') }),
      ['repeated_element'],
    ],
    [
      'a field twice: the first counts',
      report({ policy: POLICY.replace('<p>reject</p>', '<p>reject</p><p>none</p>') }),
      ['repeated_element'],
    ],
    ['no records at all', report({ records: '' }), ['no_records']],
    ['no auth_results', report({ records: record().replace(/<auth_results>.*<\/auth_results>/, '') }), []],
    [
      'empty domains in auth_results',
      report({
        records: record({
          auth: '<dkim><domain/><result>fail</result></dkim><spf><domain></domain><scope>helo</scope><result>none</result></spf>',
        }),
      }),
      [],
    ],
    [
      'an empty dkim element',
      report({
        records: record({ auth: '<dkim/><spf><domain>a.example</domain><result>pass</result></spf>' }),
      }),
      ['field_missing'],
    ],
  ]
  test.each(accepted)('%s', (_name, xml, repairs) => {
    const out = readOne(xml)
    expect(repairsOf(out)).toEqual(repairs as never)
    if (out.totals.records > 0) expect(out.totals).toMatchObject({ records: 1, messages: 3, pass: 3 })
    expect(out.meta.policy).toMatchObject({ domain: 'tenant.example', p: 'reject' })
  })

  const refused: [name: string, xml: string, code: string][] = [
    ['cut in a record', report().slice(0, -60), 'truncated'],
    ['cut after a record', report({ tail: '' }), 'truncated'],
    ['cut before the name of a tag', report({ tail: '<' }), 'truncated'],
    ['cut in the metadata', report().slice(0, 150), 'truncated'],
    [
      'entities',
      report({ prolog: '<!DOCTYPE f [<!ENTITY x SYSTEM "file:///etc/passwd">]>' }),
      'dtd_not_allowed',
    ],
    ['an entity outside a document type', report({ prolog: '<!ENTITY x "y">' }), 'dtd_not_allowed'],
    ['a part that was cut out', report().replace(/<record><row>.*<\/row>/, ''), 'malformed_xml'],
    ['another document', '<html><body>Sign in</body></html>', 'not_a_report'],
    ['a schema', '<xs:schema><xs:element name="feedback"/></xs:schema>', 'not_a_report'],
    ['nothing', '', 'empty_file'],
    ['white space', ' \r\n\t ', 'empty_file'],
    ['a placeholder', 'unused\n', 'unused_body'],
    ['plain text', 'Hello, here is your report', 'not_a_report'],
    ['too deep', report({ records: '<a>'.repeat(40) }), 'too_deep'],
    ['an endless tag', `<feedback ${'x'.repeat(70_000)}>`, 'token_too_long'],
    ['an endless comment', `<feedback><!-- ${'x'.repeat(70_000)}`, 'token_too_long'],
    ['no policy domain', report({ policy: '', records: record({ from: '' }) }), 'missing_domain'],
    ['no dates', report({ begin: '', end: 'soon' }), 'missing_dates'],
  ]
  test.each(refused)('refused: %s', (_name, xml, code) => {
    expect(readRefused(xml)).toBe(code as never)
  })

  test('a broken report takes its rows back and leaves the others alone', () => {
    const out = read(report({ id: 'a' }) + report({ id: 'b', records: record().repeat(600), tail: '' }))
    expect(out.ends).toHaveLength(1)
    expect(out.rejected).toEqual([expect.objectContaining({ index: 1, code: 'truncated' })])
    expect(out.messages.at(-1)).toMatchObject({ reports: 1, rejected: 1 })
  })

  test('a report of which no record can be used is kept, with the reason for each', () => {
    const out = readOne(
      report({ records: record({ ip: '' }) + record({ ip: 'x' }) + record({ count: '-1' }) }),
    )
    expect(out.totals).toMatchObject({ records: 0, skipped: 3, messages: 0 })
    expect(repairsOf(out)).toEqual(['record_skipped', 'no_records'])
  })

  test('more records than allowed are refused', () => {
    expect(readRefused(report({ records: record().repeat(11) }), { records_max: 10 })).toBe(
      'too_many_records',
    )
  })
})
