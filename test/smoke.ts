/**
 * What a stranger does with the executable in its first hour, from an empty folder: start, set up, sign in, make a key,
 * upload, list, restart, back up, restore. Uses nothing of the sources. `bun run test/smoke.ts [EXECUTABLE]` runs it by
 * itself; test/smoke.test.ts runs it among the tests, also without any network.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const BINARY = process.env['WARDPOST_BINARY'] ?? new URL('../dist/wardpost', import.meta.url).pathname

export interface Ran {
  code: number
  out: string
  err: string
}

/** An executable, an empty folder to start it in, and nothing in its environment. */
export interface Place {
  folder: string
  data: string
  remove(): void
}

export function emptyPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'wardpost-smoke-'))
  return {
    folder,
    data: join(folder, 'data'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Runs a command to its end. */
export async function run(place: Place, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = Bun.spawn([BINARY, ...args], { cwd: place.folder, env, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

/** Runs a command with --json and answers the document. Throws when it fails. */
export async function ask(place: Place, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await run(place, [...args, '--data', place.data, '--json'])
  if (code !== 0) throw new Error(`wardpost ${args.join(' ')}: exit ${code}: ${err}${out}`)
  return JSON.parse(out) as Record<string, unknown>
}

export interface Running {
  url: string
  pid: number
  /** What was written so far, on standard output and on standard error. */
  out(): string
  err(): string
  /** Asks it to stop; its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>
}

/** Starts the server on a free port and waits for the log line that says where it is. */
export async function start(
  place: Place,
  options: { verb?: 'serve' | 'demo'; data?: string | null; args?: string[] } = {},
): Promise<Running> {
  const { verb = 'serve', data = place.data, args = [] } = options
  const command = [BINARY, verb, ...(data === null ? [] : ['--data', data]), '--port', '0', ...args]
  const child = Bun.spawn(command, { cwd: place.folder, env: {}, stdout: 'pipe', stderr: 'pipe' })
  const seen = { out: '', err: '' }
  const collect = async (name: 'out' | 'err', stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) seen[name] += decoder.decode(chunk, { stream: true })
  }
  const collected = Promise.all([collect('out', child.stdout), collect('err', child.stderr)])
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number> => {
    child.kill(signal)
    const code = await child.exited
    await collected
    return code
  }
  for (let waited = 0; waited < 30_000; waited += 10) {
    const ready = logLines(seen.err).find((line) => line['msg'] === 'ready')
    if (ready !== undefined) {
      return { url: ready['url'] as string, pid: child.pid, out: () => seen.out, err: () => seen.err, stop }
    }
    if (child.exitCode !== null) break
    await Bun.sleep(10)
  }
  await stop('SIGKILL')
  throw new Error(`the server did not come up:\n${seen.out}${seen.err}`)
}

/** The JSON lines of a log; other lines are left out. */
export function logLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

export const OWNER = {
  name: 'Mara Lindqvist',
  email: 'mara@northlight.example',
  password: 'a quiet harbour at dawn',
  organisation: 'Northlight Labs',
}

/** Sends JSON as the UI does and answers status, document and the cookie that was set. */
export async function send(
  url: string,
  method: string,
  path: string,
  options: { body?: unknown; key?: string; cookie?: string } = {},
): Promise<{ status: number; body: Record<string, unknown>; cookie: string | null }> {
  const headers = new Headers({ origin: url })
  if (options.key !== undefined) headers.set('authorization', `Bearer ${options.key}`)
  if (options.cookie !== undefined) headers.set('cookie', options.cookie)
  if (options.body !== undefined) headers.set('content-type', 'application/json')
  const response = await fetch(url + path, {
    method,
    headers,
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  })
  const text = await response.text()
  const is_json = (response.headers.get('content-type') ?? '').includes('json')
  return {
    status: response.status,
    body: is_json ? (JSON.parse(text) as Record<string, unknown>) : { text },
    cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? null,
  }
}

/** First run through the printed link; the cookie of the owner's session. */
export async function setUp(place: Place, { url }: Running): Promise<string> {
  const file = join(place.data, 'setup-link')
  if ((statSync(file).mode & 0o777) !== 0o600) throw new Error('the setup link can be read by others')
  const token = readFileSync(file, 'utf8').trim().split('#')[1]
  const answer = await send(url, 'POST', '/setup', { body: { token, ...OWNER } })
  if (answer.status !== 201 || answer.cookie === null)
    throw new Error(`setup: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.cookie
}

/** A day's report about a domain: 40 messages, 10 of them failing. */
export function reportXml(domain: string, day: string, id = day): string {
  const begin = Date.parse(`${day}T00:00:00Z`) / 1000
  const record = (ip: string, count: number, result: 'pass' | 'fail'): string =>
    `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated>` +
    `<disposition>none</disposition><dkim>${result}</dkim><spf>${result}</spf></policy_evaluated></row>` +
    `<identifiers><header_from>${domain}</header_from></identifiers><auth_results><spf><domain>${domain}</domain>` +
    `<result>${result}</result></spf></auth_results></record>`
  return (
    `<?xml version="1.0" encoding="UTF-8"?><feedback><report_metadata><org_name>receiver.example</org_name>` +
    `<email>dmarc@receiver.example</email><report_id>${id}</report_id><date_range><begin>${begin}</begin>` +
    `<end>${begin + 86_399}</end></date_range></report_metadata><policy_published><domain>${domain}</domain>` +
    `<adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct></policy_published>` +
    `${record('192.0.2.10', 30, 'pass')}${record('198.51.100.7', 10, 'fail')}</feedback>`
  )
}

export async function upload(
  { url }: Running,
  key: string,
  name: string,
  content: string,
): Promise<{ status: number; body: { results: { reports: { status: string; id?: string }[] }[] } }> {
  const form = new FormData()
  form.append('file', new File([content], name))
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${url}/v1/reports/upload`, { method: 'POST', body: form, headers })
  return { status: response.status, body: await response.json() }
}

function demand(right: boolean, what: string): asserts right {
  if (!right) throw new Error(`smoke: ${what}`)
}

/** The whole first hour. Throws at the first thing that is not as it should be. */
export async function firstHour(): Promise<void> {
  const place = emptyPlace()
  const server = await start(place)
  try {
    const before = await send(server.url, 'GET', '/v1/me', { key: 'wdp_none' })
    demand(
      before.status === 503 && before.body['code'] === 'setup_required',
      'the API is shut before the setup',
    )
    const page = await send(server.url, 'GET', '/')
    demand(
      page.status === 200 && String(page.body['text']).includes('<div id="root">'),
      'the UI is in the executable',
    )
    const cookie = await setUp(place, server)
    const made = await send(server.url, 'POST', '/v1/settings/keys', {
      cookie,
      body: { name: 'script', scopes: ['reports:write', 'reports:read', 'domains:write', 'domains:read'] },
    })
    demand(made.status === 201, `a key is made: ${JSON.stringify(made.body)}`)
    const key = made.body['api_key'] as string
    const domain = await send(server.url, 'POST', '/v1/domains', {
      key,
      body: { name: 'northlight.example' },
    })
    demand(domain.status === 201, `a domain is added: ${JSON.stringify(domain.body)}`)
    const sent = await upload(server, key, 'report.xml', reportXml('northlight.example', '2026-01-14'))
    demand(sent.status === 201, `a report is accepted: ${JSON.stringify(sent.body)}`)
    const again = await upload(server, key, 'report.xml', reportXml('northlight.example', '2026-01-14'))
    demand(
      again.status === 200 && again.body.results[0]!.reports[0]!.status === 'duplicate',
      'twice is a duplicate',
    )
    const list = await send(server.url, 'GET', '/v1/reports', { key })
    const [report] = list.body['items'] as { domain: string; totals: { messages: number; fail: number } }[]
    demand(report?.domain === 'northlight.example', 'the report is listed')
    demand(report.totals.messages === 40 && report.totals.fail === 10, 'its figures are right')
    const docs = await send(server.url, 'GET', '/docs/json')
    demand(docs.status === 200 && typeof docs.body['paths'] === 'object', 'the API describes itself')
    demand((await server.stop()) === 0, 'it stops in order')
  } finally {
    await server.stop('SIGKILL')
    place.remove()
  }
}

if (import.meta.main) {
  await firstHour()
  console.log('smoke: the first hour went well')
}
