/**
 * The body of an upload: one file as it is, or multipart with one or many parts named `file`. It is read as a stream;
 * small files stay in memory, larger ones go to `DATA/tmp`. Limits are those of limits.ts, and the refusal names them.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { Busboy } from '@fastify/busboy'
import { invalid, type Problem, problem } from '../lib/errors.ts'
import {
  REPORT_FILE_BYTES_MAX,
  REPORT_FILES_MAX,
  UPLOAD_HELD_BYTES_MAX,
  UPLOAD_REQUEST_BYTES_MAX,
} from '../lib/limits.ts'
import type { IncomingFile } from './ingest.ts'

const FIELDS_MAX = 20
const FIELD_BYTES_MAX = 16_384
const NAME_CHARS_MAX = 255

/** The files of a request. Throws 413, 422 or 400; then nothing of it stays on disk. */
export async function receiveUpload(request: Request, tempPath: () => string): Promise<IncomingFile[]> {
  const type = request.headers.get('content-type') ?? ''
  const body = request.body as NodeStream | null
  if (!/^multipart\/form-data/i.test(type)) {
    const name = fileNameOf(request.headers.get('content-disposition'))
    if (body === null) throw invalid('/', 'empty_body', 'The body is empty; send a report file.')
    return [await receiveFile(name, Readable.fromWeb(body), tempPath, () => undefined)]
  }
  if (body === null) throw invalid('/file', 'required', 'The form has no part named "file".')
  const received: Promise<IncomingFile>[] = []
  let total = 0
  const count = (bytes: number): void => {
    total += bytes
    if (total > UPLOAD_REQUEST_BYTES_MAX) throw tooLarge('All files together', UPLOAD_REQUEST_BYTES_MAX)
  }
  try {
    await readForm(type, Readable.fromWeb(body), (name, stream) => {
      const file = receiveFile(name, stream, tempPath, count)
      // It is awaited below; until then a refusal must not count as unhandled.
      file.catch(() => undefined)
      received.push(file)
    })
    const files = await Promise.all(received)
    if (files.length === 0) throw invalid('/file', 'required', 'The form has no part named "file".')
    return files
  } catch (error) {
    for (const each of await Promise.allSettled(received)) {
      if (each.status === 'fulfilled') await discard(each.value)
    }
    throw error
  }
}

async function readForm(
  type: string,
  body: Readable,
  take: (name: string, stream: Readable) => void,
): Promise<void> {
  let form: InstanceType<typeof Busboy>
  let refusal: Problem | null = null
  try {
    form = new Busboy({
      headers: { 'content-type': type },
      limits: {
        files: REPORT_FILES_MAX,
        fileSize: REPORT_FILE_BYTES_MAX + 1,
        fields: FIELDS_MAX,
        fieldSize: FIELD_BYTES_MAX,
      },
    })
  } catch {
    throw problem('invalid_request', 'The multipart form has no boundary.')
  }
  form.on('file', (field: string, stream: Readable, name: string) => {
    if (field === 'file') take((name ?? '').slice(0, NAME_CHARS_MAX), stream)
    else stream.resume()
  })
  form.on('filesLimit', () => {
    refusal ??= problem('payload_too_large', `At most ${REPORT_FILES_MAX} files can be sent at once.`, {
      extra: { limit_files: REPORT_FILES_MAX },
    })
  })
  try {
    await pipeline(body, form)
  } catch {
    throw refusal ?? problem('invalid_request', 'The multipart form is cut off or malformed.')
  }
  if (refusal !== null) throw refusal
}

async function receiveFile(
  name: string,
  stream: Readable,
  tempPath: () => string,
  count: (bytes: number) => void,
): Promise<IncomingFile> {
  const hash = createHash('sha256')
  const held: Buffer[] = []
  let bytes = 0
  let refusal: unknown = null
  let spill: { path: string; file: FileHandle } | null = null
  const take = async (chunk: Buffer): Promise<void> => {
    bytes += chunk.length
    if (bytes > REPORT_FILE_BYTES_MAX)
      throw tooLarge(name === '' ? 'The file' : `"${name}"`, REPORT_FILE_BYTES_MAX)
    count(chunk.length)
    hash.update(chunk)
    if (spill !== null) return void (await spill.file.write(chunk))
    held.push(chunk)
    if (bytes <= UPLOAD_HELD_BYTES_MAX) return
    spill = await openSpill(tempPath())
    await spill.file.write(Buffer.concat(held.splice(0)))
  }
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      // What is refused is still read to its end: a destroyed part would hold up the rest of the form for ever.
      if (refusal === null) await take(chunk).catch((error: unknown) => (refusal = error))
    }
  } catch (error) {
    refusal ??= error
  }
  const { path, file } = (spill ?? {}) as Partial<{ path: string; file: FileHandle }>
  await file?.close()
  if (refusal !== null) {
    if (path !== undefined) await rm(path, { force: true })
    throw refusal
  }
  if (path === undefined) return { name, content: Buffer.concat(held) }
  return { name, path, owned: true, digest: { sha256: hash.digest('hex'), bytes } }
}

async function openSpill(path: string): Promise<{ path: string; file: FileHandle }> {
  await mkdir(dirname(path), { recursive: true })
  return { path, file: await open(path, 'wx', 0o600) }
}

function tooLarge(what: string, limit: number): Problem {
  return problem('payload_too_large', `${what} has more than ${limit} bytes, which is the limit.`, {
    extra: { limit_bytes: limit },
  })
}

async function discard(file: IncomingFile): Promise<void> {
  if ('path' in file && file.owned) await rm(file.path, { force: true })
}

/** The name in a Content-Disposition header (RFC 6266); '' without one. */
function fileNameOf(header: string | null): string {
  if (header === null) return ''
  const extended = /filename\*=utf-8''([^;]+)/i.exec(header)
  if (extended !== null) {
    try {
      return decodeURIComponent(extended[1]!).slice(0, NAME_CHARS_MAX)
    } catch {
      return ''
    }
  }
  const plain = /filename="?([^";]+)"?/i.exec(header)
  return (plain?.[1] ?? '').slice(0, NAME_CHARS_MAX)
}
