import { dispositionWords, explainPolicy, isBelow, POLICY_STATE_WORDS, trendPoints } from '../../lib/dmarc.ts'
import { compact, count, daysAgo, exact, percent, share, weekday } from '../../lib/format.ts'
import { useGet } from '../../lib/query.ts'
import type { DayFigures, Domain, Timeline } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { LinkButton, Seg } from '../../ui/button.tsx'
import { Chart, ChartData, Legend, useShowData } from '../../ui/chart.tsx'
import { CopyButton, RecordBox } from '../../ui/copy.tsx'
import { Props, RawRecord, Section } from '../../ui/drawer.tsx'
import { A } from '../../ui/link.tsx'
import { Scale } from '../../ui/meter.tsx'
import { Empty, Notice, ProblemNotice } from '../../ui/notice.tsx'
import { State, Tag } from '../../ui/state.tsx'
import { CheckButton } from './drawer.tsx'
import { Findings } from './findings.tsx'
import { SourceTable } from './sources.tsx'

/** How the domain stands: the figure, the policy, the days, who sends. */
export function DomainOverview({ domain }: { domain: Domain }) {
  const view = useView()
  return (
    <>
      {domain.status === 'pending' && (
        <section className="sec" aria-label="Not verified">
          <Notice kind="accent">
            {domain.unicode_name} is not verified: anybody can claim it. Publish its TXT record, then check.{' '}
            <A href={view.with({ tab: 'dns' })}>DNS records</A>
          </Notice>
        </section>
      )}
      <Standing domain={domain} />
      <PassAndFail domain={domain} />
      <TopSources domain={domain} />
      <Findings domain={domain} />
      <Policy domain={domain} />
      <Section title="Properties">
        <Props
          items={[
            [
              'Id',
              <>
                <span className="mono">{domain.id}</span>
                <CopyButton text={domain.id} what="id" />
              </>,
            ],
            domain.outbound_ips.length > 0 && [
              'Outbound IPs',
              <>
                <span className="mono">{domain.outbound_ips.join(', ')}</span>
                <CopyButton text={domain.outbound_ips.join('\n')} what="addresses" />
              </>,
            ],
            domain.dkim_selectors.length > 0 && [
              'DKIM selectors',
              domain.dkim_selectors.map((selector) => <Tag key={selector}>{selector}</Tag>),
            ],
            domain.tags.length > 0 && ['Tags', domain.tags.map((tag) => <Tag key={tag}>{tag}</Tag>)],
            ['Last report', domain.last_report_at === null ? 'none yet' : exact(domain.last_report_at)],
            ['Added', exact(domain.created_at)],
          ]}
        />
        <div className="mt-3">
          <RawRecord path={`/v1/domains/${domain.id}`} value={domain} />
        </div>
      </Section>
    </>
  )
}

/** The scale begins a step below the lowest of its figures, so that a point is seen. */
function scaleStart(...figures: (number | undefined)[]): number {
  const low = Math.min(...figures.filter((figure) => figure !== undefined))
  return Math.max(0, Math.floor((low - 10) / 10) * 10)
}

function Standing({ domain }: { domain: Domain }) {
  const { rate, messages, fail, pass, window_days } = domain.compliance
  const below = isBelow(domain)
  const points = trendPoints(domain)
  const before = rate === null || points === null ? undefined : Math.min(100, Math.max(0, rate - points))
  return (
    <section className="sec" aria-label="Compliance">
      <div className="score">
        <div className="score__n">
          <b className={below ? 'c-critical' : ''}>{rate === null ? '–' : percent(rate)}</b>
          <span>
            compliant
            <br />
            over {window_days} days
          </span>
        </div>
        <div className="score__d">
          {rate === null ? (
            <div>No message was reported in these days.</div>
          ) : (
            <>
              <div>
                <b className={below ? 'c-critical' : ''}>
                  {below ? 'Below' : 'Within'} its limit of {domain.compliance_threshold} %
                </b>
                {points !== null && Math.abs(points) >= 0.05 && (
                  <>
                    , {points > 0 ? '+' : '−'}
                    {Math.abs(points).toFixed(1)} points in {window_days} d
                  </>
                )}
              </div>
              <div>
                {count(pass)} of {count(messages)} messages passed
              </div>
              <div>{count(fail)} failed both DKIM and SPF</div>
            </>
          )}
        </div>
        <div className="score__a">
          <CheckButton domain={domain} />
        </div>
      </div>
      {rate !== null && (
        <Scale
          value={rate}
          before={before}
          limit={domain.compliance_threshold}
          min={scaleStart(rate, before, domain.compliance_threshold)}
        />
      )}
    </section>
  )
}

const RANGES = [
  { value: '30', label: '30 d' },
  { value: '90', label: '90 d' },
  { value: '365', label: '1 y' },
] as const

