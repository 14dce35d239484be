/** What the routes of the log share: a range by time or by number, and bytes as a response. */
import { intParam, rangeParams } from '../http/pagination.ts'
import { invalid } from '../lib/errors.ts'
import type { SeqRange } from './store.ts'

interface RangeQuery {
  from?: string | undefined
  to?: string | undefined
  from_seq?: string | undefined
  to_seq?: string | undefined
}

/** Throws 422 when both are given, or when a range is reversed. */
export function readSeqRange(query: RangeQuery): { from?: number; to?: number } | SeqRange {
  const range = rangeParams(query)
  const from_seq = intParam('from_seq', query.from_seq, 1, Number.MAX_SAFE_INTEGER)
  const to_seq = intParam('to_seq', query.to_seq, 1, Number.MAX_SAFE_INTEGER)
  const by_seq = from_seq !== undefined || to_seq !== undefined
  if (by_seq && (range.from !== undefined || range.to !== undefined)) {
    throw invalid('?from_seq', 'ambiguous_range', 'Give times or numbers, not both.')
  }
  const seqs = { from_seq: from_seq ?? 1, to_seq: to_seq ?? Number.MAX_SAFE_INTEGER }
  if (seqs.from_seq > seqs.to_seq) {
    throw invalid('?from_seq', 'reversed_range', '`from_seq` lies after `to_seq`.')
  }
  return by_seq ? seqs : range
}

/** As fast as it is read and no faster. */
export function byteStream(pieces: AsyncGenerator<string | Uint8Array>): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const next = await pieces.next()
      if (next.done === true) controller.close()
      else controller.enqueue(typeof next.value === 'string' ? utf8.encode(next.value) : next.value)
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
}
