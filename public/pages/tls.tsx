import { useParams } from '@tanstack/react-router'
import { useCrumb } from '../lib/crumb.ts'
import { coveredDays, repairWords } from '../lib/dmarc.ts'
import { bytes, count, exact, percent, share } from '../lib/format.ts'
import { useGet, useList } from '../lib/query.ts'
import type { TlsPolicy, TlsReport } from '../lib/types.ts'
import { useView } from '../lib/view.ts'
import { LinkButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Drawer, Props, RawRecord, Section, Split } from '../ui/drawer.tsx'
import { FilterBar } from '../ui/filter.tsx'
import { Empty, ProblemNotice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { State } from '../ui/state.tsx'
import { Table, type Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { ReportTabs } from './reports/tabs.tsx'

function total(report: TlsReport): number {
  return report.successful_sessions + report.failed_sessions
}

const COLUMNS: readonly Column<TlsReport>[] = [
  { key: 'date', title: 'Day', fixed: true, className: 'nw', cell: coveredDays },
  {
    key: 'domain',
    title: 'About',
    fixed: true,
    cell: (report) => <span className="med brk">{report.domains.join(', ')}</span>,
  },
  {
    key: 'org',
    title: 'From',
    priority: 1,
    cell: (report) => <span className="brk">{report.org_name}</span>,
  },
  { key: 'ok', title: 'Sessions', num: true, cell: (report) => count(total(report)) },
  {
    key: 'failed',
    title: 'Failed',
    num: true,
    cell: (report) => (
      <span className={report.failed_sessions > 0 ? 'c-critical med' : ''}>
        {count(report.failed_sessions)}
      </span>
    ),
  },
  {
    key: 'rate',
    title: 'Encrypted',
    num: true,
    priority: 2,
    cell: (report) => percent(share(report.successful_sessions, total(report))),
  },
  {
    key: 'received',
    title: 'Received',
    num: true,
    priority: 4,
    className: 't3',
    cell: (report) => <Time at={report.created_at} />,
  },
]

/** What sending servers saw of the encryption towards your mail servers (RFC 8460). */
export function TlsReportsPage() {
  const view = useView()
  const { id } = useParams({ strict: false })
  const list = useList<TlsReport>('/v1/reports/tls', {
    q: view.get('q'),
    from: view.get('from'),
    to: view.get('to'),
    limit: 100,
  })
  const filtered = ['q', 'from', 'to'].some((name) => view.get(name) !== undefined)
  return (
    <>
      <PageHead
        title="TLS reports"
        lead="Whether other servers could deliver to yours encrypted, as they report it every day."
        actions={
          <LinkButton icon="upload" href="/reports/upload">
            Upload
          </LinkButton>
        }
      />
      <FilterBar
        search="Domain or sender"
        filters={[
          { name: 'from', label: 'Since', kind: 'date' },
          { name: 'to', label: 'Before', kind: 'date' },
        ]}
      />
      <ReportTabs current="tls" />
      <Split drawer={id === undefined ? undefined : <TlsDrawer key={id} id={id} list={list.items} />}>
        <Table
          name="tls"
          caption="TLS reports"
          columns={COLUMNS}
          list={list}
          rowId={(report) => report.id}
          rowName={(report) => `${report.org_name} about ${report.domains.join(', ')}`}
          href={(report) => view.at(`/reports/tls/${report.id}`)}
          current={id}
          empty={
            filtered ? (
              <Empty kind="match" title="No TLS report matches">
                The filters leave nothing of what is here.
              </Empty>
            ) : (
              <Empty
                kind="yet"
                icon="lock"
                title="No TLS reports yet"
                action={<LinkButton href="/reports/upload">Upload one</LinkButton>}
              >
                They come once a TXT record at _smtp._tls names where to send them.
              </Empty>
            )
          }
        />
      </Split>
    </>
  )
}

function TlsDrawer({ id, list }: { id: string; list: readonly TlsReport[] }) {
  const view = useView()
  const answer = useGet<TlsReport & { policies: TlsPolicy[] }>(`/v1/reports/tls/${id}`, {}, { poll: false })
  const known = list.find((entry) => entry.id === id)
  const report = answer.data ?? known
  useCrumb(report === undefined ? undefined : `${report.org_name}, ${coveredDays(report)}`)
  const close = view.at('/reports/tls')
  const at = list.findIndex((entry) => entry.id === id)
  const neighbour = (step: number) => {
    const other = at === -1 ? undefined : list[at + step]
    return other === undefined ? undefined : view.at(`/reports/tls/${other.id}`)
  }
  if (report === undefined) {
    return (
      <Drawer title="TLS report" close={close}>
        <div className="pad">{answer.error !== null && <ProblemNotice error={answer.error} />}</div>
      </Drawer>
    )
  }
  const policies = answer.data?.policies ?? []
  return (
    <Drawer
      title={report.domains.join(', ')}
      sub={`${report.org_name}, ${coveredDays(report)}`}
      previous={neighbour(-1)}
      next={neighbour(1)}
      close={close}
    >
      <TlsTotals report={report} />
      {policies.map((policy) => (
        <PolicySection key={`${policy.policy_type} ${policy.policy_domain}`} policy={policy} />
      ))}
      {report.repairs.length > 0 && (
        <Section title="Repairs">
          <ul className="plainlist">
            {report.repairs.map((repair) => (
              <li key={`${repair.code} ${repair.detail}`}>{repairWords(repair)}</li>
            ))}
          </ul>
        </Section>
      )}
      <TlsProperties report={report} />
    </Drawer>
  )
}

function TlsTotals({ report }: { report: TlsReport }) {
  return (
    <section className="sec" aria-label="Totals">
      <div className="score">
        <div className="score__n">
          <b className={report.failed_sessions > 0 ? 'c-critical' : ''}>
            {percent(share(report.successful_sessions, total(report)))}
          </b>
          <span>
            encrypted
            <br />
            of {count(total(report))}
          </span>
        </div>
        <div className="score__d">
          <div>{count(report.successful_sessions)} sessions were encrypted as the policy asks</div>
          <div>{count(report.failed_sessions)} failed</div>
        </div>
      </div>
    </section>
  )
}

function TlsProperties({ report }: { report: TlsReport }) {
  return (
    <Section title="Properties">
      <Props
        items={[
          report.contact !== null && ['Contact', report.contact],
          [
            'Report id',
            <span className="mono brk" key="id">
              {report.report_id}
            </span>,
          ],
          ['Begins', exact(report.date_begin)],
          ['Ends', exact(report.date_end)],
          [
            'File',
            <span className="mono brk" key="file">
              {report.file.name}
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
          ['Received', exact(report.created_at)],
        ]}
      />
      <div className="mt-3">
        <RawRecord path={`/v1/reports/tls/${report.id}`} value={report} />
      </div>
    </Section>
  )
}

const POLICY_TYPES: Record<string, string> = {
  sts: 'MTA-STS',
  tlsa: 'DANE (TLSA)',
  'no-policy-found': 'No policy',
  unknown: 'Unknown policy',
}

function PolicySection({ policy }: { policy: TlsPolicy }) {
  return (
    <Section
      title={POLICY_TYPES[policy.policy_type] ?? policy.policy_type}
      count={policy.policy_domain}
      actions={
        policy.failed_sessions > 0 ? (
          <State kind="fail">{count(policy.failed_sessions)} failed</State>
        ) : (
          <State kind="pass">{count(policy.successful_sessions)} encrypted</State>
        )
      }
    >
      {policy.mx_host.length > 0 && <p className="t12 t3">Mail servers: {policy.mx_host.join(', ')}</p>}
      {policy.failures.length > 0 && (
        <div className="list">
          <table className="t t--sub t--plain">
            <caption className="vh">Failures</caption>
            <thead>
              <tr>
                <th scope="col">Why</th>
                <th scope="col">Mail server</th>
                <th scope="col" className="p1">
                  From
                </th>
                <th scope="col" className="num">
                  Sessions
                </th>
              </tr>
            </thead>
            <tbody>
              {policy.failures.map((failure) => (
                <tr
                  key={`${failure.result_type} ${failure.sending_mta_ip} ${failure.receiving_mx_hostname} ${failure.receiving_ip}`}
                >
                  <td>
                    {failure.result_type.replaceAll('-', ' ')}
                    {failure.failure_reason_code !== null && (
                      <span className="sub">{failure.failure_reason_code}</span>
                    )}
                  </td>
                  <td className="mono brk">{failure.receiving_mx_hostname ?? failure.receiving_ip}</td>
                  <td className="mono brk p1">{failure.sending_mta_ip}</td>
                  <td className="num">{count(failure.failed_session_count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  )
}
