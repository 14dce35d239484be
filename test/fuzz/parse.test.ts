/**
 * Report files, mutated: the parser never throws, always ends, keeps its promises to the consumer whatever the bytes.
 * Seeded, so that a failure can be run again: the name of the test holds the seed (`FUZZ_SEED`, `FUZZ_ROUNDS`).
 */
import { describe, expect, test } from 'bun:test'
import { checkAnswer } from '../../src/sandbox/check.ts'
import { packRows, unpackRows } from '../../src/reports/parse/wire.ts'
import { gzip, mail, read, record, report, zip, type Outcome } from '../support/report-files.ts'

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_202)
const ROUNDS = Number(process.env['FUZZ_ROUNDS'] ?? 150)
/** A file of this size takes a few milliseconds; a hundred times as long is a hang. */
const SLOW_MS = 2000

type Random = () => number

/** mulberry32: small, good enough, the same everywhere. */
function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const XML = report({
  records: record() + record({ dkim: 'PASS', reason: '<reason><type>x</type></reason>' }).repeat(5),
})
const TLS = JSON.stringify({
  'organization-name': 'R',
  'date-range': { 'start-datetime': '2026-02-02T00:00:00Z', 'end-datetime': '2026-02-02T23:59:59Z' },
  'report-id': '1',
  policies: [
    {
      policy: { 'policy-type': 'sts', 'policy-domain': 'a.example', 'mx-host': ['b'] },
      summary: { 'total-successful-session-count': 1, 'total-failure-session-count': '2' },
      'failure-details': [{ 'result-type': 'x' }],
    },
  ],
})
const RUF = mail([
  { type: 'text/plain', body: 'authentication failure report' },
  {
    type: 'message/feedback-report',
    body: 'Feedback-Type: auth-failure\r\nSource-IP: 192.0.2.1\r\nReported-Domain: a.example\r\nArrival-Date: Mon, 2 Feb 2026 10:00:00 +0100',
  },
  { type: 'message/rfc822', body: 'From: a@b.example\r\nSubject: =?utf-8?Q?x=41?=\r\n\r\nbody' },
])
const MAIL = mail([
  { type: 'text/plain', body: 'hello' },
  { type: 'application/gzip; name*0="a";name*1*=%41', encoding: 'base64', content: gzip(XML) },
  { type: 'text/xml', encoding: 'quoted-printable', content: XML },
])

const SEEDS: [name: string, bytes: Uint8Array][] = [
  ['XML', Buffer.from(XML)],
  ['UTF-16', Buffer.from(`\ufeff${XML}`, 'utf16le')],
  ['gzip', gzip(XML)],
  ['gzip in gzip', gzip(gzip(XML))],
  [
    'zip',
    zip([
      { name: 'a.xml', content: XML },
      { name: 'b.xml', content: XML, flags: 8 },
      { name: 'c', content: XML, method: 0 },
    ]),
  ],
  ['zip without directory', zip([{ name: 'a.xml', content: XML, flags: 8 }], { directory: false })],
  ['zip in gzip', gzip(zip([{ name: 'a.xml.gz', content: XML }]))],
  ['mail', Buffer.from(MAIL)],
  [
    'forwarded mail',
    Buffer.from(mail([{ type: 'message/rfc822', body: MAIL.replaceAll('b0undary', 'inner') }])),
  ],
  [
    'mailbox',
    Buffer.from(
      `From a@b.example Mon Feb  2 10:00:00 2026\n${MAIL}\nFrom a@b.example Mon Feb  2 10:00:00 2026\n${RUF}`,
    ),
  ],
  ['TLS report', Buffer.from(TLS)],
  ['failure report', Buffer.from(RUF)],
]

const WORDS = [
  '<',
  '>',
  '</',
  '/>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?',
  '&',
  '&#0;',
  '&#xFFFFFF;',
  '<!DOCTYPE x>',
  '<record>',
  '</record>',
  '<feedback>',
  '</feedback>',
  '<count>',
  '"',
  '\0',
  '\ufffd',
  '\r\n\r\n',
  '--b0undary',
  '--b0undary--',
  'PK\u0003\u0004',
  'PK\u0001\u0002',
  'PK\u0005\u0006',
  '\u001f\u008b\u0008',
  '{',
  '[',
  '1e999',
  '-1',
  'From ',
  ': ',
  '=?',
  '?=',
  '=\r\n',
].map((word) => Buffer.from(word, 'latin1'))

