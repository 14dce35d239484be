/** What the person who runs the installation does, through the pages, against the compiled executable. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OWNER, journeys, json, setUp, startInstance } from './support.ts'
import type { Instance } from './support.ts'

journeys('running the installation, by a person with a browser', (stage) => {
  let instance: Instance
  let cookie: string
  beforeAll(async () => {
    instance = await startInstance()
    cookie = await setUp(instance)
  })
  afterAll(async () => {
    await instance?.stop()
  })

  test('a backup is made while it runs, and lies verified in the data folder', async () => {
    const page = await stage.open(instance, '/settings/instance/backups', { cookie })
    await page.getByRole('heading', { name: 'No backup yet' }).waitFor()
    await page.getByRole('button', { name: 'Back up now' }).click()
    const row = page.getByRole('row', { name: /manual.*Yes/ })
    await row.waitFor()
    const name = (await row.getByRole('cell').first().textContent()) ?? ''
    expect(existsSync(join(instance.data, 'backups', name))).toBe(true)
  })

  test('the settings say what each is and where it comes from', async () => {
    const page = await stage.open(instance, '/settings/instance/settings', { cookie })
    await page.getByRole('row', { name: /WARDPOST_DATA.*command line/ }).waitFor()
    await page.getByRole('row', { name: /WARDPOST_LOG_LEVEL.*environment/ }).waitFor()
    await page.getByRole('row', { name: /WARDPOST_TLS_CERT.*not set.*default/ }).waitFor()
  })

  test('an organisation is added, its owner joins by the link and sees nothing of the other', async () => {
    const page = await stage.open(instance, '/settings/instance/tenants', { cookie })
    await page.getByRole('button', { name: 'Add organisation' }).click()
    const form = page.getByRole('dialog', { name: 'Add an organisation' })
    await form.getByLabel('Name').fill('Southwind')
    await form.getByLabel('Plan').selectOption('free')
    await form.getByLabel('E-mail of its owner').fill('jonas@southwind.example')
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    const shown = page.getByRole('dialog', { name: 'Invitation for the owner of Southwind' })
    const link = await shown.getByLabel('Link').inputValue()
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /Southwind.*Free/ }).waitFor()

    const owner = await stage.open(instance, link.slice(instance.url.length))
    await owner.getByLabel('Your name').fill('Jonas Weber')
    await owner.getByLabel('Choose a password').fill('nine copper lamps at noon')
    await owner.getByRole('button', { name: /^Join/ }).click()
    await owner.getByRole('button', { name: /^Organisation: Southwind/ }).waitFor()
    await owner.goto(`${instance.url}/settings/users`)
    await owner.getByRole('row', { name: /Jonas Weber/ }).waitFor()
    expect(await owner.getByText(OWNER.email).count()).toBe(0)
    expect(await owner.getByRole('link', { name: 'Instance' }).count()).toBe(0)
  })

  test('a suspended organisation is refused until it is resumed', async () => {
    const signIn = () =>
      instance.call(
        '/auth/login',
        json({ email: 'jonas@southwind.example', password: 'nine copper lamps at noon' }),
      )
    const theirs = (await signIn()).headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const ask = async () => (await instance.call('/v1/domains', { headers: { Cookie: theirs } })).status
    expect(await ask()).toBe(200)

    const page = await stage.open(instance, '/settings/instance/tenants', { cookie })
    await page.getByRole('button', { name: 'Actions for Southwind' }).click()
    await page.getByRole('menuitem', { name: 'Suspend' }).click()
    const sure = page.getByRole('dialog', { name: 'Suspend Southwind?' })
    await sure.getByLabel('Type Southwind to confirm').fill('Southwind')
    await sure.getByRole('button', { name: /^Suspend/ }).click()
    await page.getByRole('row', { name: /Southwind.*Suspended/ }).waitFor()
    expect(await ask()).toBe(401)

    await page.getByRole('button', { name: 'Actions for Southwind' }).click()
    await page.getByRole('menuitem', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('row', { name: /Southwind.*Active/ }).waitFor()
    expect((await signIn()).status).toBe(200)
  })

  test('a forgotten password is replaced by a link from another', async () => {
    const invited = await instance.call('/v1/settings/invites', {
      ...json({ email: 'ines@northlight.example', role: 'analyst' }),
      headers: { Cookie: cookie },
    })
    const invite = (await invited.json()) as { link: string }
    await instance.call(
      '/auth/accept',
      json({
        token: invite.link.split('#')[1],
        name: 'Ines Okafor',
        password: 'seven green boats at sea',
      }),
    )
    const page = await stage.open(instance, '/settings/users', { cookie })
    await page.getByRole('button', { name: 'Actions for Ines Okafor' }).click()
    await page.getByRole('menuitem', { name: 'Make a reset link' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Make the link' }).click()
    const link = await page
      .getByRole('dialog', { name: 'Reset link for Ines Okafor' })
      .getByLabel('Link')
      .inputValue()

    const ines = await stage.open(instance, link.slice(instance.url.length))
    await ines.getByLabel('New password').fill('a new quiet morning walk')
    await ines.getByRole('button', { name: /password/i }).click()
    await ines.getByRole('navigation', { name: 'Main' }).waitFor()
    const old = await instance.call(
      '/auth/login',
      json({ email: 'ines@northlight.example', password: 'seven green boats at sea' }),
    )
    expect(old.status).toBe(401)
  })
})
