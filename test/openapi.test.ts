import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestApp, type TestApp } from './support/app.ts'

interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security: object[]
  responses: Record<string, { description: string; content?: Record<string, { schema?: object }> }>
}

let t: TestApp
let document: {
  paths: Record<string, Record<string, Operation>>
  tags: { name: string; description: string }[]
}

beforeAll(async () => {
  t = await openTestApp()
  document = (await t.call('GET', '/docs/json')).body
})
afterAll(() => t.close())

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
  )

describe('the API reference', () => {
  test('holds every route of the API and of signing in', () => {
    const named = new Set(operations().map((each) => each.name))
    const missing = t.app.http.routes
      .filter((route) => /^\/(v1|auth|setup)\b/.test(route.path))
      .map((route) => `${route.method.toLowerCase()} ${route.path.replace(/:(\w+)/g, '{$1}')}`)
      .filter((name) => !named.has(name))
    expect(missing).toEqual([])
  })

  test('gives every operation a summary, a known tag, an id of its own and a described success', () => {
    const tags = new Map(document.tags.map((tag) => [tag.name, tag.description]))
    const ids = new Set<string>()
    for (const { name, operation } of operations()) {
      expect([name, operation.summary.length > 5]).toEqual([name, true])
      expect([name, tags.get(operation.tags[0]!) !== undefined]).toEqual([name, true])
      expect([name, tags.get(operation.tags[0]!) !== operation.tags[0]]).toEqual([name, true])
      expect([name, ids.has(operation.operationId)]).toEqual([name, false])
      ids.add(operation.operationId)
      expect([name, Object.keys(operation.responses).some((status) => status.startsWith('2'))]).toEqual([
        name,
        true,
      ])
    }
  })

  test('promises 401, 429 and 503 wherever a credential is needed', () => {
    for (const { name, operation } of operations().filter((each) => each.path.startsWith('/v1'))) {
      for (const status of ['401', '429', '503'])
        expect([name, status in operation.responses]).toEqual([name, true])
    }
  })

  test('passes the linter without an error', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'wardpost-openapi-'))
    const file = join(dir, 'openapi.json')
    await Bun.write(file, JSON.stringify(document))
    const linter = Bun.spawn([process.execPath, 'x', '--bun', 'redocly', 'lint', '--format', 'json', file], {
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    })
    const report = JSON.parse(await new Response(linter.stdout).text()) as {
      totals: { errors: number }
      problems: { severity: string; message: string; ruleId: string }[]
    }
    await linter.exited
    rmSync(dir, { recursive: true, force: true })
    const errors = report.problems.filter((each) => each.severity === 'error')
    expect(errors.map((each) => `${each.ruleId}: ${each.message}`)).toEqual([])
    expect(report.totals.errors).toBe(0)
  }, 60_000)
})
