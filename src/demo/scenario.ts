/**
 * Northlight Labs, a company that does not exist: its domains, who sends for it, who tries to, and who reports. Names
 * and addresses are those that RFC 2606, RFC 5737, RFC 3849 and RFC 2544 set aside for examples.
 */
import type { PolicyValue } from '../reports/parse/types.ts'

export interface DemoDomain {
  name: string
  profile: 'sending' | 'receive_only' | 'parked'
  tags: string[]
  verified: boolean
  /** What DNS says today; null: nothing is published. */
  record: string | null
  /** What reports say was published: from so many days ago on. Oldest first. */
  published: { days_ago: number; p: PolicyValue; sp?: PolicyValue }[]
  /** Names of receivers that report about it, and in which share of the days. */
  reported_by: { receiver: string; share: number }[]
  flows: Flow[]
  threshold?: number
  dkim_selectors?: string[]
  outbound_ips?: string[]
}

/** Mail of one kind, as all receivers together see it. */
export interface Flow {
  /** Messages on a usual working day. */
  daily: number
  /** Share of that on Saturdays and Sundays. */
  weekend: number
  /** Days of the week (0 is Sunday) with ten times as much. */
  peaks?: number[]
  /** Growth over the whole time: 0.5 means half as much again at the end. */
  growth?: number
  ips: (index: number) => string
  ip_count: number
  /** d= and selector; null: not signed. */
  dkim: { domain: string; selector: string } | null
  /** Envelope domain and what SPF says of it. */
  spf: { domain: string; result: 'pass' | 'softfail' | 'fail' }
  dkim_result?: 'pass' | 'fail'
  reason?: { type: string; comment: string }
  /** Only in this window, in days ago: [oldest, newest]. */
  window?: [number, number]
  /** DKIM is broken in this window. */
  broken?: [number, number]
  /** Share of days on which it is seen at all. */
  seen?: number
}

export interface Receiver {
  name: string
  org_name: string
  email: string
  /** Share of all mail that goes there. */
  weight: number
  container: 'gz' | 'zip' | 'xml' | 'mail'
  style: 'plain' | 'rfc9990' | 'enterprise' | 'old'
  /** Seconds after midnight UTC at which its day begins. */
  offset: number
}

export const DEMO_DAYS = 200

export const RECEIVERS: readonly Receiver[] = [
  receiver('mailhub', 'Mailhub', 'noreply-dmarc@mailhub.example', 0.34, 'zip', 'plain'),
  receiver('corpmail', 'CorpMail Protection', 'dmarcreport@corpmail.example', 0.26, 'gz', 'enterprise'),
  receiver('inboxone', 'InboxOne', 'dmarc_support@inboxone.example', 0.13, 'gz', 'plain'),
  receiver('postfach', 'Postfach AG', 'noreply@postfach.example', 0.09, 'gz', 'rfc9990'),
  receiver('campusnet', 'Campus Net', 'dmarc@campusnet.example', 0.05, 'xml', 'old', 21_600),
  receiver('brightline', 'Brightline Broadband', 'reports@brightline.example', 0.06, 'gz', 'plain', 7200),
  receiver('gatewarden', 'gw3.gatewarden.example', 'postmaster@gatewarden.example', 0.04, 'gz', 'plain', 40),
  receiver('quillmail', 'Quillmail', 'reports@quillmail.example', 0.03, 'mail', 'rfc9990'),
]

function receiver(
  name: string,
  org_name: string,
  email: string,
  weight: number,
  container: Receiver['container'],
  style: Receiver['style'],
  offset = 0,
): Receiver {
  return { name, org_name, email, weight, container, style, offset }
}

const ALL = [1, 0.97, 0.9, 0.8, 0.55, 0.7, 0.6, 0.45]
const everyone = (scale: number): DemoDomain['reported_by'] =>
  RECEIVERS.map(({ name }, i) => ({ receiver: name, share: ALL[i]! * scale }))
const some = (names: readonly string[], share: number): DemoDomain['reported_by'] =>
  names.map((receiver) => ({ receiver, share }))

const range = (prefix: string, first: number) => (i: number) => `${prefix}.${first + i}`
/** Many networks: what a botnet looks like. */
const scattered = (i: number): string => `198.${18 + (i % 2)}.${(i * 37) % 256}.${(i * 101) % 250}`
const dkim = (domain: string, selector: string) => ({ domain, selector })

