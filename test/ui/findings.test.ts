import { describe, expect, test } from 'bun:test'
import { findingsOf, recordText } from '../../public/lib/findings.ts'
import type { Domain, DmarcPolicy, Source } from '../../public/lib/types.ts'

function domain(values: Partial<Domain> = {}, policy: Partial<DmarcPolicy> = {}): Domain {
  return {
    name: 'example.com',
    profile: 'sending',
    status: 'verified',
    compliance_threshold: 95,
    compliance: { rate: 90, messages: 1000, pass: 900, fail: 100, window_days: 30, trend: [] },
    policy: {
      record: 'v=DMARC1; p=reject; rua=mailto:a@example.com',
      p: 'reject',
      sp: null,
      np: null,
      adkim: 'r',
      aspf: 'r',
      rua: ['mailto:a@example.com'],
      testing: null,
      checked_at: null,
      state: 'ok',
      detail: null,
      ...policy,
    },
    ...values,
  } as Domain
}

function source(values: Partial<Source> = {}): Source {
  return {
    sender: 'mailer.example',
    kind: 'spf',
    messages: 200,
    pass: 150,
    fail: 50,
    pass_rate: 75,
    dkim_pass: 0,
    spf_pass: 150,
    by_disposition: { none: 150, quarantine: 50, reject: 0 },
    sample_ips: [],
    first_seen: '2026-11-01',
    last_seen: '2026-11-19',
    ...values,
  }
}

const ids = (found: readonly { id: string }[]) => found.map((finding) => finding.id)

describe('findings about the record', () => {
  test('name what to publish when there is none', () => {
    const [finding] = findingsOf(domain({}, { state: 'missing', record: null, p: null, rua: [] }), [])
    expect(finding?.id).toBe('missing')
    expect(recordText(finding?.record?.parts ?? [])).toBe('v=DMARC1; p=none; rua=mailto:dmarc@example.com')
  })

  test('propose the next step only when compliance allows it', () => {
    const record = 'v=DMARC1; p=none; rua=mailto:a@example.com'
    const good = { rate: 99, messages: 1000, pass: 990, fail: 10, window_days: 30, trend: [] }
    const [finding] = findingsOf(domain({ compliance: good }, { record, p: 'none' }), [])
    expect(finding?.id).toBe('stricter')
    expect(recordText(finding?.record?.parts ?? [])).toBe('v=DMARC1; p=quarantine; rua=mailto:a@example.com')
    expect(findingsOf(domain({}, { record, p: 'none' }), [])).toEqual([])
    expect(findingsOf(domain({ compliance: { ...good, messages: 3 } }, { record, p: 'none' }), [])).toEqual(
      [],
    )
  })

  test('propose reject at once for a domain that sends nothing', () => {
    const record = 'v=DMARC1;p=none'
    const [first, second] = findingsOf(domain({ profile: 'parked' }, { record, p: 'none', rua: [] }), [])
    expect(ids([first!, second!])).toEqual(['rua', 'idle'])
    expect(recordText(second?.record?.parts ?? [])).toBe('v=DMARC1;p=reject')
    expect(recordText(first?.record?.parts ?? [])).toBe('v=DMARC1;p=none; rua=mailto:dmarc@example.com')
  })

  test('change sp without touching p', () => {
    const record = 'v=DMARC1; p=reject; sp=none; rua=mailto:a@example.com;'
    const [finding] = findingsOf(domain({}, { record, sp: 'none' }), [])
    expect(finding?.id).toBe('sp')
    expect(recordText(finding?.record?.parts ?? [])).toBe(
      'v=DMARC1; p=reject; sp=reject; rua=mailto:a@example.com;',
    )
  })
})

describe('findings about senders', () => {
  test('say which half of the set-up is missing', () => {
    const [finding] = findingsOf(domain(), [source()])
    expect(finding?.level).toBe('critical')
    expect(finding?.how[0]).toContain('DKIM')
    const [other] = findingsOf(domain(), [source({ dkim_pass: 150, spf_pass: 0 })])
    expect(other?.how[0]).toContain('SPF')
  })

  test('leave small ones and good ones alone', () => {
    expect(findingsOf(domain(), [source({ messages: 10 })])).toEqual([])
    expect(findingsOf(domain(), [source({ pass_rate: 99 })])).toEqual([])
  })

  test('name strangers only while the domain is below its limit, the largest two', () => {
    const strangers = [100, 300, 200].map((fail) =>
      source({ sender: `s${fail}`, kind: 'prefix', messages: fail, fail, pass: 0, pass_rate: 0 }),
    )
    const found = findingsOf(domain(), strangers)
    expect(ids(found)).toEqual(['stranger-prefix-s300', 'stranger-prefix-s200'])
    expect(found[0]?.level).toBe('medium')
    const good = { rate: 99, messages: 1000, pass: 990, fail: 10, window_days: 30, trend: [] }
    expect(findingsOf(domain({ compliance: good }), strangers)).toEqual([])
  })

  test('the most severe comes first', () => {
    const found = findingsOf(domain({}, { sp: 'none' }), [source()])
    expect(found.map((finding) => finding.level)).toEqual(['critical', 'low'])
  })
})
