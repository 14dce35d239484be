import { describe, expect, test } from 'bun:test'
import { checkLink } from '../../public/pages/audit/chain.ts'
import { readVerdict } from '../../public/pages/audit/verdict.ts'
import type { Verification } from '../../public/pages/audit/types.ts'
import { genesisHash, nextHash } from '../../src/lib/audit-chain.ts'

const whole: Verification = {
  ok: true,
  from_seq: 1,
  to_seq: 1200,
  checked: 1200,
  head: { seq: 1200, hash: 'ab' },
  verdicts: { integrity: 'ok', completeness: 'ok', anchoring: 'none', redaction: 'none' },
  redacted: 0,
  checkpoint: null,
}
const kinds = (result: Verification) => readVerdict(result).rows.map((row) => row.kind)

describe('a verification in words', () => {
  test('of a whole chain that holds', () => {
    const verdict = readVerdict(whole)
    expect(verdict.title).toBe('Intact: entries 1 to 1,200 are complete and unchanged')
    expect(verdict.lead).toContain('the whole chain')
    expect(kinds(whole)).toEqual(['pass', 'pass', 'pass', 'half', 'none'])
  })

  test('does not claim the end when the range stops before it', () => {
    expect(readVerdict({ ...whole, to_seq: 900, checked: 900 }).rows[2]).toMatchObject({ kind: 'none' })
  })

  test('names the first bad entry and what is wrong with it', () => {
    const bad = (kind: string) => ({ ...whole, ok: false, checked: 6, first_bad: { seq: 7, kind } })
    expect(readVerdict(bad('altered')).title).toBe('Not intact: entry 7 was altered after it was written')
    expect(readVerdict(bad('altered')).lead).toBe(
      '6 entries before it are proven unchanged. Nothing from 7 on is proven.',
    )
    expect(kinds(bad('altered'))[0]).toBe('fail')
    expect(kinds(bad('missing'))[1]).toBe('fail')
    expect(kinds(bad('order'))[1]).toBe('fail')
    expect(kinds(bad('truncated'))[2]).toBe('fail')
    expect(readVerdict({ ...bad('altered'), checked: 0 }).lead).toStartWith('No entry before it')
  })

  test('says how much is signed, and what a restore left out', () => {
    const checkpoint = { seq: 1190, signed_at: '2026-11-21T09:00:00.000Z', key: 'ab'.repeat(32) }
    const anchored = (anchoring: 'full' | 'partial' | 'failed', unanchored: number) =>
      readVerdict({ ...whole, checkpoint, unanchored, verdicts: { ...whole.verdicts, anchoring } }).rows[3]
    expect(anchored('full', 0)).toMatchObject({ kind: 'pass' })
    expect(anchored('partial', 10)).toMatchObject({ kind: 'half', answer: 'All but the last 10 entries' })
    expect(anchored('failed', 0)).toMatchObject({ kind: 'fail' })
    const restored = readVerdict({
      ...whole,
      verdicts: { ...whole.verdicts, completeness: 'restored' },
      restored: [{ seq: 900, signed_at: checkpoint.signed_at, lost: { from_seq: 901, to_seq: 950 } }],
    })
    expect(restored.rows[1]).toMatchObject({ kind: 'warn' })
    expect(restored.rows[1]?.how).toContain('901 to 950')
    expect(readVerdict({ ...whole, from_seq: 501, starts_after: 500, checked: 700 }).lead).toContain(
      'up to 500',
    )
  })

  test('of an empty range is neither good nor bad', () => {
    expect(readVerdict({ ...whole, from_seq: null, to_seq: null, checked: 0 }).title).toStartWith(
      'Nothing to check',
    )
  })
})

test('the browser computes the link as the server does', async () => {
  const previous = genesisHash('ins_x', 'ten_x')
  const canonical = '{"seq":1}'
  const hash = Buffer.from(nextHash(previous, canonical)).toString('hex')
  const entry = { canonical, hash, prev_hash: Buffer.from(previous).toString('hex') }
  expect(await checkLink(entry)).toBe('match')
  expect(await checkLink({ ...entry, canonical: '{"seq":2}' })).toBe('differ')
  expect(await checkLink({ ...entry, prev_hash: null })).toBe('first')
})
