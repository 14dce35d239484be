/** An endpoint from its first test to its end, against a receiver that fails and recovers. */
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { ca, startReceiver } from '../support/receivers.ts'
import type { Delivered, Receiver } from '../support/receivers.ts'
import { DOMAIN, provoke } from './seed.ts'
import { axeFindings, journeys, setUp, startInstance, trustOf } from './support.ts'
import type { Instance } from './support.ts'

const START_MS = 60_000

journeys('webhooks, by a person with a browser', (stage) => {
  let instance: Instance
  let receiver: Receiver
  let page: Page
  let cookie: string
  let secret = ''
  let answer = new Response('all well')
  const folder = mkdtempSync(join(tmpdir(), 'wardpost-e2e-ca-'))

  beforeAll(async () => {
    receiver = await startReceiver(() => answer.clone())
    instance = await startInstance('serve', START_MS, trustOf(folder, (await ca()).cert))
    cookie = await setUp(instance)
    page = await stage.open(instance, '/webhooks', { cookie })
  }, START_MS)
  afterAll(async () => {
    await instance?.stop()
    await receiver?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const host = () => `127.0.0.1:${receiver.port}`
  const drawer = () => page.getByRole('complementary', { name: host() })
  const tab = (name: string) => drawer().getByRole('link', { name, exact: true }).click()

  /** Signed with the secret that was shown, over what came. */
  function isSigned({ headers: got, body }: Delivered): boolean {
    const text = `${got['x-service-signature-timestamp']}.${body}`
    return createHmac('sha256', secret).update(text).digest('hex') === got['x-service-signature']
  }

  async function sendTest(): Promise<void> {
    await drawer().getByRole('button', { name: 'Send test' }).click()
  }

  test('an endpoint is added, its secret shown once, and a test says what the receiver said', async () => {
    await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Add endpoint' }).first().click()
    const form = page.getByRole('dialog', { name: 'Add an endpoint' })
    await form.getByRole('textbox', { name: 'URL' }).fill('http://127.0.0.1/hook')
    await form.getByRole('checkbox', { name: /DMARC_THRESHOLD_REACHED/ }).check()
    const add = form.getByRole('button', { name: 'Add endpoint' })
    await add.click()
    // The server's reason stands beside the field.
    await form.getByRole('alert').filter({ hasText: /https/ }).waitFor()
    await form.getByRole('textbox', { name: 'URL' }).fill(`https://${host()}/hook`)
    await add.click()

    const shown = page.getByRole('dialog', { name: 'Save this secret now' })
    secret = await shown.getByLabel(`Secret for ${host()}`).inputValue()
    expect(secret).toStartWith('whsec_')
    await page.keyboard.press('Escape')
    await shown.getByRole('button', { name: 'I have saved it' }).click()
    await shown.waitFor({ state: 'hidden' })
    expect(await drawer().textContent()).not.toContain(secret)

    await sendTest()
    await drawer().getByText('200 OK').waitFor()
    await drawer().getByLabel('What the receiver said').getByText('all well').waitFor()
    expect(receiver.got.map(isSigned)).toEqual([true])

    answer = new Response('{"error":"queue full"}', { status: 503 })
    await sendTest()
    await drawer().getByText('503 Service Unavailable').waitFor()
    await drawer().getByText('{"error":"queue full"}').waitFor()
  })

  test('a failing delivery shows its attempts; a pause keeps it, to be sent again later', async () => {
    await provoke(instance, cookie, DOMAIN)
    await receiver.until(3, 30_000)
    await page.reload()
    await tab('Deliveries')
    const row = drawer().getByRole('row', { name: /DMARC_THRESHOLD_REACHED/ })
    await row.filter({ hasText: 'Retrying' }).waitFor()
    await row.focus()
    await page.keyboard.press('Enter')
    const attempts = drawer().getByRole('region', { name: 'Attempts' })
    await attempts.getByRole('listitem').filter({ hasText: '503 Service Unavailable' }).waitFor()
    expect(await attempts.getByRole('listitem').count()).toBe(7)
    await attempts.getByRole('listitem').nth(1).filter({ hasText: '+30 s' }).waitFor()
    const again = attempts.getByRole('button', { name: /^Redeliver/ })
    expect(await again.getAttribute('aria-disabled')).toBe('true')
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await row.waitFor()

    await tab('Overview')
    await drawer().getByRole('button', { name: 'Pause' }).click()
    await drawer().getByText('Paused', { exact: true }).first().waitFor()
    answer = new Response('ok')
    await drawer().getByRole('button', { name: 'Resume' }).click()
    await drawer().getByRole('button', { name: 'Pause' }).waitFor()

    await page.goto(`${instance.url}/webhooks/undelivered`)
    await page.getByRole('row', { name: /Skipped/ }).waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Send again since…' }).click()
    const dialog = page.getByRole('dialog', { name: `Send again to ${host()}` })
    await dialog.getByText(/^1 delivery to send again/).waitFor()
    await dialog.getByRole('button', { name: 'Send 1 delivery again' }).click()
    await page.getByText('1 of 1').waitFor()
    await page.getByRole('heading', { name: 'Everything arrived' }).waitFor()
    const [, , first, ...later] = await receiver.until(4)
    expect(receiver.got.every(isSigned)).toBe(true)
    // The receiver can tell that it is the same event.
    expect(new Set(later.map((each) => each.headers['webhook-id']))).toEqual(
      new Set([first?.headers['webhook-id']]),
    )
  }, 150_000)

  test('the checker says which part of a signature is wrong', async () => {
    await page.goto(`${instance.url}/webhooks`)
    await page.getByRole('row', { name: new RegExp(host()) }).click()
    await tab('Signature')
    const last = receiver.got.at(-1)
    const lines = Object.entries(last?.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
    await drawer().getByLabel('Headers', { exact: true }).fill(lines.join('\n'))
    await drawer()
      .getByLabel('Body', { exact: true })
      .fill(last?.body ?? '')
    await drawer().getByRole('button', { name: 'Check signature' }).click()
    await drawer().getByText('At least one of the two signatures is right and fresh.').waitFor()
    await drawer()
      .getByLabel('Body', { exact: true })
      .fill(`${last?.body ?? ''} `)
    await drawer().getByRole('button', { name: 'Check signature' }).click()
    await drawer().getByText('Neither signature is right', { exact: false }).waitFor()
    await drawer()
      .getByText(/white space around it/)
      .first()
      .waitFor()
  })

  test('the secret is replaced in two steps', async () => {
    await drawer().getByRole('button', { name: 'Replace the secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Make the new secret' }).click()
    const shown = page.getByRole('dialog', { name: 'Save this secret now' })
    const next = await shown.getByLabel(`Secret for ${host()}`).inputValue()
    await shown.getByRole('button', { name: 'I have saved it' }).click()
    await drawer().getByRole('list', { name: 'Steps of the replacement' }).waitFor()
    expect(await axeFindings(page)).toEqual([])

    const lastTest = async (): Promise<Delivered | undefined> => {
      const before = receiver.got.length
      await tab('Overview')
      await sendTest()
      return (await receiver.until(before + 1, 20_000)).at(-1)
    }
    const between = await lastTest()
    expect(between !== undefined && isSigned(between)).toBe(true)
    expect(between?.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    await tab('Signature')
    await drawer().getByRole('button', { name: 'Promote now' }).click()
    await drawer().getByRole('button', { name: 'Replace the secret' }).waitFor()
    secret = next
    const after = await lastTest()
    expect(after !== undefined && isSigned(after)).toBe(true)
  })

  test('it is changed, and deleted by typing its host', async () => {
    await tab('Settings')
    await drawer().getByLabel('Description').fill('SIEM of the Berlin office')
    await drawer().getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').filter({ hasText: 'is saved' }).waitFor()
    await drawer().getByRole('button', { name: 'Delete this endpoint' }).click()
    const sure = page.getByRole('dialog', { name: `Delete ${host()}?` })
    const remove = sure.getByRole('button', { name: /^Delete endpoint/ })
    expect(await remove.getAttribute('aria-disabled')).toBe('true')
    await sure.getByLabel(`Type ${host()} to confirm`).fill(host())
    await remove.click()
    await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor()
  })
})
