/**
 * When two reports are the same one. The key is (policy domain, reporter, normalised report id, begin, end): the
 * report id alone is reused over days and policy domains by real receivers, and is not unique across receivers.
 * Same key and same content is a duplicate; same key and other content is a revision, of which the fuller one counts.
 */
import { sha256Hex } from '../../lib/crypto.ts'
import type { DmarcMeta, TlsMeta } from '../parse/types.ts'

/** 128 bits of SHA-256 over the parts of the key, hex. */
export function duplicateKey(meta: DmarcMeta): string {
  return keyOf([meta.policy.domain, meta.reporter_key, meta.report_id_norm, meta.date_begin, meta.date_end])
}

export function tlsDuplicateKey(meta: TlsMeta): string {
  return keyOf([meta.domain, meta.reporter_key, meta.report_id_norm, meta.date_begin, meta.date_end])
}

function keyOf(parts: (string | number)[]): string {
  return sha256Hex(JSON.stringify(parts)).slice(0, 32)
}

export type Relation = 'equal' | 'superset' | 'subset' | 'overlap'

/** How `b` relates to `a`, both as messages by record key: does b hold everything of a, or less, or other things? */
export function relationOf(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): Relation {
  const b_holds_a = holds(b, a)
  const a_holds_b = holds(a, b)
  if (b_holds_a && a_holds_b) return 'equal'
  if (b_holds_a) return 'superset'
  return a_holds_b ? 'subset' : 'overlap'
}

function holds(whole: ReadonlyMap<string, number>, part: ReadonlyMap<string, number>): boolean {
  for (const [key, count] of part) if ((whole.get(key) ?? 0) < count) return false
  return true
}
