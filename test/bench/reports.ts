/**
 * Reports, through the whole of the product but the socket, on the disk:
 *
 *   folder   a folder of real reports: audit, originals and commit included (`WARDPOST_TEST_DATA`); with `PARSEDMARC`
 *            (its executable) both in turn
 *   large    one report of 200 MB unpacked, the API asked meanwhile
 *   million  a year of a busy tenant: 1 million records, then lists, timelines and sources
 *
 * `bun test/bench/reports.ts [folder] [large] [million]`. The data is made from a seed.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGzip } from 'node:zlib'
import { createChance } from '../../src/demo/random.ts'
import { createIngest } from '../../src/reports/ingest.ts'
import { importPaths } from '../../src/reports/import.ts'
import { specFile, specPool, type ReportSpec, type RowSpec } from '../support/reports.ts'
import { type BenchApp, median, openBenchApp, percentile } from './support.ts'

const DAY = 86_400_000
const DATA = process.env['WARDPOST_TEST_DATA'] ?? join(import.meta.dir, '../../../shared/data')
const RUNS = 5

/** One import in a process of its own, as the command makes it; the sandbox starts with it. */
async function folderOnce(): Promise<void> {
  const bench = await openBenchApp()
  const started = performance.now()
  const path = join(DATA, 'dmarc/real')
  const done = await importPaths(
    bench.app.services.ingest,
    bench.actor,
    [path],
    () => performance.now(),
    () => {},
  )
  const ms = performance.now() - started
  const [sums] = await bench.db.query<{ records: number }>('SELECT sum(records) AS records FROM reports')
  console.log(JSON.stringify({ ms, files: done.files, records: sums!.records }))
  await bench.close()
}

async function folder(): Promise<void> {
  const parsedmarc = process.env['PARSEDMARC']
  const ours: number[] = []
  const theirs: number[] = []
  let counted = { files: 0, records: 0 }
  for (let run = 0; run < RUNS; run++) {
    const child = Bun.spawnSync([process.execPath, import.meta.path, 'folder-once'])
    const { ms, files, records } = JSON.parse(child.stdout.toString()) as {
      ms: number
      files: number
      records: number
    }
    counted = { files, records }
    ours.push(ms)
    if (parsedmarc !== undefined) theirs.push(runParsedmarc(parsedmarc))
  }
  const rate = (ms: number) => Math.round((counted.files / ms) * 1000)
  console.table({
    wardpost: {
      files: counted.files,
      records: counted.records,
      'ms (median)': median(ours),
      'files/s': rate(median(ours)),
    },
    ...(theirs.length === 0
      ? {}
      : {
          parsedmarc: {
            files: counted.files,
            'ms (median)': median(theirs),
            'files/s': rate(median(theirs)),
          },
        }),
  })
  if (theirs.length > 0) console.log(`ratio of medians: ${(median(theirs) / median(ours)).toFixed(1)}`)
}

/** The whole command, start included, as ours is measured with the start of its sandbox. Milliseconds. */
function runParsedmarc(executable: string): number {
  const out = join(process.env['WARDPOST_BENCH_DIR'] ?? '/tmp', 'parsedmarc-out')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const config = join(out, 'p.ini')
  writeFileSync(
    config,
    `[general]\nsave_aggregate = True\nsilent = True\noffline = True\nalways_use_local_files = True\noutput = ${out}\nn_procs = 1\n`,
  )
  const folder = join(DATA, 'dmarc/real')
  const files = readdirSync(folder).filter((name) => name.endsWith('.xml'))
  const started = performance.now()
  Bun.spawnSync([executable, '-c', config, ...files], { cwd: folder, stdout: 'ignore', stderr: 'ignore' })
  return performance.now() - started
}

const LARGE_BYTES = 200_000_000

