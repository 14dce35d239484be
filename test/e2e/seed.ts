import type { Receiver } from '../support/receivers.ts'
import { aggregateReport, json } from './support.ts'
import type { Instance } from './support.ts'

export const DOMAIN = 'northlight.example'
const DAY_S = 86_400

export interface Seeded {
  domain_id: string
  report_id: string
  key_id: string
  webhook_id: string
}

/** The beginning of the day `days` ago, Unix seconds. */
export const dayStart = (days: number): number => (Math.floor(Date.now() / 1000 / DAY_S) - days) * DAY_S

export function reportFile(days: number, domain = DOMAIN): File {
  const text = aggregateReport({
    domain,
    id: `${domain}-${days}`,
    pass: 120 + ((days * 37) % 60),
    fail: days % 4 === 0 ? 9 : 2,
    begin: dayStart(days),
  })
  return new File([text], `receiver.example!${domain}!${dayStart(days)}!${dayStart(days) + DAY_S - 1}.xml`)
}

function tlsFile(): File {
  const body = {
    'organization-name': 'Receiver One',
    'date-range': {
      'start-datetime': new Date(dayStart(2) * 1000).toISOString(),
      'end-datetime': new Date((dayStart(2) + DAY_S - 1) * 1000).toISOString(),
    },
    'contact-info': 'tls@receiver.example',
    'report-id': 'tls-1',
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-string': ['version: STSv1'], 'policy-domain': DOMAIN },
        summary: { 'total-successful-session-count': 91, 'total-failure-session-count': 2 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'sending-mta-ip': '192.0.2.77',
            'receiving-mx-hostname': `mx.${DOMAIN}`,
            'failed-session-count': 2,
          },
        ],
      },
    ],
  }
  return new File([JSON.stringify(body)], 'tls.json')
}

async function answer<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}

/** A month of reports about one domain, one about a domain that is not there, one unreadable file, a key, an
 * invitation, a webhook that leads nowhere. */
export async function seed(instance: Instance, cookie: string): Promise<Seeded> {
  const headers = { Cookie: cookie }
  const call = async <T>(path: string, init: RequestInit) =>
    answer<T>(await instance.call(path, { ...init, headers }))
  const domain = await call<{ id: string }>('/v1/domains', json({ name: DOMAIN }))
  const form = new FormData()
  for (let days = 1; days <= 30; days++) form.append('file', reportFile(days))
  form.append('file', reportFile(3, 'stray.example'))
  form.append('file', tlsFile())
  form.append('file', new File(['this is no report'], 'holiday.jpg'))
  await call('/v1/reports/upload', { method: 'POST', body: form })
  const reports = await call<{ items: { id: string }[] }>(`/v1/reports?domain=${DOMAIN}&limit=1`, {})
  const key = await call<{ id: string }>(
    '/v1/settings/keys',
    json({ name: 'siem-pull', scopes: ['reports:read'] }),
  )
  await call('/v1/settings/invites', json({ email: 'tomas@northlight.example', role: 'analyst' }))
  const webhook = await call<{ id: string }>(
    '/v1/webhooks',
    json({ url: 'https://hooks.example.invalid/wardpost', events: ['DMARC_THRESHOLD_REACHED'] }),
  )
  await call(`/v1/webhooks/${webhook.id}/secret/rotate`, { method: 'POST' })
  return {
    webhook_id: webhook.id,
    domain_id: domain.id,
    report_id: reports.items[0]?.id ?? '',
    key_id: key.id,
  }
}

/** A new domain whose mail fails: compliance falls below its threshold, which is an event. */
export async function provoke(instance: Instance, cookie: string, domain: string): Promise<void> {
  const headers = { Cookie: cookie }
  await answer(await instance.call('/v1/domains', { ...json({ name: domain }), headers }))
  const form = new FormData()
  for (let days = 1; days <= 3; days++) {
    const begin = dayStart(days)
    const text = aggregateReport({ domain, id: `${domain}-${days}`, pass: 200, fail: 300, begin })
    form.append('file', new File([text], `${days}.xml`))
  }
  await answer(await instance.call('/v1/reports/upload', { method: 'POST', body: form, headers }))
}

/** An endpoint that takes everything and one that is out of order, each with its share of an event. */
export async function stageWebhooks(
  instance: Instance,
  cookie: string,
  receiver: Receiver,
): Promise<{ webhook_id: string; delivery_id: string }> {
  const headers = { Cookie: cookie }
  const add = async (path: string, description: string, events: readonly string[]) => {
    const body = json({ url: `https://127.0.0.1:${receiver.port}${path}`, description, events })
    return answer<{ id: string }>(await instance.call('/v1/webhooks', { ...body, headers }))
  }
  await add('/siem', 'SIEM of the Berlin office', ['DMARC_THRESHOLD_REACHED', 'AUDIT_LOG_ANOMALY'])
  const { id } = await add('/tickets', 'Ticket system', ['DMARC_THRESHOLD_REACHED', 'RBL_LISTED'])
  for (const domain of ['harbour.example', 'lantern.example', 'quay.example']) {
    await provoke(instance, cookie, domain)
  }
  await receiver.until(6, 60_000)
  const path = `/v1/webhooks/${id}/deliveries?limit=1`
  const list = await answer<{ items: { id: string }[] }>(await instance.call(path, { headers }))
  return { webhook_id: id, delivery_id: list.items[0]?.id ?? '' }
}

/** Many pages in a minute are no attack: the limits of an enterprise tenant leave room. */
export async function liftLimits(instance: Instance, cookie: string): Promise<void> {
  const headers = { Cookie: cookie }
  const me = await answer<{ tenant: { id: string } }>(await instance.call('/v1/me', { headers }))
  await answer(
    await instance.call(`/v1/instance/tenants/${me.tenant.id}`, {
      method: 'PATCH',
      body: JSON.stringify({ plan: 'enterprise', limits: { tenant_per_minute: 100_000 } }),
      headers,
    }),
  )
}
