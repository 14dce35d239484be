/** The line of a delivery, headers as people paste them, and the code that receivers are given. */
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'bun:test'
import { stepsOf } from '../../public/pages/webhooks/attempts.ts'
import { readHeaders } from '../../public/pages/webhooks/read-headers.ts'
import { recentOf } from '../../public/pages/webhooks/recent.tsx'
import { SNIPPETS } from '../../public/pages/webhooks/snippets.ts'
import type { Attempt } from '../../public/pages/webhooks/types.ts'
import { DELAYS_MS } from '../../src/webhooks/rules/schedule.ts'
import { serviceSignature } from '../../src/webhooks/rules/signature.ts'

const START = Date.parse('2026-01-15T06:21:12.000Z')
const TOOK_MS = 200

function attempt(number: number, at: number, error_class: string | null = 'http_status'): Attempt {
  return {
    number,
    started_at: new Date(at).toISOString(),
    ms: TOOK_MS,
    status_code: error_class === null ? 200 : 503,
    error_class,
    error: null,
    address: '192.0.2.1',
    response_body: '',
  }
}

/** So many failed attempts, exactly by the schedule. */
function failed(count: number, from = START, number = 1): Attempt[] {
  const made: Attempt[] = []
  let at = from
  for (let index = 0; index < count; index++) {
    at += (DELAYS_MS[index] ?? 0) + (index === 0 ? 0 : TOOK_MS)
    made.push(attempt(number + index, at))
  }
  return made
}

const plansOf = (steps: { kind: string; plan: string }[]) => steps.map(({ kind, plan }) => `${kind} ${plan}`)

describe('the line of a delivery', () => {
  test('shows what was tried, what is next and what would be left', () => {
    const attempts = failed(5)
    const next = START + 5 * 3_600_000
    const steps = stepsOf({ status: 'retrying', attempts, next_attempt_at: new Date(next).toISOString() })
    expect(plansOf(steps)).toEqual([
      'fail at once',
      'fail +30 s',
      'fail +2 min',
      'fail +10 min',
      'fail +1 h',
      'next +6 h',
      'later +24 h',
    ])
    expect(steps[6]?.at).toBe(new Date(next + 24 * 3_600_000).toISOString())
    expect(steps.map(({ last }) => last)).toEqual([false, false, false, false, false, false, true])
  })

  test('a new delivery has all seven before it', () => {
    const steps = stepsOf({ status: 'pending', attempts: [], next_attempt_at: new Date(START).toISOString() })
    expect(steps).toHaveLength(DELAYS_MS.length)
    expect(plansOf(steps)[0]).toBe('next at once')
  })

  test('one that was given up has nothing before it', () => {
    expect(stepsOf({ status: 'failed', attempts: failed(7), next_attempt_at: null })).toHaveLength(7)
  })

  test('sent again by a person, a new round begins', () => {
    const again = Date.parse(failed(7).at(-1)?.started_at ?? '') + 60_000
    const attempts = [...failed(7), attempt(8, again), attempt(9, again + TOOK_MS + 30_000, null)]
    const steps = stepsOf({ status: 'succeeded', attempts, next_attempt_at: null })
    expect(plansOf(steps).slice(7)).toEqual(['fail again', 'ok +30 s'])
  })

  test('paused in the middle and sent again, a new round begins as well', () => {
    const attempts = failed(3)
    const steps = stepsOf({ status: 'pending', attempts, next_attempt_at: new Date(START).toISOString() })
    expect(plansOf(steps).slice(3, 5)).toEqual(['next again', 'later +30 s'])
  })

  test('late attempts stay in their round: the server was off', () => {
    const attempts = [attempt(1, START), attempt(2, START + 3_600_000)]
    const steps = stepsOf({ status: 'failed', attempts, next_attempt_at: null })
    expect(plansOf(steps)).toEqual(['fail at once', 'fail +30 s'])
  })
})

