import { address } from '../lib/api.ts'
import { count, plural } from '../lib/format.ts'
import { useCan } from '../lib/me.ts'
import { useList } from '../lib/query.ts'
import type { Report } from '../lib/types.ts'
import { useView } from '../lib/view.ts'
import { LinkButton } from '../ui/button.tsx'
import { Split } from '../ui/drawer.tsx'
import { SearchBox } from '../ui/filter.tsx'
import { Empty } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { Table } from '../ui/table.tsx'
import { REPORT_COLUMNS } from './reports/columns.tsx'
import { ReportTabs } from './reports/tabs.tsx'

/** Reports about domains that are not the organisation's: kept, and adopted when the domain is added. */
export function UnassignedPage() {
  const view = useView()
  const list = useList<Report>('/v1/reports', {
    unassigned: true,
    q: view.get('q'),
    sort: view.get('sort'),
    limit: 100,
  })
  const columns = REPORT_COLUMNS.filter((column) => column.key !== 'state')
  const names = new Map<string, number>()
  for (const report of list.items) names.set(report.domain, (names.get(report.domain) ?? 0) + 1)
  const most = [...names].sort((a, b) => b[1] - a[1]).slice(0, 5)
  return (
    <>
      <PageHead
        title="Unassigned reports"
        lead="They are about domains that are not yours here. They are kept and count for nothing until the domain is added; then they are adopted."
      />
      <div className="tools">
        <SearchBox placeholder="Domain or receiver" />
        {most.map(([name, reports]) => (
          <AddChip key={name} name={name} reports={reports} />
        ))}
      </div>
      <ReportTabs current="unassigned" />
      <Split>
        <Table
          name="unassigned"
          caption="Unassigned reports"
          columns={columns}
          list={list}
          rowId={(report) => report.id}
          rowName={(report) => `${report.org_name} about ${report.domain}`}
          href={(report) => address(`/reports/${report.id}`)}
          defaultSort="-date_end"
          empty={
            view.get('q') === undefined ? (
              <Empty kind="done" title="Every report has its domain">
                Reports about domains that are not yours would be kept here.
              </Empty>
            ) : (
              <Empty kind="match" title="No report matches">
                None of the unassigned ones is about “{view.get('q')}”.
              </Empty>
            )
          }
        />
      </Split>
    </>
  )
}

function AddChip({ name, reports }: { name: string; reports: number }) {
  const can = useCan()
  return (
    <LinkButton
      small
      icon="plus"
      title={plural(reports, 'report')}
      href={`/domains?add=1&name=${encodeURIComponent(name)}`}
      reason={can('domains:write').reason}
    >
      Add {name} ({count(reports)})
    </LinkButton>
  )
}
