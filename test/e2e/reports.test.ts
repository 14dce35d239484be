/** From the setup link to who sends as the domain, through the pages, against the compiled executable. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { DOMAIN, reportFile } from './seed.ts'
import { OWNER, journeys, startInstance } from './support.ts'
import type { Instance } from './support.ts'

async function payload(file: File): Promise<{ name: string; mimeType: string; buffer: Buffer }> {
  return {
    name: file.name,
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(await file.arrayBuffer()),
  }
}

/** Chooses files as a person does: by the button that opens the system's dialog. */
async function choose(page: Page, files: readonly File[]): Promise<void> {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose files' }).click(),
  ])
  await chooser.setFiles(await Promise.all(files.map(payload)))
}

journeys('reports, by a person with a browser', (stage) => {
  let instance: Instance
  let page: Page
  beforeAll(async () => {
    instance = await startInstance()
  })
  afterAll(async () => {
    await instance?.stop()
  })

  test('the first run goes from the printed link to the overview', async () => {
    page = await stage.open(instance, `/setup#${instance.setupToken()}`)
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await page.getByLabel('Your name').fill(OWNER.name)
    await page.getByLabel('E-mail').fill(OWNER.email)
    await page.getByLabel('Password').fill('short')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('alert').first().waitFor()
    await page.getByLabel('Password').fill(OWNER.password)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Your organisation' }).waitFor()
    await page.getByLabel('Name').fill(OWNER.organisation)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Add your first domain' }).waitFor()
    await page.getByLabel('Domain', { exact: true }).fill(DOMAIN)
    await page.getByRole('button', { name: 'Add domain' }).click()
    const records = page.getByRole('region', { name: 'Records to add' })
    await records.getByText(`_wardpost.${DOMAIN}`).or(records.getByText('_wardpost')).first().waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Reports you have already' }).waitFor()
    await page.getByRole('button', { name: 'Skip for now' }).click()
    await page.getByRole('link', { name: 'Open the overview' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.getByText(`${DOMAIN} is not verified`).waitFor()
  })

  test('the setup link works once', async () => {
    const other = await stage.open(instance, '/setup#used')
    await other.getByRole('heading', { name: 'Wardpost is set up' }).waitFor()
    expect((await instance.call('/setup', { method: 'POST', body: '{}' })).status).toBeGreaterThanOrEqual(400)
  })

  test('files are chosen, each says what became of it, and the domain shows who sends', async () => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Reports' }).click()
    await page.getByRole('link', { name: 'Upload' }).first().click()
    const files = [1, 2, 3, 4].map((days) => reportFile(days))
    await choose(page, [...files, new File(['this is no report'], 'holiday.jpg')])
    const results = page.getByRole('region', { name: 'This upload' })
    await results.getByText('All 5 files read.').waitFor()
    expect(await results.getByRole('row', { name: /^Created/ }).count()).toBe(4)
    await results.getByRole('row', { name: /^Rejected.*holiday\.jpg/ }).waitFor()

    await choose(page, [reportFile(1)])
    await results.getByRole('row', { name: /^Duplicate/ }).waitFor()

    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Domains' }).click()
    await page.getByRole('row', { name: new RegExp(DOMAIN) }).click()
    const drawer = page.getByRole('complementary', { name: DOMAIN })
    await drawer.getByRole('link', { name: /^Sources/ }).click()
    const sources = drawer.getByRole('region', { name: 'Sources' })
    await sources.getByText('198.51.100.0/24').waitFor()
    await sources.getByText(DOMAIN).first().waitFor()
    expect(page.url()).toContain('tab=sources')
  })

  test('a filter and an open report are an address that somebody else can open', async () => {
    await page.goto(`${instance.url}/reports`)
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('menuitem', { name: 'Domain' }).click()
    await page.getByRole('textbox', { name: 'Domain', exact: true }).fill('elsewhere.example')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('heading', { name: /matches/ }).waitFor()
    await page.getByRole('button', { name: 'Remove filter Domain' }).click()
    await page
      .getByRole('row', { name: new RegExp(DOMAIN) })
      .nth(1)
      .click()
    const drawer = page.getByRole('complementary')
    await drawer.getByRole('button', { name: 'Details of 198.51.100.24' }).click()
    await drawer.getByText('bulk.example').first().waitFor()
    await drawer.getByRole('button', { name: 'All', exact: true }).click()
    await drawer.getByRole('button', { name: 'Details of 192.0.2.10' }).waitFor()
    expect(page.url()).toMatch(/\/reports\/rpt_\w+\?.*result=all/)

    const shared = await page.context().newPage()
    await shared.goto(page.url())
    await shared.getByRole('complementary').getByRole('button', { name: 'Details of 192.0.2.10' }).waitFor()
    await shared.close()
  })

  test('what a person sees, a script gets', async () => {
    const made = await page.context().request.post(`${instance.url}/v1/settings/keys`, {
      data: { name: 'reader', scopes: ['reports:read', 'domains:read'] },
      headers: { Origin: instance.url },
    })
    const { api_key } = (await made.json()) as { api_key: string }
    const read = (path: string) =>
      fetch(instance.url + path, { headers: { Authorization: `Bearer ${api_key}` } })
    const reports = (await (await read(`/v1/reports?domain=${DOMAIN}`)).json()) as {
      items: { totals: { fail: number } }[]
    }
    expect(reports.items.map((report) => report.totals.fail).toSorted((a, b) => a - b)).toEqual([2, 2, 2, 9])
    expect(await (await read('/v1/reports/export?format=csv')).text()).toContain('198.51.100.24')
  })
})
