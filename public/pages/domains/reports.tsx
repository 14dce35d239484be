import { coveredDays, passRate } from '../../lib/dmarc.ts'
import { count, percent } from '../../lib/format.ts'
import { useList } from '../../lib/query.ts'
import type { Domain, Report } from '../../lib/types.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Section } from '../../ui/drawer.tsx'
import { A } from '../../ui/link.tsx'
import { Empty, ProblemNotice } from '../../ui/notice.tsx'
import { LoadMore } from '../../ui/table.tsx'

/** What receivers reported about this domain, newest first. */
export function DomainReports({ domain }: { domain: Domain }) {
  const list = useList<Report>('/v1/reports', { domain: domain.name, limit: 50 })
  return (
    <Section
      title="Reports"
      count={`${count(domain.reports)} in all`}
      actions={
        <A className="link" href={`/reports?domain=${encodeURIComponent(domain.name)}`}>
          In the list
        </A>
      }
    >
      {list.error !== null && <ProblemNotice error={list.error} retry={list.refetch} />}
      {!list.isPending && list.error === null && list.items.length === 0 && (
        <Empty
          kind="yet"
          title="No reports yet"
          action={<LinkButton href="/reports/upload">Upload a report</LinkButton>}
        >
          Receivers send one a day once the DMARC record names where to.
        </Empty>
      )}
      {list.items.length > 0 && <ReportRows domain={domain} reports={list.items} />}
      <LoadMore list={list} />
    </Section>
  )
}

function ReportRows({ domain, reports }: { domain: Domain; reports: readonly Report[] }) {
  return (
    <div className="list">
      <table className="t t--sub t--plain">
        <caption className="vh">Reports about {domain.unicode_name}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">From</th>
            <th scope="col" className="num">
              Messages
            </th>
            <th scope="col" className="num p1">
              Failed
            </th>
            <th scope="col" className="num">
              Pass
            </th>
          </tr>
        </thead>
        <tbody>
          {reports.map((report) => (
            <tr key={report.id}>
              <td className="nw">
                <A href={`/reports/${report.id}`}>{coveredDays(report)}</A>
              </td>
              <td className="brk">{report.org_name}</td>
              <td className="num">{count(report.totals.messages)}</td>
              <td className="num p1">{count(report.totals.fail)}</td>
              <td className="num nw">
                <span
                  className={(passRate(report) ?? 100) < domain.compliance_threshold ? 'c-critical med' : ''}
                >
                  {percent(passRate(report))}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
