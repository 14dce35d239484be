import { useState } from 'react'
import { compact, count, daysAgo, percent, plural, share, weekday } from '../../lib/format.ts'
import { covers, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/query.ts'
import type { DayFigures, Timeline } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { LinkButton, Seg } from '../../ui/button.tsx'
import { Chart, ChartData, Legend, useShowData } from '../../ui/chart.tsx'
import { Empty, ProblemNotice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'

const RANGES = [
  { value: '30', label: '30 d' },
  { value: '90', label: '90 d' },
] as const

/** How compliance and volume move, over all domains: two charts on one time axis. */
export function Posture() {
  const view = useView()
  const me = useMe()
  const range = view.get('range') === '90' ? '90' : '30'
  const [button, shown] = useShowData()
  const answer = useGet<Timeline>(
    '/v1/reports/timeline',
    { from: daysAgo(Number(range)), to: daysAgo(0) },
    { keep: true },
  )
  const settings = useGet<{ default_compliance_threshold: number }>(
    '/v1/settings',
    {},
    { enabled: covers(me.scopes, 'settings:read'), poll: false },
  )
  const limit = settings.data?.default_compliance_threshold ?? 95
  const items = answer.data?.items ?? []
  const empty = items.every((item) => item.messages === 0)
  return (
    <Panel
      title="Posture"
      sub="all domains"
      actions={
        <>
          <Seg
            label="Range"
            value={range}
            options={RANGES}
            onChange={(value) => view.set({ range: value === '30' ? undefined : value })}
          />
          {!empty && button}
        </>
      }
      {...(empty ? {} : { foot: <PostureLegend /> })}
    >
      {answer.error !== null && items.length === 0 && (
        <div className="pad">
          <ProblemNotice error={answer.error} retry={() => void answer.refetch()} />
        </div>
      )}
      {empty && !answer.isPending && answer.error === null && <NoMessages />}
      {answer.isPending && <div className="posture__wait" />}
      {!empty && <PostureCharts items={items} range={range} limit={limit} />}
      {shown && !empty && <PostureData items={items} />}
    </Panel>
  )
}

function NoMessages() {
  return (
    <Empty
      kind="yet"
      icon="overview"
      title="No messages reported yet"
      action={
        <LinkButton kind="primary" href="/reports/upload">
          Upload a report
        </LinkButton>
      }
    >
      Receivers send one report a day once a DMARC record names where to. What they saw appears here.
    </Empty>
  )
}

interface ChartsProps {
  items: readonly DayFigures[]
  range: string
  limit: number
}

/** Compliance above, messages below; the chosen day is one. */
function PostureCharts({ items, range, limit }: ChartsProps) {
  const [at, setAt] = useState<number | null>(null)
  const days = items.map((item) => item.date)
  const rates = items.map((item) => share(item.pass, item.messages))
  return (
    <>
      <Chart
        label={`Compliance over ${range} days, limit ${limit} percent`}
        unit="Compliance, % of messages with DKIM or SPF aligned"
        kind="line"
        days={days}
        series={[{ label: 'Compliant', values: rates, colour: 'line' }]}
        format={(value) => (Number.isInteger(value) ? String(value) : `${value.toFixed(1)} %`)}
        max={100}
        limit={{ value: limit, label: `limit ${limit}` }}
        height={164}
        at={at}
        onAt={setAt}
      />
      <Chart
        label={`Messages by day over ${range} days`}
        unit="Messages per UTC day"
        kind="bars"
        days={days}
        series={[
          { label: 'both aligned', values: items.map((item) => item.both), colour: 'quiet' },
          {
            label: 'one of them',
            values: items.map((item) => item.dkim_only + item.spf_only),
            colour: 'quiet2',
          },
          { label: 'neither, failed', values: items.map((item) => item.neither), colour: 'loud' },
        ]}
        format={compact}
        height={132}
        room={64}
        at={at}
        onAt={setAt}
        readout={(index) => <DayReadout item={items[index]} />}
      />
    </>
  )
}

function DayReadout({ item }: { item: DayFigures | undefined }) {
  if (item === undefined) return null
  return (
    <>
      <b>{weekday(item.date)}</b>
      <span>
        compliant <b>{percent(share(item.pass, item.messages))}</b> of {count(item.messages)} messages
      </span>
      <span>{count(item.fail)} failed both checks</span>
      <span>{plural(item.reports, 'report')}</span>
    </>
  )
}

function PostureData({ items }: { items: readonly DayFigures[] }) {
  return (
    <ChartData
      caption="Compliance and messages by day"
      days={items.map((item) => item.date)}
      columns={[
        { label: 'Compliant', values: items.map((item) => share(item.pass, item.messages)), format: percent },
        { label: 'Messages', values: items.map((item) => item.messages), format: count },
        { label: 'Passed', values: items.map((item) => item.pass), format: count },
        { label: 'Failed', values: items.map((item) => item.fail), format: count },
      ]}
    />
  )
}

function PostureLegend() {
  return (
    <Legend
      items={[
        { label: 'DKIM and SPF aligned', colour: 'quiet' },
        { label: 'one of them', colour: 'quiet2' },
        { label: 'neither, failed', colour: 'loud' },
      ]}
    />
  )
}