function PassAndFail({ domain }: { domain: Domain }) {
  const view = useView()
  const [button, shown] = useShowData()
  const range = RANGES.find((option) => option.value === view.get('range'))?.value ?? '30'
  const answer = useGet<Timeline>(
    `/v1/domains/${domain.id}/timeline`,
    { from: daysAgo(Number(range)), to: daysAgo(0) },
    { keep: true },
  )
  const items = answer.data?.items ?? []
  const total = items.reduce((sum, item) => sum + item.messages, 0)
  return (
    <Section
      title="Pass and fail by day"
      count={total > 0 ? `${count(total)} messages` : undefined}
      actions={
        <>
          <Seg
            label="Range"
            value={range}
            options={RANGES}
            onChange={(value) => view.set({ range: value === '30' ? undefined : value })}
          />
          {total > 0 && button}
        </>
      }
    >
      {answer.error !== null && items.length === 0 && <ProblemNotice error={answer.error} />}
      {answer.data !== undefined && total === 0 && (
        <Empty
          kind="yet"
          icon="reports"
          title="No messages in these days"
          action={<LinkButton href="/reports/upload">Upload reports</LinkButton>}
        >
          Receivers send one report a day once the DMARC record names where to.
        </Empty>
      )}
      {total > 0 && <DayBars domain={domain} items={items} />}
      {shown && total > 0 && <DayData items={items} />}
    </Section>
  )
}

function DayBars({ domain, items }: { domain: Domain; items: readonly DayFigures[] }) {
  return (
    <>
      <Chart
        label={`Messages about ${domain.unicode_name} by day: passed and failed`}
        unit="messages per UTC day"
        kind="bars"
        days={items.map((item) => item.date)}
        series={[
          { label: 'both', values: items.map((item) => item.both), colour: 'quiet' },
          { label: 'one', values: items.map((item) => item.dkim_only + item.spf_only), colour: 'quiet2' },
          { label: 'neither', values: items.map((item) => item.neither), colour: 'loud' },
        ]}
        format={compact}
        height={184}
        readout={(index) => <DayReadout item={items[index]} />}
      />
      <div className="mt-2">
        <Legend
          items={[
            { label: 'DKIM and SPF aligned', colour: 'quiet' },
            { label: 'one of them', colour: 'quiet2' },
            { label: 'neither, failed', colour: 'loud' },
          ]}
        />
      </div>
    </>
  )
}

function DayReadout({ item }: { item: DayFigures | undefined }) {
  if (item === undefined) return null
  const failed = item.fail === 0 ? '' : ` (${percent(share(item.fail, item.messages))})`
  return (
    <>
      <b>{weekday(item.date)}</b>
      {item.messages === 0 ? (
        <span>no messages reported</span>
      ) : (
        <>
          <span>
            <b>{count(item.pass)}</b> passed
          </span>
          <span>
            <b>{count(item.fail)}</b> failed{failed}
          </span>
          <span>{dispositionWords(item.fail, item.by_disposition)}</span>
        </>
      )}
    </>
  )
}

function DayData({ items }: { items: readonly DayFigures[] }) {
  return (
    <ChartData
      caption="Messages by day"
      days={items.map((item) => item.date)}
      columns={[
        { label: 'Messages', values: items.map((item) => item.messages), format: count },
        { label: 'Both', values: items.map((item) => item.both), format: count },
        { label: 'DKIM only', values: items.map((item) => item.dkim_only), format: count },
        { label: 'SPF only', values: items.map((item) => item.spf_only), format: count },
        { label: 'Failed', values: items.map((item) => item.fail), format: count },
        { label: 'Reports', values: items.map((item) => item.reports), format: count },
      ]}
    />
  )
}

function TopSources({ domain }: { domain: Domain }) {
  const view = useView()
  return (
    <Section
      title="Sources"
      count="the largest, 30 d"
      actions={
        <A className="link" href={view.with({ tab: 'sources' })}>
          All sources
        </A>
      }
    >
      <SourceTable domain={domain} query={{ sort: '-messages', limit: 5 }} compact />
    </Section>
  )
}

export function Policy({ domain }: { domain: Domain }) {
  const { policy } = domain
  const lines = explainPolicy(policy)
  return (
    <Section
      title="DMARC record"
      count={policy.checked_at === null ? 'not checked yet' : undefined}
      actions={
        <State kind={policy.state === 'ok' ? 'pass' : policy.state === 'unknown' ? 'pending' : 'warn'}>
          {POLICY_STATE_WORDS[policy.state]}
        </State>
      }
    >
      {policy.record !== null && <RecordBox text={policy.record} what="record" />}
      {policy.detail !== null && policy.detail !== '' && policy.state !== 'ok' && (
        <p className="t13 t2 mt-2">{policy.detail}</p>
      )}
      {lines.length > 0 && (
        <ul className="plainlist">
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </Section>
  )
}
