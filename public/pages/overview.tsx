import { useQuery } from '@tanstack/react-query'
import { api } from '../lib/api.ts'
import { copyText } from '../lib/clipboard.ts'
import { isBelow, PROFILE_WORDS, trendPoints, trendWords } from '../lib/dmarc.ts'
import {
  compact,
  count,
  daysAgo,
  duration,
  nowMs,
  percent,
  plural,
  share,
  timeSeconds,
} from '../lib/format.ts'
import { covers, useMe } from '../lib/me.ts'
import { POLL_MS, useGet } from '../lib/query.ts'
import type { Backup, Domain, Page, Summary } from '../lib/types.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { Glyph, type GlyphName } from '../ui/icons.tsx'
import { A } from '../ui/link.tsx'
import { Sparkline } from '../ui/meter.tsx'
import { Empty, ProblemNotice } from '../ui/notice.tsx'
import { Figures, PageHead, Panel } from '../ui/panel.tsx'
import { Severity, StateMark } from '../ui/state.tsx'
import { notify } from '../ui/toast.tsx'
import { WhatWasDone } from './overview/done.tsx'
import { useAlertsKnown } from './overview/alerts.ts'
import { needsOf, sentenceOf, type JobRow, type Known, type Need } from './overview/needs.ts'
import { Posture } from './overview/posture.tsx'
import { watchRows } from './overview/watch.ts'

/** What needs you now, how the posture moves, what was done. */
export function OverviewPage() {
  const me = useMe()
  const operator = me.user?.is_operator === true
  const reads = (scope: string) => covers(me.scopes, scope)
  const list = useWorstDomains(reads('domains:read'))
  const summary = useGet<Summary>(
    '/v1/reports/summary',
    { from: daysAgo(30) },
    { enabled: reads('reports:read') },
  )
  const backups = useGet<Page<Backup>>('/v1/instance/backups', {}, { enabled: operator })
  const jobs = useGet<Page<JobRow>>('/v1/instance/jobs', {}, { enabled: operator })
  const alerts = useAlertsKnown(reads('alerts:read'))
  const domains = list.data?.items ?? []
  const known: Known = {
    me,
    domains,
    summary: summary.data,
    backups: backups.data?.items,
    jobs: jobs.data?.items,
    alerts: alerts.known,
  }
  const ready = (!list.isPending || !reads('domains:read')) && alerts.ready
  const needs = ready ? needsOf(known) : []
  const watched = domains.length + (summary.data?.reports ?? 0)
  return (
    <>
      <PageHead
        title="Overview"
        lead={
          <p className="verdictline">
            {ready && (
              <>
                <Verdict needs={needs} />
                <span>{sentenceOf(needs, watched)}</span>
              </>
            )}
          </p>
        }
        actions={
          <>
            {list.dataUpdatedAt > 0 && (
              <span className="count">Updated {timeSeconds(list.dataUpdatedAt)} UTC</span>
            )}
            <Button small icon="link" onClick={() => void copyLink()}>
              Copy view link
            </Button>
          </>
        }
      />
      {list.error !== null && domains.length === 0 && (
        <div className="mb-4">
          <ProblemNotice error={list.error} retry={() => void list.refetch()} />
        </div>
      )}
      <div className="grid grid-main">
        <Needs needs={needs} ready={ready} watched={watched} open={alerts.known.summary?.open ?? 0} />
        <Watch known={known} at={list.dataUpdatedAt} />
        {reads('reports:read') && <Posture />}
        <WorstDomains domains={domains} />
        {reads('audit:read') && <WhatWasDone />}
        {summary.data !== undefined && <LastDays summary={summary.data} />}
      </div>
    </>
  )
}

function useWorstDomains(enabled: boolean) {
  return useQuery({
    queryKey: ['/v1/domains', 'overview'],
    queryFn: ({ signal }) =>
      api.get<Page<Domain>>('/v1/domains', { sort: 'compliance', limit: 200 }, { signal }),
    refetchInterval: POLL_MS,
    enabled,
  })
}

async function copyLink(): Promise<void> {
  const copied = await copyText(location.href)
  notify(
    copied
      ? { kind: 'pass', text: 'The link to this view is copied' }
      : { kind: 'fail', text: 'The browser refused to copy' },
  )
}

function Verdict({ needs }: { needs: readonly Need[] }) {
  const worst: GlyphName = needs[0]?.level ?? 'pass'
  return (
    <span className={`c-${worst}`}>
      <Glyph name={worst} />
    </span>
  )
}

interface NeedsProps {
  needs: readonly Need[]
  ready: boolean
  watched: number
  /** Alerts that are open, all of them. */
  open: number
}

