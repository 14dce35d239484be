/**
 * Runs the compiled executable on a data folder of its own and drives it with the system's Chromium. Everything here
 * works as a stranger would: the command line, the setup link, the pages, the API; nothing reaches inside.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, setDefaultTimeout } from 'bun:test'
import { AxeBuilder } from '@axe-core/playwright'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const BINARY = process.env['WARDPOST_BINARY'] ?? join(ROOT, 'dist', 'wardpost')
const CHROMIUMS = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const CHROMIUM = CHROMIUMS.find((path) => path !== undefined && existsSync(path))

const missing = [
  existsSync(BINARY) ? undefined : `the executable ${BINARY} (bun run build)`,
  CHROMIUM === undefined ? 'Chromium (set CHROMIUM_PATH or install it)' : undefined,
].filter((part) => part !== undefined)
if (missing.length > 0)
  console.error(`\n*** BROWSER JOURNEYS SKIPPED: ${missing.join(' and ')} not found ***\n`)

export const OWNER = {
  name: 'Mara Lindqvist',
  email: 'mara@northlight.example',
  password: 'a quiet harbour at dawn',
  organisation: 'Northlight Labs',
}

export interface Instance {
  url: string
  data: string
  /** What it wrote to the terminal so far. */
  printed: () => string
  /** The one-time token of first run, as printed and kept in DATA/setup-link. */
  setupToken: () => string
  cli: (...args: string[]) => Promise<Record<string, unknown>>
  call: (path: string, init?: RequestInit) => Promise<Response>
  stop: () => Promise<void>
}

async function freePort(): Promise<number> {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const { port } = probe
  probe.stop(true)
  return port
}

/**
 * Starts `wardpost <verb>` in a new data folder and waits until it says it is ready (10 s at most). `more` are further
 * options of the command line.
 */
