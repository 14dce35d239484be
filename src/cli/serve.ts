/** `serve`: listens, prints how to get in, and leaves in order when it is asked to. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { listen, type Listener } from '../http/listen.ts'
import { systemActor } from '../lib/actors.ts'
import { isoTime, SECOND_MS, systemClock } from '../lib/clock.ts'
import type { TlsSource } from '../net/tls.ts'
import { type ControlServer, explain, listenControl } from './control.ts'
import { openProduct, type Product } from './product.ts'
import type { VerbContext } from './verb.ts'
import { VERSION } from './version.ts'

/** What is under way when the signal comes may take this long. */
const DRAIN_MS = 10 * SECOND_MS
const CERTIFICATE_CHECK_MS = 10 * SECOND_MS

/** Returns when the server has stopped. */
export async function serve(context: VerbContext): Promise<number> {
  const product = await openProduct(context, { log: context.io.err, quiet: false })
  return run(context, product, [])
}

/** The same, with the demo's data in it. */
export async function serveDemo(given: VerbContext): Promise<number> {
  const { createDemoZone, DEMO_DATA, openDemo } = await import('./demo.ts')
  const context = ownFolder(given, DEMO_DATA)
  const zone = createDemoZone()
  const { io } = context
  const product = await openProduct(context, { log: io.err, quiet: false, resolver: zone.resolver })
  try {
    if (!product.app.services.setup.isSetUp()) io.out('Making the demo tenant and months of reports …')
    const lines = await openDemo(product, zone)
    return await run(context, product, lines)
  } catch (error) {
    await product.close()
    throw error
  }
}

/** The context with another data folder, unless one was named. */
function ownFolder(context: VerbContext, data: string): VerbContext {
  const named = context.settings.some(({ name, source }) => name === 'data' && source !== 'default')
  if (named) return context
  const settings = context.settings.map((each) => (each.name === 'data' ? { ...each, value: data } : each))
  return { ...context, config: { ...context.config, data }, settings }
}

async function run(context: VerbContext, product: Product, lines: string[]): Promise<number> {
  const { config } = context
  surviveMistakes(product)
  const stop = untilAsked()
  let control: ControlServer | null = null
  let listener: Listener | null = null
  try {
    await product.recover()
    const tls = await openTls(config)
    listener = listenTo(config, product, tls)
    product.listensOn(listener.port, tls)
    // Before the first request can be answered: who finds the server up finds the link as well.
    const setup_link = product.app.services.setup.renewLink()
    if (setup_link !== null) lines.push(`Set it up with this link, once, within an hour: ${setup_link}`)
    control = await listenControl(config.data, product.dispatch, product.log)
    await product.scheduler.start()
    await product.app.start()
    const watch = watchCertificate(tls, listener, product)
    await announce(context, product, tls, lines)
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

/**
 * A promise that fails and that nobody waits for is a mistake of ours, but no reason to leave everybody without an
 * answer: what was promised to clients was committed or refused. After an exception nobody caught the state is unknown,
 * so the process ends, and whoever supervises it starts it again.
 */
function surviveMistakes({ log }: Product): void {
  process.on('unhandledRejection', (error) => log.error('a failure nobody waited for', { error }))
  process.on('uncaughtException', (error) => {
    log.error('an exception nobody caught', { error })
    process.exit(1)
  })
}

/**
 * Resolves with the name of the signal. A second one while stopping changes nothing: the time is bounded. SIGHUP is
 * left alone, because handling it would undo `nohup`.
 */
function untilAsked(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
  })
}

async function openTls(config: Config): Promise<TlsSource | null> {
  if (config.tls.mode === 'off') return null
  const { openTlsAuto, openTlsFiles } = await import('../net/tls.ts')
  if (config.tls.mode === 'files') {
    const { cert, key } = config.tls
    return openTlsFiles(cert, key).catch((error: unknown) => {
      throw new Error(`--tls-cert, --tls-key: ${explain(error)}`, { cause: error })
    })
  }
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
  { log, db, baseUrl }: Product,
  tls: TlsSource | null,
  lines: readonly string[],
): Promise<void> {
  await db.commit(systemActor(), {
    writes: [],
    audit: { action: 'instance.start', detail: { version: VERSION } },
  })
  io.out(`Wardpost ${VERSION} is at ${baseUrl()}`)
  if (tls?.mode === 'auto') {
    const { fingerprint, authority_fingerprint } = tls.current()
    io.out(`Certificate SHA-256 ${fingerprint}\nAuthority   SHA-256 ${authority_fingerprint}`)
  }
  for (const line of lines) io.out(line)
  log.info('ready', { url: baseUrl(), version: VERSION, pid: process.pid })
}

async function drain({ app, log, db }: Product, listener: Listener, reason: string): Promise<void> {
  log.info('stopping', { reason })
  const finished = listener.stop(DRAIN_MS)
  app.drain()
  if (!(await finished)) log.warn('requests were cut off', { after_ms: DRAIN_MS })
  await db.commit(systemActor(), { writes: [], audit: { action: 'instance.stop', detail: { reason } } })
}
