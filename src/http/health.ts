/**
 * `/healthz`: the process runs. `/readyz`: it can do its work. `/metrics`: numbers, for this machine or for a key of
 * the installation. None of them counts towards a limit or needs the setup to be done.
 */
import { Elysia } from 'elysia'
import type { Metrics } from './metrics.ts'

export interface HealthPorts {
  metrics: Metrics
  /** Null when all is well, otherwise what is missing, without detail that an outsider could use. */
  notReady: () => Promise<string | null>
  /** Loopback, or a credential with `instance:read`. */
  mayReadMetrics: (request: Request) => Promise<boolean>
}

export const healthRoutes = ({ metrics, notReady, mayReadMetrics }: HealthPorts) =>
  new Elysia({ name: 'health' })
    .get('/healthz', () => new Response('ok\n', { headers: PLAIN }), HIDDEN)
    .get(
      '/readyz',
      async () => {
        const missing = await notReady()
        return new Response(`${missing ?? 'ready'}\n`, {
          status: missing === null ? 200 : 503,
          headers: PLAIN,
        })
      },
      HIDDEN,
    )
    .get(
      '/metrics',
      async ({ request }) => {
        if (await mayReadMetrics(request)) {
          return new Response(metrics.registry.render(), {
            headers: { ...PLAIN, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
          })
        }
        return new Response('Only from this machine, or with a key that has instance:read.\n', {
          status: 401,
          headers: { ...PLAIN, 'www-authenticate': 'Bearer' },
        })
      },
      HIDDEN,
    )

const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
const HIDDEN = { detail: { hide: true } }
