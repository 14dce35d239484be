import { describe, expect, test } from 'bun:test'
import { gzip, NOW, read, readRefused } from '../../support/report-files.ts'

const POLICY = {
  policy: {
    'policy-type': 'sts',
    'policy-string': ['version: STSv1', 'mode: testing'],
    'policy-domain': 'tenant.example',
    'mx-host': ['mx.tenant.example'],
  },
  summary: { 'total-successful-session-count': 40, 'total-failure-session-count': 3 },
  'failure-details': [
    {
      'result-type': 'certificate-expired',
      'sending-mta-ip': '192.0.2.1',
      'receiving-ip': '2001:DB8::1',
      'receiving-mx-hostname': 'MX.Tenant.Example.',
      'failed-session-count': 3,
      'failure-reason-code': 'x',
    },
  ],
}
const REPORT = {
  'organization-name': 'Receiver',
  'date-range': { 'start-datetime': '2026-02-02T00:00:00Z', 'end-datetime': '2026-02-02T23:59:59Z' },
  'contact-info': 'tls@mail.receiver.example',
  'report-id': '2026-02-02_tenant.example',
  policies: [POLICY],
}
const json = (changes: object = {}): string => JSON.stringify({ ...REPORT, ...changes })

describe('TLS reports', () => {
  test('a good one gives metadata, policies and totals', () => {
    const out = read(json(), 'tls.json')
    expect(out.ends[0]).toMatchObject({
      kind: 'tls',
      meta: {
        organization_name: 'Receiver',
        report_id: '2026-02-02_tenant.example',
        reporter_key: 'receiver.example',
        date_begin: Date.UTC(2026, 1, 2),
        date_end: Date.UTC(2026, 1, 2, 23, 59, 59),
        domain: 'tenant.example',
      },
      totals: { policies: 1, successful_sessions: 40, failed_sessions: 3 },
      repairs: [],
    })
    expect(out.tls_rows[0]).toMatchObject({
      n: 1,
      policy_type: 'sts',
      policy_string: ['version: STSv1', 'mode: testing'],
      mx_host: ['mx.tenant.example'],
      failures: [
        {
          result_type: 'certificate-expired',
          receiving_ip: '2001:db8::1',
          receiving_mx_hostname: 'mx.tenant.example',
          failed_session_count: 3,
          failure_reason_code: 'x',
        },
      ],
    })
    expect(read(gzip(json())).ends[0]).toMatchObject({ kind: 'tls', origin: { containers: ['gzip'] } })
    expect(read(`\ufeff\n${json()}`).ends).toHaveLength(1)
    expect(read(Buffer.from(json(), 'utf16le')).ends).toHaveLength(1)
  })

  const lenient: [name: string, changes: object, repair: string[], end: object][] = [
    [
      'numbers as text',
      {
        policies: [
          {
            ...POLICY,
            summary: { 'total-successful-session-count': '42', 'total-failure-session-count': '7' },
          },
        ],
      },
      ['count_normalised'],
      { totals: { successful_sessions: 42, failed_sessions: 7 } },
    ],
    [
      'a policy as text',
      { policies: [{ ...POLICY, policy: { ...POLICY.policy, 'policy-string': 'version: STSv1' } }] },
      ['field_invalid'],
      {},
    ],
    [
      'an upper-case type',
      { policies: [{ ...POLICY, policy: { ...POLICY.policy, 'policy-type': 'STS' } }] },
      ['enum_alias'],
      {},
    ],
    [
      'an unknown type',
      { policies: [{ ...POLICY, policy: { ...POLICY.policy, 'policy-type': 'dane' } }] },
      ['enum_unknown'],
      {},
    ],
    [
      'no summary',
      { policies: [{ policy: POLICY.policy }] },
      ['field_missing'],
      { totals: { successful_sessions: 0 } },
    ],
    [
      'no contact and no name',
      { 'contact-info': null, 'organization-name': '' },
      ['org_name_missing'],
      { meta: { organization_name: 'unknown', contact_info: null } },
    ],
    [
      'dates as seconds',
      { 'date-range': { 'start-datetime': '1769990400', 'end-datetime': '1770076799' } },
      ['date_normalised'],
      { meta: { date_begin: 1769990400000 } },
    ],
    [
      'swapped dates',
      { 'date-range': { 'start-datetime': '2026-02-03T00:00:00Z', 'end-datetime': '2026-02-02T00:00:00Z' } },
      ['date_swapped'],
      {},
    ],
    [
      'the far future',
      { 'date-range': { 'start-datetime': '2026-02-02T00:00:00Z', 'end-datetime': '2999-01-01T00:00:00Z' } },
      ['date_clamped'],
      { meta: { date_end: NOW + 2 * 86_400_000 } },
    ],
    ['no policies', { policies: [] }, ['no_records'], { totals: { policies: 0 } }],
    [
      'a policy that is none',
      { policies: [POLICY, 'x', null] },
      ['record_skipped'],
      { totals: { policies: 1 } },
    ],
    ['no id', { 'report-id': ' ' }, ['report_id_missing'], {}],
  ]
  test.each(lenient)('%s', (_name, changes, repairs, end) => {
    const out = read(json(changes))
    expect(out.ends[0]).toMatchObject(end)
    expect([...new Set(out.ends[0]!.repairs.map((repair) => repair.code))]).toEqual(repairs as never)
  })

  test('a list of reports gives each', () => {
    const out = read(`[${json()},${json({ 'report-id': 'two' })}]`)
    expect(out.ends.map((end) => end.index)).toEqual([0, 1])
    expect(out.ends[0]!.content_sha256).not.toBe(out.ends[1]!.content_sha256)
  })

  test('very many failures are cut, and said so', () => {
    const detail = POLICY['failure-details'][0]!
    const out = read(
      json({
        policies: Array.from({ length: 25 }, () => ({
          ...POLICY,
          'failure-details': Array.from({ length: 1500 }, () => detail),
        })),
      }),
    )
    expect(out.tls_rows.reduce((sum, row) => sum + row.failures.length, 0)).toBe(20_000)
    expect(out.ends[0]!.repairs.map((repair) => repair.code)).toEqual(['results_truncated'])
    for (const message of out.messages) expect(JSON.stringify(message).length).toBeLessThan(1_000_000)
  })

  test('other JSON is refused', () => {
    expect(readRefused('{"policies": 1}')).toBe('not_a_report')
    expect(readRefused('[1,2]')).toBe('not_a_report')
    expect(readRefused('{"report-id": ')).toBe('malformed_json')
    expect(readRefused(json({ 'date-range': {} }))).toBe('missing_dates')
    expect(readRefused(`{"a":"${'x'.repeat(9_000_000)}"}`)).toBe('unpacked_too_large')
    expect(readRefused('['.repeat(200_000))).toBe('malformed_json')
  })
})
