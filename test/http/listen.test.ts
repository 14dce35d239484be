import { describe, expect, test } from 'bun:test'
import { connect } from 'node:tls'
import { listen, type Listener } from '../../src/http/listen.ts'
import { makeAuthority, makeServerCertificate } from '../../src/net/certificate.ts'

const now = Date.now()
const authority = await makeAuthority(now)
const pairFor = (name: string) => makeServerCertificate(authority, [name, '127.0.0.1'], now)

/** The common name of the certificate that a new connection is shown. */
const shownBy = ({ port }: Listener): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca: authority.cert }, () => {
      resolve(socket.getPeerCertificate().subject.CN as string)
      socket.end()
    })
    socket.on('error', reject)
  })

const get = (listener: Listener, path = '/'): Promise<Response> =>
  fetch(`https://127.0.0.1:${listener.port}${path}`, { tls: { ca: authority.cert }, keepalive: false })

describe('listener', () => {
  test('shows a new certificate without refusing or losing a request', async () => {
    const begun = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<void>()
    const listener = listen({
      host: '127.0.0.1',
      port: 0,
      tls: await pairFor('first.example'),
      fetch: async (request) => {
        if (new URL(request.url).pathname === '/slow') {
          begun.resolve()
          await finish.promise
        }
        return new Response('ok')
      },
    })
    expect(await shownBy(listener)).toBe('first.example')
    const slow = get(listener, '/slow')
    await begun.promise
    listener.renew(await pairFor('second.example'))
    for (let i = 0; i < 5; i++) expect(await shownBy(listener)).toBe('second.example')
    finish.resolve()
    expect(await (await slow).text()).toBe('ok')
    expect(await (await get(listener)).text()).toBe('ok')
    expect(await listener.stop(1000)).toBe(true)
  })

  test('speaks TLS 1.2 and 1.3 and nothing older', async () => {
    const listener = listen({
      host: '127.0.0.1',
      port: 0,
      tls: await pairFor('a.example'),
      fetch: () => new Response('ok'),
    })
    const version = (minVersion: 'TLSv1' | 'TLSv1.2', maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
      new Promise<string>((resolve) => {
        const options = { port: listener.port, host: '127.0.0.1', ca: authority.cert, minVersion, maxVersion }
        const socket = connect(options, () => {
          resolve(socket.getProtocol() ?? 'none')
          socket.end()
        })
        socket.on('error', () => resolve('refused'))
      })
    expect(await version('TLSv1.2', 'TLSv1.3')).toBe('TLSv1.3')
    expect(await version('TLSv1.2', 'TLSv1.2')).toBe('TLSv1.2')
    expect(await version('TLSv1', 'TLSv1.1')).toBe('refused')
    await listener.stop(1000)
  })

  test('finishes what it has begun, refuses what is new, and cuts off what takes too long', async () => {
    const begun = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<void>()
    const options = {
      host: '127.0.0.1',
      port: 0,
      tls: null,
      fetch: async () => {
        begun.resolve()
        await finish.promise
        return new Response('ok')
      },
    }
    const patient = listen(options)
    const url = `http://127.0.0.1:${patient.port}/`
    const answer = fetch(url).then((response) => response.text())
    await begun.promise
    const stopped = patient.stop(5000)
    expect(await fetch(url).catch(() => 'refused')).toBe('refused')
    finish.resolve()
    expect(await answer).toBe('ok')
    expect(await stopped).toBe(true)

    const hasty = listen({ ...options, fetch: () => new Promise<Response>(() => {}) })
    const cut = fetch(`http://127.0.0.1:${hasty.port}/`).catch(() => 'cut')
    await Bun.sleep(50)
    expect(await hasty.stop(50)).toBe(false)
    expect(await cut).toBe('cut')
  })

  test('says that the port is taken, with TLS too', async () => {
    const options = { host: '127.0.0.1', port: 0, fetch: () => new Response('ok') }
    const first = listen({ ...options, tls: await pairFor('a.example') })
    const again = async (tls: { cert: string; key: string } | null) =>
      listen({ ...options, port: first.port, tls })
    for (const tls of [null, await pairFor('b.example')]) {
      const error = await again(tls).catch((caught: Error) => caught)
      expect(error).toBeInstanceOf(Error)
      expect((error as Error).message).toContain(`port ${first.port} on 127.0.0.1 is taken`)
    }
    await first.stop(1000)
  })
})
