import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api } from '../lib/api.ts'
import { useAuthState } from '../lib/me.ts'
import { queries } from '../lib/query.ts'
import { useTitle, useView } from '../lib/view.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice, ProblemNotice } from '../ui/notice.tsx'
import { Gate } from './gate.tsx'

type LoginAnswer = { status: 'ok' } | { status: 'totp_required'; ticket: string }

/** Only addresses of this application are gone back to. */
function safeNext(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/') || next.startsWith('//') || next.startsWith('/\\'))
    return '/'
  return next
}

export function LoginPage() {
  useTitle('Sign in')
  const view = useView()
  const state = useAuthState().data
  const [ticket, setTicket] = useState<string | null>(null)
  const next = safeNext(view.get('next'))
  const enter = async () => {
    queries.clear()
    view.go(next, true)
  }
  if (state?.setup_required === true) {
    return (
      <Gate title="Not set up yet" lead="Open the setup link that was printed when Wardpost started.">
        <LinkButton href="/setup">What to do</LinkButton>
      </Gate>
    )
  }
  if (ticket !== null) return <SecondFactor ticket={ticket} onDone={enter} onBack={() => setTicket(null)} />
  return (
    <Gate title="Sign in">
      {next !== '/' && <Notice>Sign in to go on where you were.</Notice>}
      <PasswordForm
        onAnswer={async (answer) => {
          if (answer.status === 'totp_required') setTicket(answer.ticket)
          else await enter()
        }}
      />
    </Gate>
  )
}

function PasswordForm({ onAnswer }: { onAnswer: (answer: LoginAnswer) => Promise<void> }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const login = useMutation({
    mutationFn: () => api.post<LoginAnswer>('/auth/login', { email: email.trim(), password }, { stay: true }),
    onSuccess: onAnswer,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    login.mutate()
  }
  return (
    <form onSubmit={submit}>
      <TextField
        label="E-mail"
        type="email"
        name="email"
        autoComplete="username"
        required
        autoFocus
        value={email}
        onText={setEmail}
      />
      <TextField
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        required
        value={password}
        onText={setPassword}
        hint="Forgotten? An owner or admin can make a reset link for you under Settings, Users."
      />
      {login.error !== null && <ProblemNotice error={login.error} />}
      <Button kind="primary" type="submit" busy={login.isPending}>
        Sign in
      </Button>
    </form>
  )
}

interface SecondFactorProps {
  ticket: string
  onDone: () => Promise<void>
  onBack: () => void
}

function SecondFactor({ ticket, onDone, onBack }: SecondFactorProps) {
  const [code, setCode] = useState('')
  const [recovery, setRecovery] = useState(false)
  const confirm = useMutation({
    mutationFn: () => api.post('/auth/totp', { ticket, code: code.trim() }, { stay: true }),
    onSuccess: onDone,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    confirm.mutate()
  }
  return (
    <Gate
      title="Second factor"
      lead={recovery ? 'Each recovery code works once.' : 'The six digits your authenticator shows now.'}
    >
      <form onSubmit={submit}>
        <TextField
          key={recovery ? 'recovery' : 'digits'}
          label={recovery ? 'Recovery code' : 'Code'}
          name="code"
          mono
          autoFocus
          autoComplete="one-time-code"
          inputMode={recovery ? 'text' : 'numeric'}
          spellCheck={false}
          value={code}
          onText={setCode}
        />
        {confirm.error !== null && <ProblemNotice error={confirm.error} />}
        <Button kind="primary" type="submit" busy={confirm.isPending}>
          Confirm
        </Button>
        <div className="flex wrap">
          <Button
            kind="quiet"
            small
            onClick={() => {
              setCode('')
              setRecovery(!recovery)
            }}
          >
            {recovery ? 'Use the authenticator' : 'Use a recovery code'}
          </Button>
          <Button kind="quiet" small onClick={onBack}>
            Start over
          </Button>
        </div>
      </form>
    </Gate>
  )
}
