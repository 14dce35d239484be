import { ApiProblem } from '../../lib/api.ts'
import { useCrumb } from '../../lib/crumb.ts'
import { coveredDays, dispositionWords, passRate, repairWords } from '../../lib/dmarc.ts'
import { bytes, count, exact, percent } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { useGet } from '../../lib/query.ts'
import type { Page, Report, ReportRecord } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { LinkButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Drawer, Props, RawRecord, Section } from '../../ui/drawer.tsx'
import { A } from '../../ui/link.tsx'
import { Empty, Notice, ProblemNotice } from '../../ui/notice.tsx'
import { State } from '../../ui/state.tsx'
import { ReportState } from './columns.tsx'
import { Records } from './records.tsx'

interface DrawerProps {
  id: string
  list: readonly Report[]
  /** The list it belongs to. */
  base: string
}

/** One aggregate report: what it says, how it was read, its records. */
export function ReportDrawer({ id, list, base }: DrawerProps) {
  const view = useView()
  const answer = useGet<Report & { records: Page<ReportRecord> }>(
    `/v1/reports/${id}`,
    { limit: 1 },
    { poll: false },
  )
  const report = answer.data ?? list.find((entry) => entry.id === id)
  useCrumb(report === undefined ? undefined : `${report.org_name}, ${coveredDays(report)}`)
  const close = view.at(base, { result: undefined })
  const at = list.findIndex((entry) => entry.id === id)
  const neighbour = (step: number) => {
    const other = at === -1 ? undefined : list[at + step]
    return other === undefined ? undefined : view.at(`/reports/${other.id}`)
  }
  if (report === undefined) {
    const gone = answer.error instanceof ApiProblem && answer.error.status === 404
    return (
      <Drawer title="Report" close={close}>
        <div className="pad">
          {gone && (
            <Empty kind="match" title="There is no such report">
              It was deleted, or belongs to another organisation.
            </Empty>
          )}
          {answer.error !== null && !gone && <ProblemNotice error={answer.error} />}
        </div>
      </Drawer>
    )
  }
  return (
    <Drawer
      title={report.domain}
      sub={`${report.org_name}, ${coveredDays(report)}`}
      tag={<ReportState report={report} />}
      previous={neighbour(-1)}
      next={neighbour(1)}
      close={close}
      actions={
        <>
          <LinkButton small icon="download" href={`/v1/reports/${id}/raw`} download="">
            File as sent
          </LinkButton>
          {report.domain_id === null ? (
            <AddItsDomain domain={report.domain} />
          ) : (
            <LinkButton small icon="domains" href={`/domains/${report.domain_id}`}>
              Open domain
            </LinkButton>
          )}
        </>
      }
    >
      <Revisions report={report} />
      <Totals report={report} />
      <Records id={id} report={report} />
      <Repairs report={report} />
      <Policy report={report} />
      <Properties report={report} />
    </Drawer>
  )
}

function AddItsDomain({ domain }: { domain: string }) {
  const can = useCan()
  return (
    <LinkButton
      small
      kind="primary"
      icon="plus"
      href={`/domains?add=1&name=${encodeURIComponent(domain)}`}
      reason={can('domains:write').reason}
    >
      Add the domain
    </LinkButton>
  )
}

function Revisions({ report }: { report: Report }) {
  const revised = report.revision_of
  if (report.status !== 'superseded' && (revised === undefined || revised === null)) return null
  return (
    <section className="sec" aria-label="Revisions">
      <Notice kind="accent">
        {report.status === 'superseded'
          ? 'A later report with the same id replaced this one. It stays readable and counts for nothing.'
          : 'It replaces an earlier report with the same id. '}
        {revised !== undefined && revised !== null && <A href={`/reports/${revised}`}>The other one</A>}
      </Notice>
    </section>
  )
}

function Totals({ report }: { report: Report }) {
  const { messages, pass, fail, by_disposition } = report.totals
  const rate = passRate(report)
  return (
    <section className="sec" aria-label="Totals">
      <div className="score">
        <div className="score__n">
          <b className={(rate ?? 100) < 95 ? 'c-critical' : ''}>{percent(rate)}</b>
          <span>
            compliant
            <br />
            of {count(messages)}
          </span>
        </div>
        <div className="score__d">
          <div>{count(pass)} passed DKIM or SPF, aligned</div>
          <div>{count(fail)} failed both</div>
          {fail > 0 && <div>{dispositionWords(fail, by_disposition)}</div>}
        </div>
      </div>
    </section>
  )
}

function Repairs({ report }: { report: Report }) {
  if (report.repairs.length === 0) return null
  return (
    <Section title="Repairs" count={`${report.repairs.length}, made while reading`}>
      <ul className="plainlist">
        {report.repairs.map((repair) => (
          <li key={`${repair.code} ${repair.detail}`} className="brk">
            {repairWords(repair)} <span className="mono t3">{repair.code}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const POLICY_NAMES: Record<string, string> = {
  domain: 'Domain',
  p: 'Policy',
  sp: 'Subdomains',
  np: 'Not existing',
  adkim: 'DKIM alignment',
  aspf: 'SPF alignment',
  pct: 'Percent',
  fo: 'Failure reports',
  testing: 'Testing',
  discovery_method: 'Found by',
}

/** A member of the published policy in words. */
function policyValue(name: string, value: string | number | boolean): string {
  if (name === 'adkim' || name === 'aspf') return value === 's' ? 'strict' : 'relaxed'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

function Policy({ report }: { report: Report }) {
  const known = Object.entries(report.policy).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [[POLICY_NAMES[name] ?? name, policyValue(name, value)] as const],
  )
  return (
    <Section title="Policy the receiver saw">
      <Props items={known} />
    </Section>
  )
}

function Properties({ report }: { report: Report }) {
  return (
    <Section title="Properties">
      <Props
        items={[
          ['From', report.org_name],
          report.org_email !== null && report.org_email !== '' && ['Contact', report.org_email],
          [
            'Report id',
            <>
              <span className="mono">{report.report_id}</span>
              <CopyButton text={report.report_id} what="report id" />
            </>,
          ],
          ['Begins', exact(report.date_begin)],
          ['Ends', exact(report.date_end)],
          ['Came by', report.source],
          [
            'File',
            <span className="mono brk" key="file">
              {report.file.name ?? 'no name'}
            </span>,
          ],
          ['Read as', `${report.file.kind}, ${bytes(report.file.bytes)}`],
          [
            'SHA-256',
            <>
              <span className="mono">{report.file.sha256.slice(0, 24)}…</span>
              <CopyButton text={report.file.sha256} what="hash" />
            </>,
          ],
          [
            'Id',
            <>
              <span className="mono">{report.id}</span>
              <CopyButton text={report.id} what="id" />
            </>,
          ],
          ['Received', exact(report.created_at)],
          [
            'State',
            report.status === 'current' ? (
              <State kind="pass">Counted</State>
            ) : (
              <State kind="none">Superseded</State>
            ),
          ],
        ]}
      />
      <div className="mt-3">
        <RawRecord path={`/v1/reports/${report.id}`} value={report} />
      </div>
    </Section>
  )
}
