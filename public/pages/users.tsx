import { useState } from 'react'
import { api } from '../lib/api.ts'
import { plural } from '../lib/format.ts'
import { useCan, useMe } from '../lib/me.ts'
import { refresh, useList } from '../lib/query.ts'
import { useTitle } from '../lib/view.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Menu, MenuItem } from '../ui/menu.tsx'
import { Empty, Notice } from '../ui/notice.tsx'
import { PageHead, Panel } from '../ui/panel.tsx'
import { State, Tag } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { notify, notifyProblem } from '../ui/toast.tsx'
import {
  INVITES,
  InviteDialog,
  LinkDialog,
  RemoveDialog,
  ResetDialog,
  RoleDialog,
  USERS,
} from './users/dialogs.tsx'
import type { OneTimeLink } from './users/dialogs.tsx'
import { ROLES, roleTitle } from './users/roles.ts'
import type { Invite, User } from './users/types.ts'

const MEMBER_COLUMNS: readonly Column<User>[] = [
  {
    key: 'name',
    title: 'Name',
    fixed: true,
    cell: (row) => (
      <>
        <span className="med">{row.name}</span>
        <span className="sub">{row.email}</span>
      </>
    ),
  },
  {
    key: 'role',
    title: 'Role',
    cell: (row) => (
      <span className="flex wrap g4">
        {roleTitle(row.role)}
        {row.is_operator && <Tag>Operator</Tag>}
      </span>
    ),
  },
  {
    key: 'totp',
    title: 'Second factor',
    priority: 2,
    cell: (row) => (row.totp_enabled ? <State kind="pass">On</State> : <State kind="warn">Off</State>),
  },
  {
    key: 'login',
    title: 'Last sign-in',
    priority: 1,
    cell: (row) => <Time at={row.last_login_at} as="relative" />,
  },
  { key: 'since', title: 'Member since', priority: 4, cell: (row) => <Time at={row.created_at} /> },
]

type Asking = { what: 'role' | 'remove' | 'reset'; user: User }

function memberColumns(reason: string | undefined, ask: (asking: Asking) => void): readonly Column<User>[] {
  return [
    ...MEMBER_COLUMNS,
    {
      key: 'act',
      title: 'Actions',
      fixed: true,
      num: true,
      cell: (row) => <MemberMenu user={row} reason={reason} onChoose={(what) => ask({ what, user: row })} />,
    },
  ]
}

/** /settings/users: members of the tenant, invitations, and what each role may do. */
export function UsersPage() {
  const me = useMe()
  const can = useCan()
  const read = can('settings:read')
  const users = useList<User>(USERS, {}, { enabled: read.allowed })
  const [inviting, setInviting] = useState(false)
  const [asking, setAsking] = useState<Asking>()
  const [link, setLink] = useState<OneTimeLink>()
  const { reason } = can('settings:write')
  useTitle('Users')
  const columns = memberColumns(reason, setAsking)
  return (
    <>
      <PageHead
        title="Users"
        lead={`Who may sign in to ${me.tenant.name}, and what they may do.`}
        actions={
          <Button kind="primary" icon="plus" reason={reason} onClick={() => setInviting(true)}>
            Invite
          </Button>
        }
      />
      <div className="stack">
        {read.allowed ? (
          <>
            <Panel title="Members">
              <div className="list">
                <Table
                  name="users"
                  caption="Members"
                  columns={columns}
                  list={users}
                  two
                  rowId={(row) => row.id}
                  rowName={(row) => row.name}
                  empty={<p className="pad t13 t2">No members.</p>}
                />
              </div>
            </Panel>
            <InvitesPanel reason={reason} onInvite={() => setInviting(true)} />
          </>
        ) : (
          <Notice>The users are not shown: {read.reason}.</Notice>
        )}
        <RolesPanel />
      </div>
      {inviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onMade={(made) => {
            setInviting(false)
            setLink(made)
          }}
        />
      )}
      {asking !== undefined && (
        <MemberDialog {...asking} onClose={() => setAsking(undefined)} onMade={setLink} />
      )}
      {link !== undefined && <LinkDialog made={link} onClose={() => setLink(undefined)} />}
    </>
  )
}

