import { describe, expect, test } from 'bun:test'
import { createSlots, type Lane, type Slot } from '../../src/webhooks/slots.ts'

const lane = (tenant_id: string, webhook_id: string, proven = false): Lane => ({
  webhook_id,
  tenant_id,
  proven,
  in_flight: 0,
  success_written_at: -Infinity,
})

function takeAll(slots: ReturnType<typeof createSlots>): Slot[] {
  const taken: Slot[] = []
  for (let slot = slots.take(); slot !== null; slot = slots.take()) taken.push(slot)
  return taken
}

const count = (taken: readonly Slot[], key: 'webhook_id' | 'tenant_id') =>
  Object.fromEntries([...Map.groupBy(taken, ({ lane }) => lane[key])].map(([id, of]) => [id, of.length]))

function full(tenants: number, hooks: number, proven: boolean) {
  const slots = createSlots()
  for (let t = 0; t < tenants; t++) {
    for (let h = 0; h < hooks; h++) slots.markDue(lane(`t${t}`, `t${t}h${h}`, proven))
  }
  return slots
}

describe('slots', () => {
  test('are four for a webhook', () => {
    expect(takeAll(full(1, 1, true)).length).toBe(4)
  })

  test('are sixteen for a tenant, twelve of them for webhooks that are not proven', () => {
    expect(takeAll(full(1, 20, true)).length).toBe(16)
    expect(takeAll(full(1, 20, false)).length).toBe(12)
  })

  test('are 128 in all, 96 of them for webhooks that are not proven', () => {
    expect(takeAll(full(50, 4, true)).length).toBe(128)
    expect(takeAll(full(50, 4, false)).length).toBe(96)
  })

  test('are found by a proven webhook when the others have taken all that they may', () => {
    const slots = full(50, 4, false)
    takeAll(slots)
    slots.markDue(lane('t0', 'good', true))
    expect(count(takeAll(slots), 'webhook_id')).toEqual({ good: 4 })
  })

  test('go round over tenants, and within a tenant over webhooks', () => {
    const slots = createSlots()
    for (let h = 0; h < 20; h++) slots.markDue(lane('many', `many${h}`, true))
    slots.markDue(lane('one', 'one', true))
    const first = [slots.take()!, slots.take()!, slots.take()!, slots.take()!]
    expect(count(first, 'tenant_id')).toEqual({ many: 2, one: 2 })
    expect(count(takeAll(full(1, 8, true)), 'webhook_id')).toEqual(
      Object.fromEntries(Array.from({ length: 8 }, (_, h) => [`t0h${h}`, 2])),
    )
  })

  test('come back, in the class in which they were taken', () => {
    const slots = createSlots()
    const only = lane('t', 'w')
    slots.markDue(only)
    const taken = takeAll(slots)
    slots.setProven(only, true)
    for (const slot of taken) slots.release(slot)
    expect(slots.inFlight()).toBe(0)
    expect(only.in_flight).toBe(0)
    slots.setProven(only, false)
    expect(takeAll(slots).length).toBe(4)
  })

  test('are not given to a lane that has nothing due', () => {
    const slots = createSlots()
    const only = lane('t', 'w')
    slots.markDue(only)
    slots.clearDue(only)
    expect(slots.take()).toBeNull()
    expect(slots.isDue(only)).toBe(false)
  })

  test('in any order of taking, giving back and changing class never pass a limit, and all come back', () => {
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    const slots = createSlots()
    const lanes = Array.from({ length: 60 }, (_, i) => lane(`t${i % 6}`, `w${i}`, i % 2 === 0))
    const taken: Slot[] = []
    for (let step = 0; step < 20_000; step++) {
      const any = lanes[random(lanes.length)]!
      const move = random(6)
      if (move === 0) slots.markDue(any)
      else if (move === 1) slots.clearDue(any)
      else if (move === 2) slots.setProven(any, random(2) === 0)
      else if (move === 3 && taken.length > 0) slots.release(taken.splice(random(taken.length), 1)[0]!)
      else {
        const slot = slots.take()
        if (slot !== null) taken.push(slot)
      }
      const unproven = taken.filter((slot) => !slot.proven)
      expect(taken.length <= 128 && unproven.length <= 96).toBe(true)
      expect(Math.max(0, ...Object.values(count(taken, 'webhook_id'))) <= 4).toBe(true)
      expect(Math.max(0, ...Object.values(count(taken, 'tenant_id'))) <= 16).toBe(true)
    }
    for (const slot of taken) slots.release(slot)
    expect([slots.inFlight(), lanes.every((each) => each.in_flight === 0)]).toEqual([0, true])
  })
})
