/** The DNS records a domain needs, each with what was seen: on the DNS tab and at first run. */
import { timeSeconds } from '../../lib/format.ts'
import type { Domain } from '../../lib/types.ts'
import { CopyButton, RecordBox } from '../../ui/copy.tsx'
import { State, Tag, type StateKind } from '../../ui/state.tsx'

export interface DnsRecord {
  name: string
  value: string
  state: 'seen' | 'missing' | 'differs' | 'unknown'
  required: boolean
  why: string
  note: string
}

const STATES: Record<DnsRecord['state'], { kind: StateKind; word: string }> = {
  seen: { kind: 'pass', word: 'Seen' },
  missing: { kind: 'pending', word: 'Not yet' },
  differs: { kind: 'warn', word: 'Differs' },
  unknown: { kind: 'pending', word: 'Not checked' },
}

export function recordsOf(domain: Domain): DnsRecord[] {
  const { verification, policy } = domain
  const at = (time: string | null) => (time === null ? '' : `${timeSeconds(time)} UTC`)
  const verified: DnsRecord['state'] =
    domain.status === 'verified' ? 'seen' : verification.checked_at === null ? 'unknown' : 'missing'
  const published: Record<Domain['policy']['state'], DnsRecord['state']> = {
    ok: 'seen',
    missing: 'missing',
    multiple: 'differs',
    invalid: 'differs',
    unknown: 'unknown',
  }
  return [
    {
      name: verification.record_name,
      value: verification.record_value,
      state: verified,
      required: true,
      why: 'Proves that you control the domain.',
      note: [at(verification.checked_at), verification.detail ?? ''].filter((part) => part !== '').join(' '),
    },
    {
      name: `_dmarc.${domain.name}`,
      value: policy.record ?? `v=DMARC1; p=none; rua=mailto:dmarc@${domain.name}`,
      state: published[policy.state],
      required: true,
      why:
        policy.record === null
          ? 'Tells receivers what to do with mail that fails, and where to send reports. p=none changes no delivery; put an address that you read.'
          : 'Tells receivers what to do with mail that fails, and where to send reports.',
      note: [at(policy.checked_at), policy.state === 'ok' ? '' : (policy.detail ?? '')]
        .filter((part) => part !== '')
        .join(' '),
    },
  ]
}

/** As lines of a zone file. */
export function zoneText(records: readonly DnsRecord[]): string {
  return records.map((record) => `${record.name}. IN TXT "${record.value}"`).join('\n')
}

/** As a message to whoever keeps the DNS. */
export function requestText(domain: Domain, records: readonly DnsRecord[]): string {
  const lines = records.map(
    (record) => `Name:  ${record.name}\nType:  TXT\nValue: ${record.value}\n(${record.why})`,
  )
  return `Please publish these DNS records for ${domain.name}:\n\n${lines.join('\n\n')}\n`
}

export function DnsRecords({ records }: { records: readonly DnsRecord[] }) {
  return records.map((record) => (
    <div className="dns" key={record.name}>
      <div className="dns__s">
        <State kind={STATES[record.state].kind}>{STATES[record.state].word}</State>
        <span className="t12 t3">{record.required ? 'Required' : 'Optional'}</span>
      </div>
      <div>
        <div className="dns__host">
          <Tag>TXT</Tag>
          <span className="mono brk">{record.name}</span>
          <CopyButton text={record.name} what="name" />
        </div>
        <RecordBox text={record.value} what="value" />
        <p className="dns__w">
          {record.why} <span className="t3">{record.note}</span>
        </p>
      </div>
    </div>
  ))
}