test('the success rate counts what ended, the marks go from old to new', () => {
  const items = [
    { status: 'retrying' },
    { status: 'failed' },
    { status: 'succeeded' },
    { status: 'skipped' },
  ] as const
  expect(recentOf(items)).toEqual({
    cells: ['quiet', 'ok', 'fail', 'warn'],
    rate: 50,
    delivered: 1,
    ended: 2,
    waiting: 1,
  })
  expect(recentOf([{ status: 'pending' }]).rate).toBeNull()
})

describe('pasted headers', () => {
  const expected = { 'X-Service-Signature-Timestamp': '1768471200', 'webhook-signature': 'v1,abc= v1,def=' }

  test('as lines, from curl -v, and as JSON', () => {
    const lines = ['X-Service-Signature-Timestamp: 1768471200', 'webhook-signature: v1,abc= v1,def=']
    expect(readHeaders(lines.join('\n'))).toEqual(expected)
    expect(readHeaders(['POST /hook HTTP/1.1', ...lines, ''].join('\r\n'))).toEqual(expected)
    expect(readHeaders(lines.map((line) => `> ${line}`).join('\n'))).toEqual(expected)
    expect(readHeaders(JSON.stringify(expected))).toEqual(expected)
    expect(readHeaders('{"webhook-id":["evt_1"]}')).toEqual({ 'webhook-id': 'evt_1' })
  })

  test('what is no header is left out', () => {
    expect(readHeaders('nothing of the kind\n\n: 12')).toEqual({})
  })
})

describe('the code for receivers', () => {
  const secret = 'whsec_mJ8l3vQ0tq4m8dU2y1n0bq7cWk5xZr9pT6hVgA3sE1U='
  const body = '{"id":"evt_1","data":{"name":"Zoë"}}'
  const now = 1_768_471_200
  const signature = serviceSignature(secret, now, Buffer.from(body))
  const cases = [
    { name: 'right', time: String(now), signature, body, ok: true },
    { name: 'another body', time: String(now), signature, body: `${body} `, ok: false },
    { name: 'six minutes old', time: String(now - 360), signature: signed(now - 360), body, ok: false },
    { name: 'another time', time: String(now + 1), signature, body, ok: false },
    { name: 'no signature', time: String(now), signature: '', body, ok: false },
    { name: 'no time', time: '', signature, body, ok: false },
  ]
  const folder = mkdtempSync(join(tmpdir(), 'wardpost-snippets-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function signed(time: number): string {
    return createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  }
  const codeOf = (id: string) => SNIPPETS.find((snippet) => snippet.id === id)?.code ?? ''

  test('in JavaScript it tells right from wrong', async () => {
    const path = join(folder, 'check.mjs')
    await Bun.write(path, codeOf('javascript'))
    const { isFromWardpost } = (await import(path)) as {
      isFromWardpost: (headers: object, body: Uint8Array, secret: string, now: number) => boolean
    }
    for (const each of cases) {
      const headers = {
        'x-service-signature-timestamp': each.time,
        'x-service-signature': each.signature,
      }
      expect(`${each.name}: ${isFromWardpost(headers, Buffer.from(each.body), secret, now)}`).toBe(
        `${each.name}: ${each.ok}`,
      )
    }
  })

  test.skipIf(Bun.which('python3') === null)('in Python as well', async () => {
    const input = JSON.stringify({ cases, secret, now })
    const run = `${codeOf('python')}
import json, sys
given = json.load(sys.stdin)
for each in given["cases"]:
    headers = {"x-service-signature-timestamp": each["time"], "x-service-signature": each["signature"]}
    ok = is_from_wardpost(headers, each["body"].encode(), given["secret"], given["now"])
    print(each["name"] + ": " + str(ok).lower())
`
    const child = Bun.spawn(['python3', '-c', run], {
      stdin: new Blob([input]),
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const said = await new Response(child.stdout).text()
    expect(said.trim().split('\n')).toEqual(cases.map(({ name, ok }) => `${name}: ${ok}`))
  })
})