export async function startInstance(
  verb: 'serve' | 'demo' = 'serve',
  limit_ms = 10_000,
  more: readonly string[] = [],
): Promise<Instance> {
  const data = mkdtempSync(join(tmpdir(), 'wardpost-e2e-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const args = [BINARY, verb, '--data', data, '--host', '127.0.0.1', '--port', String(port), ...more]
  const env = { PATH: process.env['PATH'] ?? '', HOME: data, WARDPOST_LOG_LEVEL: 'warn' }
  const server = Bun.spawn(args, { cwd: data, env, stdout: 'pipe', stderr: 'pipe' })
  let printed = ''
  const listen = async (stream: ReadableStream<Uint8Array>) => {
    const text = new TextDecoder()
    for await (const bytes of stream) printed += text.decode(bytes, { stream: true })
  }
  const ended = Promise.all([listen(server.stdout), listen(server.stderr)])
  const deadline = Date.now() + limit_ms
  for (;;) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined)
    // The link is written a moment after the port is open.
    if (answer?.ok === true && (verb === 'demo' || existsSync(join(data, 'setup-link')))) break
    if (server.exitCode !== null || Date.now() > deadline) {
      server.kill('SIGKILL')
      await ended
      throw new Error(`${verb} did not come up:\n${printed}`)
    }
    await Bun.sleep(25)
  }
  return {
    url,
    data,
    printed: () => printed,
    setupToken: () => readFileSync(join(data, 'setup-link'), 'utf8').trim().split('#').at(-1) ?? '',
    cli: async (...rest) => {
      const run = Bun.spawn([BINARY, ...rest, '--data', data, '--json'], {
        cwd: data,
        env,
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
      if ((await run.exited) !== 0) throw new Error(`wardpost ${rest.join(' ')}: ${err}${out}`)
      return JSON.parse(out) as Record<string, unknown>
    },
    call: (path, init = {}) => {
      const headers = new Headers(init.headers)
      headers.set('Origin', url)
      if (typeof init.body === 'string') headers.set('Content-Type', 'application/json')
      return fetch(url + path, { ...init, headers })
    },
    stop: async () => {
      server.kill('SIGTERM')
      const forced = setTimeout(() => server.kill('SIGKILL'), 5000)
      await server.exited
      clearTimeout(forced)
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** Options of an instance that may send to loopback and trusts this authority; its certificate goes into `folder`. */
export function trustOf(folder: string, authority_pem: string): string[] {
  const path = join(folder, 'authority.pem')
  writeFileSync(path, authority_pem)
  return ['--egress-allow', '127.0.0.0/8', '--ca-file', path]
}

export const json = (body: unknown): RequestInit => ({ method: 'POST', body: JSON.stringify(body) })

/** Uses the setup link through the API and answers the cookie of the owner's session. */
export async function setUp(instance: Instance): Promise<string> {
  const answer = await instance.call('/setup', json({ token: instance.setupToken(), ...OWNER }))
  if (answer.status !== 201) throw new Error(`setup answered ${answer.status}: ${await answer.text()}`)
  return sessionCookie(answer)
}

/** `name=value` of the session that an answer starts. */
export function sessionCookie(answer: Response): string {
  const cookie = answer.headers.getSetCookie().at(0)?.split(';')[0]
  if (cookie === undefined) throw new Error('the answer starts no session')
  return cookie
}

export interface View {
  width?: number
  height?: number
  theme?: 'light' | 'dark'
  cookie?: string
}

export interface Stage {
  /** A page of a new browser context: nothing is shared with other pages. */
  open: (instance: Instance, path: string, view?: View) => Promise<Page>
  context: (instance: Instance, view?: View) => Promise<BrowserContext>
}

/** Declares a group of journeys: one browser, `prepare` before them, everything closed afterwards. */
export function journeys(title: string, define: (stage: Stage) => void): void {
  const group = missing.length > 0 ? describe.skip : describe
  group(title, () => {
    setDefaultTimeout(90_000)
    let browser: Browser | undefined
    const contexts: BrowserContext[] = []
    beforeAll(async () => {
      browser = await launch()
    })
    afterAll(async () => {
      for (const context of contexts) await context.close()
      await browser?.close()
    })
    const context = async (instance: Instance, view: View = {}): Promise<BrowserContext> => {
      if (browser === undefined) throw new Error('the browser is not there yet')
      const made = await newContext(browser, instance, view)
      contexts.push(made)
      return made
    }
    define({
      context,
      open: async (instance, path, view = {}) => {
        const page = await (await context(instance, view)).newPage()
        await page.goto(instance.url + path)
        return page
      },
    })
  })
}

/** The sandbox of Chromium needs user namespaces, which containers often lack; it only ever opens our own pages. */
export function launch(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('Chromium is not installed')
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

export async function newContext(
  browser: Browser,
  instance: Instance,
  view: View = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: view.width ?? 1440, height: view.height ?? 900 },
    colorScheme: view.theme ?? 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  context.setDefaultTimeout(15_000)
  if (view.cookie !== undefined) {
    const [name = '', value = ''] = view.cookie.split('=')
    await context.addCookies([{ name, value, url: instance.url }])
  }
  return context
}

/** The rules whose answer depends on colours: all that has to be asked again in the other theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** Names and places of all that axe finds wrong on the page as it is now. Empty is right. There are no frames. */
export async function axeFindings(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode(true)
  const { violations } = await (rules === 'all' ? axe : axe.withRules(COLOUR_RULES)).analyze()
  return violations.flatMap((violation) =>
    violation.nodes.map(
      (node) => `${violation.id}: ${node.target.join(' ')} | ${node.failureSummary?.split('\n')[1]?.trim()}`,
    ),
  )
}

/** A small well-formed aggregate report: `pass` messages from one address, `fail` from another. */
export function aggregateReport(options: {
  domain: string
  id: string
  pass: number
  fail: number
  begin: number
}): string {
  const row = (ip: string, count: number, result: 'pass' | 'fail', signer: string) => `
  <record>
    <row>
      <source_ip>${ip}</source_ip><count>${count}</count>
      <policy_evaluated><disposition>none</disposition><dkim>${result}</dkim><spf>${result}</spf></policy_evaluated>
    </row>
    <identifiers><header_from>${options.domain}</header_from></identifiers>
    <auth_results>
      <dkim><domain>${signer}</domain><selector>s1</selector><result>${result}</result></dkim>
      <spf><domain>${signer}</domain><result>${result}</result></spf>
    </auth_results>
  </record>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <version>1.0</version>
  <report_metadata>
    <org_name>Receiver One</org_name><email>noreply@receiver.example</email><report_id>${options.id}</report_id>
    <date_range><begin>${options.begin}</begin><end>${options.begin + 86_399}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>${options.domain}</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct>
  </policy_published>${row('192.0.2.10', options.pass, 'pass', options.domain)}${row('198.51.100.24', options.fail, 'fail', 'bulk.example')}
</feedback>
`
}
