/** `serve`: listens, prints how to get in, and leaves in order when it is asked to. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { listen, type Listener } from '../http/listen.ts'
import { systemActor } from '../lib/actors.ts'
import { isoTime, SECOND_MS, systemClock } from '../lib/clock.ts'
import type { TlsSource } from '../net/tls.ts'
import { type ControlServer, listenControl } from './control.ts'
import { openProduct, type Product } from './product.ts'
import type { VerbContext } from './verb.ts'
import { VERSION } from './version.ts'

/** What is under way when the signal comes may take this long. */
const DRAIN_MS = 10 * SECOND_MS
const CERTIFICATE_CHECK_MS = 10 * SECOND_MS

/** Returns when the server has stopped. */
export async function serve(context: VerbContext, _options: { demo: boolean }): Promise<number> {
  const { config, io } = context
  const stop = untilAsked()
  const product = await openProduct(context, { log: io.err, quiet: false })
  let control: ControlServer | null = null
  let listener: Listener | null = null
  try {
    await product.recover()
    const tls = await openTls(config)
    listener = listenTo(config, product, tls)
    product.listensOn(listener.port, tls)
    // Before the first request can be answered: who finds the server up finds the link as well.
    const setup_link = product.app.services.setup.renewLink()
    control = await listenControl(config.data, product.dispatch, product.log)
    await product.scheduler.start()
    const watch = watchCertificate(tls, listener, product)
    await announce(context, product, tls, setup_link)
    const reason = await stop
    clearInterval(watch)
    await drain(product, listener, reason)
  } finally {
    await control?.close()
    await listener?.stop(0)
    await product.close()
  }
  product.log.info('stopped')
  return 0
}

/** Resolves with the name of the signal. A second one while stopping changes nothing: the time is bounded. */
function untilAsked(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
  })
}

async function openTls(config: Config): Promise<TlsSource | null> {
  if (config.tls.mode === 'off') return null
  const { openTlsAuto, openTlsFiles } = await import('../net/tls.ts')
  if (config.tls.mode === 'files') return openTlsFiles(config.tls.cert, config.tls.key)
  const names = [config.host, config.base_url === null ? hostname() : new URL(config.base_url).hostname]
  const real = names.filter((name) => name !== '0.0.0.0' && name !== '::')
  return openTlsAuto(join(config.data, 'tls'), real, systemClock)
}

function listenTo(config: Config, { app }: Product, tls: TlsSource | null): Listener {
  const { http } = app
  return listen({
    host: config.host,
    port: config.port,
    tls: tls?.current() ?? null,
    fetch: (request, server) => {
      // After a change of certificate there is another listener: addresses of clients are asked of the right one.
      http.server = server as never
      return http.fetch(request)
    },
  })
}

function watchCertificate(tls: TlsSource | null, listener: Listener, { log }: Product) {
  const look = async (): Promise<void> => {
    const fresh = await tls?.refresh()
    if (fresh === null || fresh === undefined) return
    listener.renew(fresh)
    log.info('certificate renewed', { fingerprint: fresh.fingerprint, not_after: isoTime(fresh.not_after) })
  }
  const timer = setInterval(() => {
    look().catch((error: unknown) =>
      log.error('the new certificate cannot be used, the old one stays', { error }),
    )
  }, CERTIFICATE_CHECK_MS)
  timer.unref()
  return timer
}

async function announce(
  { io }: VerbContext,
  product: Product,
  tls: TlsSource | null,
  setup_link: string | null,
): Promise<void> {
  const { log, db } = product
  await db.commit(systemActor(), {
    writes: [],
    audit: { action: 'instance.start', detail: { version: VERSION } },
  })
  const lines = [`Wardpost ${VERSION} is at ${product.baseUrl()}`]
  if (tls?.mode === 'auto') {
    const { fingerprint, authority_fingerprint } = tls.current()
    lines.push(`Certificate SHA-256 ${fingerprint}`, `Authority   SHA-256 ${authority_fingerprint}`)
  }
  if (setup_link !== null) lines.push(`Set it up with this link, once, within an hour: ${setup_link}`)
  for (const line of lines) io.out(line)
  log.info('ready', { url: product.baseUrl(), version: VERSION, pid: process.pid })
}

async function drain({ app, log, db }: Product, listener: Listener, reason: string): Promise<void> {
  log.info('stopping', { reason })
  const finished = listener.stop(DRAIN_MS)
  app.drain()
  if (!(await finished)) log.warn('requests were cut off', { after_ms: DRAIN_MS })
  await db.commit(systemActor(), { writes: [], audit: { action: 'instance.stop', detail: { reason } } })
}
