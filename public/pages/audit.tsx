import { useState } from 'react'
import { address } from '../lib/api.ts'
import { day, timeSeconds } from '../lib/format.ts'
import { useCan } from '../lib/me.ts'
import { useGet, useList } from '../lib/query.ts'
import { useTitle, useView } from '../lib/view.ts'
import type { View } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { ColumnPicker } from '../ui/columns.tsx'
import { Split } from '../ui/drawer.tsx'
import { FilterBar } from '../ui/filter.tsx'
import type { FilterDef } from '../ui/filter.tsx'
import { Menu, MenuLink } from '../ui/menu.tsx'
import { Empty, Notice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { State, StateMark } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'
import type { Column } from '../ui/table.tsx'
import { EntryDrawer, actorName } from './audit/entry-drawer.tsx'
import type { Entry, Verification } from './audit/types.ts'
import { OUTCOMES } from './audit/verdict.ts'
import { VerifyDialog } from './audit/verify-dialog.tsx'
import { VerifyPanel } from './audit/verify-panel.tsx'

const LEAD =
  'Every change, every refused request, every read of sensitive data and every export. Entries cannot be edited; each one seals the one before.'

const FILTER_NAMES = ['action', 'outcome', 'actor', 'target', 'from', 'to'] as const

function filtersOf(actions: readonly { action: string; title: string }[]): readonly FilterDef[] {
  const areas = [...new Set(actions.map(({ action }) => action.split('.')[0] ?? action))]
  return [
    {
      name: 'action',
      label: 'Action',
      kind: 'choice',
      options: [
        ...areas.map((area) => ({ value: `${area}.*`, label: `${area}: all` })),
        ...actions.map(({ action, title }) => ({ value: action, label: `${action}: ${title}` })),
      ],
      show: (value) => value,
    },
    {
      name: 'outcome',
      label: 'Outcome',
      kind: 'choice',
      options: Object.entries(OUTCOMES).map(([value, { word }]) => ({ value, label: word.toLowerCase() })),
    },
    { name: 'actor', label: 'Actor', kind: 'text', hint: 'Id of a user or key', show: (value) => value },
    {
      name: 'target',
      label: 'Target',
      kind: 'text',
      hint: 'Id of what it was done to',
      show: (value) => value,
    },
    { name: 'from', label: 'From', kind: 'date' },
    { name: 'to', label: 'Before', kind: 'date' },
  ]
}

const outcomeOf = (row: Entry) => OUTCOMES[row.outcome] ?? { kind: 'none' as const, word: row.outcome }

const COLUMNS: readonly Column<Entry>[] = [
  {
    key: 'seq',
    title: 'Number',
    num: true,
    priority: 2,
    cell: (row) => <span className="mono">{row.seq}</span>,
  },
  {
    key: 'ts',
    title: 'Time, UTC',
    fixed: true,
    cell: (row) => (
      <time className="mono nw" dateTime={row.ts}>
        {day(row.ts)} {timeSeconds(row.ts)}
      </time>
    ),
  },
  {
    key: 'actor',
    title: 'Actor',
    fixed: true,
    cell: (row) => (
      <>
        {actorName(row)} <span className="t3 t12 p1">{row.actor.type}</span>
      </>
    ),
  },
  {
    key: 'action',
    title: 'Action',
    fixed: true,
    cell: (row) => (
      <>
        {row.outcome === 'success' ? null : (
          <span className="only-narrow">
            <StateMark {...outcomeOf(row)} />{' '}
          </span>
        )}
        <span className="mono brk">{row.action}</span>
      </>
    ),
  },
  {
    key: 'target',
    title: 'Target',
    priority: 3,
    cell: (row) => (
      <span className="t2 mono">{row.target === null ? '' : (row.target.id ?? row.target.type)}</span>
    ),
  },
  {
    key: 'outcome',
    title: 'Outcome',
    priority: 1,
    cell: (row) => {
      const { kind, word } = outcomeOf(row)
      return <State kind={kind}>{word}</State>
    },
  },
  {
    key: 'hash',
    title: 'Hash',
    priority: 4,
    cell: (row) => <span className="mono t3">{row.hash.slice(0, 8)}…</span>,
  },
]

/** /audit and /audit/{seq} */
export function AuditPage() {
  const can = useCan()
  const { allowed, reason } = can('audit:read')
  useTitle('Audit')
  if (allowed) return <AuditLog />
  return (
    <>
      <PageHead title="Audit" lead={LEAD} />
      <div className="padx">
        <Notice>The audit log is not shown: {reason}.</Notice>
      </div>
    </>
  )
}

function AuditLog() {
  const view = useView()
  const seq = view.path.split('/')[2]
  const [result, setResult] = useState<Verification>()
  const query = Object.fromEntries([...FILTER_NAMES, 'q'].map((name) => [name, view.get(name)]))
  const list = useList<Entry>('/v1/audit/query', query)
  const actions = useGet<{ items: { action: string; title: string }[] }>(
    '/v1/audit/actions',
    {},
    { poll: false },
  )
  const known = actions.data?.items ?? []
  const verifying = view.get('verify') !== undefined
  return (
    <>
      <PageHead title="Audit" lead={LEAD} actions={<Actions view={view} />} />
      {result !== undefined && (
        <div className="padx">
          <VerifyPanel result={result} onClose={() => setResult(undefined)} />
        </div>
      )}
      <FilterBar search="Name, id or word" filters={filtersOf(known)}>
        <ColumnPicker list="audit" columns={COLUMNS} />
      </FilterBar>
      <Split
        drawer={
          seq === undefined ? undefined : (
            <EntryDrawer
              key={seq}
              seq={seq}
              list={list.items}
              titles={new Map(known.map(({ action, title }) => [action, title]))}
            />
          )
        }
      >
        <Table
          name="audit"
          caption="Entries, newest first"
          className="aud"
          columns={COLUMNS}
          list={list}
          rowId={(row) => String(row.seq)}
          rowName={(row) => `Entry ${row.seq}`}
          href={(row) => view.at(`/audit/${row.seq}`)}
          current={seq}
          empty={<NoEntries view={view} />}
        />
      </Split>
      {verifying && (
        <VerifyDialog
          from={view.get('from')}
          to={view.get('to')}
          onClose={() => view.set({ verify: undefined })}
          onDone={(found) => {
            setResult(found)
            view.set({ verify: undefined })
          }}
        />
      )}
    </>
  )
}

function Actions({ view }: { view: View }) {
  return (
    <>
      <ExportMenu view={view} />
      <Button kind="primary" icon="audit" onClick={() => view.set({ verify: '1' })}>
        Verify range
      </Button>
    </>
  )
}

function NoEntries({ view }: { view: View }) {
  const none = Object.fromEntries([...FILTER_NAMES, 'q'].map((name) => [name, undefined]))
  return (
    <Empty
      kind="match"
      title="No entry matches"
      action={<Button onClick={() => view.set(none)}>Clear filters</Button>}
    >
      Entries are never deleted: with fewer filters they are still there.
    </Empty>
  )
}

const FORMATS = [
  { format: 'ndjson', label: 'NDJSON, with the hashed bytes' },
  { format: 'json', label: 'JSON' },
  { format: 'csv', label: 'CSV, for a spreadsheet' },
] as const

/** The same range and actions as the list; other filters do not apply to evidence. */
function ExportMenu({ view }: { view: View }) {
  const range = { from: view.get('from'), to: view.get('to'), action: view.get('action') }
  return (
    <Menu trigger={<Button icon="download">Export</Button>}>
      <MenuLink download href={address('/v1/audit/bundle', { from: range.from, to: range.to })}>
        Evidence, a ZIP that anybody can verify
      </MenuLink>
      {FORMATS.map(({ format, label }) => (
        <MenuLink key={format} download href={address('/v1/audit/export', { format, ...range })}>
          {label}
        </MenuLink>
      ))}
    </Menu>
  )
}
