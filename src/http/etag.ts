/** ETags of versioned records, and `If-Match` (RFC 9110 §13.1.1). */
import { problem } from '../lib/errors.ts'

export function etagOf(version: number): string {
  return `"v${version}"`
}

/** The version the client expects, or undefined when it sent no `If-Match` (or `*`). Not one of ours: 412. */
export function readIfMatch(header: string | null): number | undefined {
  if (header === null || header.trim() === '*') return undefined
  const versions = [...header.matchAll(/(?:W\/)?"v(\d{1,15})"/g)].map((match) => Number(match[1]))
  if (versions.length === 0) throw problem('version_conflict', 'If-Match holds no version of this record.')
  return versions[0]
}
