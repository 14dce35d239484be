import { describe, expect, test } from 'bun:test'
import { packRows, unpackRows } from '../../src/reports/parse/wire.ts'
import { checkAnswer } from '../../src/sandbox/check.ts'
import { createLineSplitter } from '../../src/sandbox/lines.ts'
import { mail, read, record, report } from '../support/report-files.ts'

const TLS = JSON.stringify({
  'organization-name': 'R',
  'date-range': { 'start-datetime': '2026-02-02T00:00:00Z', 'end-datetime': '2026-02-02T23:59:59Z' },
  'report-id': '1',
  policies: [
    {
      policy: { 'policy-type': 'sts', 'policy-domain': 'a.example' },
      summary: {},
      'failure-details': [{ 'result-type': 'x' }],
    },
  ],
})
const RUF = mail([
  {
    type: 'message/feedback-report',
    body: 'Feedback-Type: auth-failure\r\nSource-IP: 192.0.2.1\r\nReported-Domain: a.example',
  },
])
const ODD = report({ records: record({ dkim: 'PASS', reason: '<reason><type>other</type></reason>' }) })

/** Every message as it looks on the wire. */
function wire(content: string): unknown[] {
  return read(content).messages.map((message) =>
    JSON.parse(
      message.type === 'records' && message.kind === 'dmarc'
        ? `{"type":"rows","job":1,"index":${message.index},"rows":${packRows(message.rows)}}`
        : JSON.stringify({ ...message, job: 1 }),
    ),
  )
}

describe('what a child says', () => {
  test.each([report(), ODD, report({ tail: '' }), TLS, RUF, 'nothing'])(
    'is accepted when our child says it (%#)',
    (content) => {
      for (const message of wire(content)) expect(checkAnswer(message)).not.toBe(null)
    },
  )

  test('rows come back as they were', () => {
    const rows = read(ODD).rows
    expect(rows[0]!.raw).toEqual({ 'policy_evaluated.dkim': 'PASS' })
    expect(unpackRows(JSON.parse(packRows(rows)))).toEqual(rows)
  })

  test('is refused when any value in it has another type', () => {
    const extra = new Set(['name', 'detail'])
    for (const content of [ODD, TLS, RUF]) {
      for (const message of wire(content)) {
        for (const path of leaves(message)) {
          if (path.at(-1) === 'raw' || extra.has(String(path.at(-1)))) continue
          const broken = structuredClone(message)
          set(broken, path, { unexpected: true })
          const optional = checkAnswer(broken)
          expect({ path, accepted: optional !== null }).toEqual({ path, accepted: false })
        }
      }
    }
  })

  test('is refused when it is no message at all', () => {
    for (const value of [
      null,
      1,
      'x',
      [],
      {},
      { job: 1 },
      { job: 1, type: 'other' },
      { job: -1, type: 'progress', unpacked: 1 },
    ]) {
      expect(checkAnswer(value)).toBe(null)
    }
  })

  test('is refused when texts or lists are longer than ours', () => {
    const rows = wire(ODD).find((message) => (message as { type: string }).type === 'rows') as {
      rows: unknown[][]
    }
    const long = structuredClone(rows)
    long.rows[0]![5] = 'x'.repeat(5000)
    expect(checkAnswer(long)).toBe(null)
    const many = structuredClone(rows)
    many.rows = Array.from({ length: 501 }, () => rows.rows[0]!)
    expect(checkAnswer(many)).toBe(null)
    const negative = structuredClone(rows)
    negative.rows[0]![2] = -1
    expect(checkAnswer(negative)).toBe(null)
  })
})

describe('lines', () => {
  test('are cut the same however they come', () => {
    const text = Buffer.from('a\n\u20ac\u{1f600}\n\nlong line\nrest')
    for (let step = 1; step <= text.length; step++) {
      const splitter = createLineSplitter(100)
      const lines: string[] = []
      for (let at = 0; at < text.length; at += step)
        lines.push(...splitter.push(text.subarray(at, at + step)))
      expect(lines).toEqual(['a', '\u20ac\u{1f600}', '', 'long line'])
    }
  })

  test('that never end are refused', () => {
    const splitter = createLineSplitter(100)
    expect(() => {
      for (let i = 0; i < 20; i++) expect([...splitter.push(Buffer.from('0123456789'))]).toEqual([])
    }).toThrow()
  })
})

function leaves(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value)
  return [...keys].flatMap((key) => leaves((value as Record<string, unknown>)[key], [...path, key]))
}

function set(value: unknown, path: (string | number)[], to: unknown): void {
  let at = value as Record<string | number, unknown>
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>
  at[path.at(-1)!] = to
}
