import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  read,
  readOne,
  readRefused,
  repairsOf,
  report,
  gzip,
  zip,
  type ZipFile,
} from '../../support/report-files.ts'

// A busy machine makes nothing here wrong, only slow.
setDefaultTimeout(60_000)

const XML = report()
const GZ = gzip(XML)
const file = (parts: Partial<ZipFile> = {}): ZipFile => ({ name: 'report.xml', content: XML, ...parts })
const join = (...parts: (string | Uint8Array)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)))

describe('containers are told by their bytes', () => {
  const accepted: [name: string, bytes: Uint8Array, containers: string[], repairs: string[]][] = [
    ['gzip', GZ, ['gzip'], []],
    ['gzip with a line break after it', join(GZ, '\r\n'), ['gzip'], []],
    ['gzip with zeros after it', join(GZ, '\0\0\0'), ['gzip'], []],
    ['gzip with garbage after it', join(GZ, 'garbage'), ['gzip'], ['trailing_garbage']],
    ['gzip in two members', join(gzip(XML.slice(0, 100)), gzip(XML.slice(100))), ['gzip'], []],
    ['gzip twice', gzip(GZ), ['gzip', 'gzip'], []],
    ['gzip with name, comment and extra field', withHeader(), ['gzip'], []],
    ['zip', zip([file()]), ['zip'], []],
    ['zip stored', zip([file({ method: 0 })]), ['zip'], []],
    ['zip with sizes after the data', zip([file({ flags: 8 })]), ['zip'], []],
    ['zip with a line break after it', join(zip([file()]), '\r\n'), ['zip'], []],
    ['zip with garbage after it', join(zip([file()]), 'garbage'), ['zip'], ['trailing_garbage']],
    ['zip without its directory', zip([file()], { directory: false }), ['zip'], ['zip_directory_rebuilt']],
    [
      'zip without its directory, sizes after the data',
      zip([file({ flags: 8 })], { directory: false }),
      ['zip'],
      ['zip_directory_rebuilt'],
    ],
    [
      'zip with a directory and system files',
      zip([
        file({ name: 'd/', content: '', method: 0 }),
        file({ name: '__MACOSX/._report.xml', content: 'x' }),
        file({ name: 'd/.DS_Store', content: 'x' }),
        file({ name: 'd/report.xml' }),
      ]),
      ['zip'],
      [],
    ],
    ['zip with an empty name', zip([file({ name: '' })]), ['zip'], []],
    ['zip with a name that climbs', zip([file({ name: '../../etc/passwd' })]), ['zip'], []],
    [
      'zip with a note beside the report',
      zip([file(), file({ name: 'README.txt', content: 'Hello' })]),
      ['zip'],
      [],
    ],
    ['gzip in zip', zip([file({ name: 'report.xml.gz', content: GZ })]), ['zip', 'gzip'], []],
    ['zip in gzip', gzip(zip([file()])), ['gzip', 'zip'], []],
    ['zip in zip', zip([file({ name: 'a.zip', content: zip([file()]) })]), ['zip', 'zip'], []],
    ['mail in gzip', gzip(`Subject: x\r\n\r\n${XML}`), ['gzip', 'mail'], []],
  ]
  test.each(accepted)('%s', (_name, bytes, containers, repairs) => {
    const out = readOne(bytes, 'any.bin')
    expect(out.totals).toMatchObject({ records: 1, messages: 3 })
    expect(out.origin.containers).toEqual(containers as never)
    expect(repairsOf(out)).toEqual(repairs as never)
    // The same document has the same hash in every wrapping.
    expect(out.content_sha256).toBe(readOne(XML).content_sha256)
  })

  const refused: [name: string, bytes: Uint8Array, code: string][] = [
    ['gzip cut in the data', GZ.subarray(0, GZ.length - 40), 'archive_truncated'],
    ['gzip cut in the checksum', GZ.subarray(0, GZ.length - 3), 'archive_truncated'],
    ['gzip with a wrong checksum', flip(GZ, GZ.length - 8), 'archive_corrupt'],
    ['gzip with damaged data', flip(GZ, 40), 'archive_corrupt'],
    ['gzip with nothing in it', gzip(''), 'empty_file'],
    ['gzip with the word unused', gzip('unused'), 'unused_body'],
    ['gzip with a picture', gzip(Buffer.from('89504e470d0a1a0a', 'hex')), 'not_a_report'],
    ['gzip three times', gzip(gzip(GZ)), 'nesting_too_deep'],
    ['zip without files', zip([]), 'archive_empty'],
    ['zip with directories only', zip([file({ name: 'd/', content: '', method: 0 })]), 'archive_empty'],
    ['zip, bzip2', zip([file({ method: 12 })]), 'compression_unsupported'],
    ['zip, lzma', zip([file({ method: 14 })]), 'compression_unsupported'],
    ['zip, deflate64', zip([file({ method: 9 })]), 'compression_unsupported'],
    ['zip, encrypted', zip([file({ flags: 1 })]), 'archive_encrypted'],
    ['zip with a wrong checksum', zip([file({ crc: 1 })]), 'archive_corrupt'],
    ['zip cut off', zip([file()]).subarray(0, 200), 'archive_truncated'],
    [
      'zip with 21 files',
      zip(Array.from({ length: 21 }, (_, i) => file({ name: `${i}.xml` }))),
      'too_many_entries',
    ],
    ['an Outlook message', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), 'not_a_report'],
    ['7z', Buffer.from('377abcaf271c0004', 'hex'), 'compression_unsupported'],
    ['bzip2', Buffer.from('BZh91AY&SY'), 'compression_unsupported'],
    ['XML that is cut inside gzip', gzip(XML.slice(0, -80)), 'truncated'],
  ]
  test.each(refused)('refused: %s', (_name, bytes, code) => {
    expect(readRefused(bytes)).toBe(code as never)
  })

  test('names the compression method it does not know', () => {
    expect(read(zip([file({ method: 12 })])).rejected[0]!.detail).toBe(
      'compression method 12 (bzip2) not supported',
    )
  })

  test('a zip gives every report in it, and the reason for each entry that broke', () => {
    const out = read(
      zip([
        file({ name: 'a.xml', content: report({ id: 'a' }) }),
        file({ name: 'b.xml', content: XML.slice(0, -90) }),
        file({ name: 'c.xml.gz', content: gzip(report({ id: 'c' })) }),
      ]),
    )
    expect(out.ends.map((end) => end.origin.name)).toEqual(['a.xml', 'c.xml.gz'])
    expect(out.rejected).toEqual([
      expect.objectContaining({
        code: 'truncated',
        index: 1,
        origin: { name: 'b.xml', containers: ['zip'] },
      }),
    ])
  })

  test('a zip of which nothing is a report says so once', () => {
    expect(
      readRefused(zip([file({ name: 'a.txt', content: 'a' }), file({ name: 'b.txt', content: 'b' })])),
    ).toBe('not_a_report')
  })

  test('overlapping entries are refused', () => {
    const one = Buffer.from(zip([file(), file({ name: 'b.xml' })]))
    // The second entry of the directory points at the data of the first.
    const second = one.lastIndexOf(Buffer.from('504b0102', 'hex'))
    one.writeUInt32LE(0, second + 42)
    expect(readRefused(one)).toBe('archive_overlap')
  })

  test('a gzip cut off takes back the rows that were already out', () => {
    const large = gzip(report({ records: Array.from({ length: 2000 }, (_, i) => recordOf(i)).join('') }))
    const out = read(large.subarray(0, large.length - 20))
    expect(out.messages.some((message) => message.type === 'records')).toBe(true)
    expect(out.ends).toEqual([])
    expect(out.rejected).toEqual([expect.objectContaining({ index: 0, code: 'archive_truncated' })])
  })
})

