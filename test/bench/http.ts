/**
 * The running executable from outside: how fast it is up, what it weighs, how many requests it answers. Load by wrk
 * (Debian's package), which shares the machine with the server.
 */
import { existsSync, readFileSync } from 'node:fs'
import { ask, BINARY, emptyPlace, start } from '../smoke.ts'

const STARTS = 15
const SECONDS = 8

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

/** Milliseconds from starting the process to the first 200 of /readyz. */
async function startUp(place: ReturnType<typeof emptyPlace>, port: number): Promise<number> {
  const began = performance.now()
  const child = Bun.spawn([BINARY, 'serve', '--data', place.data, '--port', String(port)], {
    cwd: place.folder,
    env: {},
    stdout: 'ignore',
    stderr: 'ignore',
  })
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null)
    if (answer?.status === 200) break
    await Bun.sleep(1)
  }
  const took = performance.now() - began
  child.kill('SIGTERM')
  await child.exited
  return took
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

export async function benchHttp(): Promise<[name: string, value: string][]> {
  const place = emptyPlace()
  const rows: [string, string][] = []
  const made = await ask(
    place,
    'tenant',
    'create',
    '--name',
    'bench',
    '--email',
    'a@bench.test',
    '--plan',
    'enterprise',
    '--limits',
    'key=10000000,tenant=10000000',
  )
  const starts: number[] = []
  for (let i = 0; i < STARTS; i++) starts.push(await startUp(place, 18_400 + i))
  rows.push([`ready after start, median of ${STARTS}`, `${median(starts).toFixed(0)} ms`])

  const server = await start(place)
  await Bun.sleep(10_000)
  rows.push(['VmRSS 10 s after ready', `${residentMb(server.pid).toFixed(0)} MB`])

  const key = String(made['api_key'])
  for (let i = 0; i < 5; i++) {
    await fetch(`${server.url}/v1/domains`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `bench${i}.example` }),
    })
  }
  for (const path of ['/v1/settings/keys?limit=5', '/v1/domains?limit=5', '/v1/me']) {
    rows.push([`GET ${path}`, `${await load(server.url + path, key)} requests/s`])
  }
  rows.push(['VmRSS after the load', `${residentMb(server.pid).toFixed(0)} MB`])
  await server.stop()
  place.remove()
  return rows
}

async function load(url: string, key: string): Promise<string> {
  if (!existsSync('/usr/bin/wrk')) return 'wrk is not installed'
  const wrk = Bun.spawn(['wrk', '-t1', '-c16', `-d${SECONDS}`, '-H', `Authorization: Bearer ${key}`, url], {
    stdout: 'pipe',
  })
  const text = await new Response(wrk.stdout).text()
  if (/Non-2xx/.test(text)) throw new Error(text)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)![1]).toFixed(0)
}

if (import.meta.main)
  for (const [name, value] of await benchHttp()) console.log(`${name.padEnd(44)} ${value}`)
