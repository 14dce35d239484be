/**
 * Evidence to hand over: a ZIP of the exact bytes of the log, what was signed about it, and a script that verifies it
 * without us. Written piece by piece, as fast as it is read.
 */
import { createHash } from 'node:crypto'
import { Zip, ZipDeflate } from 'fflate'
import { genesisHash } from '../../lib/audit-chain.ts'
import type { Signer } from '../signer.ts'
import type { AuditStore, LinkRow } from '../store.ts'
import { readmeText } from './readme.ts'
import script from './verify.py' with { type: 'text' }

export interface BundleManifest {
  format: 1
  product: 'wardpost'
  instance_id: string
  tenant_id: string
  from_seq: number
  to_seq: number
  /** Hex, of the entry before the first. */
  previous_hash: string
  /** Where the chain stood when the bundle was made. */
  head: { seq: number; hash: string }
  generated_at: string
  /** Fingerprint of the key that signed `manifest.sig`. */
  key: string
  files: { name: string; bytes: number; sha256: string }[]
}

export interface BundleParts {
  about: Omit<BundleManifest, 'format' | 'product' | 'files' | 'key' | 'previous_hash'>
  store: Pick<AuditStore, 'links' | 'hashAt'>
  /** Where the chain starts, when its oldest entries were removed. */
  start: { seq: number; hash: string } | null
  statements: AsyncIterable<string>
  public_key: object
  signer: Signer
  now: number
}

export const MANIFEST_PREFIX = 'wardpost/audit/v1/manifest\0'
const PAGE_ENTRIES = 1000

export async function* bundleBytes(parts: BundleParts): AsyncGenerator<Uint8Array> {
  const { about, signer } = parts
  const archive = createArchive(parts.now)
  const { from_seq, instance_id, tenant_id } = about
  const previous =
    from_seq === 1 ? genesisHash(instance_id, tenant_id) : await parts.store.hashAt(tenant_id, from_seq - 1)
  yield* archive.file(
    'README.txt',
    one(readmeText({ instance_id, tenant_id, fingerprint: signer.fingerprint })),
  )
  yield* archive.file('verify.py', one(script))
  yield* archive.file(
    'entries.ndjson',
    perRow(parts, (row) => `${row.entry}\n`),
  )
  yield* archive.file(
    'hashes.txt',
    perRow(parts, (row) => `${hex(row.hash)}\n`),
  )
  yield* archive.file('personal.ndjson', perRow(parts, personalLine))
  yield* archive.file('checkpoints.ndjson', withBreaks(parts.statements))
  yield* archive.file('public-key.json', one(`${JSON.stringify(parts.public_key, null, 2)}\n`))
  const manifest: BundleManifest = {
    format: 1,
    product: 'wardpost',
    ...about,
    previous_hash: hex(previous ?? new Uint8Array(32)),
    key: signer.fingerprint,
    files: archive.files,
  }
  const text = `${JSON.stringify(manifest, null, 2)}\n`
  const signature = signer.signBytes(Buffer.from(MANIFEST_PREFIX + text))
  yield* archive.file('manifest.json', one(text))
  yield* archive.file('manifest.sig', one(`${Buffer.from(signature).toString('base64')}\n`))
  yield* archive.end()
}

/** One file after the other, each hashed as it goes in. */
function createArchive(now: number) {
  const files: BundleManifest['files'] = []
  let ready: Uint8Array[] = []
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error
    ready.push(chunk)
  })
  const take = (): Uint8Array[] => {
    const taken = ready.filter((chunk) => chunk.length > 0)
    ready = []
    return taken
  }
  return {
    files,
    async *file(name: string, texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
      const entry = new ZipDeflate(name, { level: 6 })
      entry.mtime = now
      zip.add(entry)
      const hash = createHash('sha256')
      let bytes = 0
      for await (const text of texts) {
        const piece = Buffer.from(text, 'utf8')
        hash.update(piece)
        bytes += piece.length
        entry.push(piece)
        yield* take()
      }
      entry.push(new Uint8Array(), true)
      files.push({ name, bytes, sha256: hash.digest('hex') })
      yield* take()
    },
    *end(): Generator<Uint8Array> {
      zip.end()
      yield* take()
    },
  }
}

async function* one(text: string): AsyncGenerator<string> {
  yield text
}

async function* withBreaks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

/** Pages of the range, each as one text. */
async function* perRow(
  { store, about }: BundleParts,
  text: (row: LinkRow) => string,
): AsyncGenerator<string> {
  for (let from_seq = about.from_seq; from_seq <= about.to_seq;) {
    const rows = await store.links(about.tenant_id, { from_seq, to_seq: about.to_seq }, PAGE_ENTRIES)
    if (rows.length === 0) return
    yield rows.map(text).join('')
    from_seq = rows.at(-1)!.seq + 1
    await nextTurn()
  }
}

function personalLine({ seq, beside }: LinkRow): string {
  if (beside === null) return ''
  return `${JSON.stringify({ seq, salt: hex(beside.salt), body: beside.body })}\n`
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
