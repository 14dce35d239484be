import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import type { AlertDraft, Severity } from '../../src/alerts/types.ts'
import { systemActor } from '../../src/lib/actors.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/clock.ts'
import { createNotifier } from '../../src/notifications/notifier.ts'
import { createNotificationStore } from '../../src/notifications/store.ts'
import { openTestApp, type TestApp } from '../support/app.ts'
import { openSmtp } from '../support/smtp.ts'

let t: TestApp
let smtp: Awaited<ReturnType<typeof openSmtp>>
let key: string
let operator: string
let tenant_id: string
let user_id: string
let owner: string

beforeEach(async () => {
  t = await openTestApp({ baseUrl: () => 'https://wardpost.example' })
  smtp = await openSmtp()
  const made = await t.tenant('Acme')
  ;({ key, tenant_id, user_id } = made)
  owner = made.email
  operator = await t.key(tenant_id, ['instance:*'])
  await mailServer(smtp.port)
})
afterEach(async () => {
  await smtp.close()
  await t.close()
})

const mailServer = (port: number) =>
  t.call('PUT', '/v1/instance/mail', {
    key: operator,
    body: {
      host: '127.0.0.1',
      port,
      security: 'none',
      from_address: 'wardpost@example.com',
      from_name: 'Wardpost',
    },
  })
const raise = async (severity: Severity, over: Partial<AlertDraft> = {}): Promise<string> => {
  const { id } = await t.app.services.raiser.raiseNow(systemActor(tenant_id), {
    kind: 'compliance_low',
    severity,
    title: `example.com: a ${severity} problem`,
    summary: 'Fewer messages passed than asked for.',
    subject: { type: 'domain', id: 'dom_x' },
    evidence: { seen: 'x', compliance: 62.5, messages: 160, domain_id: 'dom_x' },
    dedupe_key: `test:${severity}`,
    ...over,
  })
  return id
}
const settings = (body: object) => t.call('PATCH', '/v1/settings/notifications', { key, body })
const run = () => t.app.services.notifier.run()
const subjects = () => Promise.all(smtp.received.map(async (each) => (await each.mail()).subject))
const outbox = () =>
  t.db.query<{ status: string; attempts: number; next_at: number; last_error: string | null }>(
    'SELECT status, attempts, next_at, last_error FROM mail_outbox ORDER BY id',
  )

describe('at once', () => {
  test('goes one mail per alert and person, with what is needed and a link', async () => {
    const id = await raise('high')
    expect(await run()).toBe(1)
    const [got] = smtp.received
    const mail = await got!.mail()
    expect([got!.to, mail.subject]).toEqual([owner, '[Wardpost] High: example.com: a high problem'])
    for (const text of [mail.text!, mail.html!]) {
      expect(text).toContain(`https://wardpost.example/alerts/${id}`)
      expect(text).toContain('62.5')
      expect(text).toContain('Fewer messages passed')
      expect(text).not.toContain('dom_x')
    }
    expect(await outbox()).toMatchObject([{ status: 'sent', attempts: 1 }])
  })

  test('goes no mail for a repetition, and one for the alert after it was resolved', async () => {
    const id = await raise('high')
    await run()
    for (let i = 0; i < 3; i++) {
      t.clock.advance(HOUR_MS)
      await raise('high')
      await run()
    }
    expect(smtp.received.length).toBe(1)
    await t.call('POST', `/v1/alerts/${id}/resolve`, { key })
    await raise('high')
    await run()
    expect(smtp.received.length).toBe(2)
  })

  test('goes a mail when it gets urgent, once, and not with the summary as well', async () => {
    await raise('medium', { dedupe_key: 'grows' })
    await run()
    expect(await subjects()).toEqual([])
    for (let i = 0; i < 2; i++) {
      await raise('critical', { dedupe_key: 'grows' })
      await run()
    }
    t.clock.advance(DAY_MS)
    await run()
    expect(await subjects()).toEqual(['[Wardpost] Critical: example.com: a critical problem'])
  })

  test('goes one mail however many rounds run at the same time', async () => {
    await raise('critical')
    await Promise.all(Array.from({ length: 5 }, run))
    await run()
    expect(smtp.received.length).toBe(1)
  })

  test('goes nothing for a severity that nobody asked for, for one resolved before, or turned off', async () => {
    await raise('info')
    const id = await raise('high')
    await t.call('POST', `/v1/alerts/${id}/resolve`, { key })
    await settings({ email_enabled: false })
    await raise('critical')
    await run()
    t.clock.advance(2 * DAY_MS)
    await run()
    await settings({ email_enabled: true })
    await run()
    expect(await subjects()).toEqual([])
  })

  test('goes to the people named, as far as they are still there', async () => {
    await settings({ recipients: [user_id, 'soc@acme.example'] })
    await raise('high')
    await run()
    expect(smtp.received.map((each) => each.to)).toEqual([owner, 'soc@acme.example'])
    await raise('critical')
    await t.db.commit(systemActor(tenant_id), {
      writes: [{ sql: 'DELETE FROM memberships WHERE user_id = ?', params: [user_id] }],
      audit: { none: 'staging' },
    })
    await run()
    expect(smtp.received.map((each) => each.to)).toEqual([owner, 'soc@acme.example', 'soc@acme.example'])
    expect((await outbox()).map((each) => each.status).sort()).toEqual(['dropped', 'sent', 'sent', 'sent'])
  })

  test('nothing in a mail comes from what strangers wrote, but text', async () => {
    await raise('high', {
      title: 'evil.example\r\nBcc: all@example.com <script>alert(1)</script>',
      summary: '<img src=x onerror=alert(1)> & "more"',
      evidence: { 'a<b': '</td><script>' },
    })
    await run()
    const { to, mail: parse } = smtp.received[0]!
    const mail = await parse()
    expect([to, mail.bcc]).toEqual([owner, undefined])
    expect(mail.html).not.toMatch(/<script|<img|onerror=alert\(1\)>/)
    expect(mail.html).toContain('&lt;script&gt;')
  })
})

