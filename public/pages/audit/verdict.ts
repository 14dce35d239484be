import { count, exact, plural } from '../../lib/format.ts'
import type { StateKind } from '../../ui/state.tsx'
import type { Verification } from './types.ts'

export interface Verdict {
  title: string
  lead: string
  rows: { question: string; kind: StateKind; answer: string; how: string }[]
}

const BAD: Readonly<Record<string, string>> = {
  altered: 'was altered after it was written',
  missing: 'is missing',
  order: 'stands in the wrong place',
  truncated: 'and all after it were cut off',
  bad_checkpoint: 'does not fit its signed checkpoint',
}

/** What a verification found, as sentences: one finding, then a question with an answer and how it was checked. */
export function readVerdict(result: Verification): Verdict {
  return { title: titleOf(result), lead: leadOf(result), rows: rowsOf(result) }
}

function titleOf({ ok, first_bad, from_seq, to_seq, checked }: Verification): string {
  if (first_bad !== undefined)
    return `Not intact: entry ${count(first_bad.seq)} ${BAD[first_bad.kind] ?? 'does not hold'}`
  if (!ok) return 'Not intact'
  if (checked === 0 || from_seq === null || to_seq === null)
    return 'Nothing to check: no entry lies in this range'
  if (from_seq === to_seq) return `Intact: entry ${count(from_seq)} is unchanged`
  return `Intact: entries ${count(from_seq)} to ${count(to_seq)} are complete and unchanged`
}

function leadOf(result: Verification): string {
  const { ok, first_bad, checked, from_seq, to_seq, head, starts_after } = result
  if (first_bad !== undefined) {
    const before =
      checked === 0
        ? 'No entry before it is'
        : `${plural(checked, 'entry', 'entries')} before it ${checked === 1 ? 'is' : 'are'}`
    const why = first_bad.detail === undefined || first_bad.detail === '' ? '' : `${first_bad.detail} `
    return `${why}${before} proven unchanged. Nothing from ${count(first_bad.seq)} on is proven.`
  }
  if (!ok) return 'Export the range and compare it with a copy kept elsewhere.'
  const first = (starts_after ?? 0) + 1
  const whole = from_seq === first && head !== null && to_seq === head.seq
  const gone =
    first === 1
      ? ''
      : ` Entries up to ${count(first - 1)} were removed as past keeping; a signed anchor stands for them.`
  return `${plural(checked, 'entry', 'entries')} recomputed${whole ? ', the whole chain from its first entry' : ''}.${gone}`
}

type Row = Verdict['rows'][number]

function rowsOf(result: Verification): Row[] {
  const { first_bad, checked, head, to_seq, verdicts, redacted = 0 } = result
  const kind = first_bad?.kind
  const at = first_bad === undefined ? '' : count(first_bad.seq)
  const reached = head !== null && to_seq === head.seq
  return [
    {
      question: 'Was an entry changed?',
      ...(kind === 'altered'
        ? { kind: 'fail', answer: `Yes, entry ${at}` }
        : { kind: 'pass', answer: `No, ${count(checked)} of ${count(checked)} match` }),
      how: 'SHA-256 of each entry recomputed from its bytes, and compared',
    },
    completenessRow(result, at),
    {
      question: 'Was the end cut off?',
      ...endRow(kind, at, reached),
      how: 'The head, kept apart from the entries, names the last number and its hash',
    },
    anchoringRow(result),
    {
      question: 'Was personal data erased in the range?',
      kind: 'none',
      answer: verdicts.redaction === 'none' ? 'No' : plural(redacted, 'entry', 'entries'),
      how:
        verdicts.redaction === 'none'
          ? 'Names and addresses match their hashes'
          : 'Names were erased on request; the entries and the chain are whole',
    },
  ]
}

function completenessRow({ first_bad, verdicts, restored = [] }: Verification, at: string): Row {
  const question = 'Was one removed, added or moved?'
  const lost = restored.flatMap((each) => (each.lost === null ? [] : [each.lost]))[0]
  const kind = first_bad?.kind
  if (kind === 'missing' || kind === 'order') {
    const answer = kind === 'missing' ? `Yes, ${at} is missing` : `Yes, ${at} is out of place`
    return { question, kind: 'fail', answer, how: HOW_ORDER }
  }
  if (kind === undefined && verdicts.completeness === 'restored' && lost !== undefined) {
    return {
      question,
      kind: 'warn',
      answer: 'By a restore, on record',
      how: `A backup was restored: entries ${count(lost.from_seq)} to ${count(lost.to_seq)} of before are not in it. The restore is signed`,
    }
  }
  const answer = kind === undefined ? 'No gap, order holds' : `Not before ${at}`
  return { question, kind: 'pass', answer, how: HOW_ORDER }
}

const HOW_ORDER = 'Numbers run without a gap; each entry contains the hash of the one before'

function anchoringRow({ verdicts, checkpoint, unanchored = 0 }: Verification): Row {
  const question = 'Is it vouched for by a signature?'
  const signed =
    checkpoint === null
      ? 'No signed checkpoint exists. Keep the hash below elsewhere: a later check must show the same'
      : `Newest checkpoint is at ${count(checkpoint.seq)}, signed ${exact(checkpoint.signed_at)} with the key ${checkpoint.key.slice(0, 16)}…`
  if (verdicts.anchoring === 'failed')
    return { question, kind: 'fail', answer: 'No, it contradicts what was signed', how: signed }
  if (verdicts.anchoring === 'full')
    return { question, kind: 'pass', answer: 'Yes, to the last entry', how: signed }
  if (verdicts.anchoring === 'partial') {
    const answer =
      unanchored === 1 ? 'All but the last entry' : `All but the last ${count(unanchored)} entries`
    return { question, kind: 'half', answer, how: `${signed}; the next one covers the rest` }
  }
  return { question, kind: 'half', answer: 'Not yet', how: signed }
}

function endRow(kind: string | undefined, at: string, reached: boolean): { kind: StateKind; answer: string } {
  if (kind === 'truncated') return { kind: 'fail', answer: `Yes, at ${at}` }
  if (kind !== undefined) return { kind: 'none', answer: 'Not reached' }
  return reached
    ? { kind: 'pass', answer: 'No, ends at the head' }
    : { kind: 'none', answer: 'Not asked, the range ends before' }
}

/** a91f04c2 5be0d713 …: eight digits a group, so that two hashes can be compared by eye. */
export const groupHash = (hash: string): string => hash.match(/.{1,8}/g)?.join(' ') ?? hash

export const OUTCOMES: Readonly<Record<string, { kind: StateKind; word: string }>> = {
  success: { kind: 'pass', word: 'Done' },
  denied: { kind: 'fail', word: 'Denied' },
  failure: { kind: 'warn', word: 'Failed' },
}
