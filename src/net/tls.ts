/**
 * The certificate the server shows. From files: read again when they change, and a change that does not fit together
 * is refused while the old certificate stays. `auto`: an authority of our own under `DATA/tls`, kept for good, and a
 * server certificate for the names and addresses of this machine, renewed a month before it ends or when a name is
 * missing in it.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type Clock, DAY_MS } from '../lib/clock.ts'
import { normalizeIp } from '../lib/ip.ts'

export interface TlsMaterial {
  cert: string
  key: string
  /** SHA-256 of the server's certificate, as browsers show it: `AB:CD:…`. */
  fingerprint: string
  /** Of our own authority, for those who import it; null for certificates from files. */
  authority_fingerprint: string | null
  /** Milliseconds UTC. */
  not_after: number
}

export interface TlsSource {
  readonly mode: 'files' | 'auto'
  current(): TlsMaterial
  /**
   * Looks whether there is something newer; answers it, or null. Throws when what is there cannot be used: then the
   * current one stays.
   */
  refresh(): Promise<TlsMaterial | null>
}

/** Renewal a month before the end leaves time to notice when it fails. */
const RENEW_BEFORE_MS = 30 * DAY_MS
const NAMES_MAX = 100

export async function openTlsFiles(cert_path: string, key_path: string): Promise<TlsSource> {
  const read = async (): Promise<TlsMaterial> => {
    const [cert, key] = await Promise.all([readFile(cert_path, 'utf8'), readFile(key_path, 'utf8')])
    return materialOf(cert, key, null)
  }
  let current = await read()
  return {
    mode: 'files',
    current: () => current,
    async refresh() {
      const fresh = await read()
      if (fresh.cert === current.cert && fresh.key === current.key) return null
      current = fresh
      return fresh
    },
  }
}

/** `dir` is created with mode 0700, its files 0600. `names` come on top of the machine's own. */
export async function openTlsAuto(dir: string, names: readonly string[], clock: Clock): Promise<TlsSource> {
  const wanted = [...new Set([...names, ...machineNames()])].slice(0, NAMES_MAX)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const open = async (): Promise<TlsMaterial> => {
    const kept = await readKept(dir)
    if (kept !== null && !needsRenewal(kept, wanted, clock.now())) return kept
    return renew(dir, wanted, clock.now())
  }
  let current = await open()
  return {
    mode: 'auto',
    current: () => current,
    async refresh() {
      if (!needsRenewal(current, wanted, clock.now())) return null
      current = await renew(dir, wanted, clock.now())
      return current
    },
  }
}

/** Host names and addresses under which this machine can be reached, `localhost` among them. */
export function machineNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const usable = addresses.filter((each) => each.scopeid === undefined || each.scopeid === 0)
  return [
    hostname().toLowerCase(),
    'localhost',
    '127.0.0.1',
    '::1',
    ...usable.map((each) => normalizeIp(each.address)).filter((address) => address !== null),
  ]
}

function needsRenewal(material: TlsMaterial, names: readonly string[], now_ms: number): boolean {
  if (material.not_after - now_ms < RENEW_BEFORE_MS) return true
  const cert = new X509Certificate(material.cert)
  return names.some((name) => {
    const covered = normalizeIp(name) === null ? cert.checkHost(name) : cert.checkIP(name)
    return covered === undefined
  })
}

async function readKept(dir: string): Promise<TlsMaterial | null> {
  try {
    const read = (name: string): Promise<string> => readFile(join(dir, name), 'utf8')
    const [cert, key, ca] = await Promise.all([read('server.crt'), read('server.key'), read('ca.crt')])
    return materialOf(cert, key, ca)
  } catch {
    // Missing, cut short by a crash, or not of one pair: made anew.
    return null
  }
}

async function renew(dir: string, names: readonly string[], now_ms: number): Promise<TlsMaterial> {
  const make = await loadMaker()
  const authority = (await readAuthority(dir, now_ms)) ?? (await keepAuthority(dir, now_ms))
  const server = await make.makeServerCertificate(authority, names, now_ms)
  await keep(join(dir, 'server.key'), server.key)
  await keep(join(dir, 'server.crt'), server.cert)
  return materialOf(server.cert, server.key, authority.cert)
}

/** The library must find the polyfill there; in a bundle the order of static imports does not see to that. */
async function loadMaker() {
  await import('reflect-metadata')
  return import('./certificate.ts')
}

interface Pem {
  cert: string
  key: string
}

async function readAuthority(dir: string, now_ms: number): Promise<Pem | null> {
  try {
    const [cert, key] = await Promise.all(
      ['ca.crt', 'ca.key'].map((name) => readFile(join(dir, name), 'utf8')),
    )
    const { not_after } = materialOf(cert!, key!, null)
    return not_after - now_ms < RENEW_BEFORE_MS ? null : { cert: cert!, key: key! }
  } catch {
    return null
  }
}

async function keepAuthority(dir: string, now_ms: number): Promise<Pem> {
  const { makeAuthority } = await loadMaker()
  const authority = await makeAuthority(now_ms)
  await keep(join(dir, 'ca.key'), authority.key)
  await keep(join(dir, 'ca.crt'), authority.cert)
  return authority
}

/** Whole or not at all, and never readable for others. */
async function keep(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`
  await writeFile(fresh, text, { mode: 0o600 })
  await chmod(fresh, 0o600)
  await rename(fresh, path)
}

function materialOf(cert: string, key: string, authority: string | null): TlsMaterial {
  const leaf = new X509Certificate(cert)
  if (!leaf.checkPrivateKey(createPrivateKey(key)))
    throw new Error('the key does not belong to the certificate')
  return {
    cert,
    key,
    fingerprint: leaf.fingerprint256,
    authority_fingerprint: authority === null ? null : new X509Certificate(authority).fingerprint256,
    not_after: Date.parse(leaf.validTo),
  }
}
