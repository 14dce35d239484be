import { address } from '../lib/api.ts'
import { count, duration, nowMs, timeSeconds } from '../lib/format.ts'
import { useCan } from '../lib/me.ts'
import { useGet, useList } from '../lib/query.ts'
import type { Alert, AlertSummary } from '../lib/types.ts'
import { useTitle, useView } from '../lib/view.ts'
import type { View } from '../lib/view.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { ColumnPicker } from '../ui/columns.tsx'
import { Split } from '../ui/drawer.tsx'
import { FilterBar } from '../ui/filter.tsx'
import type { FilterDef } from '../ui/filter.tsx'
import { Empty, Notice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { useSelection } from '../ui/selection.tsx'
import { Severity } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'
import type { Column } from '../ui/table.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'
import { AlertBulk, useAlertStep } from './alerts/actions.tsx'
import { AlertDrawer, AlertState, useAcknowledgeKey } from './alerts/drawer.tsx'
import { KINDS, kindTitle, refusal } from './alerts/kinds.ts'

const LEAD =
  'What must be looked at, and what came of it. The same problem again adds to the alert that is there.'
const DEFAULT_SORT = '-severity'

const FILTERS: readonly FilterDef[] = [
  {
    name: 'severity',
    label: 'Severity',
    kind: 'choice',
    options: ['critical', 'high', 'medium', 'low', 'info'].map((value) => ({ value, label: value })),
  },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'choice',
    options: Object.entries(KINDS).map(([value, { title }]) => ({ value, label: title.toLowerCase() })),
  },
  {
    name: 'assigned_to',
    label: 'Owner',
    kind: 'choice',
    options: [
      { value: 'me', label: 'me' },
      { value: 'none', label: 'nobody' },
    ],
  },
]
const FILTER_NAMES = [...FILTERS.map(({ name }) => name), 'q']

const COLUMNS: readonly Column<Alert>[] = [
  {
    key: 'severity',
    title: 'Severity',
    fixed: true,
    sort: 'severity',
    down: true,
    cell: (row) => <Severity level={row.severity} />,
  },
  {
    key: 'title',
    title: 'Alert',
    fixed: true,
    className: 'brk',
    cell: (row) => (
      <>
        {row.title}
        <span className="sub">
          {kindTitle(row.kind)}
          <span className="only-narrow">, {duration(nowMs() - new Date(row.first_at).getTime())}</span>
        </span>
      </>
    ),
  },
  { key: 'status', title: 'Status', priority: 2, cell: (row) => <AlertState alert={row} /> },
  {
    key: 'owner',
    title: 'Owner',
    priority: 3,
    cell: (row) =>
      row.assigned_to === null ? <span className="t3">nobody</span> : (row.assigned_to.name ?? 'left'),
  },
  { key: 'times', title: 'Times', num: true, priority: 3, cell: (row) => count(row.count) },
  {
    key: 'age',
    title: 'Age',
    num: true,
    priority: 1,
    sort: 'first_at',
    cell: (row) => (
      <time className="nw" dateTime={row.first_at}>
        {duration(nowMs() - new Date(row.first_at).getTime())}
      </time>
    ),
  },
  {
    key: 'last',
    title: 'Last, UTC',
    num: true,
    priority: 4,
    sort: 'last_at',
    down: true,
    cell: (row) => <Time at={row.last_at} />,
  },
]

/** /alerts and /alerts/{id} */
export function AlertsPage() {
  const can = useCan()
  const view = useView()
  const { allowed, reason } = can('alerts:read')
  useTitle('Alerts')
  if (!allowed) {
    return (
      <>
        <PageHead title="Alerts" lead={LEAD} />
        <div className="padx">
          <Notice>The alerts are not shown: {reason}.</Notice>
        </div>
      </>
    )
  }
  return (
    <>
      <PageHead
        title="Alerts"
        lead={LEAD}
        actions={
          <>
            <LinkButton
              icon="download"
              download=""
              href={address('/v1/alerts', { ...queryOf(view), limit: 500, format: 'csv' })}
            >
              Export
            </LinkButton>
            <LinkButton icon="mail" href="/settings/notifications">
              Who is told
            </LinkButton>
          </>
        }
      />
      <AlertList />
    </>
  )
}

const TABS = ['open', 'acknowledged', 'silenced', 'resolved', 'all'] as const
type Tab = (typeof TABS)[number]

const tabOf = (view: View): Tab => TABS.find((tab) => tab === view.get('status')) ?? 'open'

