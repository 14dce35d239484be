import { describe, expect, test } from 'bun:test'
import { healthRoutes } from '../../src/http/health.ts'
import { createMetrics, createRegistry } from '../../src/http/metrics.ts'

describe('metrics', () => {
  test('counters, gauges and histograms come out in the text format', () => {
    const registry = createRegistry()
    const seen = registry.counter('seen_total', 'Seen.', ['kind'])
    seen.add(2, ['a"b\\c\nd'])
    seen.add(1, ['a"b\\c\nd'])
    registry.gauge('depth', 'Depth.', () => 1.5)
    const sizes = registry.histogram('size', 'Size.', [1, 10])
    for (const value of [1, 2, 100]) sizes.observe(value)
    expect(registry.render()).toBe(
      [
        '# HELP seen_total Seen.',
        '# TYPE seen_total counter',
        String.raw`seen_total{kind="a\"b\\c\nd"} 3`,
        '# HELP depth Depth.',
        '# TYPE depth gauge',
        'depth 1.5',
        '# HELP size Size.',
        '# TYPE size histogram',
        'size_bucket{le="1"} 1',
        'size_bucket{le="10"} 2',
        'size_bucket{le="+Inf"} 3',
        'size_sum 103',
        'size_count 3',
        '',
      ].join('\n'),
    )
  })

  test('a family that is full adds up what is new under other', () => {
    const registry = createRegistry(2)
    const seen = registry.counter('seen_total', 'Seen.', ['kind'])
    for (const kind of ['a', 'b', 'c', 'd', 'a']) seen.add(1, [kind])
    expect(registry.render().split('\n').slice(2)).toEqual([
      'seen_total{kind="a"} 2',
      'seen_total{kind="b"} 1',
      'seen_total{kind="other"} 2',
      '',
    ])
  })

  test('a request is counted by its route template', () => {
    const metrics = createMetrics({ version: '1.2.3', monotonic: () => performance.now() })
    metrics.observe('/v1/domains/:id', 'GET', 200, 3)
    metrics.close()
    const text = metrics.registry.render()
    expect(text).toContain(
      'wardpost_http_requests_total{route="/v1/domains/:id",method="GET",status="200"} 1',
    )
    expect(text).toContain(
      'wardpost_http_request_duration_seconds_bucket{route="/v1/domains/:id",method="GET",le="0.005"} 1',
    )
    expect(text).toContain('wardpost_build_info{version="1.2.3"')
    expect(text).toMatch(/process_resident_memory_bytes \d{7,}/)
  })
})

describe('health', () => {
  const metrics = createMetrics({ version: '0', monotonic: () => 0 })
  metrics.close()
  const app = (missing: string | null, allowed: boolean) =>
    healthRoutes({
      metrics,
      notReady: () => Promise.resolve(missing),
      mayReadMetrics: () => Promise.resolve(allowed),
    })
  const get = (path: string, missing: string | null, allowed: boolean) =>
    app(missing, allowed).handle(new Request(`http://localhost${path}`))

  test('the process says that it lives whatever else is wrong', async () => {
    expect((await get('/healthz', 'database', false)).status).toBe(200)
  })

  test('not ready is 503 with the reason', async () => {
    const response = await get('/readyz', 'database', false)
    expect([response.status, await response.text()]).toEqual([503, 'database\n'])
    expect((await get('/readyz', null, false)).status).toBe(200)
  })

  test('metrics are for those who may', async () => {
    expect((await get('/metrics', null, false)).status).toBe(401)
    const response = await get('/metrics', null, true)
    expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
    expect(await response.text()).toContain('wardpost_db_commits_total 0')
  })
})
