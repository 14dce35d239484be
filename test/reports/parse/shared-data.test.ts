/**
 * Reports that receivers really sent, and edge cases beside a table of what must come of them. The data is not part of
 * the project: the tests run where it lies (`WARDPOST_TEST_DATA`, or beside the project).
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { read, readOne, repairsOf, type DmarcEnd, type Outcome } from '../../support/report-files.ts'

// A busy machine makes nothing here wrong, only slow.
setDefaultTimeout(60_000)

const ROOT = join(
  process.env['WARDPOST_TEST_DATA'] ?? resolve(import.meta.dir, '../../../../shared/data'),
  'dmarc',
)
const present = existsSync(ROOT)

function filesIn(folder: string): string[] {
  if (!present || !existsSync(join(ROOT, folder))) return []
  return readdirSync(join(ROOT, folder))
    .map((name) => join(ROOT, folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesIn(path.slice(ROOT.length + 1)) : [path]))
    .toSorted()
}

function open(path: string): Outcome {
  return read(readFileSync(path), path.split('/').pop())
}

interface Count {
  records: number
  messages: number
  pass: number
  fail: number
}

/** Counts with plain expressions over the text: shares nothing with the parser. */
function countIndependently(xml: string): Count {
  const out = { records: 0, messages: 0, pass: 0, fail: 0 }
  for (const found of xml.matchAll(/<(?:\w+:)?record>(.*?)<\/(?:\w+:)?record>/gs)) {
    const body = found[1]!
    const count = Number(/<(?:\w+:)?count>\s*(\d+)\s*</.exec(body)?.[1] ?? 'NaN')
    const verdict = /<(?:\w+:)?policy_evaluated>(.*?)<\/(?:\w+:)?policy_evaluated>/s.exec(body)?.[1] ?? ''
    const passed = /<(?:\w+:)?(?:dkim|spf)>\s*pass\s*</i.test(verdict)
    out.records++
    out.messages += count
    if (passed) out.pass += count
    else out.fail += count
  }
  return out
}

describe.skipIf(!present)('real reports', () => {
  const real = filesIn('real')

  test('all are accepted, and every one counts as an independent count says', () => {
    expect(real.length).toBeGreaterThan(1000)
    const wrong: string[] = []
    let messages = 0
    for (const path of real) {
      const out = open(path)
      const end = out.ends[0]
      const counted = countIndependently(readFileSync(path, 'utf8'))
      messages += counted.messages
      if (out.ends.length !== 1 || out.rejected.length > 0 || end?.kind !== 'dmarc')
        wrong.push(`${path}: refused`)
      else if (!sameCount(end, counted)) wrong.push(`${path}: ${JSON.stringify([end.totals, counted])}`)
    }
    expect(wrong).toEqual([])
    expect(messages).toBeGreaterThan(50_000)
  })

  test('nothing is repaired that the standard allows', () => {
    const codes = new Map<string, number>()
    for (const path of real) {
      for (const end of open(path).ends) {
        for (const code of repairsOf(end)) codes.set(code, (codes.get(code) ?? 0) + 1)
      }
    }
    expect([...codes.keys()].toSorted()).toEqual([
      'enum_alias',
      'enum_unknown',
      'field_missing',
      'misnamed_element',
      'period_long',
    ])
  })

  /** Two of them are whole, four have no records, the rest had their middle cut out. */
  test('those known to be broken are told apart', () => {
    const outcomes = new Map<string, number>()
    for (const path of filesIn('known-invalid')) {
      const out = open(path)
      const end = out.ends[0]
      const key = end?.kind === 'dmarc' ? `accepted, ${end.totals.records} records` : out.rejected[0]!.code
      outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
    }
    expect(Object.fromEntries(outcomes)).toEqual({
      malformed_xml: 16,
      'accepted, 0 records': 5,
      'accepted, 1 records': 1,
    })
  })
})

function sameCount(end: DmarcEnd, counted: Count): boolean {
  const { records, messages, pass, fail, skipped } = end.totals
  return (
    skipped === 0 &&
    records === counted.records &&
    messages === counted.messages &&
    pass === counted.pass &&
    fail === counted.fail
  )
}

