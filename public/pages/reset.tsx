import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api, fieldError, isAllFields } from '../lib/api.ts'
import { queries } from '../lib/query.ts'
import { useTitle, useView } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { ProblemNotice } from '../ui/notice.tsx'
import { Gate } from './gate.tsx'
import { DeadLink, PASSWORD_MIN, passwordProblem, tokenOfFragment, useLink } from './link.tsx'

/** A new password by a one-time link. */
export function ResetPage() {
  useTitle('New password')
  const view = useView()
  const [token] = useState(tokenOfFragment)
  const link = useLink(token)
  const [password, setPassword] = useState('')
  const reset = useMutation({
    mutationFn: () => api.post('/auth/reset', { token, password }, { stay: true }),
    onSuccess: () => {
      queries.clear()
      view.go('/', true)
    },
  })
  if (token === '' || link.error !== null) return <DeadLink error={link.error} />
  if (link.data === undefined) return <div className="boot">Looking at the link</div>
  const submit = (event: FormEvent) => {
    event.preventDefault()
    reset.mutate()
  }
  return (
    <Gate title="New password" lead={`For ${link.data.email}. All other sessions end.`}>
      <form onSubmit={submit}>
        <input type="hidden" name="email" autoComplete="username" value={link.data.email} readOnly />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          autoFocus
          value={password}
          onText={setPassword}
          error={fieldError(reset.error, 'password')}
          hint={passwordProblem(password) ?? `At least ${PASSWORD_MIN} characters; a sentence is good`}
        />
        {reset.error !== null && !isAllFields(reset.error, ['password']) && (
          <ProblemNotice error={reset.error} />
        )}
        <Button kind="primary" type="submit" busy={reset.isPending}>
          Set password
        </Button>
      </form>
    </Gate>
  )
}
