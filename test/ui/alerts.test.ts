import { describe, expect, test } from 'bun:test'
import type { Alert } from '../../public/lib/types.ts'
import { KINDS, refusal, subjectLink } from '../../public/pages/alerts/kinds.ts'
import { KEPT } from '../../public/pages/settings/retention.ts'
import { statusAt, TRANSITIONS } from '../../src/alerts/rules/transitions.ts'
import { ALERT_KINDS, ALERT_STATUSES } from '../../src/alerts/types.ts'
import { RETENTION } from '../../src/tenants/rules/retention.ts'

const alert = (values: Partial<Alert> = {}): Alert => ({
  id: 'alr_1',
  kind: 'job_failed',
  severity: 'high',
  status: 'open',
  title: 'The job backup fails',
  summary: '',
  subject: { type: 'job', id: 'check domains' },
  evidence: {},
  dedupe_key: 'k',
  count: 1,
  silenced_until: null,
  assigned_to: null,
  history: [],
  first_at: '2026-11-19T06:00:00Z',
  last_at: '2026-11-19T06:00:00Z',
  ...values,
})

describe('alerts on screen', () => {
  test('every kind has its words, the same as in the API', () => {
    const titles = Object.fromEntries(Object.entries(KINDS).map(([kind, { title }]) => [kind, title]))
    expect(titles).toEqual(ALERT_KINDS)
  })

  test('what the server would refuse is refused with its reason, and nothing else', () => {
    for (const action of ['ack', 'resolve', 'silence'] as const) {
      for (const status of ALERT_STATUSES) {
        const now = statusAt({ status, silenced_until: null }, 0)
        const allowed = TRANSITIONS[action].from.includes(now)
        expect([action, status, refusal(action, [alert({ status })]) === undefined]).toEqual([
          action,
          status,
          allowed,
        ])
      }
    }
    const many = [alert(), alert({ status: 'resolved' }), alert({ status: 'resolved' })]
    expect(refusal('resolve', many)).toBe('2 of them are resolved')
  })

  test('each leads to what it is about', () => {
    expect(subjectLink(alert())?.href).toBe('/settings/instance/jobs?job=check%20domains')
    expect(
      subjectLink(alert({ kind: 'compliance_low', subject: { type: 'domain', id: 'dom_1' } }))?.href,
    ).toBe('/domains/dom_1?tab=sources')
    expect(subjectLink(alert({ kind: 'x', subject: { type: 'unheard', id: '1' } }))).toBeUndefined()
  })
})

test('how long things may be kept is the same on screen and in the API', () => {
  const shown = KEPT.map(({ name, min, max }) => [name, { min, max }])
  const held = Object.entries(RETENTION).map(([name, { min, max }]) => [name, { min, max }])
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(held))
})
