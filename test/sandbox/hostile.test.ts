/**
 * Files made to hurt. Each must end within 2 s (and 1 s more per 100 MB that come out of it) and 256 MB in its child,
 * while the parent goes on answering. Times are those of the child's processor, so that a busy machine fails nothing.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, openSync, closeSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { systemClock } from '../../src/lib/clock.ts'
import { createSandboxPool } from '../../src/sandbox/pool.ts'
import type { SandboxPool } from '../../src/sandbox/types.ts'
import {
  gzip,
  mail,
  NOW,
  POLICY,
  record,
  report,
  sortOut,
  zip,
  type Outcome,
} from '../support/report-files.ts'

// A busy machine makes nothing here wrong, only slow.
setDefaultTimeout(60_000)

const CHILD = resolve(import.meta.dir, '../support/sandbox-child.ts')
const MEMORY = 256 * 1024 * 1024
const MB = 1024 * 1024

let pool: SandboxPool
let scratch: string
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'wardpost-hostile-'))
  pool = createSandboxPool({ command: [process.execPath, CHILD], size: 1, clock: systemClock })
})
afterAll(async () => {
  await pool.close()
  rmSync(scratch, { recursive: true })
})

async function run(content: string | Uint8Array): Promise<Outcome & { unpacked: number }> {
  const path = join(scratch, 'hostile')
  writeFileSync(path, content)
  const messages = []
  for await (const message of pool.run({ kind: 'report', name: 'hostile.xml', path, now: NOW }))
    messages.push(message)
  const done = messages.at(-1)!
  if (done.type !== 'done') throw new Error('no end')
  return { ...sortOut(messages), unpacked: done.unpacked_bytes }
}

const head = '<?xml version="1.0"?><feedback>'
const laughs = Array.from({ length: 10 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')
const dkim = '<dkim><domain>a.example</domain><selector>s</selector><result>pass</result></dkim>'
const BOMB = gzipSync(Buffer.alloc(250 * MB))
const dense = (text: string, megabytes: number): string =>
  text.repeat(Math.ceil((megabytes * MB) / text.length))

function overlapping(): Uint8Array {
  const archive = Buffer.from(
    zip(Array.from({ length: 18 }, (_, i) => ({ name: `${i}.xml`, content: dense('<a>', 1) }))),
  )
  for (
    let at = archive.indexOf('504b0102', 0, 'hex');
    at >= 0;
    at = archive.indexOf('504b0102', at + 4, 'hex')
  ) {
    archive.writeUInt32LE(0, at + 42)
  }
  return archive
}

describe('hostile files end, within their limits', () => {
  const cases: [name: string, content: () => string | Uint8Array, codes: string[]][] = [
    ['a gzip bomb', () => BOMB, ['ratio_too_high']],
    ['a gzip bomb in a gzip', () => gzip(BOMB), ['ratio_too_high']],
    [
      'a zip of bombs',
      () => zip(Array.from({ length: 19 }, (_, i) => ({ name: `${i}`, content: BOMB, method: 0 }))),
      ['ratio_too_high', 'unpacked_too_large'],
    ],
    [
      'a zip with 4,000 files',
      () => zip(Array.from({ length: 4000 }, (_, i) => ({ name: `${i}`, content: 'x', method: 0 }))),
      ['too_many_entries'],
    ],
    ['a zip with overlapping files', overlapping, ['archive_overlap']],
    [
      'a zip of zips of zips',
      () =>
        zip([{ name: 'a', content: zip([{ name: 'b', content: zip([{ name: 'c', content: report() }]) }]) }]),
      ['nesting_too_deep'],
    ],
    [
      'a billion laughs',
      () => `<!DOCTYPE f [<!ENTITY l0 "lol">${laughs}]>${head}&l10;</feedback>`,
      ['dtd_not_allowed'],
    ],
    [
      'an external entity',
      () => `<!DOCTYPE f [<!ENTITY x SYSTEM "http://127.0.0.1:1/">]>${report()}`,
      ['dtd_not_allowed'],
    ],
    [
      'a parameter entity',
      () => `<!DOCTYPE f [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>${report()}`,
      ['dtd_not_allowed'],
    ],
    ['an endless document type', () => `<!DOCTYPE f [${dense('<!-- x -->', 20)}`, ['dtd_not_allowed']],
    ['an endless document type without brackets', () => `<!DOCTYPE ${dense('f ', 20)}`, ['dtd_not_allowed']],
    ['a million elements in one another', () => head + '<a>'.repeat(1_000_000), ['too_deep']],
    ['20 MB of one name', () => `${head}<${dense('a', 20)}>`, ['token_too_long']],
    ['a value of 20 MB in a tag', () => `<feedback a="${dense('x', 20)}">`, ['token_too_long']],
    ['very many values in a tag', () => `<feedback ${dense('a="b" ', 20)}>`, ['token_too_long']],
    ['a comment of 20 MB', () => `${head}<!--${dense('- ', 20)}-->`, ['token_too_long']],
    ['a comment of 20 MB of dashes', () => `${head}<!--${dense('-', 20)}`, ['token_too_long']],
    ['an instruction without end', () => `<?${dense('x?', 20)}`, ['token_too_long']],
    ['20 MB of CDATA without end', () => `${head}<![CDATA[${dense(']]', 20)}`, ['token_too_long']],
    ['a text of 20 MB', () => report({ org: dense('x', 20) }), []],
    ['20 MB of signs that open nothing', () => report({ org: dense('< ', 20) }), []],
    ['20 MB of &', () => report({ org: dense('&', 20) }), []],
    ['20 MB of references', () => report({ org: dense('&#65;', 20) }), []],
    ['20 MB of end tags', () => report({ records: dense('</x>', 20) }), ['malformed_xml']],
    ['20 MB of unclosed known tags', () => `${head}${dense('<record>', 20)}`, ['too_deep']],
    ['20 MB of empty tags', () => report({ records: dense('<x/>', 20) }), []],
    ['20 MB of brackets that are no tags', () => report({ org: dense('<a@b>', 20) }), ['malformed_xml']],
    ['20 MB of tags with values', () => report({ records: dense('<x a="1"></x>', 20) }), []],
    ['20 MB before the first tag', () => dense('\n', 20) + report(), ['not_a_report']],
    ['20 MB of another document', () => dense('<p>hello</p>', 20), ['not_a_report']],
    ['200,000 signatures in a record', () => report({ records: record({ auth: dkim.repeat(200_000) }) }), []],
    [
      '200,000 reasons in a record',
      () => report({ records: record({ reason: '<reason><type>x</type></reason>'.repeat(200_000) }) }),
      [],
    ],
    [
      'a record with long texts only',
      () =>
        report({
          records: record({
            auth: `<dkim><human_result>${'x'.repeat(4000)}</human_result></dkim>`.repeat(100),
          }).repeat(45),
        }),
      [],
    ],
    ['very many bad records', () => report({ records: dense(record({ ip: 'x' }), 20) }), []],
    [
      'every value wrong in its own way',
      () =>
        report({
          records: Array.from({ length: 40_000 }, (_, i) =>
            record({
              disposition: `d${i}`,
              dkim: `k${i}`,
              ip: `192.0.2.0${i % 99}`,
              from: `B${i}\u00fc.example`,
            }),
          ).join(''),
        }),
      [],
    ],
    ['thousands of reports in a file', () => report().repeat(20_000), []],
    [
      'values made for slow expressions',
      () =>
        report({
          records: record({
            ip: '1'.repeat(4000),
            count: '1,'.repeat(2000),
            from: `${'a-'.repeat(2000)}!`,
            reason: `<reason>${'('.repeat(4000)}</reason>`,
          }).repeat(1000),
          begin: '9'.repeat(4000),
          id: '<'.repeat(1),
        }),
      [],
    ],
    [
      'bytes that are no UTF-8',
      () => Buffer.concat([Buffer.from(report({ tail: '' })), Buffer.alloc(20 * MB, 0xe9)]),
      ['truncated'],
    ],
    ['20 MB of JSON brackets', () => dense('[', 20), ['unpacked_too_large']],
    ['7 MB of JSON brackets', () => dense('[', 7), ['malformed_json']],
    ['7 MB of JSON lists', () => `[${dense('[],', 7)}0]`, ['malformed_json']],
    ['a mail with a header of 20 MB', () => `Subject: x\r\n${dense('a', 20)}`, ['token_too_long']],
    ['a mail with very many headers', () => `Subject: x\r\n${dense('a: b\r\n', 20)}\r\n`, ['token_too_long']],
    ['a mail of line breaks', () => `Subject: x\r\n\r\n${dense('\n', 20)}`, ['not_a_report']],
    [
      'a mail of dashes',
      () => `Content-Type: multipart/mixed; boundary=b\r\n\r\n${dense('\n--', 20)}`,
      ['too_many_entries'],
    ],
    [
      'a mail of delimiters',
      () => `Content-Type: multipart/mixed; boundary=b\r\n\r\n${dense('\n--b', 20)}`,
      ['too_many_entries'],
    ],
    [
      'a mail of parts',
      () => `Content-Type: multipart/mixed; boundary=b\r\n\r\n${dense('--b\r\n\r\nx\r\n', 20)}`,
      ['too_many_entries'],
    ],
    [
      'mails in mails',
      () => `Subject: x\r\n${dense('Content-Type: message/rfc822\r\n\r\n', 20)}`,
      ['nesting_too_deep'],
    ],
    [
      'multiparts in multiparts',
      () =>
        Array.from(
          { length: 50_000 },
          (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
        ).join(''),
      ['nesting_too_deep'],
    ],
    [
      'a mailbox of empty mails',
      () => dense('From a@b.example Mon Feb  2 10:00:00 2026\nSubject: x\n\n', 20),
      ['too_many_entries'],
    ],
    [
      'a mail of equals signs',
      () => mail([{ type: 'text/xml', encoding: 'quoted-printable', body: dense('=', 20) }]),
      ['not_a_report'],
    ],
    [
      'a mail of padding',
      () => mail([{ type: 'application/gzip', encoding: 'base64', body: dense('=', 20) }]),
      ['not_a_report'],
    ],
    [
      'a mail with a bomb',
      () => mail([{ type: 'application/gzip', encoding: 'base64', content: BOMB }]),
      ['ratio_too_high'],
    ],
    [
      'a mail with parameters without end',
      () => mail([{ type: `a/b${'; x="\\'.repeat(2000)}`, body: 'x' }]),
      ['not_a_report'],
    ],
    [
      'words in a subject without end',
      () => mail([{ type: 'text/xml', body: report() }], { headers: [`Subject: ${'=?a?b?'.repeat(5000)}`] }),
      [],
    ],
    ['a report about a policy without end', () => report({ policy: POLICY.repeat(20_000) }), []],
  ]
  test.each(cases)(
    '%s',
    async (_name, content, codes) => {
      const before = pool.stats().killed
      const out = await run(content())
      const got = out.rejected.map((rejected) => rejected.code)
      if (codes.length === 0) expect(out.ends.length).toBeGreaterThan(0)
      else {
        expect(out.ends).toEqual([])
        expect(codes).toContain(got[0]!)
      }
      // It ended by itself: nothing had to be killed.
      expect(pool.stats().killed).toBe(before)
      expect(pool.stats().rss_peak).toBeLessThan(MEMORY)
    },
    30_000,
  )

  test('24 MB of records are read while the parent goes on answering', async () => {
    const path = join(scratch, 'large.xml')
    const fd = openSync(path, 'w')
    writeSync(fd, report({ tail: '' }))
    let size = 0
    for (let i = 0; size < 24 * MB; i += 500) {
      size += writeSync(
        fd,
        Array.from({ length: 500 }, (_, k) =>
          record({
            ip: `10.${(i + k) >> 16}.${((i + k) >> 8) & 255}.${(i + k) & 255}`,
            from: `h${(i + k) % 997}.example`,
          }),
        ).join(''),
      )
    }
    writeSync(fd, '</feedback>')
    closeSync(fd)
    let rows = 0
    // A turn of the loop is as long as the processor worked in it: waiting for one is not ours.
    const turns: number[] = []
    let last = performance.now()
    let used = process.cpuUsage()
    const ticker = setInterval(() => {
      const now = performance.now()
      const worked = process.cpuUsage(used)
      turns.push(Math.min(now - last, (worked.user + worked.system) / 1000))
      last = now
      used = process.cpuUsage()
    }, 5)
    for await (const message of pool.run({ kind: 'report', name: 'l', path, now: NOW })) {
      if (message.type === 'records') rows += message.rows.length
      if (message.type === 'rejected') throw new Error(message.code)
    }
    clearInterval(ticker)
    expect(rows).toBeGreaterThan(40_000)
    expect(turns.length).toBeGreaterThan(10)
    expect(Math.max(...turns)).toBeLessThan(50)
  }, 60_000)
})
