import { describe, expect, test } from 'bun:test'
import { lookupPolicy, parentsToAsk } from '../../src/domains/policy-lookup.ts'
import { parsePolicyRecord } from '../../src/domains/rules/policy-record.ts'
import type { DnsAnswer } from '../../src/net/dns.ts'

const read = (text: string) => {
  const parsed = parsePolicyRecord(text)
  return parsed.ok ? parsed.record : parsed.problem
}

describe('a policy record', () => {
  const good: [string, Record<string, unknown>][] = [
    [
      'v=DMARC1;p=reject',
      { p: 'reject', sp: null, np: null, adkim: 'r', aspf: 'r', testing: false, pct: null },
    ],
    ['v=DMARC1; P=Reject ; ADKIM=S; t=Y', { p: 'reject', adkim: 's', testing: true }],
    [
      'v = DMARC1 ; p = none ; rua = mailto:a@x.example!5m , mailto:b@y.example',
      { rua: ['mailto:a@x.example', 'mailto:b@y.example'] },
    ],
    [
      'v=DMARC1; p=none; sp=quarantine; np=reject; pct=40; psd=n; unknown=1',
      { sp: 'quarantine', np: 'reject', pct: 40, psd: 'n' },
    ],
    ['v=DMARC1; rua=mailto:a@x.example', { p: 'none' }],
    ['v=DMARC1', { p: 'none' }],
    ['v=DMARC1; p=reject; p=none', { p: 'reject' }],
  ]
  for (const [text, record] of good) test(text, () => expect(read(text)).toMatchObject(record))
  for (const text of [
    'p=reject; v=DMARC1',
    'v=DMARC2; p=none',
    'v=dmarc1; p=none',
    'v=DMARC1; p=x',
    'v=DMARC1; reject',
    'v=DMARC10',
  ]) {
    test(`${text} is none`, () => expect(typeof read(text)).toBe('string'))
  }
})

describe('the tree walk', () => {
  test('asks every parent, and jumps to seven labels', () => {
    expect(parentsToAsk('a.b.example.com')).toEqual(['b.example.com', 'example.com', 'com'])
    expect(parentsToAsk('a.b.c.d.e.f.g.h.i.example.com')[0]).toBe('e.f.g.h.i.example.com')
    expect(parentsToAsk('a.b.c.d.e.f.g.h.i.example.com')).toHaveLength(7)
  })

  const cases: [string, Record<string, DnsAnswer<string>>, string, string | null, string | null][] = [
    ['own record', { 'a.example.com': yes('v=DMARC1; p=reject') }, 'ok', 'a.example.com', 'reject'],
    ['the parent', { 'example.com': yes('v=DMARC1; p=quarantine') }, 'ok', 'example.com', 'quarantine'],
    [
      'the highest name with a record',
      { 'x.example.com': yes('v=DMARC1; p=none'), 'example.com': yes('v=DMARC1; p=reject') },
      'ok',
      'example.com',
      'reject',
    ],
    [
      'psd=n ends the walk',
      { 'x.example.com': yes('v=DMARC1; p=none; psd=n'), 'example.com': yes('v=DMARC1; p=reject') },
      'ok',
      'x.example.com',
      'none',
    ],
    [
      'psd=y: the name below it',
      { 'example.com': yes('v=DMARC1; p=none'), com: yes('v=DMARC1; p=reject; psd=y') },
      'ok',
      'example.com',
      'none',
    ],
    [
      'two records at a parent are none',
      { 'x.example.com': yes('v=DMARC1; p=none', 'v=DMARC1; p=none') },
      'missing',
      null,
      null,
    ],
    ['nothing', {}, 'missing', null, null],
    ['a failing parent', { 'example.com': { state: 'unknown', detail: 'x' } }, 'unknown', null, null],
  ]
  for (const [name, zone, state, found_at, p] of cases) {
    test(name, async () => {
      const resolver = {
        mode: 'servers' as const,
        detail: '',
        txt: async (asked: string) => zone[asked.replace('_dmarc.', '')] ?? { state: 'missing' as const },
      }
      const policy = await lookupPolicy(
        resolver,
        'a.x.example.com'.replace('a.x', name === 'own record' ? 'a' : 'a.x'),
      )
      expect([policy.state, policy.found_at, policy.parsed?.p ?? null]).toEqual([
        state as 'ok',
        found_at,
        p as 'none',
      ])
    })
  }

  function yes(...values: string[]): DnsAnswer<string> {
    return { state: 'found', values }
  }
})
