import { afterEach, beforeEach, expect, test } from 'bun:test'
import { openTestApp, type TestApp } from '../support/app.ts'
import { openIntruder } from '../support/audit.ts'

let t: TestApp
let key: string
let tenant_id: string

beforeEach(async () => {
  t = await openTestApp()
  const made = await t.tenant('Acme')
  key = made.key
  tenant_id = made.tenant_id
  await t.tenant('Other')
})
afterEach(() => t.close())

const run = () => t.app.services.nightly.run(new AbortController().signal)
const alerts = async () => (await t.call('GET', '/v1/alerts?status=open', { key })).body.items

test('logs that are whole raise nothing', async () => {
  expect(await run()).toEqual({ chains: 3, bad: 0 })
  expect(await alerts()).toEqual([])
})

test('a log that is not is told as critical, once, to its tenant alone', async () => {
  const intruder = openIntruder(t.data_dir)
  intruder.run(
    `UPDATE audit_entries SET entry = replace(entry, 'Acme', 'Evil') WHERE tenant_id = '${tenant_id}'`,
  )
  expect(await run()).toEqual({ chains: 3, bad: 1 })
  expect(await run()).toEqual({ chains: 3, bad: 1 })
  const [alert, ...more] = await alerts()
  expect(more).toEqual([])
  expect(alert).toMatchObject({ severity: 'critical', count: 2, evidence: { kind: 'altered' } })
  intruder.run(
    `UPDATE audit_entries SET entry = replace(entry, 'Evil', 'Acme') WHERE tenant_id = '${tenant_id}'`,
  )
  intruder.close()
  expect(await run()).toEqual({ chains: 3, bad: 0 })
  expect(await alerts()).toEqual([])
})
