import { expect, test } from 'bun:test'
import { clientAddress, fromTrustedProxy } from '../../src/http/client-address.ts'
import { parseCidr } from '../../src/lib/ip.ts'

const TRUSTED = ['10.0.0.0/8', 'fd00::/8'].map((text) => parseCidr(text)!)

test.each([
  ['nobody is believed without a named proxy', '203.0.113.9', '198.51.100.1', [], '203.0.113.9'],
  ['a stranger cannot name an address', '203.0.113.9', '198.51.100.1', TRUSTED, '203.0.113.9'],
  ['one proxy names its client', '10.0.0.1', '198.51.100.1', TRUSTED, '198.51.100.1'],
  ['what the client wrote first is ignored', '10.0.0.1', '1.1.1.1, 198.51.100.1', TRUSTED, '198.51.100.1'],
  ['a chain of proxies is walked', '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.2.2.2', TRUSTED, '198.51.100.1'],
  ['a forged proxy address does not help', '10.0.0.1', '10.9.9.9, 198.51.100.1', TRUSTED, '198.51.100.1'],
  ['with proxies only, the furthest is the client', '10.0.0.1', '10.3.3.3, 10.2.2.2', TRUSTED, '10.3.3.3'],
  ['without the header the proxy itself is the client', '10.0.0.1', null, TRUSTED, '10.0.0.1'],
  ['an empty header is no address', '10.0.0.1', '', TRUSTED, '10.0.0.1'],
  ['rubbish stops the walk', '10.0.0.1', '198.51.100.1, unknown, 10.2.2.2', TRUSTED, '10.2.2.2'],
  ['ports are cut off', '10.0.0.1', '198.51.100.1:55112', TRUSTED, '198.51.100.1'],
  ['IPv6 with port in brackets', 'fd00::1', '"[2001:DB8::7]:443"', TRUSTED, '2001:db8::7'],
  ['a mapped peer is its IPv4 address', '::ffff:10.0.0.1', '198.51.100.1', TRUSTED, '198.51.100.1'],
])('%s', (_, peer, forwarded, trusted, client) => {
  expect(clientAddress(peer, forwarded, trusted)).toBe(client)
})

test('a very long header is walked for 32 hops only', () => {
  const forwarded = Array.from({ length: 100_000 }, () => '10.0.0.2').join(',')
  expect(clientAddress('10.0.0.1', `198.51.100.1,${forwarded}`, TRUSTED)).toBe('10.0.0.2')
})

test('only a direct connection from the proxy counts as trusted', () => {
  expect(fromTrustedProxy('10.4.4.4', TRUSTED)).toBe(true)
  expect(fromTrustedProxy('203.0.113.9', TRUSTED)).toBe(false)
  expect(fromTrustedProxy('', TRUSTED)).toBe(false)
})