/** What the list asks for; the export is the same. */
function queryOf(view: View) {
  const tab = tabOf(view)
  return {
    ...Object.fromEntries(FILTER_NAMES.map((name) => [name, view.get(name)])),
    status: tab === 'all' ? undefined : tab,
    sort: view.get('sort') ?? DEFAULT_SORT,
  }
}

function StatusTabs({ view }: { view: View }) {
  const summary = useGet<AlertSummary>('/v1/alerts/summary').data
  const counts: Partial<Record<Tab, number>> =
    summary === undefined
      ? {}
      : { open: summary.open, acknowledged: summary.acknowledged, silenced: summary.silenced }
  return (
    <Tabs
      label="Status"
      current={tabOf(view)}
      tabs={TABS.map((tab) => ({
        id: tab,
        label: tab.slice(0, 1).toUpperCase() + tab.slice(1),
        href: view.at('/alerts', { status: tab === 'open' ? undefined : tab }),
        count: counts[tab],
      }))}
    />
  )
}

function AlertList() {
  const view = useView()
  const can = useCan()
  const selection = useSelection()
  const id = view.path.split('/')[2]
  const list = useList<Alert>('/v1/alerts', queryOf(view))
  const step = useAlertStep(selection.clear)
  // `e` on a row: the checked ones, or that one.
  useAcknowledgeKey('table.al', () => {
    const focused = document.activeElement?.closest<HTMLElement>('tr[data-row]')?.dataset['row']
    const chosen = list.items.filter((row) =>
      selection.ids.size > 0 ? selection.ids.has(row.id) : row.id === focused,
    )
    const allowed = can('alerts:write').allowed && refusal('ack', chosen) === undefined
    if (chosen.length === 0 || !allowed || step.isPending) return
    const at = list.items.findIndex((row) => row.id === focused)
    step.mutate({ action: 'ack', alerts: chosen }, { onSettled: () => focusRow(at) })
  })
  return (
    <>
      <FilterBar search="Title, text or id" filters={FILTERS}>
        <ColumnPicker list="alerts" columns={COLUMNS} />
      </FilterBar>
      <div className="tabsbar">
        <StatusTabs view={view} />
      </div>
      <Split drawer={id === undefined ? undefined : <AlertDrawer key={id} id={id} list={list.items} />}>
        <AlertBulk selection={selection} items={list.items} />
        <Table
          name="alerts"
          caption={`Alerts, ${tabOf(view)}`}
          className="al"
          columns={COLUMNS}
          list={list}
          two
          selection={selection}
          defaultSort={DEFAULT_SORT}
          rowId={(row) => row.id}
          rowName={(row) => row.title}
          href={(row) => view.at(`/alerts/${row.id}`)}
          current={id}
          empty={<NoAlerts view={view} />}
          foot={<Keys />}
        />
      </Split>
    </>
  )
}

/** The rows that were acknowledged are gone from their tab: the next one takes the focus. */
function focusRow(at: number): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return
    const rows = document.querySelectorAll<HTMLElement>('table.al tr[data-row]')
    rows[Math.min(at, rows.length - 1)]?.focus()
  })
}

function Keys() {
  return (
    <span className="only-wide flex g4">
      <kbd>j</kbd> <kbd>k</kbd> move <kbd>x</kbd> select <kbd>e</kbd> acknowledge
    </span>
  )
}

function NoAlerts({ view }: { view: View }) {
  const tab = tabOf(view)
  const filtered = FILTER_NAMES.some((name) => view.get(name) !== undefined)
  if (filtered) {
    const none = Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined]))
    return (
      <Empty
        kind="match"
        title="No alert matches"
        action={<Button onClick={() => view.set(none)}>Clear filters</Button>}
      >
        {tab === 'all' ? 'Of all alerts, ' : `Of those that are ${tab}, `}none fits these filters.
      </Empty>
    )
  }
  if (tab === 'open') {
    return (
      <Empty
        kind="done"
        title="All done: no alert is open"
        action={<LinkButton href={view.at('/alerts', { status: 'all' })}>See all alerts</LinkButton>}
      >
        Checked {timeSeconds(nowMs())} UTC. The next one appears here by itself.
      </Empty>
    )
  }
  return (
    <Empty kind="yet" icon="alerts" title={tab === 'all' ? 'No alert was raised yet' : `No alert is ${tab}`}>
      {tab === 'all'
        ? 'An alert is raised when compliance falls, reports stop, files cannot be read or a job fails.'
        : 'What you do with open alerts brings them here.'}
    </Empty>
  )
}
