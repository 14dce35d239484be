/** Alerts from their cause to the person who takes them, and the mail that tells of them; against the executable. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openSmtp } from '../support/smtp.ts'
import { hasFocus, tabTo } from './keys.ts'
import { dayStart, liftLimits } from './seed.ts'
import { OWNER, aggregateReport, axeFindings, journeys, json, setUp, startInstance } from './support.ts'
import type { Instance } from './support.ts'

const NORTH = 'north.example'
const SOUTH = 'south.example'

/** A week in which a fifth of the mail failed. */
function badWeek(domain: string): FormData {
  const form = new FormData()
  for (let days = 1; days <= 7; days++) {
    const text = aggregateReport({
      domain,
      id: `${domain}-${days}`,
      pass: 80,
      fail: 20,
      begin: dayStart(days),
    })
    form.append('file', new File([text], `receiver.example!${domain}!${days}.xml`))
  }
  return form
}

/** Findings in both themes, as the page is now. */
async function findings(page: Page, where: string): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const lines = await axeFindings(page, colorScheme === 'light' ? 'all' : 'colours')
    found.push(...lines.map((line) => `${where}, ${colorScheme}: ${line}`))
  }
  return found
}

journeys('alerts, by a person with a browser', (stage) => {
  let instance: Instance
  let cookie: string
  beforeAll(async () => {
    instance = await startInstance()
    cookie = await setUp(instance)
    await liftLimits(instance, cookie)
    await raise(NORTH)
  })
  afterAll(async () => {
    await instance?.stop()
  })

  const call = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const answer = await instance.call(path, { ...init, headers: { Cookie: cookie } })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  const titles = async (): Promise<string[]> => {
    const { items } = (await call('/v1/alerts?status=open')) as { items: { title: string }[] }
    return items.map(({ title }) => title)
  }
  /** Compliance falls, the job that looks at it sees it, and the alert is there. */
  const raise = async (domain: string): Promise<void> => {
    await call('/v1/domains', json({ name: domain }))
    await call('/v1/reports/upload', { method: 'POST', body: badWeek(domain) })
    await call('/v1/instance/jobs/compliance/run', { method: 'POST' })
    for (let look = 0; look < 100; look++) {
      if ((await titles()).some((title) => title.startsWith(domain))) return
      await Bun.sleep(50)
    }
    throw new Error(`no alert was raised about ${domain}`)
  }

  test('a new alert is told as it happens, and nothing moves until it is asked for', async () => {
    const page = await stage.open(instance, '/alerts', { cookie })
    await page.getByRole('row', { name: new RegExp(NORTH) }).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    const began = Date.now()
    await raise(SOUTH)
    const pill = page.getByRole('button', { name: '1 new' })
    await pill.waitFor()
    // Asking again by the clock would take up to 30 seconds.
    expect(Date.now() - began).toBeLessThan(25_000)
    expect(await page.getByRole('row', { name: new RegExp(SOUTH) }).count()).toBe(0)
    await pill.click()
    await page.getByRole('row', { name: new RegExp(SOUTH) }).waitFor()
  })

  test('what is shown over the list has no findings', async () => {
    const page = await stage.open(instance, '/alerts', { cookie })
    await page.getByRole('row', { name: new RegExp(NORTH) }).click()
    const drawer = page.getByRole('complementary')
    await drawer.getByRole('heading', { name: 'Evidence' }).waitFor()
    const found = await findings(page, 'drawer')
    await drawer.getByRole('button', { name: 'Silence' }).click()
    await page.getByRole('menuitem', { name: '4 hours', exact: true }).waitFor()
    found.push(...(await findings(page, 'silence')))
    await page.keyboard.press('Escape')
    await drawer.getByRole('button', { name: 'Assign' }).click()
    await page.getByRole('menuitem', { name: 'Nobody' }).waitFor()
    found.push(...(await findings(page, 'assign')))
    await page.keyboard.press('Escape')
    await drawer.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check()
    await page.getByRole('toolbar', { name: 'Selected rows' }).waitFor()
    found.push(...(await findings(page, 'selected rows')))
    expect(found).toEqual([])
  })

  test('by keyboard: from the overview to the alert, acknowledge it, write a note', async () => {
    const page = await stage.open(instance, '/', { cookie })
    await tabTo(page, page.getByRole('link', { name: new RegExp(`^Review: ${NORTH}`) }))
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('complementary')
    await drawer.getByRole('heading', { name: new RegExp(NORTH) }).waitFor()
    await page.waitForFunction(() => document.activeElement?.matches('aside.drawer'))
    await page.keyboard.press('e')
    await page
      .getByText(/” is acknowledged$/)
      .first()
      .waitFor()
    await drawer.getByText('Acknowledged').first().waitFor()

    await tabTo(page, drawer.getByLabel('Add a note'))
    await page.keyboard.type('The new mailer signs with its own domain; asked marketing.')
    await tabTo(page, drawer.getByRole('button', { name: 'Add note' }))
    await page.keyboard.press('Enter')
    await drawer.getByRole('listitem').filter({ hasText: 'asked marketing' }).waitFor()
    await page.keyboard.press('Escape')
    expect(await titles()).toEqual([expect.stringContaining(SOUTH)])

    const rest = page.getByRole('row', { name: new RegExp(SOUTH) })
    await rest.waitFor()
    await page.locator('main').focus()
    await page.keyboard.press('j')
    expect(await hasFocus(rest)).toBe(true)
    await page.keyboard.press('e')
    await page.getByRole('heading', { name: /^All done/ }).waitFor()
    expect(await titles()).toEqual([])
  })

  test('many at once: two are resolved, the overview says nothing of them any more', async () => {
    const page = await stage.open(instance, '/alerts?status=acknowledged', { cookie })
    await page.getByRole('row', { name: new RegExp(NORTH) }).waitFor()
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check()
    const bar = page.getByRole('toolbar', { name: 'Selected rows' })
    await bar.getByText('2 alerts selected').waitFor()
    expect(await bar.getByRole('button', { name: /Acknowledge/ }).getAttribute('aria-disabled')).toBe('true')
    await bar.getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('2 alerts resolved').waitFor()
    await page.getByRole('heading', { name: 'No alert is acknowledged' }).waitFor()
  })

  test('a mail server is set up and tested; its password is never shown again', async () => {
    await using smtp = await disposable(
      openSmtp({ login: { user: 'wardpost', password: 'seven red kites' } }),
    )
    const page = await stage.open(instance, '/settings/instance/mail', { cookie })
    await page.getByRole('button', { name: 'Set up the mail server' }).click()
    await page.getByLabel('Server', { exact: true }).fill('127.0.0.1')
    await page.getByLabel('Port').fill(String(smtp.port))
    await page.getByLabel('Encryption').selectOption('none')
    await page.getByLabel('User name').fill('wardpost')
    await page.getByLabel('Password').fill('seven red kites')
    await page.getByLabel('Sender’s address').fill('wardpost@northlight.example')
    await page.getByRole('button', { name: 'Save' }).click()

    const form = page.getByRole('form', { name: 'Test the mail server' })
    await form.getByLabel('Send a test mail to').fill('soc@northlight.example')
    await form.getByRole('button', { name: 'Send test' }).click()
    await form.getByText(/^The server took the mail/).waitFor()
    expect(smtp.received.map(({ to, user }) => [to, user])).toEqual([['soc@northlight.example', 'wardpost']])
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('')
    expect(await page.content()).not.toContain('seven red kites')

    smtp.answers.rcpt = '550 5.1.1 No such mailbox here'
    await form.getByRole('button', { name: 'Send test' }).click()
    await form
      .getByText(/No such mailbox here/)
      .first()
      .waitFor()
    expect(await findings(page, 'refused')).toEqual([])

    const settings = await stage.open(instance, '/settings/notifications', { cookie })
    smtp.answers.rcpt = null
    await settings.getByRole('button', { name: 'Send a test mail' }).click()
    const result = settings.getByRole('list', { name: 'What became of each mail' })
    await result.getByText(OWNER.email).waitFor()
    await result.getByText('Taken').waitFor()
  })

  test('quiet hours are kept with their time zone', async () => {
    const page = await stage.open(instance, '/settings/notifications', { cookie })
    await page.getByRole('switch', { name: 'Keep quiet hours' }).check()
    await page.getByLabel('From').fill('21:30')
    await page.getByLabel('Time zone').selectOption('Europe/Berlin')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Notifications saved').waitFor()
    const { quiet_hours } = (await call('/v1/settings/notifications')) as { quiet_hours: unknown }
    expect(quiet_hours).toEqual({ enabled: true, from: '21:30', to: '07:00', timezone: 'Europe/Berlin' })
  })

  test('a job is started by hand, and its run is in its history', async () => {
    const page = await stage.open(instance, '/settings/instance/jobs', { cookie })
    await page.getByRole('button', { name: /^Run now.*backup/ }).click()
    const runs = page.getByRole('region', { name: 'Runs of backup' })
    await runs.getByRole('row', { name: /Done/ }).waitFor()
    expect(page.url()).toEndWith('/settings/instance/jobs?job=backup')
    expect(await findings(page, 'runs')).toEqual([])
  })
})

/** Closed at the end of the block, also when it fails. */
async function disposable<T extends { close: () => Promise<void> }>(
  opening: Promise<T>,
): Promise<T & AsyncDisposable> {
  const opened = await opening
  return Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() })
}
