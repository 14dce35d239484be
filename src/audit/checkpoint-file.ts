/**
 * The file of checkpoints outside of the database: one signed line each, appended and synced, never rewritten. On
 * another disk or host, or append-only (`chattr +a`), it finds what somebody with the database in hand did to it.
 */
import { createReadStream, existsSync } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'

export interface CheckpointFile {
  readonly path: string
  exists(): boolean
  /** Durable when it resolves. Rejects when the file cannot be written. */
  append(lines: readonly string[]): Promise<void>
  /** Every line; none when there is no file. Rejects when it is there and cannot be read. */
  lines(): AsyncIterable<string>
}

export function createCheckpointFile(path: string): CheckpointFile {
  return {
    path,
    exists: () => existsSync(path),
    async append(lines) {
      if (lines.length === 0) return
      await mkdir(dirname(path), { recursive: true })
      const file = await open(path, 'a+', 0o600)
      try {
        // What a power cut left half-written stays a line of its own.
        if (await endsOpen(file)) await file.write('\n')
        await file.write(lines.map((line) => `${line}\n`).join(''))
        await file.sync()
      } finally {
        await file.close()
      }
    },
    lines: () => fileLines(path),
  }
}

export async function* fileLines(path: string): AsyncGenerator<string> {
  if (!existsSync(path)) return
  const input = createReadStream(path, { encoding: 'utf8' })
  for await (const line of createInterface({ input, crlfDelay: Infinity })) if (line !== '') yield line
}

async function endsOpen(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat()
  if (size === 0) return false
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] !== 0x0a
}
