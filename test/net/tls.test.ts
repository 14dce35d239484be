import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, fakeClock } from '../../src/lib/clock.ts'
import { makeAuthority, makeServerCertificate } from '../../src/net/certificate.ts'
import { openTlsAuto, openTlsFiles } from '../../src/net/tls.ts'
import { tempDir } from '../support/db.ts'

let dir: string

/** The message of what a promise fails with, empty when it does not. */
const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => '',
    (error: Error) => error.message,
  )

beforeEach(() => {
  dir = tempDir()
})
afterEach(() => rmSync(dir, { recursive: true }))

describe('tls auto', () => {
  test('makes an authority and a certificate of it for the names of the machine, readable for us only', async () => {
    const source = await openTlsAuto(join(dir, 'tls'), ['mail.example', '192.0.2.7'], fakeClock())
    const { cert, fingerprint, authority_fingerprint, not_after } = source.current()
    const leaf = new X509Certificate(cert)
    const authority = new X509Certificate(await Bun.file(join(dir, 'tls/ca.crt')).text())
    for (const name of ['mail.example', 'localhost']) expect(leaf.checkHost(name)).toBe(name)
    for (const address of ['192.0.2.7', '127.0.0.1', '::1']) expect(leaf.checkIP(address)).toBe(address)
    expect(leaf.checkHost('other.example')).toBeUndefined()
    expect(leaf.verify(authority.publicKey)).toBe(true)
    expect([leaf.ca, authority.ca]).toEqual([false, true])
    expect(fingerprint).toBe(leaf.fingerprint256)
    expect(authority_fingerprint).toBe(authority.fingerprint256)
    expect(not_after).toBe(Date.parse(leaf.validTo))
    const modes = readdirSync(join(dir, 'tls')).map((name) => [
      name,
      statSync(join(dir, 'tls', name)).mode & 0o777,
    ])
    expect(Object.fromEntries(modes)).toEqual(
      Object.fromEntries([
        ['ca.crt', 0o600],
        ['ca.key', 0o600],
        ['server.crt', 0o600],
        ['server.key', 0o600],
      ]),
    )
  })

  test('is the same at the next start', async () => {
    const clock = fakeClock()
    const first = await openTlsAuto(dir, [], clock)
    clock.advance(DAY_MS)
    const second = await openTlsAuto(dir, [], clock)
    expect(second.current()).toEqual(first.current())
    expect(await second.refresh()).toBeNull()
  })

  test('renews a month before the end, under the same authority, while it runs', async () => {
    const clock = fakeClock()
    const source = await openTlsAuto(dir, [], clock)
    const first = source.current()
    clock.advance(366 * DAY_MS)
    expect(await source.refresh()).toBeNull()
    clock.advance(2 * DAY_MS)
    const renewed = await source.refresh()
    expect(renewed!.fingerprint).not.toBe(first.fingerprint)
    expect(renewed!.authority_fingerprint).toBe(first.authority_fingerprint)
    expect(source.current()).toEqual(renewed!)
  })

  test('a new name makes a new certificate, a damaged file too', async () => {
    const clock = fakeClock()
    const first = (await openTlsAuto(dir, [], clock)).current()
    const second = (await openTlsAuto(dir, ['wardpost.example'], clock)).current()
    expect(second.fingerprint).not.toBe(first.fingerprint)
    expect(second.authority_fingerprint).toBe(first.authority_fingerprint)
    writeFileSync(join(dir, 'server.crt'), second.cert.slice(0, 100))
    const third = (await openTlsAuto(dir, ['wardpost.example'], clock)).current()
    expect(new X509Certificate(third.cert).checkHost('wardpost.example')).toBe('wardpost.example')
  })
})

describe('tls from files', () => {
  const write = async (names: string[]): Promise<{ cert: string; key: string }> => {
    const now = Date.UTC(2026, 0, 1)
    const pair = await makeServerCertificate(await makeAuthority(now), names, now)
    writeFileSync(join(dir, 'c.pem'), pair.cert)
    writeFileSync(join(dir, 'k.pem'), pair.key)
    return pair
  }
  const open = () => openTlsFiles(join(dir, 'c.pem'), join(dir, 'k.pem'))

  test('are read again when they change', async () => {
    await write(['a.example'])
    const source = await open()
    expect(await source.refresh()).toBeNull()
    const next = await write(['b.example'])
    expect((await source.refresh())!.cert).toBe(next.cert)
    expect(source.current().cert).toBe(next.cert)
  })

  test('that do not fit together are refused and the old ones stay', async () => {
    const first = await write(['a.example'])
    const source = await open()
    await write(['b.example'])
    writeFileSync(join(dir, 'k.pem'), first.key)
    expect(await failure(source.refresh())).toContain('does not belong')
    writeFileSync(join(dir, 'c.pem'), 'nonsense')
    expect(await failure(source.refresh())).toMatch(/PEM|decode|parse/i)
    expect(source.current().cert).toBe(first.cert)
    expect(await failure(open())).not.toBe('')
  })
})
