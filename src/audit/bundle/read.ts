/** Verifies a bundle without the database it came from: the same verdicts as `verify.py` in it, by the code of the server. */
import { createHash, verify } from 'node:crypto'
import { fingerprintOf, publicKeyObject, readBase64 } from '../../lib/audit-statement.ts'
import { listZip, readZipEntry } from '../../lib/zip.ts'
import { judgeEvidence } from '../evidence.ts'
import type { LinkRow, Personal } from '../store.ts'
import { type Verification, verifyChain } from '../verify.ts'
import type { ChainSource } from '../walk.ts'
import { type BundleManifest, MANIFEST_PREFIX } from './write.ts'

export interface BundleVerdict extends Verification {
  instance_id: string
  tenant_id: string
  generated_at: string
  /** The key that was believed. */
  key: string
  /** What is wrong with the bundle itself. */
  problems: string[]
}

/** This is no bundle. The message is for the person who asked. */
export class NotABundle extends Error {
  override readonly name = 'NotABundle'
}

interface PublicKeyFile {
  public_key: string
  keys: { public_key: string }[]
}

/**
 * `key` is the fingerprint that the reader knows; without it the bundle's own key is believed. `given` are signed lines
 * that were kept elsewhere. Throws `NotABundle`.
 */
export async function verifyBundle(
  bytes: Uint8Array,
  options: { key?: string | undefined; given?: readonly string[] } = {},
): Promise<BundleVerdict> {
  const files = unpack(bytes)
  return verifyFiles(files, options).catch((error: unknown) => {
    if (error instanceof NotABundle) throw error
    throw new NotABundle('a file in it is not what it should be', { cause: error })
  })
}

async function verifyFiles(
  files: ReadonlyMap<string, Buffer>,
  { key, given = [] }: { key?: string | undefined; given?: readonly string[] },
): Promise<BundleVerdict> {
  const manifest_bytes = files.get('manifest.json')
  if (manifest_bytes === undefined) throw new NotABundle('it has no manifest.json')
  const manifest = JSON.parse(manifest_bytes.toString('utf8')) as BundleManifest
  if (manifest.product !== 'wardpost' || manifest.format !== 1) {
    throw new NotABundle('this version of Wardpost cannot read it')
  }
  const trusted = key ?? manifest.key
  const keys = publicKeys(files)
  const problems = [
    ...manifest.files
      .filter(({ name, sha256 }) => digest(files.get(name)) !== sha256)
      .map(({ name }) => `${name} is not what the manifest names`),
    ...signatureProblems(manifest, manifest_bytes, files.get('manifest.sig'), trusted, keys),
  ]
  const { instance_id, tenant_id, from_seq, to_seq, generated_at } = manifest
  const evidence = await judgeEvidence(
    { instance_id, tenant_id },
    { trusted: [trusted], public_keys: [...keys.values()] },
    textLines(files.get('checkpoints.ndjson'), given),
  )
  const rows = readRows(files, from_seq)
  const found = await verifyChain(
    sourceOf(manifest, rows),
    { instance_id, tenant_id },
    { from_seq, to_seq },
    evidence,
  )
  if (found.first_bad?.kind === 'order') {
    const { seq } = found.first_bad
    const there = rows.some((row) => seqOf(row.entry) === seq)
    if (!there) {
      found.first_bad = { ...found.first_bad, kind: 'missing', detail: 'The entry is not there.' }
      found.verdicts = { ...found.verdicts, integrity: 'ok', completeness: 'failed' }
    }
  }
  return {
    ...found,
    ok: found.ok && problems.length === 0,
    instance_id,
    tenant_id,
    generated_at,
    key: trusted,
    problems,
  }
}

