import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { DAY_MS, count, nowMs, plural } from '../../lib/format.ts'
import { refresh, useList } from '../../lib/query.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { notify } from '../../ui/toast.tsx'
import { LinkDialog } from '../users/dialogs.tsx'
import type { OneTimeLink } from '../users/dialogs.tsx'
import type { Tenant } from './types.ts'

const PATH = '/v1/instance/tenants'
const PLANS = [
  { value: 'free', label: 'Free, one domain' },
  { value: 'pro', label: 'Pro' },
  { value: 'enterprise', label: 'Enterprise, own limits' },
] as const
const quiet = () => undefined

const COLUMNS: readonly Column<Tenant>[] = [
  {
    key: 'name',
    title: 'Organisation',
    fixed: true,
    cell: (row) => (
      <>
        <span className="med">{row.name}</span>
        <span className="sub mono">{row.id}</span>
      </>
    ),
  },
  { key: 'plan', title: 'Plan', cell: (row) => row.plan.slice(0, 1).toUpperCase() + row.plan.slice(1) },
  {
    key: 'status',
    title: 'Status',
    priority: 1,
    cell: (row) =>
      row.status === 'active' ? <State kind="pass">Active</State> : <State kind="warn">Suspended</State>,
  },
  { key: 'users', title: 'Users', num: true, priority: 3, cell: (row) => count(row.users) },
  { key: 'domains', title: 'Domains', num: true, priority: 2, cell: (row) => count(row.domains) },
  { key: 'since', title: 'Since', priority: 4, cell: (row) => <Time at={row.created_at} /> },
]

/** The organisations on this installation. */
export function InstanceTenants() {
  const list = useList<Tenant>(PATH)
  const [editing, setEditing] = useState<Tenant | 'new'>()
  const [suspending, setSuspending] = useState<Tenant>()
  const [link, setLink] = useState<OneTimeLink>()
  const columns: readonly Column<Tenant>[] = [
    ...COLUMNS,
    {
      key: 'act',
      title: 'Actions',
      fixed: true,
      num: true,
      cell: (row) => (
        <Menu trigger={<IconButton icon="more" label={`Actions for ${row.name}`} />}>
          <MenuItem icon="edit" onSelect={() => setTimeout(() => setEditing(row), 0)}>
            Change
          </MenuItem>
          <MenuItem
            icon={row.status === 'active' ? 'lock' : 'check'}
            danger={row.status === 'active'}
            onSelect={() => setTimeout(() => setSuspending(row), 0)}
          >
            {row.status === 'active' ? 'Suspend' : 'Resume'}
          </MenuItem>
        </Menu>
      ),
    },
  ]
  return (
    <Panel
      title="Organisations"
      actions={
        <Button small kind="primary" icon="plus" onClick={() => setEditing('new')}>
          Add organisation
        </Button>
      }
    >
      <div className="list">
        <Table
          name="tenants"
          caption="Organisations"
          columns={columns}
          list={list}
          two
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          empty={<p className="pad t13 t2">None yet.</p>}
        />
      </div>
      {editing === 'new' && <NewTenant onClose={() => setEditing(undefined)} onLink={setLink} />}
      {editing !== undefined && editing !== 'new' && (
        <EditTenant tenant={editing} onClose={() => setEditing(undefined)} />
      )}
      {suspending !== undefined && (
        <SuspendTenant tenant={suspending} onClose={() => setSuspending(undefined)} />
      )}
      {link !== undefined && <LinkDialog made={link} onClose={() => setLink(undefined)} />}
    </Panel>
  )
}