const office = (domain: string, daily: number, selector: string): Flow => ({
  daily,
  weekend: 0.15,
  growth: 0.2,
  ips: range('198.51.100', 10),
  ip_count: 4,
  dkim: dkim(domain, selector),
  spf: { domain, result: 'pass' },
})

const spoof = (daily: number, seen: number, window?: [number, number]): Flow => ({
  daily,
  weekend: 1,
  ips: scattered,
  ip_count: window === undefined ? 60 : 420,
  dkim: null,
  spf: { domain: 'bulk-sender.example', result: 'fail' },
  seen,
  ...(window === undefined ? {} : { window }),
})

const MAIN = 'northlight.example'

export const DOMAINS: readonly DemoDomain[] = [
  {
    name: MAIN,
    profile: 'sending',
    tags: ['brand', 'corporate'],
    verified: true,
    record: `v=DMARC1; p=reject; sp=quarantine; rua=mailto:dmarc@${MAIN}; ruf=mailto:ruf@${MAIN}; fo=1`,
    published: [
      { days_ago: 400, p: 'none' },
      { days_ago: 150, p: 'quarantine' },
      { days_ago: 55, p: 'reject', sp: 'quarantine' },
    ],
    reported_by: everyone(0.72),
    dkim_selectors: ['mx2026', 'news1', 'bill'],
    outbound_ips: ['198.51.100.8/29'],
    flows: [
      office(MAIN, 1400, 'mx2026'),
      {
        daily: 480,
        weekend: 0.05,
        peaks: [2, 4],
        growth: 0.4,
        ips: range('203.0.113', 64),
        ip_count: 12,
        dkim: dkim(`news.${MAIN}`, 'news1'),
        spf: { domain: 'bounce.postbird.example', result: 'pass' },
      },
      {
        daily: 310,
        weekend: 0.6,
        ips: range('203.0.113', 20),
        ip_count: 3,
        dkim: dkim(`billing.${MAIN}`, 'bill'),
        spf: { domain: 'mailer.ledgerly.example', result: 'pass' },
        broken: [41, 27],
      },
      {
        daily: 120,
        weekend: 0.3,
        ips: range('192.0.2', 130),
        ip_count: 2,
        dkim: null,
        spf: { domain: `help.${MAIN}`, result: 'pass' },
      },
      {
        daily: 34,
        weekend: 0.4,
        ips: range('192.0.2', 80),
        ip_count: 2,
        dkim: dkim(MAIN, 'mx2026'),
        dkim_result: 'fail',
        spf: { domain: 'lists.oss-forge.example', result: 'pass' },
        reason: { type: 'mailing_list', comment: 'arc=pass' },
      },
      {
        daily: 45,
        weekend: 0.5,
        ips: (i) => `2001:db8:40::${i + 1}`,
        ip_count: 3,
        dkim: dkim(MAIN, 'mx2026'),
        spf: { domain: 'alumni-forward.example', result: 'pass' },
        reason: { type: 'trusted_forwarder', comment: 'known forwarder' },
      },
      spoof(14, 0.5),
      spoof(2600, 1, [76, 63]),
    ],
  },
  {
    name: 'northlight-shop.example',
    profile: 'sending',
    tags: ['brand', 'shop'],
    verified: true,
    record: 'v=DMARC1; p=quarantine; pct=50; rua=mailto:dmarc@northlight.example',
    published: [
      { days_ago: 400, p: 'none' },
      { days_ago: 90, p: 'quarantine' },
    ],
    reported_by: some(['mailhub', 'corpmail', 'inboxone', 'postfach'], 0.34),
    dkim_selectors: ['shop'],
    flows: [
      {
        daily: 620,
        weekend: 1.3,
        growth: 0.8,
        ips: range('203.0.113', 96),
        ip_count: 6,
        dkim: dkim('northlight-shop.example', 'shop'),
        spf: { domain: 'northlight-shop.example', result: 'pass' },
      },
      {
        daily: 90,
        weekend: 1,
        ips: range('192.0.2', 200),
        ip_count: 3,
        dkim: null,
        spf: { domain: 'reviews.starcount.example', result: 'pass' },
      },
      spoof(9, 0.4),
    ],
  },
  {
    name: 'northlight-careers.example',
    profile: 'sending',
    tags: ['hr'],
    verified: true,
    record: 'v=DMARC1; p=none; rua=mailto:dmarc@northlight.example',
    published: [{ days_ago: 400, p: 'none' }],
    reported_by: some(['mailhub', 'corpmail', 'quillmail'], 0.22),
    threshold: 90,
    flows: [
      {
        daily: 70,
        weekend: 0.05,
        ips: range('203.0.113', 150),
        ip_count: 2,
        dkim: dkim('northlight-careers.example', 'hr'),
        spf: { domain: 'northlight-careers.example', result: 'pass' },
      },
      {
        daily: 28,
        weekend: 0.2,
        ips: range('192.0.2', 160),
        ip_count: 4,
        dkim: null,
        spf: { domain: 'applicants.hirewell.example', result: 'pass' },
      },
    ],
  },
  {
    name: 'status.northlight.example',
    profile: 'sending',
    tags: ['infrastructure'],
    verified: true,
    record: 'v=DMARC1; p=reject; rua=mailto:dmarc@northlight.example',
    published: [{ days_ago: 400, p: 'reject' }],
    reported_by: some(['mailhub', 'corpmail', 'gatewarden'], 0.16),
    flows: [
      {
        daily: 40,
        weekend: 1,
        ips: range('198.51.100', 40),
        ip_count: 2,
        dkim: dkim('status.northlight.example', 'ops'),
        spf: { domain: 'status.northlight.example', result: 'pass' },
      },
    ],
  },
  {
    name: 'xn--nordlicht-bro-6ob.example',
    profile: 'sending',
    tags: ['brand', 'dach'],
    verified: true,
    record: 'v=DMARC1; p=quarantine; rua=mailto:dmarc@northlight.example; t=y',
    published: [{ days_ago: 400, p: 'quarantine' }],
    reported_by: some(['mailhub', 'postfach'], 0.22),
    flows: [office('xn--nordlicht-bro-6ob.example', 85, 'de1'), spoof(3, 0.2)],
  },
  {
    name: 'northlight-labs.example',
    profile: 'parked',
    tags: ['parked'],
    verified: true,
    record: 'v=DMARC1; p=reject; rua=mailto:dmarc@northlight.example',
    published: [{ days_ago: 400, p: 'reject' }],
    reported_by: some(['mailhub', 'corpmail'], 0.12),
    flows: [spoof(22, 0.9)],
  },
  {
    name: 'northl1ght.example',
    profile: 'parked',
    tags: ['parked', 'defensive'],
    verified: false,
    record: null,
    published: [{ days_ago: 400, p: 'none' }],
    reported_by: some(['mailhub'], 0.05),
    flows: [spoof(6, 0.8)],
  },
  {
    name: 'example.net',
    profile: 'receive_only',
    tags: ['legacy'],
    verified: false,
    record: 'v=DMARC1; p=none; rua=mailto:dmarc@northlight.example',
    published: [{ days_ago: 400, p: 'none' }],
    reported_by: some(['mailhub', 'brightline'], 0.08),
    flows: [office('example.net', 12, 'k1'), spoof(4, 0.3)],
  },
  {
    name: 'aurora-analytics.example',
    profile: 'sending',
    tags: ['acquired'],
    verified: false,
    record: 'v=DMARC1; p=monitor',
    published: [{ days_ago: 60, p: 'none' }],
    reported_by: some(['mailhub', 'corpmail', 'inboxone'], 0.3),
    flows: [
      { ...office('aurora-analytics.example', 130, 'google'), window: [58, 0] },
      {
        daily: 75,
        weekend: 0.2,
        ips: range('192.0.2', 40),
        ip_count: 5,
        dkim: null,
        spf: { domain: 'send.crmpilot.example', result: 'pass' },
        window: [58, 0],
      },
    ],
  },
  {
    name: 'example.org',
    profile: 'sending',
    tags: ['foundation'],
    verified: false,
    record: 'v=DMARC1; p=none; rua=mailto:dmarc@northlight.example',
    published: [{ days_ago: 400, p: 'none' }],
    reported_by: [],
    flows: [],
  },
]

/** Reports come for it, but nobody has added it. */
export const FORGOTTEN: DemoDomain = {
  name: 'northlight-events.example',
  profile: 'sending',
  tags: [],
  verified: false,
  record: null,
  published: [{ days_ago: 400, p: 'none' }],
  reported_by: some(['mailhub', 'inboxone'], 0.1),
  flows: [office('northlight-events.example', 30, 'ev'), spoof(5, 0.6)],
}
