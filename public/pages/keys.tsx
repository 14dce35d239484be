import { useState } from 'react'
import { relative } from '../lib/format.ts'
import { useCan } from '../lib/me.ts'
import { useGet, useList } from '../lib/query.ts'
import { useTitle, useView } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { ColumnPicker } from '../ui/columns.tsx'
import { Drawer, Props, RawRecord, Section, Split } from '../ui/drawer.tsx'
import { FilterBar } from '../ui/filter.tsx'
import type { FilterDef } from '../ui/filter.tsx'
import { A } from '../ui/link.tsx'
import { Empty, ProblemNotice } from '../ui/notice.tsx'
import { PageHead } from '../ui/panel.tsx'
import { State } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { CreateKey, EditKey, RevokeKey, RollKey, ScopeTags, ShownKey } from './keys/dialogs.tsx'
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

function KeyState({ item }: { item: Key }) {
  if (item.status === 'revoked') return <State kind="none">Revoked</State>
  if (item.status === 'expired') return <State kind="warn">Expired</State>
  if (item.replaced_by !== null) return <State kind="half">Being replaced</State>
  return <State kind="pass">Active</State>
}

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

/** /settings/keys and /settings/keys/{id} */
export function KeysPage() {
  const view = useView()
  const can = useCan()
  const id = view.path.split('/')[3]
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState<NewKey>()
  const status = view.get('status')
  const q = view.get('q')
  const list = useList<Key>('/v1/settings/keys', { status, q })
  useTitle('API keys')
  const { reason } = can('settings:write')
  const create = (
    <Button kind="primary" icon="plus" reason={reason} onClick={() => setCreating(true)}>
      Create key
    </Button>
  )
  return (
    <>
      <PageHead
        title="API keys"
        lead="For scripts and other systems. A key carries only the scopes it was given, and can be taken back at any moment."
        actions={create}
      />
      <FilterBar search="Search names" filters={FILTERS}>
        <ColumnPicker list="keys" columns={COLUMNS} />
      </FilterBar>
      <Split
        drawer={
          id === undefined ? undefined : (
            <KeyDrawer key={id} id={id} list={list.items} onCreated={setCreated} />
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
          empty={
            status === undefined && q === undefined ? (
              <Empty kind="yet" icon="key" title="No keys yet" action={create}>
                With a key, a script can upload reports and read everything that these screens show.
              </Empty>
            ) : (
              <Empty
                kind="match"
                title="No key matches"
                action={
                  <Button onClick={() => view.set({ status: undefined, q: undefined })}>Clear filters</Button>
                }
              >
                {status === undefined ? '' : `Status is ${status}. `}
                {q === undefined ? '' : `The name has “${q}”.`}
              </Empty>
            )
          }
        />
      </Split>
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

interface DrawerProps {
  id: string
  list: readonly Key[]
  onCreated: (key: NewKey) => void
}

function KeyDrawer({ id, list, onCreated }: DrawerProps) {
  const view = useView()
  const can = useCan()
  const path = `/v1/settings/keys/${id}`
  const { data: item, error } = useGet<Key>(path)
  const [dialog, setDialog] = useState<'edit' | 'roll' | 'revoke'>()
  const close = view.at('/settings/keys')
  const at = list.findIndex((row) => row.id === id)
  const neighbour = (step: number) => {
    const row = at === -1 ? undefined : list[at + step]
    return row === undefined ? undefined : view.at(`/settings/keys/${row.id}`)
  }
  if (item === undefined) {
    return (
      <Drawer title="API key" close={close}>
        <div className="pad">
          {error === null ? <span className="sk" /> : <ProblemNotice error={error} />}
        </div>
      </Drawer>
    )
  }
  const over = item.status === 'active' ? undefined : `it is ${item.status}`
  const reason = can('settings:write').reason ?? over
  const done = () => setDialog(undefined)
  return (
    <Drawer
      title={item.name}
      sub={<span className="mono">{maskedKey(item)}</span>}
      tag={<KeyState item={item} />}
      close={close}
      previous={neighbour(-1)}
      next={neighbour(1)}
      actions={
        <>
          <Button icon="refresh" reason={reason} onClick={() => setDialog('roll')}>
            Roll
          </Button>
          <Button icon="edit" reason={reason} onClick={() => setDialog('edit')}>
            Change
          </Button>
          <Button kind="danger" icon="trash" reason={reason} onClick={() => setDialog('revoke')}>
            Revoke
          </Button>
        </>
      }
    >
      <Section title="May do">
        <ScopeTags scopes={item.scopes} />
      </Section>
      <Section title="Use">
        <Props
          items={[
            ['Last used', item.last_used_at === null ? 'never' : relative(item.last_used_at)],
            item.last_used_ip !== null && [
              'From',
              <span key="ip" className="mono">
                {item.last_used_ip}
              </span>,
            ],
            [
              'Networks',
              item.allowed_cidrs.length === 0 ? (
                'from anywhere'
              ) : (
                <span key="n" className="mono">
                  {item.allowed_cidrs.join(', ')}
                </span>
              ),
            ],
            [
              'Expires',
              item.expires_at === null ? 'never' : <Time key="e" at={item.expires_at} as="exact" />,
            ],
          ]}
        />
      </Section>
      <Section title="Life">
        <Props
          items={[
            ['Created', <Time key="c" at={item.created_at} as="exact" />],
            ['By', item.created_by?.name ?? 'command line'],
            item.revoked_at !== null && ['Revoked', <Time key="r" at={item.revoked_at} as="exact" />],
            item.replaced_by !== null && [
              'Replaced by',
              <A key="x" href={`/settings/keys/${item.replaced_by}`}>
                the new key
              </A>,
            ],
            [
              'Its entries',
              <A key="a" href={`/audit?q=${item.id}`}>
                in the audit log
              </A>,
            ],
          ]}
        />
      </Section>
      <div className="sec">
        <RawRecord path={path} value={item} />
      </div>
      {dialog === 'edit' && <EditKey item={item} onClose={done} />}
      {dialog === 'roll' && (
        <RollKey
          item={item}
          onClose={done}
          onCreated={(key) => {
            done()
            onCreated(key)
          }}
        />
      )}
      {dialog === 'revoke' && <RevokeKey item={item} onClose={done} onRoll={() => setDialog('roll')} />}
    </Drawer>
  )
}
