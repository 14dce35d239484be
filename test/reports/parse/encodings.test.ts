import { describe, expect, test } from 'bun:test'
import { createDecoder } from '../../../src/reports/parse/decode.ts'
import { readOne, repairsOf, report } from '../../support/report-files.ts'

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const utf16be = (text: string): Uint8Array => Buffer.from(text, 'utf16le').swap16()

describe('encodings', () => {
  const named = (prolog: string): string => report({ prolog, org: 'Sue\u00f1o' })
  const cases: [name: string, bytes: Uint8Array, repairs: string[]][] = [
    ['UTF-8', Buffer.from(named('<?xml version="1.0"?>')), []],
    [
      'UTF-8 with a byte order mark and a line break',
      Buffer.from(`\ufeff\r\n${named('<?xml version="1.0"?>')}`),
      [],
    ],
    ['white space before the prolog', Buffer.from(`\n \t${named('<?xml version="1.0"?>')}`), []],
    ['declared windows-1252', latin1(named('<?xml version="1.0" encoding="windows-1252"?>')), []],
    ['declared ISO-8859-1', latin1(named("<?xml version='1.0' encoding='ISO-8859-1'?>")), []],
    [
      'latin-1 declared as UTF-8',
      latin1(named('<?xml version="1.0" encoding="UTF-8"?>')),
      ['encoding_fallback'],
    ],
    ['latin-1 declared as nothing', latin1(named('')), ['encoding_fallback']],
    [
      'an unknown encoding',
      Buffer.from(named('<?xml version="1.0" encoding="x-own"?>')),
      ['encoding_fallback'],
    ],
    [
      'UTF-16 declared over single bytes',
      Buffer.from(named('<?xml version="1.0" encoding="UTF-16"?>')),
      ['encoding_fallback'],
    ],
    [
      'UTF-16 with mark, little end first',
      Buffer.from(`\ufeff${named('<?xml version="1.0" encoding="UTF-16"?>')}`, 'utf16le'),
      [],
    ],
    [
      'UTF-16 with mark, big end first',
      utf16be(`\ufeff${named('<?xml version="1.0" encoding="UTF-16"?>')}`),
      [],
    ],
    ['UTF-16 without mark', Buffer.from(named('<?xml version="1.0"?>'), 'utf16le'), []],
    ['UTF-16 big end first without mark', utf16be(named('<?xml version="1.0"?>')), []],
  ]
  test.each(cases)('%s', (_name, bytes, repairs) => {
    const out = readOne(bytes)
    expect(out.meta.org_name).toBe('Sue\u00f1o')
    expect(repairsOf(out)).toEqual(repairs as never)
  })

  test('only the wrong bytes are read as windows-1252, the text around them stays UTF-8', () => {
    const decoder = createDecoder(new Uint8Array(0))
    const bytes = Buffer.concat([
      Buffer.from('\u20ac'),
      Buffer.from([0x80, 0xed, 0x41]),
      Buffer.from('\u{1f600}'),
    ])
    expect(decoder.write(bytes) + decoder.end()).toBe('\u20ac\u20ac\u00edA\u{1f600}')
    expect(decoder.fallbacks).toBe(2)
  })

  test('characters cut between pieces stay whole, at every place', () => {
    const text = 'a\u00e9\u20ac\u{1f600}z\u0080'
    const bytes = Buffer.from(text)
    for (let cut = 0; cut <= bytes.length; cut++) {
      const decoder = createDecoder(new Uint8Array(0))
      expect(decoder.write(bytes.subarray(0, cut)) + decoder.write(bytes.subarray(cut)) + decoder.end()).toBe(
        text,
      )
      expect(decoder.fallbacks).toBe(0)
    }
  })

  test('overlong forms, surrogates and cut sequences are single bytes', () => {
    for (const bytes of [
      [0xc0, 0x80],
      [0xe0, 0x80, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf5, 0x80],
      [0xe2, 0x82],
    ]) {
      const decoder = createDecoder(new Uint8Array(0))
      expect(decoder.write(Uint8Array.from(bytes)) + decoder.end()).toHaveLength(bytes.length)
      expect(decoder.fallbacks).toBe(bytes.length)
    }
  })

  test('an instruction at the very beginning may be longer than one piece', () => {
    const long = `<?pi ${'x'.repeat(60_000)}?>`
    expect(readOne(`${long}${long}${report({ prolog: '' })}`).totals.messages).toBe(3)
  })
})