async function large(): Promise<void> {
  const bench = await openBenchApp()
  const { path, records } = await largeFile(join(bench.data_dir, 'large.xml.gz'))
  await bench.post('/v1/domains', { name: 'example.com' })
  // Everything warm, so that idle means idle.
  for (let i = 0; i < 200; i++) await bench.get('/v1/reports?limit=50')
  Bun.gc(true)
  const idle = process.memoryUsage.rss()
  let peak = idle
  const waits: number[] = []
  let running = true
  const probe = (async () => {
    for (let due = performance.now(); running; due += 10) {
      await Bun.sleep(Math.max(0, due - performance.now()))
      await bench.get('/v1/reports?limit=50')
      // From when it should have begun: a blocked loop counts.
      waits.push(performance.now() - due)
      peak = Math.max(peak, process.memoryUsage.rss())
      due = Math.max(due, performance.now() - 10)
    }
  })()
  const cpu = process.cpuUsage()
  const started = performance.now()
  const [outcome] = await bench.app.services.ingest.upload(bench.actor, 'upload', [
    { name: 'large.xml.gz', path, owned: false },
  ])
  const ms = performance.now() - started
  running = false
  await probe
  const stats = bench.pool.stats()
  const { user, system } = process.cpuUsage(cpu)
  console.log(
    outcome!.reports.map(({ status, code, detail, messages }) => ({ status, code, detail, messages })),
  )
  console.table({
    'unpacked, MB': Math.round(LARGE_BYTES / 1e6),
    records,
    seconds: Number((ms / 1000).toFixed(1)),
    'records/s committed': Math.round((records / ms) * 1000),
    'processor seconds (server)': Number(((user + system) / 1e6).toFixed(1)),
    'memory over idle, MB (server)': Math.round((peak - idle) / 1e6),
    'memory of the sandbox, MB': Math.round(stats.rss_peak / 1e6),
    'API p50, ms': percentile(waits, 0.5),
    'API p99, ms': percentile(waits, 0.99),
    'API max, ms': percentile(waits, 1),
  })
  await bench.close()
}

/** A report with so many records that it has LARGE_BYTES unpacked. */
async function largeFile(path: string): Promise<{ path: string; records: number }> {
  const chance = createChance(11)
  const gzip = createGzip({ level: 6 })
  const file = Bun.file(path).writer()
  gzip.on('data', (chunk: Buffer) => file.write(chunk))
  const ended = new Promise((resolve) => gzip.on('end', resolve))
  const head = `<?xml version="1.0"?>\n<feedback><report_metadata><org_name>Large</org_name><email>a@large.example</email>
<report_id>large</report_id><date_range><begin>1767225600</begin><end>1767311999</end></date_range></report_metadata>
<policy_published><domain>example.com</domain><p>none</p></policy_published>\n`
  let bytes = head.length
  let records = 0
  gzip.write(head)
  while (bytes < LARGE_BYTES) {
    let piece = ''
    for (let i = 0; i < 1000; i++) {
      const aligned = chance.hit(0.8)
      const verdict = aligned ? 'pass' : 'fail'
      const ip = `198.${18 + chance.between(0, 1)}.${chance.between(0, 255)}.${chance.between(0, 255)}`
      piece += `<record><row><source_ip>${ip}</source_ip><count>${chance.between(1, 9)}</count><policy_evaluated><disposition>none</disposition><dkim>${verdict}</dkim><spf>fail</spf></policy_evaluated></row><identifiers><envelope_to>receiver${chance.between(1, 900)}.example</envelope_to><envelope_from>bounce.example</envelope_from><header_from>example.com</header_from></identifiers><auth_results><dkim><domain>mail${chance.between(1, 40)}.example.com</domain><selector>s1</selector><result>${verdict}</result></dkim><spf><domain>bounce.example</domain><scope>mfrom</scope><result>pass</result></spf></auth_results></record>\n`
      records++
    }
    bytes += piece.length
    if (!gzip.write(piece)) await new Promise((resolve) => gzip.once('drain', resolve))
  }
  gzip.end('</feedback>')
  await ended
  await file.end()
  return { path, records }
}

const REPORTS = 20_000
const RECORDS_EACH = 50
const DOMAINS = 25

