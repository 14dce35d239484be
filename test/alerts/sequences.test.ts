/**
 * Random histories of a few problems: raised, worked on, silenced, settled, while time goes by and the job comes or
 * does not. Whatever happened, the API says what a plain model says, and every history is a possible one.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { AlertStatus } from '../../src/alerts/types.ts'
import { createChance } from '../../src/demo/random.ts'
import { systemActor } from '../../src/lib/actors.ts'
import { HOUR_MS } from '../../src/lib/clock.ts'
import { openTestApp, type TestApp } from '../support/app.ts'

const STEPS = 120
const KEYS = ['a', 'b', 'c']
const FROM: Record<string, AlertStatus[]> = {
  ack: ['open', 'silenced'],
  resolve: ['open', 'acknowledged', 'silenced'],
  silence: ['open', 'acknowledged'],
}
const TO: Record<string, AlertStatus> = { ack: 'acknowledged', resolve: 'resolved', silence: 'silenced' }
const REACHED: Record<string, AlertStatus> = {
  raised: 'open',
  acknowledged: 'acknowledged',
  silenced: 'silenced',
  resolved: 'resolved',
  reopened: 'open',
}

interface Model {
  id: string
  key: string
  status: AlertStatus
  count: number
  until: number
}

let t: TestApp
beforeAll(async () => {
  t = await openTestApp()
})
afterAll(() => t.close())

for (const seed of [1, 2, 3, 4, 5]) {
  test(`history ${seed}`, async () => {
    const chance = createChance(seed)
    const { key, tenant_id } = await t.tenant(`Acme ${seed}`, ['*'], 'enterprise')
    const { alerts, raiser } = t.app.services
    const call: TestApp['call'] = (method, path) => {
      t.clock.advance(700)
      return t.call(method, path, { key })
    }
    const models: Model[] = []
    const wake = (): void => {
      for (const each of models) {
        if (each.status === 'silenced' && each.until <= t.clock.now()) each.status = 'open'
      }
    }
    const unresolved = (name: string) =>
      models.find((each) => each.key === name && each.status !== 'resolved')

    async function raise(name: string): Promise<void> {
      const draft = {
        kind: 'import_failures',
        severity: 'low',
        title: name,
        summary: name,
        subject: { type: 'tenant', id: tenant_id },
        evidence: {},
        dedupe_key: name,
      } as const
      const there = unresolved(name)
      if (chance.hit(0.5)) {
        const { writes, audit } = raiser.raise(tenant_id, draft)
        await t.db.commit(systemActor(tenant_id), { writes, audit })
      } else await raiser.raiseNow(systemActor(tenant_id), draft)
      if (there !== undefined) there.count++
      else {
        const { items } = (await call('GET', '/v1/alerts?limit=1&sort=-first_at')).body
        models.push({ id: items[0].id, key: name, status: 'open', count: 1, until: 0 })
      }
    }

    async function act(model: Model): Promise<void> {
      const action = chance.pick(Object.keys(FROM))
      const hours = chance.between(1, 30)
      const tail = action === 'silence' ? `silence?duration=${hours}h` : action
      const { status } = await call('POST', `/v1/alerts/${model.id}/${tail}`)
      wake()
      const allowed = FROM[action]!.includes(model.status)
      expect([action, model.status, status]).toEqual([action, model.status, allowed ? 200 : 409])
      if (!allowed) return
      model.status = TO[action]!
      model.until = t.clock.now() + hours * HOUR_MS
    }

    for (let step = 0; step < STEPS; step++) {
      wake()
      const what = chance.between(1, 10)
      if (what <= 3 || models.length === 0) await raise(chance.pick(KEYS))
      else if (what <= 7) await act(chance.pick(models))
      else if (what === 8) t.clock.advance(chance.between(1, 20) * HOUR_MS)
      else if (what === 9) await alerts.endSilences()
      else {
        const name = chance.pick(KEYS)
        const there = unresolved(name)
        expect(await raiser.settleNow(tenant_id, name, 'gone')).toBe(there !== undefined)
        if (there !== undefined) there.status = 'resolved'
      }
    }

    wake()
    const { items } = (await call('GET', '/v1/alerts?sort=first_at&limit=500')).body
    expect(items.map((each: Model) => [each.id, each.status, each.count])).toEqual(
      models.map((each) => [each.id, each.status, each.count]),
    )
    for (const item of items) {
      const steps = item.history.map((entry: { action: string }) => REACHED[entry.action])
      expect([steps[0], steps.at(-1)]).toEqual(['open', item.status])
      const times = item.history.map((entry: { at: string }) => entry.at)
      expect(times).toEqual([...times].sort())
    }
    const open = models.filter((each) => each.status === 'open').length
    expect((await call('GET', '/v1/alerts/summary')).body.open).toBe(open)
  })
}
