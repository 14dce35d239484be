/** Whole journeys without a pointer. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hasFocus, tabTo } from './keys.ts'
import { DOMAIN, seed } from './seed.ts'
import { OWNER, journeys, setUp, startInstance } from './support.ts'
import type { Instance } from './support.ts'

journeys('by keyboard alone', (stage) => {
  let instance: Instance
  let cookie: string
  beforeAll(async () => {
    instance = await startInstance()
    cookie = await setUp(instance)
    await seed(instance, cookie)
  })
  afterAll(async () => {
    await instance?.stop()
  })

  test('one signs in, jumps to the keys, makes one and closes the secret', async () => {
    const page = await stage.open(instance, '/login')
    await tabTo(page, page.getByLabel('E-mail'))
    await page.keyboard.type(OWNER.email)
    await tabTo(page, page.getByLabel('Password'))
    await page.keyboard.type(OWNER.password)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()

    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('API keys')
    await page
      .getByRole('option', { name: /API keys/ })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()

    await tabTo(page, page.getByRole('button', { name: 'Create key' }))
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'Create an API key' })
    await tabTo(page, form.getByLabel('Name'))
    await page.keyboard.type('by-keyboard')
    await tabTo(page, form.getByRole('button', { name: 'Read everything' }))
    await page.keyboard.press('Space')
    await tabTo(page, form.getByRole('button', { name: 'Create key' }))
    await page.keyboard.press('Enter')
    const secret = page.getByRole('dialog', { name: 'Save this key now' })
    await tabTo(page, secret.getByRole('button', { name: 'I have saved it' }))
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /by-keyboard/ }).waitFor()
  })

  test('one walks down the reports, opens one beside the list and comes back to its row', async () => {
    const page = await stage.open(instance, '/reports', { cookie })
    const rows = page.getByRole('table').first().locator('tbody tr')
    await rows.nth(2).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('ArrowDown')
    expect(await hasFocus(rows.nth(2))).toBe(true)
    await page.keyboard.press('k')
    expect(await hasFocus(rows.nth(1))).toBe(true)
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('complementary')
    await drawer.waitFor()
    expect(page.url()).toMatch(/\/reports\/rpt_/)
    await drawer.getByText(DOMAIN).first().waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    expect(await hasFocus(rows.nth(1))).toBe(true)
  })

  test('one verifies the audit log and reads the answer', async () => {
    const page = await stage.open(instance, '/audit', { cookie })
    await tabTo(page, page.getByRole('button', { name: 'Verify range' }))
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'Verify the audit log' })
    await tabTo(page, form.getByRole('button', { name: 'Verify', exact: true }))
    await page.keyboard.press('Enter')
    const verdict = page.getByRole('heading', { name: /^Intact/ })
    await verdict.waitFor()
    expect(await hasFocus(verdict)).toBe(true)
  })

  test('one finds an operation in the reference and walks to it by arrows', async () => {
    const page = await stage.open(instance, '/docs')
    const search = page.getByRole('searchbox', { name: 'Search operations' })
    await search.waitFor()
    await page.keyboard.press('/')
    await page.waitForFunction(() => document.activeElement?.getAttribute('type') === 'search')
    expect(await hasFocus(search)).toBe(true)
    await page.keyboard.type('verify chain')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Verify the hash chain', level: 1 }).waitFor()
    expect(page.url()).toEndWith('#get-v1-audit-verify')
  })
})