async function million(): Promise<void> {
  const bench = await openBenchApp()
  const ids: string[] = []
  for (let i = 0; i < DOMAINS; i++)
    ids.push((await bench.post('/v1/domains', { name: `brand${i}.example` })).id)
  const { seconds } = await fillYear(bench)
  console.log(
    `${REPORTS * RECORDS_EACH} records in ${seconds.toFixed(1)} s: ${Math.round((REPORTS * RECORDS_EACH) / seconds)}/s (rows made in the same process)`,
  )
  const to = new Date().toISOString().slice(0, 10)
  const from = new Date(Date.now() - 365 * DAY).toISOString().slice(0, 10)
  const middle = new Date(Date.now() - 180 * DAY).toISOString().slice(0, 10)
  const busy = ids[0]!
  const paths = {
    reports: '/v1/reports',
    'reports of a domain': '/v1/reports?domain=brand0.example',
    'reports of 5 domains, half a year': `/v1/reports?domain=${[0, 1, 2, 3, 4].map((i) => `brand${i}.example`).join(',')}&from=${from}&to=${middle}`,
    'reports of a reporter': '/v1/reports?org=Receiver+7',
    'reports by fail': '/v1/reports?sort=-fail',
    'reports of a domain by messages': '/v1/reports?domain=brand9.example&sort=-messages',
    'timeline of a domain, a year': `/v1/domains/${busy}/timeline?from=${from}&to=${to}`,
    'timeline of the tenant, a year': `/v1/reports/timeline?from=${from}&to=${to}`,
    'sources of a domain, 30 days': `/v1/domains/${busy}/sources`,
    'sources of a domain, a year': `/v1/domains/${busy}/sources?from=${from}&to=${to}`,
    'sources of the tenant, a year': `/v1/reports/sources?from=${from}&to=${to}`,
    'domains with compliance': '/v1/domains',
    'summary, a year': `/v1/reports/summary?from=${from}&to=${to}`,
  }
  const rows: Record<string, Record<string, number>> = {}
  for (const [name, path] of Object.entries(paths)) {
    for (let i = 0; i < 20; i++) await bench.get(path)
    const took: number[] = []
    const cpu = process.cpuUsage()
    for (let i = 0; i < 300; i++) took.push(await bench.get(path))
    const { user, system } = process.cpuUsage(cpu)
    rows[name] = {
      'processor ms': Number(((user + system) / 300_000).toFixed(1)),
      'p50 ms': percentile(took, 0.5),
      'p99 ms': percentile(took, 0.99),
      'max ms': percentile(took, 1),
    }
  }
  console.table(rows)
  await bench.close()
}

/** A year of reports through the ingest; only the parser is replaced, by rows that are there already. */
async function fillYear(bench: BenchApp): Promise<{ seconds: number }> {
  const chance = createChance(5)
  const ports = { ...bench.app.services, db: bench.db, pool: specPool(), networks: null }
  const ingest = createIngest({ ...ports, clock: { now: Date.now, monotonic: () => performance.now() } })
  const run = ingest.run(bench.actor, 'upload', 'reports.import', () => {})
  const today = Math.floor(Date.now() / DAY)
  let spent = 0
  for (let i = 0; i < REPORTS; i++) {
    const domain = `brand${Math.floor(chance.next() ** 2 * DOMAINS)}.example`
    const begin = (today - 1 - Math.floor((i / REPORTS) * 365)) * DAY
    const spec: ReportSpec = {
      id: `r${i}`,
      org: `Receiver ${chance.between(1, 60)}`,
      domain,
      begin,
      rows: Array.from({ length: RECORDS_EACH }, (_, at) => rowOf(at, domain, chance)),
    }
    const content = specFile(spec)
    const started = performance.now()
    await run.add({ name: `${i}.xml`, content })
    spent += performance.now() - started
  }
  const started = performance.now()
  await run.finish()
  return { seconds: (spent + performance.now() - started) / 1000 }
}

function rowOf(at: number, domain: string, chance: ReturnType<typeof createChance>): RowSpec {
  const aligned = at < 40
  return {
    ip: aligned
      ? `192.0.2.${chance.between(1, 200)}`
      : `198.18.${chance.between(0, 120)}.${chance.between(1, 250)}`,
    count: chance.between(1, 200),
    dkim: aligned,
    spf: at % 3 === 0 && aligned,
    from: domain,
    dkim_domain: `m${at % 12}.${domain}`,
    disposition: aligned ? 'none' : 'quarantine',
  }
}

const wanted = process.argv.slice(2)
const all: Record<string, () => Promise<void>> = { folder, large, million }
if (wanted[0] === 'folder-once') await folderOnce()
else for (const name of wanted.length > 0 ? wanted : Object.keys(all)) await all[name]!()
