/**
 * `bun run screenshots`: every page at 1440 and 390 px, light and dark, into dist/screenshots. They are there to be
 * looked at; nothing compares them.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { ca, startReceiver } from '../support/receivers.ts'
import type { Receiver } from '../support/receivers.ts'
import { liftLimits, stageWebhooks } from './seed.ts'
import { ROOT, json, launch, newContext, sessionCookie, startInstance, trustOf } from './support.ts'
import type { Instance } from './support.ts'

const OUT = join(ROOT, 'dist', 'screenshots')

interface Shot {
  name: string
  path: string
  /** Without a session. */
  stranger?: boolean
  act?: (page: Page) => Promise<unknown>
}

const click = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click()

interface Ids {
  domain_id: string
  report_id: string
  key_id: string
  alert_id: string
  webhook_id: string
  delivery_id: string
}

/** Making months of reports takes a while on a small machine. */
const DEMO_START_MS = 120_000

function shotsOf(ids: Ids): Shot[] {
  return [
    { name: 'overview', path: '/' },
    { name: 'alerts', path: '/alerts' },
    { name: 'alert', path: `/alerts/${ids.alert_id}` },
    { name: 'alerts-silence', path: `/alerts/${ids.alert_id}`, act: click('Silence') },
    { name: 'alerts-done', path: '/alerts?status=silenced' },
    { name: 'domains', path: '/domains' },
    { name: 'domain', path: `/domains/${ids.domain_id}` },
    { name: 'domain-sources', path: `/domains/${ids.domain_id}?tab=sources` },
    { name: 'domain-records', path: `/domains/${ids.domain_id}?tab=dns` },
    { name: 'domain-reports', path: `/domains/${ids.domain_id}?tab=reports` },
    { name: 'domain-settings', path: `/domains/${ids.domain_id}?tab=settings` },
    { name: 'domain-add', path: '/domains?add=1' },
    { name: 'reports', path: '/reports' },
    { name: 'report', path: `/reports/${ids.report_id}` },
    { name: 'upload', path: '/reports/upload' },
    { name: 'reports-tls', path: '/reports/tls' },
    { name: 'reports-failures', path: '/reports/failures' },
    { name: 'reports-rejected', path: '/reports/rejected' },
    { name: 'reports-unassigned', path: '/reports/unassigned' },
    { name: 'audit', path: '/audit' },
    { name: 'audit-entry', path: '/audit/2' },
    {
      name: 'audit-verified',
      path: '/audit?verify=1',
      act: async (page) => {
        await page.getByRole('dialog').getByRole('button', { name: 'Verify', exact: true }).click()
        await page.getByRole('heading', { name: /^Intact/ }).waitFor()
      },
    },
    { name: 'webhooks', path: '/webhooks' },
    {
      name: 'webhook',
      path: `/webhooks/${ids.webhook_id}`,
      act: async (page) => {
        await click('Send test')(page)
        await page.getByText('What the receiver said').waitFor()
      },
    },
    { name: 'webhook-deliveries', path: `/webhooks/${ids.webhook_id}?tab=deliveries` },
    {
      name: 'webhook-delivery',
      path: `/webhooks/${ids.webhook_id}?tab=deliveries&delivery=${ids.delivery_id}`,
    },
    { name: 'webhook-signature', path: `/webhooks/${ids.webhook_id}?tab=signature` },
    { name: 'webhook-settings', path: `/webhooks/${ids.webhook_id}?tab=settings` },
    { name: 'webhook-add', path: '/webhooks?add=1' },
    { name: 'webhooks-undelivered', path: '/webhooks/undelivered' },
    { name: 'webhooks-again', path: '/webhooks/undelivered?again=1' },
    { name: 'settings', path: '/settings' },
    { name: 'notifications', path: '/settings/notifications' },
    { name: 'keys', path: '/settings/keys' },
    { name: 'key', path: `/settings/keys/${ids.key_id}` },
    { name: 'key-create', path: '/settings/keys', act: click('Create key') },
    { name: 'key-revoke', path: `/settings/keys/${ids.key_id}`, act: click('Revoke') },
    { name: 'users', path: '/settings/users' },
    { name: 'user-invite', path: '/settings/users', act: click('Invite') },
    { name: 'sessions', path: '/settings/sessions' },
    { name: 'instance', path: '/settings/instance' },
    { name: 'instance-tenants', path: '/settings/instance/tenants' },
    { name: 'instance-users', path: '/settings/instance/users' },
    { name: 'instance-backups', path: '/settings/instance/backups' },
    { name: 'instance-jobs', path: '/settings/instance/jobs?job=checkpoints' },
    { name: 'instance-mail', path: '/settings/instance/mail', act: click('Set up the mail server') },
    { name: 'instance-anchors', path: '/settings/instance/anchors' },
    { name: 'instance-settings', path: '/settings/instance/settings' },
    { name: 'account', path: '/account' },
    { name: 'palette', path: '/', act: (page) => page.keyboard.press('Control+k') },
    { name: 'login', path: '/login', stranger: true },
    { name: 'docs', path: '/docs', stranger: true },
    { name: 'docs-operation', path: '/docs#get-v1-reports', stranger: true },
    { name: 'docs-errors', path: '/docs#errors', stranger: true },
  ]
}