describe('limits', () => {
  const limits = {
    input_bytes_max: 200_000,
    unpacked_bytes_max: 1_000_000,
    ratio_max: 20,
    ratio_free_bytes: 10_000,
  }
  test('the length of the input', () => {
    expect(readRefused(' '.repeat(200_001), limits)).toBe('input_too_large')
  })
  test('the unpacked length', () => {
    const noise = Array.from({ length: 1500 }, (_, i) => recordOf(i * 7919)).join('')
    expect(readRefused(gzip(report({ records: noise.repeat(3) })), { ...limits, ratio_max: 1000 })).toBe(
      'unpacked_too_large',
    )
  })
  test('the ratio, above the free bytes', () => {
    expect(readRefused(gzip(' '.repeat(30_000)), limits)).toBe('ratio_too_high')
    expect(readRefused(gzip(' '.repeat(9_000)), limits)).toBe('empty_file')
  })
  test('the ratio of zips in zips together', () => {
    const inner = zip([file({ content: ' '.repeat(60_000) })])
    expect(readRefused(zip([file({ name: 'a.zip', content: inner })]), limits)).toBe('ratio_too_high')
  })
})

function recordOf(i: number): string {
  return (
    `<record><row><source_ip>10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}</source_ip><count>${(i * 31) % 997}1</count>` +
    `<policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated></row>` +
    `<identifiers><header_from>h${(i * 7919) % 104_729}.example</header_from></identifiers></record>`
  )
}

function withHeader(): Uint8Array {
  // FEXTRA, FNAME and FCOMMENT of RFC 1952 §2.3.1.
  const extra = Buffer.concat([Buffer.from([4, 0, 1, 2, 3, 4]), Buffer.from('name.xml\0comment\0')])
  const head = Buffer.from(GZ.subarray(0, 10))
  head[3] = 4 | 8 | 16
  return Buffer.concat([head, extra, GZ.subarray(10)])
}

function flip(bytes: Uint8Array, at: number): Uint8Array {
  const out = Uint8Array.from(bytes)
  out[at]! ^= 0xff
  return out
}
