import { afterEach, describe, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { createMailer, type MailServer } from '../../src/net/mail-out.ts'
import { openSmtp, smtpAuthority } from '../support/smtp.ts'

const MAIL = {
  id: 'eml_1',
  from: { name: 'Wardpost', address: 'wardpost@example.com' },
  reply_to: null,
  to: 'mara@northlight.example',
  subject: 'Compliance fell\r\nBcc: everybody@example.com — 88 %',
  text: 'Text',
  html: '<p>HTML</p>',
}
const closing: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const smtp = async (...args: Parameters<typeof openSmtp>) => {
  const server = await openSmtp(...args)
  closing.push(server.close)
  return server
}
const at = (port: number, over: Partial<MailServer> = {}): MailServer => ({
  host: 'localhost',
  port,
  security: 'none',
  username: null,
  password: null,
  ...over,
})

describe('a mail', () => {
  test('arrives whole, with nothing that its texts could add to it', async () => {
    const { port, received } = await smtp()
    expect(await createMailer({ ca: null }).send(at(port), MAIL)).toMatchObject({ ok: true })
    const [got] = received
    expect(got).toMatchObject({
      envelope_from: 'wardpost@example.com',
      to: 'mara@northlight.example',
      tls: false,
    })
    const mail = await got!.mail()
    expect(mail.subject).toBe('Compliance fell Bcc: everybody@example.com — 88 %')
    expect([mail.bcc, mail.text?.trim(), mail.html?.trim()]).toEqual([undefined, 'Text', '<p>HTML</p>'])
    expect(mail.messageId).toBe('<eml_1@example.com>')
    expect(got!.raw).toContain('Auto-Submitted: auto-generated')
  })

  const modes: [MailServer['security'], MailServer['security'], boolean, RegExp | null][] = [
    ['starttls', 'starttls', true, null],
    ['tls', 'tls', true, null],
    ['none', 'none', false, null],
    ['none', 'starttls', true, /STARTTLS/],
    ['none', 'tls', true, /.+/],
    ['starttls', 'starttls', false, /certificate|issuer|signed/],
    ['tls', 'tls', false, /certificate|issuer|signed/],
  ]
  for (const [server, asked, trusted, error] of modes) {
    const what = error === null ? 'goes' : 'is refused'
    test(`${what}: server ${server}, ${asked} asked for, authority ${trusted ? 'known' : 'unknown'}`, async () => {
      const { port, received } = await smtp({ security: server })
      const mailer = createMailer({ ca: trusted ? [await smtpAuthority()] : null })
      const outcome = await mailer.send(at(port, { security: asked }), MAIL)
      if (error === null) expect([outcome.ok, received[0]!.tls]).toEqual([true, server !== 'none'])
      else {
        expect(outcome).toMatchObject({ ok: false, permanent: false, error: expect.stringMatching(error) })
        expect(received).toEqual([])
      }
    })
  }
})

describe('signing in', () => {
  const login = { user: 'wardpost', password: 'pa:ss wörd' }
  test('works, and the dialogue shows everything but the secret', async () => {
    const { port, received } = await smtp({ login })
    const dialogue: string[] = []
    const server = at(port, { username: login.user, password: login.password })
    expect((await createMailer({ ca: null }).send(server, MAIL, dialogue)).ok).toBe(true)
    expect(received[0]!.user).toBe('wardpost')
    const text = dialogue.join('\n')
    expect(text).toContain('S: 220')
    expect(text).toContain('C: RCPT TO:<mara@northlight.example>')
    for (const secret of [login.password, Buffer.from(login.password).toString('base64')]) {
      expect(text).not.toContain(secret)
    }
    expect(text).not.toContain(Buffer.from(`\0${login.user}\0${login.password}`).toString('base64'))
  })

  test('with a wrong password fails with the words of the server, and may be tried again', async () => {
    const { port } = await smtp({ login })
    const outcome = await createMailer({ ca: null }).send(
      at(port, { username: 'wardpost', password: 'x' }),
      MAIL,
    )
    expect(outcome).toMatchObject({ ok: false, permanent: false, unreachable: true })
    expect((outcome as { error: string }).error).toContain('535 5.7.8 Authentication credentials invalid')
  })
})

describe('a refusal', () => {
  for (const [where, answer, permanent] of [
    ['rcpt', '550 5.1.1 No such mailbox', true],
    ['rcpt', '451 4.7.1 Greylisted', false],
    ['data', '554 5.7.1 Looks like spam', true],
    ['data', '452 4.3.1 Disk full', false],
  ] as const) {
    test(`${answer} is ${permanent ? 'for good' : 'for now'}`, async () => {
      const { port, answers } = await smtp()
      answers[where] = answer
      const outcome = await createMailer({ ca: null }).send(at(port), MAIL)
      expect(outcome).toMatchObject({ ok: false, permanent, unreachable: false })
      expect((outcome as { error: string }).error).toContain(answer.slice(4))
    })
  }
})

describe('a server that', () => {
  const listen = (onSocket: (socket: Socket) => void): Promise<number> => {
    const server: Server = createServer(onSocket)
    const sockets = new Set<Socket>()
    server.on('connection', (socket) => {
      socket.on('error', () => {})
      sockets.add(socket)
    })
    closing.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return new Promise((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    )
  }
  const cases: [string, () => Promise<number>][] = [
    ['is not there', async () => 1],
    ['says nothing', () => listen(() => {})],
    ['hangs up', () => listen((socket) => socket.destroy())],
    ['is no mail server', () => listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))],
    [
      'drips',
      () =>
        listen((socket) => {
          const timer = setInterval(() => socket.write('2'), 50)
          socket.on('close', () => clearInterval(timer))
        }),
    ],
  ]
  for (const [name, open] of cases) {
    test(`${name} ends within the time for a step`, async () => {
      const port = await open()
      const started = performance.now()
      const outcome = await createMailer({ ca: null, step_ms: 300 }).send(at(port), MAIL)
      expect(outcome).toMatchObject({ ok: false, permanent: false, unreachable: true })
      expect(performance.now() - started).toBeLessThan(2000)
    })
  }
})
