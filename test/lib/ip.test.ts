import { describe, expect, test } from 'bun:test'
import { isIP } from 'node:net'
import { cidrContains, formatCidr, isLoopback, normalizeIp, parseCidr, parseIp } from '../../src/lib/ip.ts'

describe('addresses', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:0:0:0:1', '2001:db8:0:1::1'],
    ['::', '::'],
    ['1::', '1::'],
    ['::ffff:192.0.2.9', '192.0.2.9'],
    ['::ffff:c000:209', '192.0.2.9'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ])('%s is %s', (text, canonical) => {
    expect(normalizeIp(text)).toBe(canonical)
  })

  test.each([
    '',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4.5',
    ':',
    ':1',
    '1:2:3:4:5:6:7',
    '1::2::3',
    '12345::',
    'g::',
  ])("'%s' is no address", (text) => {
    expect(parseIp(text)).toBeNull()
    expect(isIP(text)).toBe(0)
  })

  test('agrees with the runtime on many texts made of its own characters', () => {
    let seed = 7
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
    const pieces = ['::', ':', '1', 'ff', 'ffff', '0', '.', '127', '192.0.2.1', '10', 'abcd']
    for (let i = 0; i < 20_000; i++) {
      let text = ''
      for (let n = random(14); n >= 0; n--) text += pieces[random(pieces.length)]!
      expect([text, parseIp(text) !== null]).toEqual([text, isIP(text) !== 0])
    }
  })

  test.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3', '10.1.2.3/32'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ])('the network %s is %s', (text, canonical) => {
    expect(formatCidr(parseCidr(text)!)).toBe(canonical)
  })

  test.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '10.0.0/8', '::ffff:10.0.0.0/64', 'x/8'])(
    "'%s' is no network",
    (text) => {
      expect(parseCidr(text)).toBeNull()
    },
  )

  test('a network holds its own addresses and no others', () => {
    const holds = (cidr: string, ip: string): boolean => cidrContains(parseCidr(cidr)!, parseIp(ip)!)
    expect(holds('10.0.0.0/9', '10.127.255.255')).toBe(true)
    expect(holds('10.0.0.0/9', '10.128.0.0')).toBe(false)
    expect(holds('2001:db8::/33', '2001:db8:7fff::1')).toBe(true)
    expect(holds('2001:db8::/33', '2001:db8:8000::1')).toBe(false)
    expect(holds('::/0', '10.0.0.1')).toBe(false)
    expect(isLoopback(parseIp('127.9.9.9')!) && isLoopback(parseIp('::1')!)).toBe(true)
    expect(isLoopback(parseIp('::2')!) || isLoopback(parseIp('128.0.0.1')!)).toBe(false)
  })
})
