/**
 * All benches one after the other, each in a process of its own: `bun run bench [name …]`. The machine should be quiet.
 * `PARSEDMARC=/path/to/parsedmarc` compares the import with it; wrk gives the requests a second.
 */
import { cpus, totalmem } from 'node:os'

const BENCHES: Record<string, string[]> = {
  http: ['test/bench/http.ts'],
  commit: ['test/bench/commit.ts'],
  audit: ['test/bench/audit.ts'],
  parse: ['test/bench/parse.ts'],
  folder: ['test/bench/reports.ts', 'folder'],
  large: ['test/bench/reports.ts', 'large'],
  million: ['test/bench/reports.ts', 'million'],
  webhooks: ['test/bench/webhooks.ts'],
}

const wanted = process.argv.slice(2)
const names = wanted.length === 0 ? Object.keys(BENCHES) : wanted
const unknown = names.filter((name) => !(name in BENCHES))
if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`)
  process.exit(2)
}

const [cpu] = cpus()
console.log(`${cpus().length} x ${cpu?.model}, ${Math.round(totalmem() / 1e9)} GB, Bun ${Bun.version}`)
let failed = 0
for (const name of names) {
  console.log(`\n== ${name}`)
  const child = Bun.spawn([process.execPath, ...BENCHES[name]!], { stdio: ['ignore', 'inherit', 'inherit'] })
  if ((await child.exited) !== 0) failed++
}
process.exit(failed === 0 ? 0 : 1)
