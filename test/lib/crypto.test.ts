import { describe, expect, test } from 'bun:test'
import { base62, createKeyring, randomBase62 } from '../../src/lib/crypto.ts'
import { createCursors } from '../../src/lib/cursor.ts'
import { isId, newId } from '../../src/lib/ids.ts'
import { makeKey, readKey } from '../../src/keys/format.ts'

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

describe('sealing', () => {
  const ring = createKeyring(key(1))

  test('opens what it sealed, and nothing else does', () => {
    const sealed = ring.seal('s3cret ✓')
    expect(ring.open(sealed)).toBe('s3cret ✓')
    expect(createKeyring(key(2)).open(sealed)).toBeNull()
  })

  test('notices every changed character', () => {
    const sealed = ring.seal('abc')
    for (let i = 3; i < sealed.length; i++) {
      const other = sealed[i] === 'A' ? 'B' : 'A'
      const changed = sealed.slice(0, i) + other + sealed.slice(i + 1)
      // The last character of base64 carries bits that mean nothing.
      if (
        Buffer.from(changed.split('.')[2] ?? '', 'base64url').equals(
          Buffer.from(sealed.split('.')[2]!, 'base64url'),
        )
      ) {
        if (changed.split('.')[1] === sealed.split('.')[1]) continue
      }
      if (
        Buffer.from(changed.split('.')[1] ?? '', 'base64url').equals(
          Buffer.from(sealed.split('.')[1]!, 'base64url'),
        )
      ) {
        if (changed.split('.')[2] === sealed.split('.')[2]) continue
      }
      expect(ring.open(changed)).toBeNull()
    }
  })

  test('gives a different key for each purpose', () => {
    expect(ring.derive('a')).not.toEqual(ring.derive('b'))
    expect(ring.derive('a')).toEqual(createKeyring(key(1)).derive('a'))
  })
})

describe('cursors', () => {
  const cursors = createCursors(key(3))
  const binding = { tenant_id: 'ten_a', route: 'keys', query: { q: 'x', status: undefined } }
  const cursor = cursors.encode(binding, ['key_1', 5, null])

  test('come back as they were', () => {
    expect(cursors.decode(binding, cursor)).toEqual(['key_1', 5, null])
    expect(cursors.decode({ ...binding, query: { status: undefined, q: 'x' } }, cursor)).not.toBeNull()
  })

  test('serve no other tenant, route, filter or key', () => {
    expect(cursors.decode({ ...binding, tenant_id: 'ten_b' }, cursor)).toBeNull()
    expect(cursors.decode({ ...binding, route: 'users' }, cursor)).toBeNull()
    expect(cursors.decode({ ...binding, query: { q: 'y' } }, cursor)).toBeNull()
    expect(createCursors(key(4)).decode(binding, cursor)).toBeNull()
  })

  test('are refused with any bit flipped', () => {
    const bytes = Buffer.from(cursor, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(cursors.decode(binding, changed.toString('base64url'))).toBeNull()
    }
    for (const junk of ['', 'a', '!!!', cursor.slice(1), `${cursor}A`, 'x'.repeat(5000)]) {
      expect(cursors.decode(binding, junk)).toBeNull()
    }
  })
})

describe('ids', () => {
  test('ascend within a millisecond and across', () => {
    const ids = Array.from({ length: 5000 }, (_, i) => newId('dom', 1_700_000_000_000 + (i >> 8)))
    expect([...ids].sort()).toEqual(ids)
    expect(new Set(ids).size).toBe(5000)
    for (const id of ids.slice(0, 100)) expect(isId('dom', id)).toBe(true)
    expect(isId('rpt', ids[0]!)).toBe(false)
  })
})

describe('API keys', () => {
  test('have the decided form and are read back', () => {
    const made = makeKey()
    expect(made.text).toMatch(/^wdp_[0-9A-Za-z]{59}$/)
    const read = readKey(made.text)!
    expect(read.public_id).toBe(made.public_id)
    expect(Buffer.from(read.hash)).toEqual(Buffer.from(made.hash))
  })

  test('are told from typing errors by their checksum', () => {
    const { text } = makeKey()
    for (let i = 4; i < text.length; i++) {
      const other = text[i] === 'x' ? 'y' : 'x'
      expect(readKey(text.slice(0, i) + other + text.slice(i + 1))).toBeNull()
    }
    for (const junk of ['', 'wdp_', text.slice(1), `${text}a`, text.replace('wdp', 'wdq')])
      expect(readKey(junk)).toBeNull()
  })

  test('draw from all 62 characters alike', () => {
    const counts = new Map<string, number>()
    for (const char of randomBase62(62_000)) counts.set(char, (counts.get(char) ?? 0) + 1)
    expect(counts.size).toBe(62)
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(250)
    expect(base62(61, 3)).toBe('00z')
  })
})