describe.skipIf(!present)('samples of other projects', () => {
  /** What is not accepted as a report, and why that is right. */
  const REFUSED: Record<string, string> = {
    'dmarc-xml-0.2.xsd': 'not_a_report',
    'empty.xml': 'empty_file',
  }
  const folders = [
    'domainaware+parsedmarc',
    'cry-inc+dmarc-report-viewer',
    'dmarc-analyzer-net+DmarcAnalyzerApp',
    'ietf-wg-dmarc+draft-ietf-dmarc-aggregate-reporting',
  ]
  for (const folder of folders) {
    test(`all of ${folder} have the right outcome`, () => {
      const paths = filesIn(folder)
      expect(paths.length).toBeGreaterThan(0)
      for (const path of paths) {
        const name = path.split('/').pop()!
        const out = open(path)
        const expected = REFUSED[name]
        if (expected === undefined) {
          expect({ name, rejected: out.rejected, reports: out.ends.length }).toEqual({
            name,
            rejected: [],
            reports: 1,
          })
        } else expect({ name, code: out.rejected[0]?.code }).toEqual({ name, code: expected as never })
        if (name.endsWith('.xml') && out.ends[0]?.kind === 'dmarc') {
          const counted = countIndependently(readFileSync(path, 'latin1'))
          expect({ name, same: sameCount(out.ends[0], counted) }).toEqual({ name, same: true })
        }
      }
    })
  }

  test('what is in their archives counts right too', () => {
    const path = filesIn('domainaware+parsedmarc').find((file) => file.endsWith('nice-input.xml.gz'))!
    const counted = countIndependently(gunzipSync(readFileSync(path)).toString('utf8'))
    expect(sameCount(readOne(readFileSync(path)), counted)).toBe(true)
    expect(sameCount(readOne(readFileSync(path.replace(/gz$/, 'zip'))), counted)).toBe(true)
  })

  test('failure reports give domain and address', () => {
    const found = filesIn('domainaware+parsedmarc/samples/failure').map((path) => {
      const end = open(path).ends[0]
      return end?.kind === 'failure'
        ? [end.meta.reported_domain, end.meta.source_ip, end.meta.feedback_type]
        : null
    })
    expect(found.toSorted()).toEqual(
      [
        ['domain.de', '10.10.10.10', 'auth-failure'],
        ['cardinal.com', '167.89.69.24', 'auth-failure'],
        ['example.com', '10.10.10.10', 'auth-failure'],
        ['example.com', '10.10.10.10', 'auth-failure'],
        ['example.com', '203.0.113.68', 'plain_text'],
      ].toSorted(),
    )
  })

  test('TLS reports give their sessions', () => {
    const path = filesIn('dmarc-analyzer-net+DmarcAnalyzerApp').find((file) =>
      file.endsWith('sample-lenient-tls.json'),
    )!
    expect(open(path).ends[0]).toMatchObject({
      kind: 'tls',
      meta: { domain: 'acme.example' },
      totals: { successful_sessions: 43, failed_sessions: 7 },
    })
  })
})

