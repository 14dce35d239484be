import type { ReactNode } from 'react'
import { bytes, count, exact, percent, share } from '../../lib/format.ts'
import type { Alert } from '../../lib/types.ts'
import { Props, Section } from '../../ui/drawer.tsx'
import { A } from '../../ui/link.tsx'
import { Scale } from '../../ui/meter.tsx'
import { words } from './kinds.ts'

/** The figures behind an alert, drawn where they are known, as they are otherwise. */
export function Evidence({ alert }: { alert: Alert }) {
  if (alert.kind === 'compliance_low') return <Compliance alert={alert} />
  const codes = rowsOf(alert.evidence['codes'])
  const rest = factsOf(alert.evidence, codes.length > 0 ? ['codes'] : [])
  if (rest.length === 0 && codes.length === 0) return null
  return (
    <Section title="Evidence">
      {rest.length > 0 && <Props items={rest} />}
      {codes.length > 0 && <Codes rows={codes} />}
    </Section>
  )
}

type Row = Record<string, unknown>

function rowsOf(value: unknown): Row[] {
  return Array.isArray(value)
    ? value.filter((item): item is Row => typeof item === 'object' && item !== null)
    : []
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const figure = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** What it needs only for itself (`seen`: what was told of last). */
const OWN = ['seen']

function factsOf(evidence: Row, without: readonly string[]): (readonly [string, ReactNode])[] {
  return Object.entries(evidence)
    .filter(([name, value]) => !OWN.includes(name) && !without.includes(name) && value !== null)
    .map(([name, value]) => [words(name), fact(name, value)])
}

const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

function fact(name: string, value: unknown): ReactNode {
  if (name === 'audit_seq') {
    return <A href={`/audit/${String(value)}`}>entry {count(figure(value))}</A>
  }
  if (typeof value === 'number') return name.endsWith('_bytes') ? bytes(value) : count(value)
  if (typeof value === 'string') {
    return ISO.test(value) ? exact(value) : <span className="brk">{value}</span>
  }
  return <code className="brk">{JSON.stringify(value)}</code>
}

function Codes({ rows }: { rows: readonly Row[] }) {
  return (
    <table className="t t--sub t--plain mt-2">
      <caption className="vh">Files by reason</caption>
      <thead>
        <tr>
          <th scope="col">Reason</th>
          <th scope="col" className="num">
            Files
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={text(row['code'])}>
            <td>
              <span className="mono">{text(row['code'])}</span>
              <span className="sub brk">{text(row['example'])}</span>
            </td>
            <td className="num">{count(figure(row['files']))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const DRAWN = [
  'compliance',
  'threshold',
  'previous_compliance',
  'top_failing_sources',
  'domain',
  'domain_id',
  'probable_cause',
]

/** Where compliance stands against its limit and before, and which senders fail. */
function Compliance({ alert }: { alert: Alert }) {
  const { evidence } = alert
  const now = figure(evidence['compliance'])
  const limit = figure(evidence['threshold'])
  const previous = evidence['previous_compliance']
  const before = typeof previous === 'number' ? previous : undefined
  const lowest = Math.max(0, Math.floor((Math.min(now, limit, before ?? now) - 5) / 10) * 10)
  const sources = rowsOf(evidence['top_failing_sources'])
  return (
    <Section title="Evidence" {...(sources.length > 0 ? { count: 'failing messages by source' } : {})}>
      <p className="t13">
        {percent(now)} passed, the limit is {percent(limit)}
        {before === undefined ? '.' : `; before that it was ${percent(before)}.`}
      </p>
      <div className="mt-3">
        <Scale value={now} before={before} limit={limit} min={lowest} />
      </div>
      {sources.length > 0 && <Sources rows={sources} />}
      <div className="mt-2">
        <Props items={factsOf(evidence, DRAWN)} />
      </div>
    </Section>
  )
}

function Sources({ rows }: { rows: readonly Row[] }) {
  return (
    <table className="t t--sub t--plain mt-3">
      <caption className="vh">Failing messages by source</caption>
      <thead>
        <tr>
          <th scope="col">Source</th>
          <th scope="col" className="num">
            Failed
          </th>
          <th scope="col" className="num">
            Of its mail
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={text(row['source'])}>
            <td className="brk">{text(row['source'])}</td>
            <td className="num">{count(figure(row['failing']))}</td>
            <td className="num">{percent(share(figure(row['failing']), figure(row['messages'])))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
