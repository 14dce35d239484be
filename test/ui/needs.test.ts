import { describe, expect, test } from 'bun:test'
import { nowMs } from '../../public/lib/format.ts'
import type { Alert, Domain, Me, Summary } from '../../public/lib/types.ts'
import { needsOf, sentenceOf, type Known } from '../../public/pages/overview/needs.ts'

const iso = (ago_ms: number) => new Date(nowMs() - ago_ms).toISOString()
const DAY = 86_400_000

function domain(values: Partial<Domain> = {}): Domain {
  return {
    id: 'dom_1',
    name: 'example.com',
    unicode_name: 'example.com',
    status: 'verified',
    profile: 'sending',
    compliance_threshold: 95,
    verification: { record_name: '_wardpost.example.com', record_value: 'x', checked_at: null, detail: null },
    policy: {
      record: 'v=DMARC1; p=reject',
      p: 'reject',
      sp: null,
      np: null,
      adkim: null,
      aspf: null,
      rua: ['mailto:a@example.com'],
      testing: null,
      checked_at: null,
      state: 'ok',
      detail: null,
    },
    compliance: { rate: 99, messages: 1000, pass: 990, fail: 10, window_days: 30, trend: [] },
    last_report_at: iso(DAY),
    reports: 12,
    outbound_ips: [],
    dkim_selectors: [],
    tags: [],
    created_at: iso(40 * DAY),
    updated_at: iso(DAY),
    version: 1,
    ...values,
  }
}

const summary = (values: Partial<Summary> = {}): Summary => ({
  messages: 1000,
  pass: 990,
  fail: 10,
  reports: 12,
  reporters: 3,
  domains: 1,
  unassigned_reports: 0,
  rejected_files: 0,
  last_report_at: iso(DAY),
  ...values,
})

const me = (totp_enabled = true): Me => ({
  kind: 'session',
  user: {
    id: 'usr_1',
    name: 'Mara',
    email: 'm@example.com',
    is_operator: true,
    totp_enabled,
    recovery_codes_left: 10,
  },
  key: null,
  tenant: {
    id: 'ten_1',
    name: 'Northlight',
    plan: 'pro',
    status: 'active',
    limits: { domains: null, key_per_minute: 100, tenant_per_minute: 1000 },
  },
  role: 'owner',
  scopes: ['*'],
  memberships: [],
  session_id: 'ses_1',
})

const known = (values: Partial<Known> = {}): Known => ({
  me: me(),
  domains: [domain()],
  summary: summary(),
  backups: undefined,
  jobs: undefined,
  alerts: { open: [], handled: [], summary: undefined },
  ...values,
})

const alert = (values: Partial<Alert> = {}): Alert => ({
  id: 'alr_1',
  kind: 'compliance_low',
  severity: 'medium',
  status: 'open',
  title: 'example.com: 94.1 % of its mail passed DMARC',
  summary: 'One sender explains it.',
  subject: { type: 'domain', id: 'dom_1' },
  evidence: {},
  dedupe_key: 'compliance_low:dom_1',
  count: 1,
  silenced_until: null,
  assigned_to: null,
  history: [],
  first_at: iso(DAY),
  last_at: iso(DAY),
  ...values,
})

const ids = (values: Partial<Known>) => needsOf(known(values)).map((need) => need.id)

describe('what needs a person', () => {
  test('is nothing when everything is within its limits', () => {
    expect(needsOf(known())).toEqual([])
    expect(sentenceOf([], 5)).toContain('Nothing needs you')
  })

  test('a domain below its own limit is critical and comes first', () => {
    const compliance = { rate: 94.1, messages: 1000, pass: 941, fail: 59, window_days: 30, trend: [] }
    const found = needsOf(
      known({ domains: [domain({ compliance })], summary: summary({ rejected_files: 2 }) }),
    )
    expect(found.map((need) => need.level)).toEqual(['critical', 'low'])
    expect(found[0]?.title).toContain('limit 95')
    expect(sentenceOf(found, 5)).toBe(
      'One thing is critical, one can wait. Everything else is within its limits.',
    )
  })

  test('an alert takes the place of what says the same, also while somebody is on it', () => {
    const compliance = { rate: 94.1, messages: 1000, pass: 941, fail: 59, window_days: 30, trend: [] }
    const domains = [domain({ compliance }), domain({ id: 'dom_2', name: 'example.net', compliance })]
    const open = { open: [alert()], handled: [], summary: undefined }
    expect(ids({ domains, alerts: open })).toEqual(['below-dom_2', 'alr_1'])
    const taken = { open: [], handled: [alert()], summary: undefined }
    expect(ids({ domains, alerts: taken })).toEqual(['below-dom_2'])
  })

  test('of the same severity alerts come first', () => {
    const alerts = {
      open: [alert({ kind: 'disk_low', subject: { type: 'instance', id: 'disk' } })],
      handled: [],
      summary: undefined,
    }
    expect(ids({ alerts, summary: summary({ unassigned_reports: 1 }) })).toEqual(['alr_1', 'unassigned'])
  })

  test('a parked domain has no compliance to fall below', () => {
    const compliance = { rate: 0, messages: 10, pass: 0, fail: 10, window_days: 30, trend: [] }
    expect(ids({ domains: [domain({ profile: 'parked', compliance })] })).toEqual([])
  })

  test('a few unverified domains are named one by one, many together', () => {
    const pending = (n: number) => domain({ id: `dom_${n}`, status: 'pending' })
    expect(ids({ domains: [pending(1), pending(2)] })).toEqual(['pending-dom_1', 'pending-dom_2'])
    expect(ids({ domains: [pending(1), pending(2), pending(3)] })).toEqual(['pending'])
  })

  test('a missing DMARC record is said for verified domains only', () => {
    const policy = { ...domain().policy, state: 'missing' as const, record: null, p: null }
    expect(ids({ domains: [domain({ policy })] })).toEqual(['policy-dom_1'])
    expect(ids({ domains: [domain({ policy, status: 'pending' })] })).toEqual(['pending-dom_1'])
  })

  test('silence of the receivers is said after three days', () => {
    expect(ids({ summary: summary({ last_report_at: iso(2 * DAY) }) })).toEqual([])
    expect(ids({ summary: summary({ last_report_at: iso(4 * DAY) }) })).toEqual(['silent'])
    expect(ids({ summary: summary({ last_report_at: null, reports: 0 }) })).toEqual(['first'])
  })

  test('an owner without a second factor is reminded', () => {
    expect(ids({ me: me(false) })).toEqual(['totp'])
    expect(
      ids({ me: { ...me(false), role: 'viewer', user: { ...me(false).user!, is_operator: false } } }),
    ).toEqual([])
  })

  test('a failed or old backup is said', () => {
    const backup = {
      name: 'b',
      bytes: 1,
      created_at: iso(DAY / 2),
      verified: true,
      kind: 'nightly',
      sha256: 'x',
    }
    const job = (last_status: string | null) => [{ name: 'backup', last_status, last_run_at: iso(DAY / 2) }]
    expect(ids({ backups: [backup], jobs: job('ok') })).toEqual([])
    expect(ids({ backups: [{ ...backup, created_at: iso(3 * DAY) }], jobs: job('ok') })).toEqual(['backup'])
    expect(ids({ backups: [backup], jobs: job('failed') })).toEqual(['backup'])
    expect(ids({ backups: [], jobs: job(null) })).toEqual([])
  })

  test('a new installation is told where to begin', () => {
    expect(sentenceOf([], 0)).toContain('Add a domain')
  })
})
