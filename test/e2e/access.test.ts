/** Keys, people and the second factor, through the pages, against the compiled executable. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { OWNER, journeys, json, setUp, startInstance } from './support.ts'
import type { Instance } from './support.ts'

/** The code of an authenticator app; `steps` later for a second one, since each works once. */
function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })
}

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

journeys('access, by a person with a browser', (stage) => {
  let instance: Instance
  let cookie: string
  beforeAll(async () => {
    instance = await startInstance()
    cookie = await setUp(instance)
  })
  afterAll(async () => {
    await instance?.stop()
  })

  test('a key is made, shown once, used by a script and revoked by typing its name', async () => {
    const page = await stage.open(instance, '/settings/keys', { cookie })
    await page.getByRole('heading', { name: 'No keys yet' }).waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Create key' }).first().click()
    const form = page.getByRole('dialog', { name: 'Create an API key' })
    await form.getByLabel('Name').fill('siem-pull')
    await form.getByRole('button', { name: 'Choose' }).click()
    await form.getByRole('checkbox', { name: /^Reports: write/ }).uncheck()
    await form.getByRole('checkbox', { name: /^Domains: read/ }).check()
    await form.getByRole('button', { name: 'Create key' }).click()

    const secret = page.getByRole('dialog', { name: 'Save this key now' })
    const api_key = await secret.getByLabel('Key for siem-pull').inputValue()
    await page.keyboard.press('Escape')
    await secret.getByRole('button', { name: 'I have saved it' }).click()
    await secret.waitFor({ state: 'hidden' })

    const use = (path: string) =>
      fetch(instance.url + path, { headers: { Authorization: `Bearer ${api_key}` } })
    expect((await use('/v1/domains')).status).toBe(200)
    expect((await use('/v1/settings/keys')).status).toBe(403)

    await page.getByRole('row', { name: /siem-pull/ }).click()
    const drawer = page.getByRole('complementary', { name: 'siem-pull' })
    await drawer.getByText('Active', { exact: true }).waitFor()
    expect(await drawer.textContent()).not.toContain(api_key)
    await drawer.getByRole('button', { name: 'Revoke' }).click()
    const sure = page.getByRole('dialog', { name: 'Revoke the key siem-pull?' })
    const revoke = sure.getByRole('button', { name: /^Revoke key/ })
    expect(await revoke.getAttribute('aria-disabled')).toBe('true')
    await sure.getByLabel('Type siem-pull to confirm').fill('siem-pull')
    await revoke.click()
    await drawer.getByText('Revoked', { exact: true }).first().waitFor()
    expect((await use('/v1/domains')).status).toBe(401)
  })

  test('a key is rolled, and the old one goes on for the chosen time', async () => {
    const made = await instance.call('/v1/settings/keys', {
      ...json({ name: 'relay', scopes: ['domains:read'] }),
      headers: { Cookie: cookie },
    })
    const old = (await made.json()) as { id: string; api_key: string }
    const page = await stage.open(instance, `/settings/keys/${old.id}`, { cookie })
    await page.getByRole('complementary', { name: 'relay' }).getByRole('button', { name: 'Roll' }).click()
    await page
      .getByRole('dialog', { name: 'Roll the key relay' })
      .getByRole('button', { name: 'Make the new key' })
      .click()
    const secret = page.getByRole('dialog', { name: 'Save this key now' })
    const api_key = await secret.getByLabel('Key for relay').inputValue()
    await secret.getByRole('button', { name: 'I have saved it' }).click()
    for (const key of [old.api_key, api_key]) {
      const answer = await fetch(`${instance.url}/v1/domains`, {
        headers: { Authorization: `Bearer ${key}` },
      })
      expect(answer.status).toBe(200)
    }
  })

  test('somebody is invited, joins by the link and may do what the role allows', async () => {
    const page = await stage.open(instance, '/settings/users', { cookie })
    await page.getByRole('main').getByRole('button', { name: 'Invite', exact: true }).click()
    const form = page.getByRole('dialog', { name: `Invite to ${OWNER.organisation}` })
    await form.getByLabel('E-mail').fill('ines@northlight.example')
    await form.getByRole('radio', { name: /Viewer/ }).check()
    await form.getByRole('button', { name: 'Make the invitation' }).click()
    const shown = page.getByRole('dialog', { name: 'Invitation for ines@northlight.example' })
    const link = await shown.getByLabel('Link').inputValue()
    expect(link).toStartWith(`${instance.url}/accept#`)
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /ines@northlight.example/ }).waitFor()

    const guest = await stage.open(instance, link.slice(instance.url.length))
    await guest.getByLabel('Your name').fill('Ines Okafor')
    await guest.getByLabel('Choose a password').fill('seven green boats at sea')
    await guest.getByRole('button', { name: /^Join/ }).click()
    await guest.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(await guest.getByRole('link', { name: 'Audit' }).count()).toBe(0)
    await guest.goto(`${instance.url}/settings/keys`)
    const create = guest.getByRole('button', { name: /^Create key/ }).first()
    expect(await create.getAttribute('aria-disabled')).toBe('true')

    await page.reload()
    await page.getByRole('row', { name: /Ines Okafor.*Viewer/ }).waitFor()
    await page.getByRole('heading', { name: 'No invitation waits' }).waitFor()
  })

  test('the second factor is set up and asked at the next sign-in', async () => {
    const page = await stage.open(instance, '/account', { cookie })
    await page.getByRole('button', { name: 'Set up' }).click()
    await page.getByRole('dialog').getByLabel('Password').fill(OWNER.password)
    await page.getByRole('button', { name: 'Continue' }).click()
    const scan = page.getByRole('dialog', { name: 'Scan and enter the first code' })
    await scan.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    const secret = (await scan.locator('.rec').textContent())?.trim() ?? ''
    expect(secret).toMatch(/^[A-Z2-7]{16,}$/)
    await scan.getByLabel('Six digits from the app').fill('000000')
    await scan.getByRole('button', { name: /^Turn on/ }).click()
    await scan.getByRole('alert').waitFor()
    await scan.getByLabel('Six digits from the app').fill(codeOf(secret))
    await scan.getByRole('button', { name: /^Turn on/ }).click()
    const saved = page.getByRole('dialog', { name: 'Save these recovery codes now' })
    const codes = (await saved.getByLabel(/^Recovery codes/).inputValue()).split('\n')
    expect(codes).toHaveLength(10)
    await saved.getByRole('button', { name: 'I have saved it' }).click()
    await page.getByText('10 of 10 recovery codes left').waitFor()

    const fresh = await stage.open(instance, '/login')
    await signIn(fresh, OWNER.email, OWNER.password)
    await fresh.getByRole('heading', { name: 'Second factor' }).waitFor()
    await fresh.getByLabel('Code').fill(codeOf(secret, 1))
    await fresh.getByRole('button', { name: /^(Continue|Sign in|Confirm)/ }).click()
    await fresh.getByRole('navigation', { name: 'Main' }).waitFor()

    const other = await stage.open(instance, '/login')
    await signIn(other, OWNER.email, OWNER.password)
    await other.getByRole('heading', { name: 'Second factor' }).waitFor()
    await other.getByRole('button', { name: /recovery code/i }).click()
    await other.getByLabel('Recovery code').fill(codes[0] ?? '')
    await other.getByRole('button', { name: /^(Continue|Sign in|Confirm)/ }).click()
    await other.getByRole('navigation', { name: 'Main' }).waitFor()
  })

  test('a session is ended from another browser', async () => {
    const login = await instance.call(
      '/auth/login',
      json({ email: 'ines@northlight.example', password: 'seven green boats at sea' }),
    )
    const other = login.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    expect((await instance.call('/v1/me', { headers: { Cookie: other } })).status).toBe(200)
    const page = await stage.open(instance, '/settings/sessions', { cookie })
    const panel = page.getByRole('region', { name: `Everybody in ${OWNER.organisation}` })
    await panel.getByRole('button', { name: 'End the session of Ines Okafor' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await panel.getByRole('button', { name: 'End the session of Ines Okafor' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect((await instance.call('/v1/me', { headers: { Cookie: other } })).status).toBe(401)
  })

  test('the audit log is verified, says so in a sentence, and holds the verification itself', async () => {
    const page = await stage.open(instance, '/audit', { cookie })
    await page.getByRole('button', { name: 'Verify range' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Verify', exact: true }).click()
    await page
      .getByRole('heading', { name: /^Intact: entries 1 to \d+ are complete and unchanged$/ })
      .waitFor()
    await page.getByRole('row', { name: /Was an entry changed\?.*No, \d+ of \d+ match/ }).waitFor()
    await page
      .getByRole('row', { name: /audit\.verify/ })
      .first()
      .click()
    const drawer = page.getByRole('complementary')
    await drawer.getByText('This browser computes the same hash').waitFor()
    expect(page.url()).toMatch(/\/audit\/\d+$/)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
  })

  test('the organisation is renamed, and a stale form is refused', async () => {
    const page = await stage.open(instance, '/settings', { cookie })
    const name = page.getByLabel('Name of the organisation')
    await name.fill('Northlight')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page
      .getByRole('button', { name: 'Organisation: Northlight' })
      .or(page.getByText('Northlight', { exact: true }))
      .first()
      .waitFor()
    const stale = await instance.call('/v1/settings', {
      method: 'PATCH',
      body: JSON.stringify({ name: 'Older' }),
      headers: { Cookie: cookie, 'If-Match': '"1"' },
    })
    expect(stale.status).toBe(412)
  })
})
