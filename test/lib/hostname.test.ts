import { describe, expect, test } from 'bun:test'
import { isPublicSuffix, registrableDomain, toALabels, toUnicodeName } from '../../src/lib/hostname.ts'

describe('names', () => {
  const cases: [string, string | null][] = [
    ['example.com', 'example.com'],
    ['EXAMPLE.com.', 'example.com'],
    [' bücher.example ', 'xn--bcher-kva.example'],
    ['faß.de', 'xn--fa-hia.de'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['com', null],
    ['', null],
    ['a..b', null],
    ['-x.com', null],
    ['192.0.2.1', null],
    ['0x7f.1', null],
    ['[::1]', null],
    ['example.com/path', null],
    ['user@example.com', null],
    ['example.com:80', null],
    ['exa mple.com', null],
    ['x%2ecom.com', null],
    [`${'a'.repeat(64)}.com`, null],
    [`${'abcdefg.'.repeat(40)}com`, null],
  ]
  for (const [text, name] of cases) {
    test(`"${text.slice(0, 30)}" is ${name}`, () => expect(toALabels(text)).toBe(name))
  }

  test('are shown to people in their own letters', () => {
    expect(toUnicodeName('xn--bcher-kva.example')).toBe('bücher.example')
    expect(toUnicodeName('example.com')).toBe('example.com')
  })

  test('know what others register under', () => {
    expect(['com', 'co.uk', 'github.io', 'example.com'].map(isPublicSuffix)).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(registrableDomain('a.b.example.co.uk')).toBe('example.co.uk')
    expect(registrableDomain('co.uk')).toBeNull()
  })
})
