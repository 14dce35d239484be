/**
 * `bun run screenshots`: every page at 1440 and 390 px, light and dark, into dist/screenshots. They are there to be
 * looked at; nothing compares them.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { liftLimits, seed } from './seed.ts'
import { ROOT, launch, newContext, setUp, startInstance } from './support.ts'
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

function shotsOf(ids: { domain_id: string; report_id: string; key_id: string }): Shot[] {
  return [
    { name: 'overview', path: '/' },
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
    { name: 'settings', path: '/settings' },
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
    { name: 'instance-jobs', path: '/settings/instance/jobs' },
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
        const path = join(OUT, `${shot.name}-${width}-${theme}.png`)
        await page.screenshot({ path, fullPage: shot.act === undefined })
        taken++
      }
      await context.close()
    }
  }
  return taken
}

async function main(): Promise<void> {
  rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT, { recursive: true })
  const instance = await startInstance()
  const browser = await launch()
  try {
    const first: Shot[] = [{ name: 'setup', path: `/setup#${instance.setupToken()}`, stranger: true }]
    let taken = await takeAll(browser, instance, first)
    const cookie = await setUp(instance)
    await liftLimits(instance, cookie)
    const shots = shotsOf(await seed(instance, cookie))
    taken += await takeAll(
      browser,
      instance,
      shots.filter((shot) => shot.stranger !== true),
      cookie,
    )
    taken += await takeAll(
      browser,
      instance,
      shots.filter((shot) => shot.stranger === true),
    )
    console.log(`${taken} screenshots in ${OUT}`)
  } finally {
    await browser.close()
    await instance.stop()
  }
}

await main()