const MUTATIONS: ((bytes: Uint8Array, random: Random) => Uint8Array)[] = [
  // bits
  (bytes, random) => {
    const out = Uint8Array.from(bytes)
    for (let n = 1 + Math.floor(random() * 8); n > 0; n--)
      out[at(out, random)]! ^= 1 << Math.floor(random() * 8)
    return out
  },
  // cut off
  (bytes, random) => bytes.slice(0, at(bytes, random)),
  // cut out
  (bytes, random) => {
    const start = at(bytes, random)
    return join(bytes.slice(0, start), bytes.slice(start + Math.floor(random() * 200)))
  },
  // say twice
  (bytes, random) => {
    const start = at(bytes, random)
    const piece = bytes.slice(start, start + Math.floor(random() * 300))
    return join(
      bytes.slice(0, start),
      ...Array.from({ length: 1 + Math.floor(random() * 30) }, () => piece),
      bytes.slice(start),
    )
  },
  // splice with another seed
  (bytes, random) => {
    const other = SEEDS[Math.floor(random() * SEEDS.length)]![1]
    return join(bytes.slice(0, at(bytes, random)), other.slice(at(other, random)))
  },
  // words that mean something
  (bytes, random) => {
    const start = at(bytes, random)
    return join(bytes.slice(0, start), WORDS[Math.floor(random() * WORDS.length)]!, bytes.slice(start))
  },
  // a run of one byte
  (bytes, random) => {
    const out = Uint8Array.from(bytes)
    const start = at(out, random)
    return out.fill(Math.floor(random() * 256), start, start + Math.floor(random() * 64))
  },
  // large numbers in binary headers
  (bytes, random) => {
    const out = Uint8Array.from(bytes)
    if (out.length > 8)
      new DataView(out.buffer).setUint32(
        Math.floor(random() * (out.length - 4)),
        0xffffffff - Math.floor(random() * 3),
      )
    return out
  },
]

function at(bytes: Uint8Array, random: Random): number {
  return Math.floor(random() * bytes.length)
}

function join(...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

/** What must be true of every answer, whatever the input was. */
function checkPromises(out: Outcome): void {
  const open = new Set<number>()
  let ended = 0
  let rejected = 0
  for (const [i, message] of out.messages.entries()) {
    expect(checkAnswer(JSON.parse(wire(message)))).not.toBe(null)
    switch (message.type) {
      case 'report':
        expect(open.has(message.index)).toBe(false)
        open.add(message.index)
        break
      case 'records':
        expect(open.has(message.index)).toBe(true)
        if (message.kind === 'dmarc')
          expect(unpackRows(JSON.parse(packRows(message.rows)))).toEqual(message.rows)
        break
      case 'end':
        expect(open.delete(message.index)).toBe(true)
        ended++
        break
      case 'rejected':
        if (message.index !== null) open.delete(message.index)
        rejected++
        break
      case 'done':
        expect(i).toBe(out.messages.length - 1)
        expect(message).toMatchObject({ reports: ended, rejected })
        expect(ended + rejected).toBeGreaterThan(0)
        break
    }
  }
  expect(open.size).toBe(0)
  expect(out.messages.at(-1)?.type).toBe('done')
  for (const end of out.ends) {
    if (end.kind !== 'dmarc') continue
    const { both, dkim_only, spf_only, neither, messages, pass, fail, by_disposition } = end.totals
    expect(both + dkim_only + spf_only + neither).toBe(messages)
    expect(pass + fail).toBe(messages)
    expect(Object.values(by_disposition).reduce((sum, count) => sum + count, 0)).toBe(messages)
  }
}

function wire(message: Outcome['messages'][number]): string {
  if (message.type !== 'records' || message.kind !== 'dmarc') return JSON.stringify({ ...message, job: 1 })
  return `{"type":"rows","job":1,"index":${message.index},"rows":${packRows(message.rows)}}`
}

describe('mutated report files', () => {
  for (const [name, bytes] of SEEDS) {
    test(`${name}, seed ${SEED}, ${ROUNDS} rounds`, () => {
      const random = createRandom(SEED + name.length * 7919)
      checkPromises(read(bytes))
      for (let round = 0; round < ROUNDS; round++) {
        let mutated: Uint8Array = bytes
        for (let n = 1 + Math.floor(random() * 3); n > 0; n--) {
          mutated = MUTATIONS[Math.floor(random() * MUTATIONS.length)]!(mutated, random)
        }
        const start = process.cpuUsage()
        const out = read(mutated, `${name}.bin`)
        const used = process.cpuUsage(start)
        expect((used.user + used.system) / 1000).toBeLessThan(SLOW_MS)
        checkPromises(out)
      }
    }, 120_000)
  }

  test(`random bytes, seed ${SEED}`, () => {
    const random = createRandom(SEED)
    for (let round = 0; round < ROUNDS; round++) {
      const bytes = Uint8Array.from({ length: Math.floor(random() * 3000) }, () => Math.floor(random() * 256))
      if (round % 3 === 0) bytes.set([0x1f, 0x8b, 8].slice(0, bytes.length))
      if (round % 3 === 1) bytes.set([0x50, 0x4b, 3, 4].slice(0, bytes.length))
      checkPromises(read(bytes))
    }
  }, 120_000)

  test(`only words of the formats, seed ${SEED}`, () => {
    const random = createRandom(SEED + 1)
    const words = [
      ...WORDS,
      ...XML.split(/(?=<)/)
        .slice(0, 60)
        .map((word) => Buffer.from(word)),
    ]
    for (let round = 0; round < ROUNDS; round++) {
      const length = Math.floor(random() * 200)
      checkPromises(read(join(...Array.from({ length }, () => words[Math.floor(random() * words.length)]!))))
    }
  }, 120_000)
})
