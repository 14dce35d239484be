import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { exact } from '../../lib/format.ts'
import { useMe } from '../../lib/me.ts'
import { refresh } from '../../lib/query.ts'
import type { Role } from '../../lib/types.ts'
import { CopyTextButton } from '../../ui/copy.tsx'
import { ConfirmDialog, Dialog, FormDialog } from '../../ui/dialog.tsx'
import { Button } from '../../ui/button.tsx'
import { Radio, TextField } from '../../ui/field.tsx'
import { notify } from '../../ui/toast.tsx'
import { ROLES, roleTitle } from './roles.ts'
import type { Invite, User } from './types.ts'

const quiet = () => undefined
export const INVITES = '/v1/settings/invites'
export const USERS = '/v1/settings/users'

/** A one-time link to hand over: shown as long as the dialog is open. */
export interface OneTimeLink {
  title: string
  text: string
  link: string
  expires_at: string
}

export function LinkDialog({ made, onClose }: { made: OneTimeLink; onClose: () => void }) {
  return (
    <Dialog
      open
      title={made.title}
      onClose={onClose}
      dismissable={false}
      footer={
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <p className="t2">
        {made.text} It works once, until {exact(made.expires_at)}, and is not shown again.
      </p>
      <TextField
        label="Link"
        mono
        readOnly
        value={made.link}
        onFocus={(event) => event.target.select()}
        hint="Hand it over by a way that you trust: whoever opens it first has it"
      />
      <div className="flex">
        <CopyTextButton text={made.link}>Copy link</CopyTextButton>
      </div>
    </Dialog>
  )
}

interface RoleChoiceProps {
  value: Role
  onValue: (role: Role) => void
  /** Only owners make owners. */
  mayOwner: boolean
}

/** Each role with what it may do, so that nobody has to look it up. */
export function RoleChoice({ value, onValue, mayOwner }: RoleChoiceProps) {
  return (
    <fieldset className="roles">
      <legend className="label">Role</legend>
      {ROLES.map((row) => {
        const off = row.role === 'owner' && !mayOwner
        return (
          <Radio
            key={row.role}
            name="role"
            checked={value === row.role}
            disabled={off}
            onValue={() => onValue(row.role)}
            label={
              <>
                <b>{row.title}</b>
                <span className="sub t3 t12">
                  {off ? 'Only an owner can make owners.' : `${row.may} ${row.not ?? ''}`}
                </span>
              </>
            }
          />
        )
      })}
    </fieldset>
  )
}

interface InviteProps {
  onClose: () => void
  onMade: (link: OneTimeLink) => void
}

export function InviteDialog({ onClose, onMade }: InviteProps) {
  const me = useMe()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('analyst')
  const invite = useMutation({
    mutationFn: () => api.post<Invite & { link: string }>(INVITES, { email: email.trim(), role }),
    onSuccess: async (made) => {
      onMade({
        title: `Invitation for ${made.email}`,
        text: `Send it to ${made.email}. With it they set a name and a password and join ${me.tenant.name} as ${roleTitle(made.role).toLowerCase()}.`,
        link: made.link,
        expires_at: made.expires_at,
      })
      await refresh(INVITES)
    },
  })
  return (
    <FormDialog
      open
      title={`Invite to ${me.tenant.name}`}
      submitLabel="Make the invitation"
      onClose={onClose}
      onSubmit={() => invite.mutateAsync().then(quiet, quiet)}
      busy={invite.isPending}
      error={invite.error}
      hideError={isAllFields(invite.error, ['email', 'role'])}
      reason={email.includes('@') ? undefined : 'enter an e-mail address'}
    >
      <TextField
        label="E-mail"
        type="email"
        autoComplete="off"
        autoFocus
        value={email}
        onText={setEmail}
        error={fieldError(invite.error, 'email')}
      />
      <RoleChoice value={role} onValue={setRole} mayOwner={me.role === 'owner'} />
    </FormDialog>
  )
}

export function RoleDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const me = useMe()
  const [role, setRole] = useState(user.role)
  const save = useMutation({
    mutationFn: () => api.patch(`${USERS}/${user.id}`, { role }),
    onSuccess: async () => {
      onClose()
      notify({ kind: 'pass', text: `${user.name} is now ${roleTitle(role).toLowerCase()}` })
      await refresh(USERS, '/v1/me')
    },
  })
  return (
    <FormDialog
      open
      title={`Role of ${user.name}`}
      submitLabel="Change role"
      onClose={onClose}
      onSubmit={() => save.mutateAsync().then(quiet, quiet)}
      busy={save.isPending}
      error={save.error}
      reason={role === user.role ? 'nothing has changed' : undefined}
    >
      <RoleChoice value={role} onValue={setRole} mayOwner={me.role === 'owner'} />
    </FormDialog>
  )
}

export function RemoveDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const me = useMe()
  return (
    <ConfirmDialog
      open
      title={`Remove ${user.name} from ${me.tenant.name}?`}
      confirmLabel="Remove"
      onClose={onClose}
      onConfirm={async () => {
        await api.delete(`${USERS}/${user.id}`)
        notify({ kind: 'pass', text: `${user.name} is removed` })
        await refresh(USERS, '/v1/settings/sessions')
      }}
    >
      <p>
        {user.email} is signed out here at once and sees nothing of {me.tenant.name} any more. What they did
        stays in the audit log. Keys they made go on working: look at them under API keys.
      </p>
    </ConfirmDialog>
  )
}

export function ResetDialog(props: { user: User; onClose: () => void; onMade: (link: OneTimeLink) => void }) {
  const { user, onClose, onMade } = props
  return (
    <ConfirmDialog
      open
      danger={false}
      title={`Make a reset link for ${user.name}?`}
      confirmLabel="Make the link"
      onClose={onClose}
      onConfirm={async () => {
        const made = await api.post<{ link: string; expires_at: string }>(`${USERS}/${user.id}/reset-link`)
        onMade({
          ...made,
          title: `Reset link for ${user.name}`,
          text: `With it ${user.email} sets a new password.`,
        })
      }}
    >
      <p>
        The password stays as it is until the link is used. Whoever has the link can sign in as {user.name}.
      </p>
    </ConfirmDialog>
  )
}
