import { useParams } from '@tanstack/react-router'
import { address } from '../lib/api.ts'
import { day, isoDay, nowMs, DAY_MS } from '../lib/format.ts'
import { useCan } from '../lib/me.ts'
import { useList } from '../lib/query.ts'
import type { Report } from '../lib/types.ts'
import { useView } from '../lib/view.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { ColumnPicker } from '../ui/columns.tsx'
import { Split } from '../ui/drawer.tsx'
import { FilterBar, type FilterDef } from '../ui/filter.tsx'
import { Menu, MenuLabel, MenuLink } from '../ui/menu.tsx'
import { Empty } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { Table } from '../ui/table.tsx'
import { REPORT_COLUMNS } from './reports/columns.tsx'
import { ReportDrawer } from './reports/drawer.tsx'
import { ReportTabs } from './reports/tabs.tsx'

const FILTERS: readonly FilterDef[] = [
  { name: 'domain', label: 'Domain', kind: 'text', hint: 'One or several, separated by commas' },
  { name: 'org', label: 'From', kind: 'text', hint: 'The receiver, as it calls itself' },
  { name: 'from', label: 'Since', kind: 'date', show: (value) => day(value) },
  { name: 'to', label: 'Before', kind: 'date', show: (value) => day(value) },
]

const NAMES = ['q', 'domain', 'org', 'from', 'to'] as const

/** What the list shows is what is exported. */
function useFilters(): Record<string, string | undefined> {
  const view = useView()
  return Object.fromEntries(NAMES.map((name) => [name, view.get(name)]))
}

export function ReportsPage() {
  const view = useView()
  const can = useCan()
  const { id } = useParams({ strict: false })
  const filters = useFilters()
  const list = useList<Report>('/v1/reports', { ...filters, sort: view.get('sort'), limit: 100 })
  const filtered = Object.values(filters).some((value) => value !== undefined)
  return (
    <>
      <PageHead
        title="Reports"
        actions={
          <>
            <ExportMenu filters={filters} />
            <LinkButton
              kind="primary"
              icon="upload"
              href="/reports/upload"
              reason={can('reports:write').reason}
            >
              Upload
            </LinkButton>
          </>
        }
      />
      <FilterBar search="Domain, receiver or report id" filters={FILTERS}>
        <ColumnPicker list="reports" columns={REPORT_COLUMNS} />
      </FilterBar>
      <ReportTabs current="dmarc" />
      <Split
        drawer={
          id === undefined ? undefined : <ReportDrawer key={id} id={id} list={list.items} base="/reports" />
        }
      >
        <Table
          name="reports"
          caption="DMARC reports"
          columns={REPORT_COLUMNS}
          list={list}
          rowId={(report) => report.id}
          rowName={(report) => `${report.org_name} about ${report.domain}`}
          href={(report) => view.at(`/reports/${report.id}`)}
          current={id}
          defaultSort="-date_end"
          empty={filtered ? <NothingMatches /> : <NoReports />}
          foot="Times are UTC"
        />
      </Split>
    </>
  )
}

function ExportMenu({ filters }: { filters: Record<string, string | undefined> }) {
  const to = (format: string) => address('/v1/reports/export', { ...filters, format })
  return (
    <Menu trigger={<Button icon="download">Export</Button>}>
      <MenuLabel>The records of what is shown</MenuLabel>
      <MenuLink href={to('csv')} download>
        CSV, one row per record
      </MenuLink>
      <MenuLink href={to('json')} download>
        JSON, one document
      </MenuLink>
      <MenuLink href={to('ndjson')} download>
        NDJSON, one line per record
      </MenuLink>
    </Menu>
  )
}

function NothingMatches() {
  const view = useView()
  const clear = Object.fromEntries(NAMES.map((name) => [name, undefined]))
  const dated = view.get('from') !== undefined || view.get('to') !== undefined
  return (
    <Empty
      kind="match"
      title="No report matches"
      action={
        <>
          <Button onClick={() => view.set(clear, true)}>Clear filters</Button>
          {dated && (
            <Button kind="quiet" onClick={() => view.set({ from: undefined, to: undefined }, true)}>
              Drop the date
            </Button>
          )}
        </>
      }
    >
      The filters leave nothing of what is here.
    </Empty>
  )
}

function NoReports() {
  const can = useCan()
  return (
    <Empty
      kind="yet"
      icon="reports"
      title="No reports yet"
      action={
        <LinkButton kind="primary" href="/reports/upload" reason={can('reports:write').reason}>
          Upload a report
        </LinkButton>
      }
    >
      Receivers send one a day once the DMARC record names where to; the next are due around{' '}
      {day(isoDay(nowMs() + DAY_MS))}.
    </Empty>
  )
}
