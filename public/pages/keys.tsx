import { useState } from 'react'
import type { ReactNode } from 'react'
import { useCan } from '../lib/me.ts'
import { useList } from '../lib/query.ts'
import { useTitle, useView } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { ColumnPicker } from '../ui/columns.tsx'
import { Split } from '../ui/drawer.tsx'
import { FilterBar } from '../ui/filter.tsx'
import type { FilterDef } from '../ui/filter.tsx'
import { Empty, Notice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { Table } from '../ui/table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { CreateKey, ScopeTags, ShownKey } from './keys/dialogs.tsx'
import { KeyDrawer, KeyState } from './keys/drawer.tsx'
import { maskedKey } from './keys/types.ts'
import type { Key, NewKey } from './keys/types.ts'

const FILTERS: readonly FilterDef[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    options: [
      { value: 'active', label: 'active' },
      { value: 'expired', label: 'expired' },
      { value: 'revoked', label: 'revoked' },
    ],
  },
]

const COLUMNS: readonly Column<Key>[] = [
  {
    key: 'name',
    title: 'Name',
    fixed: true,
    cell: (row) => (
      <>
        <span className="med">{row.name}</span>
        <span className="sub mono">{maskedKey(row)}</span>
      </>
    ),
  },
  { key: 'status', title: 'Status', cell: (row) => <KeyState item={row} /> },
  { key: 'scopes', title: 'Scopes', priority: 2, cell: (row) => <ScopeTags scopes={row.scopes} most={3} /> },
  {
    key: 'used',
    title: 'Last used',
    priority: 1,
    cell: (row) =>
      row.last_used_at === null ? (
        <span className="t3">never</span>
      ) : (
        <>
          <Time at={row.last_used_at} as="relative" />
          <span className="sub mono">{row.last_used_ip}</span>
        </>
      ),
  },
  {
    key: 'expires',
    title: 'Expires',
    priority: 3,
    cell: (row) =>
      row.expires_at === null ? <span className="t3">never</span> : <Time at={row.expires_at} />,
  },
  {
    key: 'created',
    title: 'Created',
    priority: 4,
    cell: (row) => (
      <>
        <Time at={row.created_at} />
        <span className="sub">{row.created_by?.name ?? 'command line'}</span>
      </>
    ),
  },
]

const LEAD =
  'For scripts and other systems. A key carries only the scopes it was given, and can be taken back at any moment.'

/** /settings/keys and /settings/keys/{id} */
export function KeysPage() {
  const can = useCan()
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState<NewKey>()
  const read = can('settings:read')
  useTitle('API keys')
  const create = (
    <Button
      kind="primary"
      icon="plus"
      reason={can('settings:write').reason}
      onClick={() => setCreating(true)}
    >
      Create key
    </Button>
  )
  return (
    <>
      <PageHead title="API keys" lead={LEAD} actions={create} />
      {read.allowed ? (
        <KeyList create={create} onCreated={setCreated} />
      ) : (
        <div className="padx">
          <Notice>The keys are not shown: {read.reason}.</Notice>
        </div>
      )}
      {creating && (
        <CreateKey
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false)
            setCreated(key)
          }}
        />
      )}
      {created !== undefined && <ShownKey created={created} onSaved={() => setCreated(undefined)} />}
    </>
  )
}

function KeyList({ create, onCreated }: { create: ReactNode; onCreated: (key: NewKey) => void }) {
  const view = useView()
  const id = view.path.split('/')[3]
  const list = useList<Key>('/v1/settings/keys', { status: view.get('status'), q: view.get('q') })
  return (
    <>
      <FilterBar search="Search names" filters={FILTERS}>
        <ColumnPicker list="keys" columns={COLUMNS} />
      </FilterBar>
      <Split
        drawer={
          id === undefined ? undefined : (
            <KeyDrawer key={id} id={id} list={list.items} onCreated={onCreated} />
          )
        }
      >
        <Table
          name="keys"
          caption="API keys, newest first"
          columns={COLUMNS}
          list={list}
          two
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          href={(row) => view.at(`/settings/keys/${row.id}`)}
          current={id}
          empty={<NoKeys create={create} />}
        />
      </Split>
    </>
  )
}

function NoKeys({ create }: { create: ReactNode }) {
  const view = useView()
  const status = view.get('status')
  const q = view.get('q')
  if (status === undefined && q === undefined) {
    return (
      <Empty kind="yet" icon="key" title="No keys yet" action={create}>
        With a key, a script can upload reports and read everything that these screens show.
      </Empty>
    )
  }
  const clear = <Button onClick={() => view.set({ status: undefined, q: undefined })}>Clear filters</Button>
  return (
    <Empty kind="match" title="No key matches" action={clear}>
      {status === undefined ? '' : `Status is ${status}. `}
      {q === undefined ? '' : `The name has “${q}”.`}
    </Empty>
  )
}
