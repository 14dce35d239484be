/**
 * Makes certificates: an authority of this installation and the server certificate it signs. ECDSA P-256 with
 * SHA-256, which every client of the last ten years can verify. Loaded only when `--tls auto` needs it: the library
 * is heavy.
 */
import 'reflect-metadata'
import { randomBytes } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { DAY_MS, HOUR_MS } from '../lib/clock.ts'
import { parseIp } from '../lib/ip.ts'

/** PEM texts. */
export interface KeyPairPem {
  cert: string
  key: string
}

/** Longer than any server lives; clients that import it should not have to do it twice. */
const AUTHORITY_DAYS = 3650
/** Apple's clients refuse more than 825 days, public practice is 397. */
const SERVER_DAYS = 397
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

export async function makeAuthority(now_ms: number): Promise<KeyPairPem> {
  const keys = await generateKeys()
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: [{ CN: [`Wardpost authority ${randomBytes(3).toString('hex')}`] }, { O: ['Wardpost'] }],
    ...validity(now_ms, AUTHORITY_DAYS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return toPem(cert, keys)
}

/** A certificate for these host names and addresses. `cert` holds the server's certificate, then the authority's. */
export async function makeServerCertificate(
  authority: KeyPairPem,
  names: readonly string[],
  now_ms: number,
): Promise<KeyPairPem> {
  const issuer = new x509.X509Certificate(authority.cert)
  const signingKey = await crypto.subtle.importKey(
    'pkcs8',
    x509.PemConverter.decodeFirst(authority.key),
    ALGORITHM,
    false,
    ['sign'],
  )
  const keys = await generateKeys()
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: [{ CN: [names[0]!.slice(0, 64)] }, { O: ['Wardpost'] }],
    issuer: issuer.subject,
    ...validity(now_ms, SERVER_DAYS),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((name) => ({
          type: parseIp(name) === null ? ('dns' as const) : ('ip' as const),
          value: name,
        })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  const server = await toPem(cert, keys)
  return { cert: `${server.cert}${authority.cert}`, key: server.key }
}

function generateKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

/** 19 random bytes: positive, and never the same twice (RFC 5280 §4.1.2.2). */
function serial(): string {
  return `01${randomBytes(18).toString('hex')}`
}

/** Begins an hour ago, for clients whose clock is behind. */
function validity(now_ms: number, days: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now_ms - HOUR_MS), notAfter: new Date(now_ms + days * DAY_MS) }
}

async function toPem(cert: x509.X509Certificate, keys: CryptoKeyPair): Promise<KeyPairPem> {
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { cert: `${cert.toString('pem')}\n`, key: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n` }
}
