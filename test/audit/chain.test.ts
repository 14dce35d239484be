import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { entryText, genesisHash, nextHash, personalHash } from '../../src/lib/audit-chain.ts'
import { canonicalJson } from '../../src/lib/canonical-json.ts'

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

// The formulas are written out here a second time, with another library: they are final.
test('the hashes are those of the published formulas', () => {
  const genesis = sha256('wardpost/audit/v1/genesis\0', 'instance', '\0', 'ten_1')
  expect(Buffer.from(genesisHash('instance', 'ten_1'))).toEqual(genesis)

  const entry = '{"action":"auth.login","name":"Zoë"}'
  const first = sha256('wardpost/audit/v1/entry\0', genesis, sha256(entry))
  expect(Buffer.from(nextHash(genesis, entry))).toEqual(first)
  const second = sha256('wardpost/audit/v1/entry\0', first, sha256('{}'))
  expect(Buffer.from(nextHash(first, '{}'))).toEqual(second)

  const salt = new Uint8Array(16).fill(7)
  expect(personalHash(salt, '{"ip":"192.0.2.1"}')).toBe(sha256(salt, '{"ip":"192.0.2.1"}').toString('hex'))
})

test('the hash of one entry does not change when the next is computed', () => {
  const first = nextHash(genesisHash('i', 't'), 'a')
  const copy = Uint8Array.from(first)
  nextHash(first, 'b')
  expect(first).toEqual(copy)
})

test('the text of an entry is canonical', () => {
  const entry = {
    v: 1,
    tenant_id: 'ten_1',
    seq: 1,
    ts: 1_700_000_000_000,
    actor: { type: 'user', id: 'usr_1', key_id: null },
    action: 'domains.create',
    target: { type: 'domain', id: 'dom_1' },
    outcome: 'success',
    request_id: null,
    detail: { name: 'münchen.example', count: 3 },
    pii_h: null,
  } as const
  expect(entryText(entry)).toBe(
    '{"action":"domains.create","actor":{"id":"usr_1","key_id":null,"type":"user"},' +
      '"detail":{"count":3,"name":"münchen.example"},"outcome":"success","pii_h":null,"request_id":null,' +
      '"seq":1,"target":{"id":"dom_1","type":"domain"},"tenant_id":"ten_1","ts":1700000000000,"v":1}',
  )
})

test('canonical JSON sorts by code unit and writes strings as RFC 8785 says', () => {
  expect(canonicalJson({ b: 1, a: [true, null, 'x'], B: {}, 10: 0, 9: 0 })).toBe(
    '{"10":0,"9":0,"B":{},"a":[true,null,"x"],"b":1}',
  )
  // RFC 8785 §3.2.2.2: the short escapes, \u00xx in lower case for other controls, everything else as it is.
  expect(canonicalJson('\u20ac$\u000f\nA\'B"\\/\b\t\f\r\u007f')).toBe(
    '"\u20ac$\\u000f\\nA\'B\\"\\\\/\\b\\t\\f\\r\u007f"',
  )
  expect(canonicalJson(Number.MAX_SAFE_INTEGER)).toBe('9007199254740991')
})

test('canonical JSON refuses what languages write differently', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  const refused: unknown[] = [
    0.5,
    -0,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    undefined,
    { a: undefined },
    // oxlint-disable-next-line no-sparse-arrays
    [, 1],
    { ä: 1 },
    { '': 1 },
    '\ud800',
    new Date(0),
    new Map(),
    new Uint8Array(1),
    () => 1,
    cyclic,
  ]
  for (const value of refused) expect(() => canonicalJson(value)).toThrow(TypeError)
})
