import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { refresh } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { notify } from '../../ui/toast.tsx'

const FIELDS = ['current_password', 'new_password'] as const
export const PASSWORD_CHARS_MIN = 12

/** A new password ends every other session of the account. */
export function PasswordPanel({ email }: { email: string }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const change = useMutation({
    mutationFn: () => api.post('/v1/me/password', { current_password: current, new_password: next }),
    onSuccess: async () => {
      setCurrent('')
      setNext('')
      notify({ kind: 'pass', text: 'Password changed. Your other sessions have ended.' })
      await refresh('/v1/me/sessions')
    },
  })
  const short =
    next.length < PASSWORD_CHARS_MIN ? `the new password needs ${PASSWORD_CHARS_MIN} characters` : undefined
  return (
    <Panel title="Password" sub="changing it ends your other sessions">
      <form
        className="pad col g16"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (short === undefined) change.mutate()
        }}
      >
        <input
          type="text"
          className="vh"
          autoComplete="username"
          value={email}
          readOnly
          tabIndex={-1}
          aria-hidden
        />
        <div className="grid grid-2">
          <TextField
            label="Current password"
            type="password"
            autoComplete="current-password"
            value={current}
            onText={setCurrent}
            error={fieldError(change.error, 'current_password')}
          />
          <TextField
            label="New password"
            type="password"
            autoComplete="new-password"
            hint="12 to 128 characters, not a common one. Four unrelated words are good"
            value={next}
            onText={setNext}
            error={fieldError(change.error, 'new_password')}
          />
        </div>
        {change.error !== null && !isAllFields(change.error, FIELDS) && (
          <ProblemNotice error={change.error} />
        )}
        <div className="flex wrap">
          <Button
            type="submit"
            kind="primary"
            busy={change.isPending}
            reason={current === '' ? 'enter the current password' : short}
          >
            Change password
          </Button>
        </div>
      </form>
    </Panel>
  )
}
