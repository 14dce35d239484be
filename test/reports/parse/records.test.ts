import { describe, expect, test } from 'bun:test'
import { DAY_MS } from '../../../src/lib/clock.ts'
import { BEGIN, END, NOW, readOne, record, repairsOf, report } from '../../support/report-files.ts'

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
