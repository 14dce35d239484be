import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError, isAllFields } from '../lib/api.ts'
import { refreshMe, useMe } from '../lib/me.ts'
import { useTitle } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice, ProblemNotice } from '../ui/notice.tsx'
import { PageHead, Panel } from '../ui/panel.tsx'
import { Tag } from '../ui/state.tsx'
import { notify } from '../ui/toast.tsx'
import { PasswordPanel } from './account/password.tsx'
import { SecondFactorPanel } from './account/second-factor.tsx'
import { OwnSessionsPanel } from './sessions/own.tsx'
import { roleTitle } from './users/roles.ts'

/** /account: the person who is signed in. */
export function AccountPage() {
  const { user } = useMe()
  useTitle('Account')
  if (user === null) return <Notice>This is an API key, not a person. It has no account.</Notice>
  return (
    <>
      <PageHead title="Account" lead="Your own name, password, second factor and sessions." />
      <div className="stack">
        <ProfilePanel name={user.name} email={user.email} />
        <PasswordPanel email={user.email} />
        <SecondFactorPanel />
        <OwnSessionsPanel />
      </div>
    </>
  )
}

function ProfilePanel({ name: known, email }: { name: string; email: string }) {
  const me = useMe()
  const [name, setName] = useState(known)
  const save = useMutation({
    mutationFn: () => api.patch('/v1/me', { name: name.trim() }),
    onSuccess: async () => {
      notify({ kind: 'pass', text: 'Name changed' })
      await refreshMe()
    },
  })
  const reason =
    name.trim() === '' ? 'enter a name' : name.trim() === known ? 'nothing has changed' : undefined
  return (
    <Panel title="Profile">
      <form
        className="pad col g16"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (reason === undefined) save.mutate()
        }}
      >
        <div className="grid grid-2">
          <TextField
            label="Name"
            autoComplete="name"
            maxLength={100}
            hint="Shown to others and in the audit log"
            value={name}
            onText={setName}
            error={fieldError(save.error, 'name')}
          />
          <TextField label="E-mail" hint="You sign in with it. Fixed" readOnly value={email} />
        </div>
        <div className="flex wrap t13 t2">
          {me.memberships.map((membership) => (
            <span key={membership.tenant_id} className="flex g4">
              {membership.tenant_name} <Tag>{roleTitle(membership.role)}</Tag>
            </span>
          ))}
          {me.user?.is_operator === true && <Tag>Operator of this installation</Tag>}
        </div>
        {save.error !== null && !isAllFields(save.error, ['name']) && <ProblemNotice error={save.error} />}
        <div className="flex">
          <Button type="submit" kind="primary" busy={save.isPending} reason={reason}>
            Save name
          </Button>
        </div>
      </form>
    </Panel>
  )
}
