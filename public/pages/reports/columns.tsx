import { coveredDays, passRate } from '../../lib/dmarc.ts'
import { count, percent } from '../../lib/format.ts'
import type { Report } from '../../lib/types.ts'
import { State } from '../../ui/state.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

/** Below this share of passing messages a report is marked; a domain's own limit is on its own page. */
const MARKED_BELOW = 95

export const REPORT_COLUMNS: readonly Column<Report>[] = [
  {
    key: 'date',
    title: 'Day',
    sort: 'date_end',
    down: true,
    fixed: true,
    className: 'nw',
    cell: (report) => coveredDays(report),
  },
  {
    key: 'domain',
    title: 'About',
    fixed: true,
    cell: (report) => <span className="med brk">{report.domain}</span>,
  },
  {
    key: 'org',
    title: 'From',
    priority: 1,
    cell: (report) => <span className="brk">{report.org_name}</span>,
  },
  {
    key: 'messages',
    title: 'Messages',
    sort: 'messages',
    down: true,
    num: true,
    fixed: true,
    priority: 1,
    cell: (report) => count(report.totals.messages),
  },
  {
    key: 'fail',
    title: 'Failed',
    sort: 'fail',
    down: true,
    num: true,
    priority: 2,
    cell: (report) => count(report.totals.fail),
  },
  {
    key: 'pass',
    title: 'Compliant',
    num: true,
    cell: (report) => <Pass report={report} />,
  },
  {
    key: 'policy',
    title: 'Policy',
    priority: 3,
    cell: (report) => String(report.policy['p'] ?? ''),
  },
  {
    key: 'state',
    title: 'State',
    priority: 3,
    cell: (report) => <ReportState report={report} />,
  },
  {
    key: 'received',
    title: 'Received',
    sort: 'created_at',
    down: true,
    num: true,
    priority: 4,
    className: 't3',
    cell: (report) => <Time at={report.created_at} />,
  },
]

export function Pass({ report }: { report: Report }) {
  const rate = passRate(report)
  return <span className={(rate ?? 100) < MARKED_BELOW ? 'c-critical med nw' : 'nw'}>{percent(rate)}</span>
}

/** What is out of the ordinary about a report, the most important first. */
export function ReportState({ report }: { report: Report }) {
  if (report.status === 'superseded') return <State kind="none">Superseded</State>
  if (report.domain_id === null) return <State kind="medium">Unassigned</State>
  if (report.revision_of !== undefined && report.revision_of !== null)
    return <State kind="half">Revision</State>
  if (report.repairs.length > 0) return <State kind="warn">Repaired</State>
  return <State kind="pass">As sent</State>
}
