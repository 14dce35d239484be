import { refuse } from '../../lib/refusal.ts'
import type { Leaf, Sink } from '../../lib/unpack.ts'
import type { DocumentContext } from './document.ts'
import type { Origin } from './types.ts'
export function createMailSink(_leaf: Leaf, _origin: Origin, _context: DocumentContext): Sink {
  throw refuse('not_a_report', 'not yet')
}