async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForFunction(() => document.querySelector('.sk, [aria-busy="true"]') === null)
  // Charts draw a frame after their data.
  await page.waitForTimeout(150)
}

/** As tall as its content, so that what sticks to the edges is where one sees it; a long list is cut. */
const SHOT_PX_MAX = 1800

async function fitHeight(page: Page, width: number, least: number): Promise<void> {
  const content = await page.evaluate(() => document.documentElement.scrollHeight)
  await page.setViewportSize({ width, height: Math.min(SHOT_PX_MAX, Math.max(least, content)) })
  await page.waitForTimeout(100)
}

async function takeAll(
  browser: Browser,
  instance: Instance,
  shots: readonly Shot[],
  cookie?: string,
): Promise<number> {
  let taken = 0
  for (const width of [1440, 390]) {
    for (const theme of ['light', 'dark'] as const) {
      const view = {
        width,
        theme,
        height: width === 390 ? 844 : 900,
        ...(cookie === undefined ? {} : { cookie }),
      }
      const context = await newContext(browser, instance, view)
      const page = await context.newPage()
      for (const shot of shots) {
        try {
          await page.goto(instance.url + shot.path)
          // A change of the fragment alone loads nothing.
          await page.reload()
          await settled(page)
          await shot.act?.(page)
          await settled(page)
        } catch (error) {
          console.error(
            `${shot.name} at ${width}, ${theme}: ${error instanceof Error ? error.message : String(error)}`,
          )
        }
        await fitHeight(page, width, view.height)
        await page.screenshot({ path: join(OUT, `${shot.name}-${width}-${theme}.png`) })
        await page.setViewportSize({ width, height: view.height })
        taken++
      }
      await context.close()
    }
  }
  return taken
}

/** Signs in with what the demo prints, as a person at the terminal would. */
async function demoCookie(instance: Instance): Promise<string> {
  const [, email = '', password = ''] =
    /Sign in as (\S+) with the password: (.+)/.exec(instance.printed()) ?? []
  const answer = await instance.call('/auth/login', {
    ...json({ email, password }),
    headers: {
      'User-Agent':
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
    },
  })
  if (!answer.ok) throw new Error(`the demo did not let ${email} in: ${answer.status}`)
  return sessionCookie(answer)
}

/** One of each, chosen to be worth looking at: the busiest domain, the report with the most failures, the first key. */
async function pick(instance: Instance, cookie: string, receiver: Receiver): Promise<Ids> {
  const id = async (path: string, init: RequestInit = {}): Promise<string> => {
    const answer = await instance.call(path, { ...init, headers: { Cookie: cookie } })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    const body = (await answer.json()) as { id?: string; items?: { id: string }[] }
    return body.id ?? body.items?.[0]?.id ?? ''
  }
  const key_id = await id(
    '/v1/settings/keys',
    json({ name: 'siem-pull', scopes: ['reports:read', 'domains:read'] }),
  )
  await id('/v1/settings/invites', json({ email: 'tomas@northlight.example', role: 'analyst' }))
  return {
    ...(await stageWebhooks(instance, cookie, receiver)),
    key_id,
    alert_id: await id('/v1/alerts?status=open&sort=-severity&limit=1'),
    domain_id: await id('/v1/domains?sort=-messages&limit=1'),
    report_id: await id('/v1/reports?sort=-fail&limit=1'),
  }
}

async function main(): Promise<void> {
  rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT, { recursive: true })
  const browser = await launch()
  const fresh = await startInstance()
  const folder = mkdtempSync(join(tmpdir(), 'wardpost-shots-'))
  const receiver = await startReceiver(({ url }) =>
    url.endsWith('/tickets')
      ? new Response('{"error":"ingest queue full"}', { status: 503 })
      : new Response('ok'),
  )
  const demo = await startInstance('demo', DEMO_START_MS, trustOf(folder, (await ca()).cert))
  try {
    const first: Shot[] = [{ name: 'setup', path: `/setup#${fresh.setupToken()}`, stranger: true }]
    let taken = await takeAll(browser, fresh, first)
    const cookie = await demoCookie(demo)
    await liftLimits(demo, cookie)
    const shots = shotsOf(await pick(demo, cookie, receiver))
    const inside = shots.filter((shot) => shot.stranger !== true)
    const outside = shots.filter((shot) => shot.stranger === true)
    taken += await takeAll(browser, demo, inside, cookie)
    taken += await takeAll(browser, demo, outside)
    console.log(`${taken} screenshots in ${OUT}`)
  } finally {
    await browser.close()
    await Promise.all([fresh.stop(), demo.stop(), receiver.stop()])
    rmSync(folder, { recursive: true, force: true })
  }
}

await main()
