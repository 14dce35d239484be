import { describe, expect, test } from 'bun:test'
import { coveredDays, explainPolicy, isBelow, repairWords } from '../../public/lib/dmarc.ts'
import type { DmarcPolicy, Domain } from '../../public/lib/types.ts'
import { PAGES, BARE_PAGES } from '../../public/routes.ts'

const policy = (values: Partial<DmarcPolicy>): DmarcPolicy => ({
  record: null,
  p: null,
  sp: null,
  np: null,
  adkim: null,
  aspf: null,
  rua: [],
  testing: null,
  checked_at: null,
  state: 'ok',
  detail: null,
  ...values,
})

describe('a policy in words', () => {
  test('says what receivers do and what differs below the domain', () => {
    const lines = explainPolicy(policy({ p: 'reject', sp: 'quarantine', rua: ['mailto:a@example.com'] }))
    expect(lines).toEqual(['Receivers refuse what fails.', 'Subdomains: quarantine.'])
  })

  test('says that nothing will come in without rua', () => {
    expect(explainPolicy(policy({ p: 'none' })).at(-1)).toContain('no rua')
  })

  test('says nothing about a record that is not there', () => {
    expect(explainPolicy(policy({ state: 'missing' }))).toEqual([])
  })
})

describe('the days of a report', () => {
  test('are one when it ends at midnight or a second before', () => {
    const begin = '2026-11-19T00:00:00.000Z'
    expect(coveredDays({ date_begin: begin, date_end: '2026-11-20T00:00:00.000Z' })).toBe('19 Nov')
    expect(coveredDays({ date_begin: begin, date_end: '2026-11-19T23:59:59.000Z' })).toBe('19 Nov')
  })

  test('are two when it was cut in another zone', () => {
    expect(
      coveredDays({ date_begin: '2026-11-19T02:00:00.000Z', date_end: '2026-11-20T01:59:59.000Z' }),
    ).toBe('19–20 Nov')
    expect(
      coveredDays({ date_begin: '2026-10-31T02:00:00.000Z', date_end: '2026-11-01T01:59:59.000Z' }),
    ).toBe('31 Oct to 1 Nov')
  })

  test('say the year of older ones', () => {
    expect(
      coveredDays({ date_begin: '2019-11-19T02:00:00.000Z', date_end: '2019-11-20T01:59:59.000Z' }),
    ).toBe('19–20 Nov 2019')
  })
})

describe('a repair in words', () => {
  test('names the case at hand when it says more than the kind', () => {
    expect(repairWords({ code: 'no_records', detail: 'The report has no records', count: 1 })).toBe(
      'The report has no records',
    )
    expect(repairWords({ code: 'date_clamped', detail: '"9999"', count: 1 })).toBe(
      'The end of the period was too far in the future: "9999"',
    )
  })
})

test('a domain without messages is never below its limit', () => {
  const compliance = { rate: null, messages: 0, pass: 0, fail: 0, window_days: 30, trend: [] }
  expect(isBelow({ profile: 'sending', compliance_threshold: 95, compliance } as unknown as Domain)).toBe(
    false,
  )
})

test('every page of the table can be loaded and exports its component', async () => {
  for (const page of [...PAGES, ...BARE_PAGES]) {
    const source = await Bun.file(
      `${import.meta.dir}/../../public/pages${moduleOf(page.path, page.page)}.tsx`,
    ).text()
    expect(source).toContain(`export function ${page.page}(`)
  }
})

/** `OverviewPage` -> /overview; the file names follow the component. */
function moduleOf(path: string, page: string): string {
  const special: Record<string, string> = { TlsReportsPage: '/tls', FailureReportsPage: '/failures' }
  return special[page] ?? (path === '/' ? '/overview' : `/${page.replace('Page', '').toLowerCase()}`)
}
