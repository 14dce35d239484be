/**
 * How fast reports are read: a folder of files through the pool, and one report of 200 MB.
 * Usage: bun run test/bench/parse.ts [FOLDER] [--children N] [--runs N] [--no-large]
 */
import { mkdtempSync, openSync, readdirSync, closeSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { createSandboxPool } from '../../src/sandbox/pool.ts'
import type { SandboxPool } from '../../src/sandbox/types.ts'

const LARGE_BYTES = 200 * 1024 * 1024
const ENTRY = resolve(import.meta.dir, '../support/sandbox-child.ts')

interface Outcome {
  files: number
  bytes: number
  reports: number
  rejected: number
  records: number
  messages: number
  seconds: number
}

async function readAll(pool: SandboxPool, files: readonly string[], at_once: number): Promise<Outcome> {
  const out: Outcome = {
    files: files.length,
    bytes: 0,
    reports: 0,
    rejected: 0,
    records: 0,
    messages: 0,
    seconds: 0,
  }
  const now = Date.now()
  const start = performance.now()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < files.length) {
      const path = files[next++]!
      for await (const message of pool.run({ kind: 'report', name: path, path, now })) {
        if (message.type === 'records') out.records += message.rows.length
        else if (message.type === 'end' && message.kind === 'dmarc') {
          out.reports++
          out.messages += message.totals.messages
        } else if (message.type === 'rejected') out.rejected++
        else if (message.type === 'done') out.bytes += message.unpacked_bytes
      }
    }
  }
  await Promise.all(Array.from({ length: at_once }, work))
  out.seconds = (performance.now() - start) / 1000
  return out
}

function writeLarge(path: string): number {
  const fd = openSync(path, 'w')
  let size = writeSync(
    fd,
    '<?xml version="1.0"?>\n<feedback><report_metadata><org_name>large.example</org_name>' +
      '<email>dmarc@large.example</email><report_id>large</report_id><date_range><begin>1767225600</begin>' +
      '<end>1767311999</end></date_range></report_metadata><policy_published><domain>tenant.example</domain>' +
      '<p>reject</p></policy_published>\n',
  )
  for (let i = 0; size < LARGE_BYTES;) {
    let block = ''
    for (let end = i + 500; i < end; i++) block += recordOf(i)
    size += writeSync(fd, block)
  }
  size += writeSync(fd, '</feedback>\n')
  closeSync(fd)
  return size
}

function recordOf(i: number): string {
  const pass = i % 7 === 0 ? 'fail' : 'pass'
  return (
    `<record><row><source_ip>10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}</source_ip><count>${(i % 9) + 1}</count>` +
    `<policy_evaluated><disposition>none</disposition><dkim>${pass}</dkim><spf>fail</spf></policy_evaluated></row>` +
    `<identifiers><header_from>tenant.example</header_from><envelope_from>bounce${i % 100}.example</envelope_from></identifiers>` +
    `<auth_results><dkim><domain>tenant.example</domain><selector>s${i % 4}</selector><result>${pass}</result></dkim>` +
    `<dkim><domain>mailer${i % 50}.example</domain><selector>k1</selector><result>pass</result></dkim>` +
    `<spf><domain>bounce${i % 100}.example</domain><scope>mfrom</scope><result>pass</result></spf></auth_results></record>\n`
  )
}

function report(label: string, out: Outcome, rss: number): void {
  const per = (value: number): string => Math.round(value / out.seconds).toLocaleString('en')
  console.log(
    `${label}: ${out.files} files, ${out.reports} reports, ${out.rejected} rejected, ${out.records} records, ` +
      `${out.messages} messages in ${out.seconds.toFixed(2)} s = ${per(out.reports)} reports/s, ` +
      `${per(out.records)} records/s, ${(out.bytes / 1e6 / out.seconds).toFixed(1)} MB/s, child peak ${Math.round(rss / 1e6)} MB`,
  )
}

function flag(name: string, fallback: number): number {
  const at = process.argv.indexOf(name)
  return at < 0 ? fallback : Number(process.argv[at + 1])
}

const data = process.env['WARDPOST_TEST_DATA'] ?? resolve(import.meta.dir, '../../../shared/data')
const given = process.argv[2]
const folder = given === undefined || given.startsWith('--') ? join(data, 'dmarc/real') : given
const files = readdirSync(folder)
  .map((name) => join(folder, name))
  .filter((path) => statSync(path).isFile())
const size = flag('--children', 2)

for (let run = 1; run <= flag('--runs', 3); run++) {
  const pool = createSandboxPool({ command: [process.execPath, ENTRY], size, clock: systemClock })
  const out = await readAll(pool, files, 32)
  out.bytes = files.reduce((sum, path) => sum + statSync(path).size, 0)
  report(`folder, run ${run}, ${size} children`, out, pool.stats().rss_peak)
  await pool.close()
}

async function readLarge(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'wardpost-bench-'))
  const large = join(scratch, 'large.xml')
  const large_bytes = writeLarge(large)
  const pool = createSandboxPool({ command: [process.execPath, ENTRY], size: 1, clock: systemClock })
  const limits = { input_bytes_max: 512 * 1024 * 1024 }
  const start = performance.now()
  const out: Outcome = {
    files: 1,
    bytes: large_bytes,
    reports: 0,
    rejected: 0,
    records: 0,
    messages: 0,
    seconds: 0,
  }
  for await (const message of pool.run({
    kind: 'report',
    name: 'large.xml',
    path: large,
    now: Date.now(),
    limits,
  })) {
    if (message.type === 'records') out.records += message.rows.length
    else if (message.type === 'end') out.reports++
    else if (message.type === 'rejected') out.rejected++
  }
  out.seconds = (performance.now() - start) / 1000
  report('200 MB report', out, pool.stats().rss_peak)
  console.log(`parent resident ${Math.round(process.memoryUsage.rss() / 1e6)} MB`)
  await pool.close()
  rmSync(scratch, { recursive: true })
}

if (!process.argv.includes('--no-large')) await readLarge()
