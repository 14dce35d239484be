/** A real SMTP server on loopback that keeps what it is given. */
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { makeAuthority, makeServerCertificate } from '../../src/net/certificate.ts'

export interface Received {
  envelope_from: string
  to: string
  tls: boolean
  user: string | null
  raw: string
  mail: () => Promise<Email>
}

export interface SmtpOptions {
  security?: 'none' | 'starttls' | 'tls'
  /** The only login it takes; without it, none is asked for. */
  login?: { user: string; password: string }
}

let authority: Awaited<ReturnType<typeof makeAuthority>> | null = null

/** The authority that signs its certificate, in PEM. */
export async function smtpAuthority(): Promise<string> {
  authority ??= await makeAuthority(Date.now())
  return authority.cert
}

export async function openSmtp({ security = 'none', login }: SmtpOptions = {}) {
  const received: Received[] = []
  /** What it says to a recipient, or to a message, in place of yes. */
  const answers = { rcpt: null as string | null, data: null as string | null }
  const keep = (raw: string, session: SMTPServerSession): void => {
    const { mailFrom, rcptTo } = session.envelope
    received.push({
      envelope_from: mailFrom === false ? '' : mailFrom.address,
      to: rcptTo.map((each) => each.address).join(','),
      tls: session.secure,
      user: session.user === undefined ? null : String(session.user),
      raw,
      mail: () => PostalMime.parse(raw),
    })
  }
  const { cert, key } = security === 'none' ? { cert: '', key: '' } : await certificate()
  const server = new SMTPServer({
    secure: security === 'tls',
    ...(security === 'none' ? {} : { cert, key }),
    disabledCommands: security === 'starttls' ? [] : ['STARTTLS'],
    authOptional: login === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth(auth, _session, done) {
      if (auth.username === login?.user && auth.password === login?.password)
        done(null, { user: auth.username })
      else done(failure('535 5.7.8 Authentication credentials invalid'))
    },
    onRcptTo(_address, _session, done) {
      done(answers.rcpt === null ? null : failure(answers.rcpt))
    },
    onData(stream, session, done) {
      const chunks: Uint8Array[] = []
      stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      stream.on('end', () => {
        if (answers.data === null) keep(Buffer.concat(chunks).toString(), session)
        done(answers.data === null ? null : failure(answers.data))
      })
    },
  })
  // Clients that turn away in the middle are what some tests are about.
  server.on('error', () => {})
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', () => ready()))
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    received,
    answers,
    close: () => new Promise<void>((done) => server.close(() => done())),
  }
}

async function certificate() {
  await smtpAuthority()
  return makeServerCertificate(authority!, ['localhost', '127.0.0.1'], Date.now())
}

function failure(text: string): Error {
  const responseCode = Number(text.slice(0, 3))
  return Object.assign(new Error(text.slice(4)), { responseCode })
}
