/** Every page, empty and full, light and dark, with what opens over it: axe finds nothing, nothing runs sideways. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { PAGES as ROUTES } from '../../public/routes.ts'
import { liftLimits, seed } from './seed.ts'
import type { Seeded } from './seed.ts'
import { axeFindings, journeys, setUp, startInstance } from './support.ts'
import type { Instance, Stage } from './support.ts'

/** Every route of the application, and the parts of pages that have an address of their own. */
const PAGES = [
  ...ROUTES.map((route) => route.path),
  ...['tenants', 'users', 'backups', 'jobs', 'mail', 'anchors', 'settings'].map(
    (tab) => `/settings/instance/${tab}`,
  ),
  '/docs',
  ...['errors', 'authentication', 'post-v1-settings-keys', 'get-v1-reports'].map((part) => `/docs#${part}`),
]

/** Those that look different while nothing is there. */
const EMPTY_PAGES = PAGES.filter(
  (path) => !/^\/(docs|settings\/instance\/(settings|users|tenants))/.test(path),
)

/** A walk through all pages, on a machine that has other things to do. */
const WALK_MS = 240_000

/** Shown: a heading, and no skeleton left. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForFunction(() => document.querySelector('.sk, [aria-busy="true"]') === null)
}

/** What axe finds in both themes, and how far the page runs past its right edge. Colours do not depend on the width. */
async function findings(page: Page, where: string, width = 1440): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await axeFindings(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = width < 1440 ? [] : await axeFindings(page, 'colours')
  const found = [
    ...light.map((line) => `${where}, light: ${line}`),
    ...dark.map((line) => `${where}, dark: ${line}`),
  ]
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  if (over > 0) found.push(`${where}: runs ${over} px sideways`)
  return found
}

interface Walk {
  cookie: string
  paths: readonly string[]
  width: number
}

async function walk(stage: Stage, instance: Instance, { cookie, paths, width }: Walk): Promise<string[]> {
  const found: string[] = []
  const page = await stage.open(instance, '/', { cookie, width })
  page.on('pageerror', (error) => found.push(`${page.url()}: ${error.message}`))
  for (const path of paths) {
    await page.goto(instance.url + path)
    await settled(page)
    found.push(...(await findings(page, `${path} at ${width}`, width)))
  }
  return found
}

journeys('every page', (stage) => {
  let instance: Instance
  let cookie: string
  let seeded: Seeded

  describe('before anything is there', () => {
    beforeAll(async () => {
      instance = await startInstance()
    })

    test('the first-run page has no findings', async () => {
      const page = await stage.open(instance, `/setup#${instance.setupToken()}`)
      await settled(page)
      expect(await findings(page, 'setup')).toEqual([])
    })

    test(
      'no page has findings',
      async () => {
        cookie = await setUp(instance)
        await liftLimits(instance, cookie)
        expect(await walk(stage, instance, { cookie, paths: EMPTY_PAGES, width: 1440 })).toEqual([])
      },
      WALK_MS,
    )

    test(
      'pages for people who are not signed in have no findings',
      async () => {
        const found: string[] = []
        for (const path of ['/login', '/accept#used', '/reset#used', '/docs']) {
          const page = await stage.open(instance, path)
          await settled(page)
          found.push(...(await findings(page, path)))
        }
        expect(found).toEqual([])
      },
      WALK_MS,
    )
  })

  describe('with a month of reports', () => {
    beforeAll(async () => {
      seeded = await seed(instance, cookie)
    })
    afterAll(async () => {
      await instance?.stop()
    })

    test(
      'no page has findings',
      async () => {
        expect(await walk(stage, instance, { cookie, paths: PAGES, width: 1440 })).toEqual([])
      },
      WALK_MS,
    )

    test(
      'no page has findings on a narrow screen',
      async () => {
        expect(await walk(stage, instance, { cookie, paths: PAGES, width: 390 })).toEqual([])
      },
      WALK_MS,
    )

    test(
      'drawers have no findings',
      async () => {
        const found: string[] = []
        const { domain_id, report_id, key_id, webhook_id } = seeded
        const drawers = [
          `/domains/${domain_id}`,
          `/reports/${report_id}`,
          `/settings/keys/${key_id}`,
          `/webhooks/${webhook_id}`,
          ...['deliveries', 'signature', 'settings'].map((tab) => `/webhooks/${webhook_id}?tab=${tab}`),
          `/webhooks/${webhook_id}?tab=deliveries&status=failed`,
          '/audit/1',
          '/audit?outcome=success&action=keys.*',
        ]
        const page = await stage.open(instance, '/', { cookie })
        for (const path of drawers) {
          await page.goto(instance.url + path)
          await settled(page)
          found.push(...(await findings(page, path)))
        }
        expect(found).toEqual([])
      },
      WALK_MS,
    )

    test(
      'dialogs, menus and the palette have no findings',
      async () => {
        const found: string[] = []
        const page = await stage.open(instance, '/', { cookie })
        const look = async (path: string, name: string, open: () => Promise<void>) => {
          await page.goto(instance.url + path)
          await settled(page)
          await open()
          found.push(...(await findings(page, `${path}, ${name}`)))
        }
        const press = (name: string | RegExp) => () => page.getByRole('button', { name }).first().click()
        await look('/account/nowhere', 'missing page', async () => undefined)
        await look('/', 'palette', () => page.keyboard.press('Control+k'))
        await look('/', 'account menu', press(/Mara Lindqvist/))
        await look('/domains?add=1', 'add', () => page.getByRole('dialog').waitFor())
        await look('/settings/keys', 'create', press('Create key'))
        await look('/settings/keys', 'choose scopes', async () => {
          await press('Create key')()
          await page.getByRole('dialog').getByRole('button', { name: 'Choose', exact: true }).click()
        })
        await look(`/settings/keys/${seeded.key_id}`, 'revoke', press('Revoke'))
        await look(`/settings/keys/${seeded.key_id}`, 'roll', press('Roll'))
        await look('/settings/users', 'invite', press('Invite'))
        await look('/settings/users', 'actions', press(/^Actions for/))
        await look('/settings/instance/tenants', 'add', press('Add organisation'))
        await look('/webhooks?add=1', 'add', () => page.getByRole('dialog').waitFor())
        await look('/webhooks?catalogue=1', 'example', () => page.getByText('What is sent').first().click())
        await look(`/webhooks/${seeded.webhook_id}`, 'test', async () => {
          await press('Send test')()
          await page.getByText('The reason:').waitFor()
        })
        await look(
          `/webhooks/${seeded.webhook_id}?tab=signature`,
          'replace',
          press('Make another new secret'),
        )
        await look(`/webhooks/${seeded.webhook_id}?tab=settings`, 'delete', press('Delete this endpoint'))
        await look('/webhooks/undelivered?again=1', 'again', () => page.getByRole('dialog').waitFor())
        await look('/audit?verify=1', 'verify', () => page.getByRole('dialog').waitFor())
        await look('/audit?verify=1', 'verdict', async () => {
          await page.getByRole('dialog').getByRole('button', { name: 'Verify', exact: true }).click()
          await page.getByRole('heading', { name: /^Intact/ }).waitFor()
        })
        await look('/audit', 'filter', press('Filter'))
        await look('/account', 'second factor', press('Set up'))
        await look('/docs#get-v1-me', 'try it', async () => {
          await page.getByText('Try it').click()
          await page.getByRole('button', { name: 'Send request' }).click()
          await page.getByText('200 OK').waitFor()
        })
        expect(found).toEqual([])
      },
      WALK_MS,
    )
  })
})
