import { describe, expect, test } from 'bun:test'
import { DAY_MS } from '../../../src/lib/clock.ts'
import {
  BEGIN,
  END,
  NOW,
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

  test('says its metadata early when it stands before the records, and late when it does not', () => {
    const early = read(report()).messages[0]
    expect(early).toMatchObject({ type: 'report', index: 0, meta: { report_id: 'report-1' } })
    const swapped = `<feedback>${record()}${POLICY}${/<report_metadata>.*<\/report_metadata>/s.exec(report())![0]}</feedback>`
    const late = read(swapped)
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
    [
      'records that are all useless',
      report({ records: record({ ip: 'x' }) + record({ count: '-1' }) }),
      'invalid_records',
    ],
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

  test('more records than allowed are refused', () => {
    expect(readRefused(report({ records: record().repeat(11) }), { records_max: 10 })).toBe(
      'too_many_records',
    )
  })
})

describe('quirks of records', () => {
  const rows: [name: string, parts: Parameters<typeof record>[0], row: object, repairs: string[]][] = [
    [
      'an IPv4 address mapped into IPv6',
      { ip: ' ::ffff:192.0.2.15 ' },
      { source_ip: '192.0.2.15' },
      ['ip_normalised'],
    ],
    [
      'an IPv4 address with leading zeros',
      { ip: '192.0.2.016' },
      { source_ip: '192.0.2.16' },
      ['ip_leading_zeros'],
    ],
    ['a long IPv6 address', { ip: '2001:0DB8:0:0:0:0:0:1' }, { source_ip: '2001:db8::1' }, []],
    [
      'an address in brackets with a port',
      { ip: '[2001:db8::1]:25' },
      { source_ip: '2001:db8::1' },
      ['ip_normalised'],
    ],
    ['an address with a port', { ip: '192.0.2.1:25' }, { source_ip: '192.0.2.1' }, ['ip_normalised']],
    ['a count with thousands separators', { count: '1,234' }, { count: 1234 }, ['count_normalised']],
    ['a count with points', { count: '1.234.567' }, { count: 1_234_567 }, ['count_normalised']],
    ['a count with a fraction', { count: '3.0' }, { count: 3 }, ['count_normalised']],
    ['a count with a sign and space', { count: ' +12 ' }, { count: 12 }, ['count_normalised']],
    [
      'an upper-case verdict',
      { dkim: 'PASS', spf: 'Fail' },
      {
        dkim_aligned: true,
        spf_aligned: false,
        raw: { 'policy_evaluated.dkim': 'PASS', 'policy_evaluated.spf': 'Fail' },
      },
      ['enum_alias'],
    ],
    ['a verdict in spaces', { dkim: ' pass ' }, { dkim_aligned: true }, []],
    [
      'verdicts that are none',
      { dkim: '', spf: 'softfail' },
      { dkim_aligned: false, spf_aligned: false },
      ['field_missing', 'enum_unknown'],
    ],
    ['a disposition in spaces', { disposition: ' quarantine' }, { disposition: 'quarantine' }, []],
    [
      'a disposition that is none',
      { disposition: '15' },
      { disposition: 'none', raw: { disposition: '15' } },
      ['enum_unknown'],
    ],
    [
      'a disposition in another tense',
      { disposition: 'Rejected' },
      { disposition: 'reject' },
      ['enum_alias'],
    ],
    [
      'hardfail',
      { auth: '<spf><domain>a.example</domain><result>hardfail</result></spf>' },
      {
        spf: [{ domain: 'a.example', scope: null, result: 'fail', human_result: null }],
        raw: { 'spf.0.result': 'hardfail' },
      },
      ['enum_alias'],
    ],
    [
      'unknown and invalid results',
      {
        auth: '<dkim><domain>a.example</domain><result>unknown</result></dkim><dkim><domain>b.example</domain><result>invalid</result></dkim>',
      },
      {
        dkim: [
          { domain: 'a.example', selector: null, result: 'none', human_result: null },
          { domain: 'b.example', selector: null, result: 'permerror', human_result: null },
        ],
      },
      ['enum_unknown', 'enum_alias'],
    ],
    [
      'an empty DKIM result beside a good verdict',
      { auth: '<dkim><domain>a.example</domain><result></result></dkim>' },
      {
        dkim_aligned: true,
        dkim: [{ domain: 'a.example', selector: null, result: 'none', human_result: null }],
      },
      ['field_missing'],
    ],
    [
      'a reason as bare text',
      { reason: '<reason>sampled_out</reason>' },
      { reasons: [{ type: 'sampled_out', comment: null }] },
      ['enum_alias'],
    ],
    [
      'a reason as a bare sentence',
      { reason: '<reason>we know them</reason>' },
      { reasons: [{ type: 'other', comment: 'we know them' }] },
      ['enum_alias'],
    ],
    [
      'an empty reason',
      { reason: '<reason><type></type><comment/></reason>' },
      { reasons: [] },
      ['field_missing'],
    ],
    [
      'a reason without type',
      { reason: '<reason><type/><comment>arc=pass</comment></reason>' },
      { reasons: [{ type: 'other', comment: 'arc=pass' }] },
      ['field_missing'],
    ],
    [
      'a reason with a space',
      { reason: '<reason><type>Mailing List</type></reason>' },
      { reasons: [{ type: 'mailing_list', comment: null }] },
      ['enum_alias'],
    ],
    ['an IDN', { from: 'B\u00fccher.example.' }, { header_from: 'xn--bcher-kva.example' }, []],
    [
      'an address as header_from',
      { from: 'Someone@Tenant.Example' },
      { header_from: 'tenant.example' },
      ['domain_normalised'],
    ],
    [
      'a null sender',
      {
        identifiers:
          '<identifiers><envelope_to>b.example</envelope_to><envelope_from/><header_from>tenant.example</header_from></identifiers>',
      },
      { envelope_from: '', envelope_to: 'b.example' },
      [],
    ],
    [
      'an envelope sender in brackets',
      {
        identifiers:
          '<identifiers><envelope_from>&lt;&gt;</envelope_from><header_from>tenant.example</header_from></identifiers>',
      },
      { envelope_from: '' },
      [],
    ],
    ['no header_from', { identifiers: '' }, { header_from: '' }, ['field_missing']],
    [
      'a header_from that is no domain',
      { from: 'local host' },
      { header_from: 'local host' },
      ['domain_invalid'],
    ],
    [
      'entities',
      {
        reason: '<reason><type>other</type><comment>a &amp; b &#60; &quot;c&quot; &nbsp;</comment></reason>',
      },
      { reasons: [{ type: 'other', comment: 'a & b < "c" &nbsp;' }] },
      [],
    ],
  ]
  test.each(rows)('%s', (_name, parts, row, repairs) => {
    const out = readOne(report({ records: record(parts) }))
    expect(out.rows[0]).toMatchObject(row)
    expect(repairsOf(out)).toEqual(repairs as never)
  })

  const skipped: [name: string, xml: string][] = [
    [
      'an empty row',
      record({ ip: '', count: '', disposition: '', dkim: '', spf: '', identifiers: '', auth: '' }),
    ],
    ['no source_ip', record().replace(/<source_ip>.*<\/source_ip>/, '')],
    ['a source_ip that is none', record({ ip: 'not-an-ip' })],
    ['a negative count', record({ count: '-5' })],
    ['a count of zero', record({ count: '0' })],
    ['an impossible count', record({ count: '99999999999999999999' })],
    ['a count in words', record({ count: 'many' })],
  ]
  test.each(skipped)('skips one record with %s and keeps the others', (_name, xml) => {
    const out = readOne(report({ records: record() + xml + record({ ip: '192.0.2.99' }) }))
    expect(out.totals).toMatchObject({ records: 2, skipped: 1, messages: 6 })
    expect(out.rows.map((row) => row.n)).toEqual([1, 3])
    expect(out.repairs).toEqual([expect.objectContaining({ code: 'record_skipped', count: 1 })])
  })

  test('accepts a report whose only row is empty: there was no mail', () => {
    const out = readOne(report({ records: record({ ip: '', count: '' }) }))
    expect(out.totals).toMatchObject({ records: 0, skipped: 1, messages: 0 })
    expect(repairsOf(out)).toEqual(['record_skipped', 'no_records'])
  })

  test('keeps at most 100 signatures of a record and says so', () => {
    const auth = '<dkim><domain>a.example</domain><result>pass</result></dkim>'.repeat(250)
    const out = readOne(report({ records: record({ auth }) }))
    expect(out.rows[0]!.dkim).toHaveLength(100)
    expect(out.repairs).toEqual([expect.objectContaining({ code: 'results_truncated', count: 150 })])
  })

  test('a record inside an unclosed record counts on its own', () => {
    const out = readOne(report({ records: record().replace('</record>', '') + record({ ip: '192.0.2.11' }) }))
    expect(out.totals).toMatchObject({ records: 2, messages: 6 })
    expect(repairsOf(out)).toEqual(['unclosed_tag'])
  })

  test('counts every repair but lists few', () => {
    const records = Array.from({ length: 300 }, (_, i) => record({ disposition: `odd${i}` })).join('')
    const out = readOne(report({ records }))
    expect(out.repairs.length).toBeLessThanOrEqual(51)
    expect(out.repairs.reduce((sum, repair) => sum + repair.count, 0)).toBe(300)
  })
})

describe('quirks of metadata', () => {
  const metas: [name: string, parts: Parameters<typeof report>[0], meta: object, repairs: string[]][] = [
    ['no org_name', { org: '' }, { org_name: 'receiver.example' }, ['org_name_missing']],
    [
      'neither org_name nor email',
      { org: '', email: '' },
      { org_name: 'unknown', org_email: '' },
      ['org_name_missing'],
    ],
    [
      'a stray quote in the name',
      { org: '"receiver.NET' },
      { org_name: 'receiver.NET', reporter_key: 'receiver.example' },
      [],
    ],
    [
      'a report id with odd signs',
      { id: ' &lt;a!b$c=d@e:f#g&gt; ' },
      { report_id: '<a!b$c=d@e:f#g>', report_id_norm: 'a!b$c=d@e:f#g' },
      [],
    ],
    [
      'no report id',
      { id: '' },
      { report_id: expect.stringMatching(/^sha256:[0-9a-f]{32}$/) },
      ['report_id_missing'],
    ],
    [
      'dates as fractions',
      { begin: `${BEGIN}.0`, end: `${END}.99` },
      { date_begin: BEGIN * 1000, date_end: END * 1000 },
      ['date_normalised'],
    ],
    [
      'dates in milliseconds',
      { begin: `${BEGIN}000`, end: `${END}000` },
      { date_begin: BEGIN * 1000, date_end: END * 1000 },
      ['date_milliseconds'],
    ],
    [
      'dates in ISO 8601',
      { begin: '2026-02-02T00:00:00Z', end: '2026-02-02 23:59:59' },
      { date_begin: BEGIN * 1000, date_end: END * 1000 },
      ['date_normalised'],
    ],
    [
      'dates with a zone',
      { begin: '2026-02-02T02:00:00+02:00', end: '2026-02-03' },
      { date_begin: BEGIN * 1000, date_end: (END + 1) * 1000 },
      ['date_normalised'],
    ],
    [
      'swapped dates',
      { begin: `${END}`, end: `${BEGIN}` },
      { date_begin: BEGIN * 1000, date_end: END * 1000 },
      ['date_swapped'],
    ],
    ['no length', { end: `${BEGIN}` }, { date_begin: BEGIN * 1000, date_end: BEGIN * 1000 }, []],
    ['one end only', { end: '' }, { date_begin: BEGIN * 1000, date_end: BEGIN * 1000 }, ['dates_missing']],
    [
      '24 days',
      { end: `${BEGIN + 24 * 86_400}` },
      { date_end: (BEGIN + 24 * 86_400) * 1000 },
      ['period_long'],
    ],
    [
      'the far future',
      { end: '4102444800' },
      { date_begin: BEGIN * 1000, date_end: NOW + 2 * DAY_MS },
      ['date_clamped', 'period_long'],
    ],
    [
      'an odd version',
      { prolog: '<!-- -->', root: '<feedback><version>draft</version>' },
      { version: 'draft' },
      ['version_unknown', 'repeated_element'],
    ],
  ]
  test.each(metas)('%s', (_name, parts, meta, repairs) => {
    const out = readOne(report(parts))
    expect(out.meta).toMatchObject(meta)
    expect(repairsOf(out).toSorted()).toEqual(repairs.toSorted() as never)
  })

  const policies: [name: string, xml: string, policy: object, repairs: string[]][] = [
    ['sp is absent: the same as p', '<p>reject</p>', { p: 'reject', sp: null }, []],
    ['sp is empty', '<p>reject</p><sp></sp>', { sp: null }, ['field_missing']],
    ['sp is nil', '<p>reject</p><sp>nil</sp>', { sp: null }, ['enum_unknown']],
    ['p in upper case', '<p>REJECT</p>', { p: 'reject' }, ['enum_alias']],
    ['p is absent', '<sp>reject</sp>', { p: 'none', sp: 'reject' }, ['policy_missing']],
    [
      'alignment in words',
      '<p>none</p><adkim>strict</adkim><aspf>Relaxed</aspf>',
      { adkim: 's', aspf: 'r' },
      ['enum_alias'],
    ],
    ['alignment is absent: relaxed', '<p>none</p>', { adkim: 'r', aspf: 'r' }, []],
    ['pct is too large', '<p>none</p><pct>150</pct>', { pct: 100 }, ['count_normalised']],
    ['pct is junk', '<p>none</p><pct>all</pct>', { pct: null }, ['field_invalid']],
    ['pct is empty', '<p>none</p><pct/>', { pct: null }, ['field_missing']],
    ['fo with several values', '<p>none</p><fo>1:d:s</fo>', { fo: '1:d:s' }, []],
    ['adkim before the domain', '<p>none</p>', { domain: 'tenant.example' }, []],
  ]
  test.each(policies)('%s', (_name, xml, policy, repairs) => {
    const out = readOne(
      report({
        policy: `<policy_published><adkim/><domain>Tenant.Example.</domain>${xml}</policy_published>`.replace(
          '<adkim/>',
          '',
        ),
      }),
    )
    expect(out.meta.policy).toMatchObject(policy)
    expect(repairsOf(out)).toEqual(repairs as never)
  })

  test('takes what is missing from the file name', () => {
    const out = readOne(
      report({ begin: '', end: '', id: '', policy: '' }),
      `mx.example!tenant.example!${BEGIN}!${END}!77.xml.gz`,
    )
    expect(out.meta).toMatchObject({ report_id: '77', date_begin: BEGIN * 1000, date_end: END * 1000 })
    expect(out.meta.policy).toMatchObject({ domain: 'tenant.example', p: 'none' })
    expect(repairsOf(out).toSorted()).toEqual([
      'dates_missing',
      'domain_missing',
      'policy_missing',
      'report_id_missing',
    ])
  })

  test('takes the policy domain from the records when they agree', () => {
    const out = readOne(report({ policy: '<policy_published><p>none</p></policy_published>' }))
    expect(out.meta.policy.domain).toBe('tenant.example')
    expect(repairsOf(out)).toEqual(['domain_missing'])
  })

  test('never believes the file name, but says that it differs', () => {
    const out = readOne(report(), `mx.example!other.example!${BEGIN}!${END}.xml`)
    expect(out.meta.policy.domain).toBe('tenant.example')
    expect(repairsOf(out)).toEqual(['metadata_mismatch'])
  })

  test('the reporter is known by its registrable domain, else by its name', () => {
    expect(readOne(report({ email: 'x@mail.eu.receiver.co.uk' })).meta.reporter_key).toBe('receiver.co.uk')
    expect(readOne(report({ email: '', org: 'Mx.Receiver.Example' })).meta.reporter_key).toBe(
      'receiver.example',
    )
    expect(readOne(report({ email: '', org: 'Yahoo! Inc.' })).meta.reporter_key).toBe('yahoo! inc.')
  })
})