describe.skipIf(!present)('edge cases beside their table', () => {
  const GOOD = { records: 1, messages: 3, pass: 3 }
  /** Totals and repairs of the accepted, the code of the refused. `ok` in the table means: nothing repaired. */
  const EXPECTED: Record<string, { totals: object; repairs: string[]; meta?: object } | string> = {
    '01': { totals: GOOD, repairs: [] },
    '02': { totals: GOOD, repairs: ['control_characters'] },
    '04': { totals: GOOD, repairs: [], meta: { org_name: 'Sue\u00f1o Fueguino' } },
    '05': {
      totals: GOOD,
      repairs: ['encoding_fallback'],
      meta: { org_name: expect.stringContaining('Ingenier\u00eda') },
    },
    '07': { totals: GOOD, repairs: [] },
    '08': { totals: GOOD, repairs: [] },
    '10': { totals: GOOD, repairs: ['completed_end'] },
    '11': 'truncated',
    '13': { totals: { records: 1, skipped: 1, messages: 3 }, repairs: ['record_skipped'] },
    '14': {
      totals: { records: 3, messages: 9, pass: 3, fail: 6 },
      repairs: ['enum_unknown', 'enum_alias', 'field_missing'],
    },
    '16': { totals: { records: 1, messages: 1000 }, repairs: ['period_long'] },
    '17': { totals: GOOD, repairs: [] },
    '19': {
      totals: GOOD,
      repairs: ['date_normalised'],
      meta: { date_begin: 1769990400000, date_end: 1770076799000 },
    },
    '20': { totals: GOOD, repairs: ['date_milliseconds'], meta: { date_begin: 1769990400000 } },
    '21': 'dtd_not_allowed',
    '22': 'dtd_not_allowed',
    '23': { totals: GOOD, repairs: [] },
    '25': { totals: GOOD, repairs: [] },
    '26': 'archive_truncated',
    '28': { totals: GOOD, repairs: [] },
    '29': { totals: GOOD, repairs: [] },
    '31': { totals: GOOD, repairs: [] },
    '32': 'compression_unsupported',
    '33': 'compression_unsupported',
    '34': { totals: GOOD, repairs: [] },
    '35': { totals: GOOD, repairs: [] },
    '36': { totals: GOOD, repairs: [] },
    '37': { totals: GOOD, repairs: [] },
    '38': 'archive_empty',
    '39': 'not_a_report',
    '40': 'not_a_report',
    '41': {
      totals: { records: 2, skipped: 1, messages: 5 },
      repairs: ['ip_normalised', 'ip_leading_zeros', 'record_skipped'],
    },
    '43': { totals: GOOD, repairs: [] },
    '44': {
      totals: { records: 1, skipped: 2, messages: 1234 },
      repairs: ['record_skipped', 'count_normalised'],
    },
    '46': {
      totals: GOOD,
      repairs: [],
      meta: {
        report_id: '<tenant.example-1769990400@receiver.example>',
        report_id_norm: 'tenant.example-1769990400@receiver.example',
      },
    },
    '47': {
      totals: GOOD,
      repairs: [],
      meta: { policy: expect.objectContaining({ domain: 'xn--bcher-kva.example' }) },
    },
    '49': { totals: GOOD, repairs: [] },
    '50': { totals: GOOD, repairs: ['unclosed_tag'] },
  }
  const cases = filesIn('synthetic').filter((path) => !path.endsWith('.md'))

  test.each(cases)('%s', (path) => {
    const expected = EXPECTED[path.split('/').pop()!.slice(0, 2)]
    expect(expected).toBeDefined()
    const out = open(path)
    if (typeof expected === 'string') {
      expect(out.ends).toEqual([])
      expect(out.rejected.map((rejected) => rejected.code)).toEqual([expected as never])
      return
    }
    expect(out.rejected).toEqual([])
    expect(out.ends).toHaveLength(1)
    const end = out.ends[0] as DmarcEnd
    expect(end.totals).toMatchObject(expected!.totals)
    expect(repairsOf(end)).toEqual(expected!.repairs as never)
    if (expected!.meta !== undefined) expect(end.meta).toMatchObject(expected!.meta)
  })

  test('the forwarded mail is the same report as the plain file, another period is another one', () => {
    const find = (number: string): DmarcEnd & { rows: unknown[] } =>
      readOne(readFileSync(cases.find((path) => path.split('/').pop()!.startsWith(number))!))
    const [plain, forwarded, other] = [find('01'), find('43'), find('49')]
    expect(forwarded.meta).toEqual(plain.meta)
    expect(forwarded.rows_sha256).toBe(plain.rows_sha256)
    expect(other.meta).toMatchObject({
      report_id: plain.meta.report_id,
      reporter_key: plain.meta.reporter_key,
    })
    expect(other.meta.date_begin).not.toBe(plain.meta.date_begin)
  })
})
