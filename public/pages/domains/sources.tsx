import { sourceKind } from '../../lib/dmarc.ts'
import { count, daysAgo, exact, percent } from '../../lib/format.ts'
import { useGet, useList } from '../../lib/query.ts'
import type { Query } from '../../lib/api.ts'
import type { Domain, Page, Source } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { Seg } from '../../ui/button.tsx'
import { Disclosure, Props, Section } from '../../ui/drawer.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Empty, ProblemNotice } from '../../ui/notice.tsx'
import { StateMark, type StateKind } from '../../ui/state.tsx'
import { LoadMore } from '../../ui/table.tsx'

/** All or nearly all aligned is a tick, none a cross, anything between says partly. */
function aligned(part: number, whole: number): { kind: StateKind; word: string } {
  if (whole === 0) return { kind: 'none', word: 'no messages' }
  const rate = part / whole
  if (rate >= 0.98) return { kind: 'pass', word: 'aligned' }
  return rate <= 0.02 ? { kind: 'fail', word: 'not aligned' } : { kind: 'warn', word: 'partly aligned' }
}

interface SourceTableProps {
  domain: Domain
  query: Query
  compact?: boolean
}

/** Senders of a domain: a few, without paging. */
export function SourceTable({ domain, query }: SourceTableProps) {
  const answer = useGet<Page<Source>>(`/v1/domains/${domain.id}/sources`, query)
  const items = answer.data?.items ?? []
  if (answer.error !== null && items.length === 0) return <ProblemNotice error={answer.error} />
  if (answer.data !== undefined && items.length === 0) {
    return <p className="t13 t3">Nobody was reported to send as {domain.unicode_name} in these days.</p>
  }
  return <SourceRows items={items} threshold={domain.compliance_threshold} caption="Largest sources" />
}

function SourceRows({
  items,
  threshold,
  caption,
}: {
  items: readonly Source[]
  threshold: number
  caption: string
}) {
  return (
    <div className="list">
      <table className="t t--sub t--plain src">
        <caption className="vh">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Sender</th>
            <th scope="col" className="num">
              Messages
            </th>
            <th scope="col" className="num">
              Failed
            </th>
            <th scope="col" className="num">
              Pass
            </th>
            <th scope="col" className="p1">
              DKIM
            </th>
            <th scope="col" className="p1">
              SPF
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((source) => (
            <tr key={`${source.kind} ${source.sender}`}>
              <td>
                <span className="med brk">{source.sender}</span>
                <span className="sub mono brk">{source.sample_ips.slice(0, 2).join(', ')}</span>
              </td>
              <td className="num">{count(source.messages)}</td>
              <td className="num">{count(source.fail)}</td>
              <td className="num nw">
                <span className={(source.pass_rate ?? 100) < threshold ? 'c-critical med' : ''}>
                  {percent(source.pass_rate)}
                </span>
              </td>
              <td className="p1">
                <StateMark {...aligned(source.dkim_pass, source.messages)} />
              </td>
              <td className="p1">
                <StateMark {...aligned(source.spf_pass, source.messages)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const SORTS = [
  { value: '-fail', label: 'Failures first' },
  { value: '-messages', label: 'Volume first' },
] as const

const RANGES = [
  { value: '30', label: '30 d' },
  { value: '90', label: '90 d' },
  { value: '365', label: '1 y' },
] as const

/** Every sender, with its sample addresses and since when it is seen. */
export function DomainSources({ domain }: { domain: Domain }) {
  const view = useView()
  const sort = view.get('sources') === '-messages' ? '-messages' : '-fail'
  const range = RANGES.find((option) => option.value === view.get('range'))?.value ?? '30'
  const list = useList<Source>(`/v1/domains/${domain.id}/sources`, {
    sort,
    from: daysAgo(Number(range)),
    limit: 50,
  })
  return (
    <Section
      title="Sources"
      count={
        list.isPending
          ? undefined
          : `${count(list.items.length)}${list.hasMore ? '+' : ''}, by who signs or sends`
      }
      actions={
        <>
          <Seg
            label="Order"
            value={sort}
            options={SORTS}
            onChange={(value) => view.set({ sources: value === '-fail' ? undefined : value })}
          />
          <Seg
            label="Range"
            value={range}
            options={RANGES}
            onChange={(value) => view.set({ range: value === '30' ? undefined : value })}
          />
        </>
      }
    >
      {list.error !== null && <ProblemNotice error={list.error} retry={list.refetch} />}
      {!list.isPending && list.error === null && list.items.length === 0 && (
        <Empty kind="yet" icon="users" title="No sender was seen">
          Senders appear with the first report about {domain.unicode_name}.
        </Empty>
      )}
      {list.items.map((source) => (
        <Disclosure
          key={`${source.kind} ${source.sender}`}
          summary={<SourceSummary source={source} threshold={domain.compliance_threshold} />}
        >
          <SourceDetail source={source} />
        </Disclosure>
      ))}
      <LoadMore list={list} />
    </Section>
  )
}

function SourceSummary({ source, threshold }: { source: Source; threshold: number }) {
  return (
    <span className="source">
      <span className="grow brk">
        <span className="med">{source.sender}</span> <span className="t3 t12">{sourceKind(source)}</span>
      </span>
      <span className="num nw">{count(source.messages)}</span>
      <span className={`num nw ${(source.pass_rate ?? 100) < threshold ? 'c-critical med' : ''}`}>
        {percent(source.pass_rate)}
      </span>
      <span className="source__m">
        <StateMark {...withName('DKIM', aligned(source.dkim_pass, source.messages))} />
        <span aria-hidden="true">DKIM</span>
      </span>
      <span className="source__m">
        <StateMark {...withName('SPF', aligned(source.spf_pass, source.messages))} />
        <span aria-hidden="true">SPF</span>
      </span>
    </span>
  )
}

function withName(name: string, state: { kind: StateKind; word: string }) {
  return { kind: state.kind, word: `${name} ${state.word}` }
}

function SourceDetail({ source }: { source: Source }) {
  const { by_disposition: by } = source
  return (
    <Props
      items={[
        ['Passed', `${count(source.pass)} of ${count(source.messages)}`],
        ['Failed both', count(source.fail)],
        ['DKIM aligned', count(source.dkim_pass)],
        ['SPF aligned', count(source.spf_pass)],
        [
          'Receivers did',
          `${count(by.none + (by.pass ?? 0))} delivered, ${count(by.quarantine)} quarantined, ${count(by.reject)} rejected`,
        ],
        [
          'Addresses',
          <>
            <span className="mono">{source.sample_ips.join(', ')}</span>
            <CopyButton text={source.sample_ips.join('\n')} what="addresses" />
          </>,
        ],
        ['First seen', dateOf(source.first_seen)],
        ['Last seen', dateOf(source.last_seen)],
      ]}
    />
  )
}

function dateOf(iso: string): string {
  return iso.length === 10 ? iso : exact(iso)
}
