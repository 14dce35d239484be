import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api, fieldError, isAllFields } from '../lib/api.ts'
import { exact } from '../lib/format.ts'
import { queries } from '../lib/query.ts'
import { useTitle, useView } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { ProblemNotice } from '../ui/notice.tsx'
import { Gate } from './gate.tsx'
import { DeadLink, PASSWORD_MIN, passwordProblem, tokenOfFragment, useLink, type LinkInfo } from './link.tsx'

/** An invitation: a new person sets name and password, one who has an account confirms with theirs. */
export function AcceptPage() {
  useTitle('Invitation')
  const [token] = useState(tokenOfFragment)
  const link = useLink(token)
  if (token === '' || link.error !== null) return <DeadLink error={link.error} />
  if (link.data === undefined) return <div className="boot">Looking at the link</div>
  return <AcceptForm token={token} info={link.data} />
}

function AcceptForm({ token, info }: { token: string; info: LinkInfo }) {
  const view = useView()
  const known = info.has_account
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const accept = useMutation({
    mutationFn: () =>
      api.post('/auth/accept', { token, password, ...(known ? {} : { name: name.trim() }) }, { stay: true }),
    onSuccess: () => {
      queries.clear()
      view.go('/', true)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    accept.mutate()
  }
  const shown_beside = isAllFields(accept.error, ['name', 'password'])
  return (
    <Gate
      title={`Join ${info.organisation ?? 'Wardpost'}`}
      lead={`${info.email}${info.role === null ? '' : `, as ${info.role}`}. The invitation is open until ${exact(info.expires_at)}.`}
    >
      <form onSubmit={submit}>
        <input type="hidden" name="email" autoComplete="username" value={info.email} readOnly />
        {!known && (
          <TextField
            label="Your name"
            autoComplete="name"
            autoFocus
            value={name}
            onText={setName}
            error={fieldError(accept.error, 'name')}
            hint="Shown in the audit log"
          />
        )}
        <TextField
          label={known ? 'Your password' : 'Choose a password'}
          type="password"
          autoComplete={known ? 'current-password' : 'new-password'}
          autoFocus={known}
          value={password}
          onText={setPassword}
          error={fieldError(accept.error, 'password')}
          hint={
            known
              ? `You have an account already${info.name === null ? '' : `, ${info.name}`}.`
              : (passwordProblem(password) ?? `At least ${PASSWORD_MIN} characters; a sentence is good`)
          }
        />
        {accept.error !== null && !shown_beside && <ProblemNotice error={accept.error} />}
        <Button kind="primary" type="submit" busy={accept.isPending}>
          Join
        </Button>
      </form>
    </Gate>
  )
}