test('two who tell at the same time tell once', async () => {
  const { notifications, mail } = t.app.services
  const others = Array.from({ length: 3 }, () =>
    createNotifier({
      db: t.db,
      store: createNotificationStore(t.db),
      clock: t.clock,
      notifications,
      mail,
      raiser: t.app.services.raiser,
      baseUrl: () => 'https://wardpost.example',
    }),
  )
  await raise('critical')
  await raise('medium')
  await Promise.all(others.map((each) => each.run()))
  expect(smtp.received.length).toBe(1)
  t.clock.advance(DAY_MS)
  await Promise.all(others.map((each) => each.run()))
  expect((await subjects()).slice(1)).toEqual(['[Wardpost] 1 alert, 1 not resolved'])
  expect((await outbox()).map((each) => [each.status, each.attempts])).toEqual([
    ['sent', 1],
    ['sent', 1],
  ])
})

describe('quiet hours', () => {
  // Noon UTC is 13:00 in Berlin.
  const quiet = { enabled: true, from: '12:30', to: '14:00', timezone: 'Europe/Berlin' }

  test('hold mail back to their end, and let it go then', async () => {
    await settings({ quiet_hours: quiet })
    await raise('critical')
    expect(await run()).toBe(0)
    t.clock.advance(HOUR_MS - 1)
    expect(await run()).toBe(0)
    t.clock.advance(1)
    expect(await run()).toBe(1)
    expect(await outbox()).toMatchObject([{ status: 'sent', attempts: 1 }])
  })

  test('spare people what was resolved meanwhile', async () => {
    await settings({ quiet_hours: quiet })
    const id = await raise('critical')
    await run()
    await t.call('POST', `/v1/alerts/${id}/resolve`, { key })
    t.clock.advance(2 * HOUR_MS)
    expect(await run()).toBe(0)
    expect(await outbox()).toMatchObject([{ status: 'dropped', last_error: 'the alert was resolved before' }])
  })
})

describe('the daily summary', () => {
  test('comes once at its time, worst first, with what began since the last one', async () => {
    await raise('low')
    await raise('medium')
    const high = await raise('high')
    await run()
    expect(await subjects()).toEqual(['[Wardpost] High: example.com: a high problem'])
    t.clock.set(Date.UTC(2026, 0, 16, 7) - 1)
    await run()
    expect(smtp.received.length).toBe(1)
    t.clock.advance(1)
    await Promise.all([run(), run()])
    await run()
    expect((await subjects()).slice(1)).toEqual(['[Wardpost] 2 alerts, 2 not resolved'])
    const text = (await smtp.received[1]!.mail()).text!
    expect(text.indexOf('medium problem')).toBeLessThan(text.indexOf('low problem'))
    expect(text).toContain('https://wardpost.example/alerts/alr_')
    expect(text).not.toContain(high)
    t.clock.advance(DAY_MS)
    await run()
    expect(smtp.received.length).toBe(2)
  })

  test('does not speak of what began after its time before the next one', async () => {
    t.clock.set(Date.UTC(2026, 0, 16, 7, 0, 30))
    await raise('medium')
    await run()
    t.clock.advance(23 * HOUR_MS)
    await run()
    expect(await subjects()).toEqual([])
    t.clock.advance(HOUR_MS)
    await run()
    expect(await subjects()).toEqual(['[Wardpost] 1 alert, 1 not resolved'])
  })

  test('follows the clocks of the tenant', async () => {
    await settings({ quiet_hours: { timezone: 'America/New_York' }, digest: { at: '08:15' } })
    await raise('medium')
    t.clock.set(Date.UTC(2026, 0, 15, 13, 14))
    await run()
    expect(await subjects()).toEqual([])
    t.clock.advance(MINUTE_MS)
    await run()
    expect(smtp.received.length).toBe(1)
  })

  test('is not made up for when it was turned off', async () => {
    await raise('medium')
    await settings({ digest: { enabled: false } })
    t.clock.advance(DAY_MS)
    await run()
    await settings({ digest: { enabled: true } })
    t.clock.advance(DAY_MS)
    await run()
    expect(await subjects()).toEqual([])
  })
})