function unpack(bytes: Uint8Array): Map<string, Buffer> {
  try {
    return new Map(
      listZip(bytes).entries.map((entry) => {
        const pieces: Buffer[] = []
        readZipEntry(bytes, entry, (piece) => pieces.push(Buffer.from(piece)))
        return [entry.name, Buffer.concat(pieces)]
      }),
    )
  } catch (error) {
    throw new NotABundle('it is no ZIP archive that can be read', { cause: error })
  }
}

function publicKeys(files: ReadonlyMap<string, Buffer>): Map<string, Uint8Array> {
  const file = JSON.parse(files.get('public-key.json')?.toString('utf8') ?? '{"keys":[]}') as PublicKeyFile
  const raw = [...file.keys, file].map((each) => readBase64(each.public_key))
  return new Map(raw.filter((key) => key.length === 32).map((key) => [fingerprintOf(key), key]))
}

function signatureProblems(
  manifest: BundleManifest,
  bytes: Buffer,
  signature: Buffer | undefined,
  trusted: string,
  keys: ReadonlyMap<string, Uint8Array>,
): string[] {
  if (trusted !== manifest.key) return ['the manifest is signed by another key than the one you named']
  const key = keys.get(trusted)
  const signed = readBase64(signature?.toString('utf8').trimEnd())
  const message = Buffer.concat([Buffer.from(MANIFEST_PREFIX), bytes])
  const genuine =
    key !== undefined && signed.length === 64 && verify(null, message, publicKeyObject(key), signed)
  return genuine ? [] : ['the signature of the manifest is not genuine']
}

/** By position: what an entry says its number is, is part of what is checked. */
function readRows(files: ReadonlyMap<string, Buffer>, from_seq: number): LinkRow[] {
  const personal = new Map<number, Personal>()
  for (const line of lines(files.get('personal.ndjson'))) {
    const { seq, salt, body } = JSON.parse(line) as { seq: number; salt: string; body: string }
    personal.set(seq, { salt: readHex(salt), body })
  }
  const entries = [...lines(files.get('entries.ndjson'))]
  const hashes = [...lines(files.get('hashes.txt'))]
  return entries.slice(0, hashes.length).map((entry, index) => {
    const seq = from_seq + index
    return { seq, entry, hash: readHex(hashes[index]!), beside: personal.get(seq) ?? null }
  })
}

/** The bytes of lower-case hex; none for anything else. */
function readHex(text: string): Uint8Array {
  return /^([0-9a-f]{2})*$/.test(text) ? Buffer.from(text, 'hex') : new Uint8Array()
}

function sourceOf(
  { from_seq, to_seq, previous_hash, head }: BundleManifest,
  rows: readonly LinkRow[],
): ChainSource {
  const last = from_seq - 1 + rows.length
  return {
    ends: async () => ({
      head: { seq: head.seq, hash: Buffer.from(head.hash, 'hex') },
      last: last >= to_seq ? Math.max(to_seq, head.seq) : last,
    }),
    hashAt: async (_, seq) =>
      seq === from_seq - 1 ? Buffer.from(previous_hash, 'hex') : (rows[seq - from_seq]?.hash ?? null),
    links: async (_, range, limit) => {
      const at = range.from_seq - from_seq
      return rows.slice(at, Math.min(at + limit, range.to_seq - from_seq + 1))
    },
  }
}

function* lines(file: Buffer | undefined): Generator<string> {
  if (file === undefined) return
  for (let at = 0; at < file.length;) {
    const end = file.indexOf(0x0a, at)
    yield file.toString('utf8', at, end === -1 ? file.length : end)
    at = end === -1 ? file.length : end + 1
  }
}

async function* textLines(file: Buffer | undefined, given: readonly string[]): AsyncGenerator<string> {
  yield* lines(file)
  yield* given
}

function seqOf(text: string): number | null {
  try {
    return (JSON.parse(text) as { seq: number }).seq
  } catch {
    return null
  }
}

function digest(file: Buffer | undefined): string | null {
  return file === undefined ? null : createHash('sha256').update(file).digest('hex')
}
