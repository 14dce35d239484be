import { useState } from 'react'
import { api } from '../../lib/api.ts'
import { useMe } from '../../lib/me.ts'
import { refresh, useList } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Tag } from '../../ui/state.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { notify } from '../../ui/toast.tsx'
import { roleTitle } from '../users/roles.ts'
import type { InstanceUser } from './types.ts'

const PATH = '/v1/instance/users'

const COLUMNS: readonly Column<InstanceUser>[] = [
  {
    key: 'name',
    title: 'Name',
    fixed: true,
    cell: (row) => (
      <>
        <span className="flex g4">
          <span className="med">{row.name}</span>
          {row.is_operator && <Tag>Operator</Tag>}
        </span>
        <span className="sub">{row.email}</span>
      </>
    ),
  },
  {
    key: 'member',
    title: 'Member of',
    priority: 2,
    cell: (row) => (
      <span className="t2">
        {row.memberships
          .map((entry) => `${entry.tenant_name ?? entry.tenant_id}, ${roleTitle(entry.role)}`)
          .join('; ') || 'no organisation'}
      </span>
    ),
  },
  {
    key: 'login',
    title: 'Last sign-in',
    priority: 1,
    cell: (row) => <Time at={row.last_login_at} as="relative" />,
  },
  { key: 'since', title: 'Since', priority: 4, cell: (row) => <Time at={row.created_at} /> },
]

/** Everybody on this installation, and who of them runs it. */
export function InstanceUsers() {
  const me = useMe()
  const list = useList<InstanceUser>(PATH)
  const [changing, setChanging] = useState<InstanceUser>()
  const columns: readonly Column<InstanceUser>[] = [
    ...COLUMNS,
    {
      key: 'act',
      title: 'Action',
      fixed: true,
      num: true,
      cell: (row) => (
        <Button
          small
          kind={row.is_operator ? 'danger' : 'plain'}
          reason={row.is_operator && row.id === me.user?.id ? 'another operator must do this' : undefined}
          onClick={() => setChanging(row)}
        >
          {row.is_operator ? 'Stop being operator' : 'Make operator'}
          <span className="vh">: {row.name}</span>
        </Button>
      ),
    },
  ]
  return (
    <Panel title="Users" sub="of all organisations">
      <div className="list">
        <Table
          name="instance-users"
          caption="Users of this installation"
          columns={columns}
          list={list}
          two
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          empty={<p className="pad t13 t2">Nobody.</p>}
        />
      </div>
      {changing !== undefined && <OperatorDialog user={changing} onClose={() => setChanging(undefined)} />}
    </Panel>
  )
}

function OperatorDialog({ user, onClose }: { user: InstanceUser; onClose: () => void }) {
  return (
    <ConfirmDialog
      open
      danger={user.is_operator}
      title={user.is_operator ? `${user.name} stops being operator?` : `Make ${user.name} an operator?`}
      confirmLabel={user.is_operator ? 'Take it away' : 'Make operator'}
      onClose={onClose}
      onConfirm={async () => {
        await api.patch(`${PATH}/${user.id}`, { is_operator: !user.is_operator })
        notify({
          kind: 'pass',
          text: user.is_operator ? `${user.name} is no operator any more` : `${user.name} is an operator`,
        })
        await refresh(PATH)
      }}
    >
      <p>
        {user.is_operator
          ? 'They keep their organisations and lose this page: tenants, backups, jobs and settings.'
          : 'Operators see every organisation’s name, users and limits, make backups and set limits. They do not see the data of organisations they are not a member of.'}
      </p>
    </ConfirmDialog>
  )
}