function Needs({ needs, ready, watched, open }: NeedsProps) {
  const first_primary = needs.filter((need) => need.level === 'critical').length
  const all = (
    <A className="link" href="/alerts">
      {open === 1 ? 'The open alert' : `All ${count(open)} alerts`}
    </A>
  )
  return (
    <Panel
      title="Needs you now"
      {...(needs.length > 0 ? { sub: count(needs.length) } : {})}
      {...(open > 0 ? { actions: all } : {})}
    >
      {ready && needs.length === 0 && (
        <Empty
          kind={watched === 0 ? 'yet' : 'done'}
          title={watched === 0 ? 'Nothing is watched yet' : 'Nothing needs you'}
          action={
            watched === 0 ? (
              <LinkButton kind="primary" href="/domains?add=1">
                Add a domain
              </LinkButton>
            ) : (
              <LinkButton href="/audit">See what was done</LinkButton>
            )
          }
        >
          {watched === 0
            ? 'Add the domain you send mail from: its reports then say who else does.'
            : `Checked ${timeSeconds(nowMs())} UTC. It is asked again every 30 seconds while this page is open.`}
        </Empty>
      )}
      <div className="need">
        {needs.map((need, index) => (
          <article className="row" key={need.id}>
            <Severity level={need.level} />
            <div>
              <h3 className="row__t">{need.title}</h3>
              <p className="row__s">{need.detail}</p>
            </div>
            <span className="age num t12 t3">
              {need.since === null ? '' : duration(nowMs() - new Date(need.since).getTime())}
            </span>
            <LinkButton
              small
              kind={index < first_primary ? 'primary' : 'plain'}
              href={need.href}
              aria-label={`${need.action}: ${need.title}`}
            >
              {need.action}
            </LinkButton>
          </article>
        ))}
      </div>
    </Panel>
  )
}

function Watch({ known, at }: { known: Known; at: number }) {
  const rows = watchRows(known)
  const good = rows.filter((row) => row.kind === 'pass').length
  return (
    <Panel
      title="Watch"
      sub={`${good} within limits, ${rows.length - good} not`}
      foot={at === 0 ? 'Asking' : `Checked ${timeSeconds(at)}, every 30 s`}
    >
      <div className="watch">
        {rows.map((row) => (
          <div className="row" key={row.name}>
            <StateMark kind={row.kind} word={row.word} />
            <span>{row.name}</span>
            <span className="cut">
              <span className="med">{row.value}</span> <span className="t3">{row.note}</span>
            </span>
          </div>
        ))}
      </div>
    </Panel>
  )
}

const WORST_MAX = 7

/** Those that send by compliance, then the rest. */
function worstFirst(domain: Domain): number {
  return domain.profile === 'sending' ? (domain.compliance.rate ?? 101) : 102
}

function WorstDomains({ domains }: { domains: readonly Domain[] }) {
  const sorted = [...domains].sort((a, b) => worstFirst(a) - worstFirst(b))
  const rest = sorted.length - WORST_MAX
  return (
    <Panel
      title="Domains"
      actions={
        <A className="link" href="/domains">
          All {domains.length > 0 ? domains.length : ''}
        </A>
      }
      {...(domains.length > 0
        ? {
            foot:
              rest > 0
                ? `Worst first among those that send. ${plural(rest, 'more is', 'more are')} better.`
                : 'Worst first.',
          }
        : {})}
    >
      {domains.length === 0 ? (
        <Empty kind="yet" icon="domains" title="No domains yet">
          A domain shows who sends in its name and how many of those messages pass.
        </Empty>
      ) : (
        <table className="t">
          <caption className="vh">Domains, worst compliance first</caption>
          <thead>
            <tr>
              <th scope="col">Domain</th>
              <th scope="col">30 d</th>
              <th scope="col" className="num">
                Compliant
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, WORST_MAX).map((domain) => (
              <WorstRow key={domain.id} domain={domain} />
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

function WorstRow({ domain }: { domain: Domain }) {
  const { rate, trend } = domain.compliance
  const below = isBelow(domain)
  return (
    <tr>
      <td className="cut worst__n">
        <A href={`/domains/${domain.id}`}>{domain.unicode_name}</A>
        <span className="sub">{trendWords(domain)}</span>
      </td>
      <td>
        <Sparkline values={trend.map((entry) => entry.rate)} fell={(trendPoints(domain) ?? 0) < -1} />
      </td>
      <td className="num nw">
        {rate === null || domain.profile !== 'sending' ? (
          <span className="t3">
            {domain.status === 'pending' ? 'pending' : PROFILE_WORDS[domain.profile]}
          </span>
        ) : (
          <span className={below ? 'c-critical med' : ''}>{percent(rate)}</span>
        )}
      </td>
    </tr>
  )
}

function LastDays({ summary }: { summary: Summary }) {
  return (
    <Panel title="Last 30 days">
      <Figures
        items={[
          {
            label: 'Messages evaluated',
            value: compact(summary.messages),
            note: `${plural(summary.reports, 'report')} from ${plural(summary.reporters, 'receiver')}`,
          },
          {
            label: 'Failed both checks',
            value: compact(summary.fail),
            ...(summary.messages > 0 ? { small: percent(share(summary.fail, summary.messages)) } : {}),
            note: 'neither DKIM nor SPF aligned',
          },
          {
            label: 'Compliant',
            value: percent(share(summary.pass, summary.messages)),
            note: `${compact(summary.pass)} messages passed`,
          },
          { label: 'Domains', value: count(summary.domains), note: 'in this organisation' },
          {
            label: 'Unassigned',
            value: count(summary.unassigned_reports),
            note: <A href="/reports/unassigned">reports about other domains</A>,
          },
          {
            label: 'Rejected',
            value: count(summary.rejected_files),
            note: <A href="/reports/rejected">files that could not be read</A>,
          },
        ]}
      />
    </Panel>
  )
}