function NewTenant({ onClose, onLink }: { onClose: () => void; onLink: (link: OneTimeLink) => void }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [plan, setPlan] = useState<Tenant['plan']>('pro')
  const add = useMutation({
    mutationFn: () =>
      api.post<Tenant & { invite_link?: string }>(PATH, {
        name: name.trim(),
        plan,
        ...(email.trim() === '' ? {} : { owner_email: email.trim() }),
      }),
    onSuccess: async (made) => {
      onClose()
      if (made.invite_link !== undefined) {
        onLink({
          title: `Invitation for the owner of ${made.name}`,
          text: `Send it to ${email.trim()}.`,
          link: made.invite_link,
          expires_at: new Date(nowMs() + INVITE_DAYS * DAY_MS).toISOString(),
        })
      } else notify({ kind: 'pass', text: `${made.name} is added` })
      await refresh(PATH)
    },
  })
  return (
    <FormDialog
      open
      title="Add an organisation"
      submitLabel="Add"
      onClose={onClose}
      onSubmit={() => add.mutateAsync().then(quiet, quiet)}
      busy={add.isPending}
      error={add.error}
      hideError={isAllFields(add.error, ['name', 'plan', 'owner_email'])}
      reason={name.trim() === '' ? 'give it a name' : undefined}
    >
      <TextField label="Name" autoFocus value={name} onText={setName} error={fieldError(add.error, 'name')} />
      <SelectField
        label="Plan"
        value={plan}
        options={PLANS}
        onValue={setPlan}
        error={fieldError(add.error, 'plan')}
      />
      <TextField
        label="E-mail of its owner"
        type="email"
        hint="Gets an invitation to copy. Empty: invite later"
        value={email}
        onText={setEmail}
        error={fieldError(add.error, 'owner_email')}
      />
    </FormDialog>
  )
}

/** How long an invitation lasts: shown beside its link. */
const INVITE_DAYS = 7

const LIMITS = [
  { key: 'key_per_minute', label: 'Requests a minute, each key' },
  { key: 'tenant_per_minute', label: 'Requests a minute, all' },
] as const

function EditTenant({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const [name, setName] = useState(tenant.name)
  const [plan, setPlan] = useState(tenant.plan)
  const [limits, setLimits] = useState<Record<string, string>>(() =>
    Object.fromEntries(LIMITS.map(({ key }) => [key, String(tenant.limits[key] ?? '')])),
  )
  const save = useMutation({
    mutationFn: () =>
      api.patch(`${PATH}/${tenant.id}`, {
        name: name.trim(),
        plan,
        ...(plan === 'enterprise'
          ? { limits: Object.fromEntries(Object.entries(limits).map(([key, text]) => [key, Number(text)])) }
          : {}),
      }),
    onSuccess: async () => {
      onClose()
      notify({ kind: 'pass', text: `${name.trim()} is changed` })
      await refresh(PATH, '/v1/settings', '/v1/me')
    },
  })
  return (
    <FormDialog
      open
      title={`Change ${tenant.name}`}
      submitLabel="Save"
      onClose={onClose}
      onSubmit={() => save.mutateAsync().then(quiet, quiet)}
      busy={save.isPending}
      error={save.error}
      hideError={isAllFields(save.error, ['name', 'plan', 'limits'])}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onText={setName}
        error={fieldError(save.error, 'name')}
      />
      <SelectField
        label="Plan"
        value={plan}
        options={PLANS}
        onValue={setPlan}
        error={fieldError(save.error, 'plan')}
      />
      {plan === 'enterprise' && (
        <div className="grid grid-2">
          {LIMITS.map(({ key, label }) => (
            <TextField
              key={key}
              label={label}
              inputMode="numeric"
              value={limits[key] ?? ''}
              onText={(text) => setLimits({ ...limits, [key]: text })}
              error={fieldError(save.error, 'limits')}
            />
          ))}
        </div>
      )}
    </FormDialog>
  )
}

function SuspendTenant({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const active = tenant.status === 'active'
  return (
    <ConfirmDialog
      open
      danger={active}
      title={active ? `Suspend ${tenant.name}?` : `Resume ${tenant.name}?`}
      confirmLabel={active ? 'Suspend' : 'Resume'}
      {...(active ? { typed: tenant.name } : {})}
      onClose={onClose}
      onConfirm={async () => {
        await api.patch(`${PATH}/${tenant.id}`, { status: active ? 'suspended' : 'active' })
        notify({ kind: 'pass', text: active ? `${tenant.name} is suspended` : `${tenant.name} works again` })
        await refresh(PATH, '/v1/me')
      }}
    >
      <p>
        {active
          ? `Its ${plural(tenant.users, 'user')} and all its keys are refused until you resume it. Nothing is deleted, and operators still get in.`
          : 'Its users and keys are let in again.'}
      </p>
    </ConfirmDialog>
  )
}
