import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api, ApiProblem, fieldError, isAllFields } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { PASSWORD_MIN, passwordProblem } from '../link.tsx'

export interface Owner {
  name: string
  email: string
  password: string
}

export function StepHead({ step, title, lead }: { step: number; title: string; lead: string }) {
  return (
    <header className="setup__h">
      <p className="t12 t3">Step {step} of 6</p>
      <h1>{title}</h1>
      <p className="t2">{lead}</p>
    </header>
  )
}

/** Without the link's fragment: the link, or the token alone, can be pasted. */
export function TokenForm({ onToken }: { onToken: (token: string) => void }) {
  const [text, setText] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const token = text.trim().split('#').at(-1) ?? ''
    if (token !== '') onToken(token)
  }
  return (
    <>
      <StepHead
        step={1}
        title="Open the setup link"
        lead="Wardpost printed it when it started, and wrote it to the file setup-link in its data folder. It works once, for 60 minutes."
      />
      <form className="col g16" onSubmit={submit}>
        <TextField
          label="Setup link or token"
          mono
          autoFocus
          autoComplete="off"
          spellCheck={false}
          value={text}
          onText={setText}
          hint="A new one: restart, or run wardpost setup-link"
        />
        <div>
          <Button kind="primary" type="submit" reason={text.trim() === '' ? 'paste it first' : undefined}>
            Continue
          </Button>
        </div>
      </form>
    </>
  )
}

export function OwnerForm({ onOwner }: { onOwner: (owner: Owner) => void }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [tried, setTried] = useState(false)
  const missing = (value: string, what: string) =>
    tried && value.trim() === '' ? `${what} is missing` : undefined
  const weak = tried
    ? (passwordProblem(password) ?? (password === '' ? 'The password is missing' : undefined))
    : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (
      name.trim() === '' ||
      !email.includes('@') ||
      password === '' ||
      passwordProblem(password) !== undefined
    )
      return
    onOwner({ name: name.trim(), email: email.trim(), password })
  }
  return (
    <>
      <StepHead
        step={2}
        title="Your account"
        lead="The first account owns the organisation and operates this installation."
      />
      <form className="col g16 setup__fields" onSubmit={submit} noValidate>
        <TextField
          label="Your name"
          autoComplete="name"
          autoFocus
          value={name}
          onText={setName}
          error={missing(name, 'Your name')}
          hint="Shown in the audit log"
        />
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          value={email}
          onText={setEmail}
          error={
            tried && !email.includes('@')
              ? `${email === '' ? 'The address' : email} is not an e-mail address`
              : undefined
          }
          hint="For signing in; no mail is sent to it"
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="new-password"
          value={password}
          onText={setPassword}
          error={weak}
          hint={passwordProblem(password) ?? `At least ${PASSWORD_MIN} characters; a sentence is good`}
        />
        <div>
          <Button kind="primary" type="submit">
            Continue
          </Button>
        </div>
      </form>
    </>
  )
}

interface OrganisationProps {
  token: string
  owner: Owner
  onBack: () => void
  onDone: (organisation: string) => Promise<void>
}

export function OrganisationForm({ token, owner, onBack, onDone }: OrganisationProps) {
  const [organisation, setOrganisation] = useState('')
  const create = useMutation({
    mutationFn: () =>
      api.post('/setup', { token, ...owner, organisation: organisation.trim() }, { stay: true }),
    onSuccess: () => onDone(organisation.trim()),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  const about_owner = ['name', 'email', 'password']
    .map((name) => fieldError(create.error, name))
    .find((text) => text !== undefined)
  const dead = create.error instanceof ApiProblem && [401, 404, 409, 410].includes(create.error.status)
  return (
    <>
      <StepHead
        step={3}
        title="Your organisation"
        lead="Domains, reports, users and keys belong to it. Others on this installation never see them."
      />
      <form className="col g16 setup__fields" onSubmit={submit}>
        <TextField
          label="Name"
          autoFocus
          autoComplete="organization"
          value={organisation}
          onText={setOrganisation}
          error={fieldError(create.error, 'organisation')}
          hint="It can be changed later"
        />
        {about_owner !== undefined && (
          <Notice kind="critical" alert>
            {about_owner} Go back to change it.
          </Notice>
        )}
        {create.error !== null &&
          !isAllFields(create.error, ['name', 'email', 'password', 'organisation']) && (
            <ProblemNotice error={create.error} />
          )}
        {dead && <Notice>A new link: restart Wardpost, or run wardpost setup-link.</Notice>}
        <div className="setup__f">
          <Button kind="quiet" icon="left" onClick={onBack}>
            Back
          </Button>
          <span className="grow" />
          <Button
            kind="primary"
            type="submit"
            busy={create.isPending}
            reason={organisation.trim() === '' ? 'write its name first' : undefined}
          >
            Create
          </Button>
        </div>
      </form>
    </>
  )
}