type MemberDialogProps = Asking & { onClose: () => void; onMade: (link: OneTimeLink) => void }

function MemberDialog({ what, user, onClose, onMade }: MemberDialogProps) {
  if (what === 'role') return <RoleDialog user={user} onClose={onClose} />
  if (what === 'remove') return <RemoveDialog user={user} onClose={onClose} />
  return <ResetDialog user={user} onClose={onClose} onMade={onMade} />
}

interface MemberMenuProps {
  user: User
  reason: string | undefined
  onChoose: (what: Asking['what']) => void
}

/** The menu gives the focus back before a dialog takes it. */
function MemberMenu({ user, reason, onChoose }: MemberMenuProps) {
  const me = useMe()
  const own = user.id === me.user?.id ? 'this is you: see Account' : undefined
  const owner = user.role === 'owner' && me.role !== 'owner' ? 'only an owner may do this' : undefined
  const choose = (what: Asking['what']) => () => setTimeout(() => onChoose(what), 0)
  return (
    <Menu trigger={<IconButton icon="more" label={`Actions for ${user.name}`} />}>
      <MenuItem icon="edit" reason={reason ?? owner} onSelect={choose('role')}>
        Change role
      </MenuItem>
      <MenuItem icon="link" reason={reason ?? own ?? owner} onSelect={choose('reset')}>
        Make a reset link
      </MenuItem>
      <MenuItem icon="trash" danger reason={reason ?? owner} onSelect={choose('remove')}>
        Remove
      </MenuItem>
    </Menu>
  )
}

function InvitesPanel({ reason, onInvite }: { reason: string | undefined; onInvite: () => void }) {
  const invites = useList<Invite>(INVITES)
  const withdraw = async (invite: Invite) => {
    try {
      await api.delete(`${INVITES}/${invite.id}`)
      notify({ kind: 'pass', text: `The invitation for ${invite.email} is withdrawn` })
    } catch (error) {
      notifyProblem(error)
    }
    await refresh(INVITES)
  }
  const columns: readonly Column<Invite>[] = [
    { key: 'email', title: 'E-mail', fixed: true, cell: (row) => <span className="med">{row.email}</span> },
    { key: 'role', title: 'Role', cell: (row) => roleTitle(row.role) },
    {
      key: 'created',
      title: 'Invited',
      priority: 2,
      cell: (row) => <Time at={row.created_at} as="relative" />,
    },
    {
      key: 'expires',
      title: 'Link ends',
      priority: 1,
      cell: (row) => <Time at={row.expires_at} as="relative" />,
    },
    {
      key: 'act',
      title: 'Action',
      fixed: true,
      num: true,
      cell: (row) => (
        <Button small kind="danger" reason={reason} onClick={() => void withdraw(row)}>
          Withdraw<span className="vh"> the invitation for {row.email}</span>
        </Button>
      ),
    },
  ]
  return (
    <Panel
      title="Invitations"
      sub={invites.items.length === 0 ? undefined : plural(invites.items.length, 'waits', 'wait')}
    >
      <div className="list">
        <Table
          name="invites"
          caption="Invitations that wait"
          columns={columns}
          list={invites}
          rowId={(row) => row.id}
          rowName={(row) => row.email}
          empty={
            <Empty
              kind="done"
              icon="users"
              title="No invitation waits"
              action={
                <Button reason={reason} onClick={onInvite}>
                  Invite somebody
                </Button>
              }
            >
              An invitation is a link that you copy and hand over.
            </Empty>
          }
        />
      </div>
    </Panel>
  )
}

function RolesPanel() {
  return (
    <Panel title="Roles" sub="fixed sets of scopes">
      <dl className="rolelist">
        {ROLES.map((row) => (
          <div key={row.role}>
            <dt>{row.title}</dt>
            <dd>
              {row.may} <span className="t3">{row.not}</span>
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  )
}