describe('a mail that does not get through', () => {
  test('is tried again with growing pauses, and given up in the end', async () => {
    smtp.answers.rcpt = '451 4.7.1 Try again later'
    await raise('high')
    const pauses: number[] = []
    for (let i = 0; i < 6; i++) {
      await run()
      const [row] = await outbox()
      expect([row!.attempts, row!.last_error]).toEqual([i + 1, 'RCPT TO: 451 4.7.1 Try again later'])
      if (row!.status !== 'pending') break
      pauses.push((row!.next_at - t.clock.now()) / MINUTE_MS)
      t.clock.set(row!.next_at - 1)
      await run()
      expect((await outbox())[0]!.attempts).toBe(i + 1)
      t.clock.advance(1)
    }
    expect(pauses).toEqual([1, 5, 30, 120, 360])
    expect(await outbox()).toMatchObject([{ status: 'failed', attempts: 6 }])
    const { body } = await t.call('GET', '/v1/instance/mail', { key: operator })
    expect(body.queue).toEqual({
      waiting: 0,
      failed: 1,
      last_error: 'RCPT TO: 451 4.7.1 Try again later',
      last_sent_at: null,
    })
    const failed = async () => (await t.call('GET', '/v1/alerts?kind=mail_failed', { key })).body.items
    expect(await failed()).toMatchObject([{ status: 'open', count: 1 }])
    smtp.answers.rcpt = null
    await run()
    expect(await failed()).toMatchObject([
      { status: 'resolved', history: [{}, { note: 'Mail is sent again.' }] },
    ])
  })

  test('arrives when the server is back', async () => {
    await mailServer(1)
    await raise('high')
    await run()
    expect(await outbox()).toMatchObject([
      { status: 'pending', last_error: expect.stringContaining('ECONNREFUSED') },
    ])
    await mailServer(smtp.port)
    t.clock.advance(MINUTE_MS)
    expect(await run()).toBe(1)
  })

  test('does not use up the attempts of the others while the server is away', async () => {
    await settings({ recipients: ['a@acme.example', 'b@acme.example', 'c@acme.example'] })
    await mailServer(1)
    await raise('high')
    await run()
    expect((await outbox()).map((each) => each.attempts)).toEqual([1, 0, 0])
  })

  test('is not tried again when its recipient is refused for good, and the others get theirs', async () => {
    await settings({ recipients: ['a@acme.example', 'b@acme.example'] })
    smtp.answers.rcpt = '550 5.1.1 No such mailbox'
    await raise('high')
    await run()
    expect((await outbox()).map((each) => [each.status, each.attempts])).toEqual([
      ['failed', 1],
      ['failed', 1],
    ])
  })

  test('is sent by the next one when its sender died over it', async () => {
    await raise('high')
    await t.db.commit(systemActor(tenant_id), { writes: [], audit: { none: 'staging' } })
    smtp.answers.rcpt = '451 later'
    await run()
    await t.db.commit(systemActor(tenant_id), {
      writes: [
        {
          sql: `UPDATE mail_outbox SET status = 'sending', next_at = ?`,
          params: [t.clock.now() + 2 * MINUTE_MS],
        },
      ],
      audit: { none: 'staging' },
    })
    smtp.answers.rcpt = null
    t.clock.advance(2 * MINUTE_MS - 1)
    expect(await run()).toBe(0)
    t.clock.advance(1)
    expect(await run()).toBe(1)
  })
})

test('what is said of a mail that was given up names nobody', async () => {
  smtp.answers.rcpt = `550 5.1.1 <${owner}> has no mailbox`
  await raise('high')
  await run()
  const { items } = (await t.call('GET', '/v1/alerts?kind=mail_failed', { key })).body
  expect(items[0].evidence).toEqual({ error: 'RCPT TO: 550 5.1.1 <(address)> has no mailbox', attempts: 1 })
})

test('stopping does not wait for a server that says nothing, and the mail goes later', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', () => ready()))
  await mailServer((silent.address() as { port: number }).port)
  await raise('high')
  const started = performance.now()
  const running = run()
  await Bun.sleep(50)
  t.app.services.notifier.stop()
  expect(await running).toBe(0)
  expect(performance.now() - started).toBeLessThan(5000)
  expect(await outbox()).toMatchObject([{ status: 'sending', attempts: 1 }])
  silent.close()
})

test('without a mail server nothing piles up, and what was missed is not told later', async () => {
  await t.call('DELETE', '/v1/instance/mail', { key: operator })
  await raise('high')
  await raise('medium')
  await run()
  await mailServer(smtp.port)
  t.clock.advance(2 * DAY_MS)
  await run()
  expect([await subjects(), await outbox()]).toEqual([[], []])
})

test('what was sent is forgotten after 30 days', async () => {
  await raise('high')
  await run()
  t.clock.advance(30 * DAY_MS)
  expect(await t.app.services.notifier.forget()).toBe(0)
  t.clock.advance(1)
  expect([await t.app.services.notifier.forget(), await outbox()]).toEqual([1, []])
})
