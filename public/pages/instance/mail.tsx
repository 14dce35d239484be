import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { count, exact, plural } from '../../lib/format.ts'
import { useMe } from '../../lib/me.ts'
import { refresh, useGet } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Disclosure, Props } from '../../ui/drawer.tsx'
import { Check, SelectField, TextField } from '../../ui/field.tsx'
import { Empty, Notice, ProblemNotice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { Time } from '../../ui/time.tsx'
import { notify } from '../../ui/toast.tsx'
import type { Mail, MailTest } from './types.ts'

const PATH = '/v1/instance/mail'
/** Whether mail is set up is part of them. */
const ALSO = '/v1/settings/notifications'
const FIELDS = ['host', 'port', 'security', 'username', 'password', 'from_address', 'from_name', 'reply_to']

const SECURITIES = [
  { value: 'starttls', label: 'STARTTLS, usually port 587' },
  { value: 'tls', label: 'TLS from the start, usually port 465' },
  { value: 'none', label: 'None: only within your own network' },
] as const
type Security = (typeof SECURITIES)[number]['value']

/** The way out for all mail of this installation. */
export function InstanceMail() {
  const settings = useGet<Mail>(PATH, {}, { poll: false })
  const [setting_up, setSettingUp] = useState(false)
  if (settings.error !== null) {
    return <ProblemNotice error={settings.error} retry={() => void settings.refetch()} />
  }
  const mail = settings.data
  if (mail === undefined) return <span className="sk" />
  if (!mail.configured && !setting_up) {
    return (
      <Panel title="Mail server">
        <Empty
          kind="yet"
          icon="mail"
          title="No mail is sent yet"
          action={
            <Button kind="primary" onClick={() => setSettingUp(true)}>
              Set up the mail server
            </Button>
          }
        >
          With a mail server, people are told of alerts at once or once a day, and checkpoints of the audit
          log can be sent to somebody outside.
        </Empty>
      </Panel>
    )
  }
  return (
    <>
      <MailForm key={mail.version} mail={mail} />
      {mail.configured && <MailTestPanel />}
      {mail.configured && <Queue queue={mail.queue} />}
    </>
  )
}

interface Draft {
  host: string
  port: string
  security: Security
  username: string
  password: string
  from_address: string
  from_name: string
  reply_to: string
}

function draftOf(mail: Mail): Draft {
  return {
    host: mail.host ?? '',
    port: String(mail.port ?? 587),
    security: mail.security ?? 'starttls',
    username: mail.username ?? '',
    password: '',
    from_address: mail.from_address ?? '',
    from_name: mail.from_name ?? 'Wardpost',
    reply_to: mail.reply_to ?? '',
  }
}

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())

/** An empty password leaves the one that is kept. */
function bodyOf(draft: Draft, forget: boolean) {
  return {
    host: draft.host.trim(),
    port: Number(draft.port),
    security: draft.security,
    username: orNull(draft.username),
    from_address: draft.from_address.trim(),
    from_name: orNull(draft.from_name),
    reply_to: orNull(draft.reply_to),
    ...(forget ? { password: null } : draft.password === '' ? {} : { password: draft.password }),
  }
}

function missingIn(draft: Draft): string | undefined {
  if (draft.host.trim() === '') return 'name the server'
  if (!/^\d{1,5}$/.test(draft.port.trim())) return 'the port is a number'
  return draft.from_address.trim() === '' ? 'name the sender’s address' : undefined
}

function MailForm({ mail }: { mail: Mail }) {
  const [draft, setDraft] = useState(() => draftOf(mail))
  const [forget, setForget] = useState(false)
  const [removing, setRemoving] = useState(false)
  const change = (patch: Partial<Draft>) => setDraft({ ...draft, ...patch })
  const save = useMutation({
    mutationFn: () =>
      api.put<Mail>(PATH, bodyOf(draft, forget), mail.configured ? { version: mail.version } : {}),
    onSuccess: async () => {
      notify({ kind: 'pass', text: 'Mail server saved: send a test to see that it takes mail' })
      await refresh(PATH, ALSO)
    },
  })
  const same = mail.configured && !forget && JSON.stringify(draft) === JSON.stringify(draftOf(mail))
  const reason = missingIn(draft) ?? (same ? 'nothing has changed' : undefined)
  return (
    <Panel title="Mail server" sub="for all organisations">
      <form
        className="pad col g16"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (reason === undefined && !save.isPending) save.mutate()
        }}
      >
        <MailFields
          mail={mail}
          draft={draft}
          change={change}
          forget={forget}
          onForget={setForget}
          error={save.error}
        />
        {save.error !== null && !isAllFields(save.error, FIELDS) && <ProblemNotice error={save.error} />}
        <div className="flex wrap">
          <Button type="submit" kind="primary" busy={save.isPending} reason={reason}>
            Save
          </Button>
          {mail.configured && (
            <Button kind="danger" onClick={() => setRemoving(true)}>
              Send no mail any more
            </Button>
          )}
          {mail.updated_at !== null && <span className="t12 t3">Last changed {exact(mail.updated_at)}</span>}
        </div>
      </form>
      {removing && <RemoveDialog mail={mail} onClose={() => setRemoving(false)} />}
    </Panel>
  )
}

interface FieldsProps {
  mail: Mail
  draft: Draft
  change: (patch: Partial<Draft>) => void
  forget: boolean
  onForget: (on: boolean) => void
  error: unknown
}

function MailFields({ mail, draft, change, forget, onForget, error }: FieldsProps) {
  const field = (name: keyof Draft) => ({
    value: draft[name],
    onText: (text: string) => change({ [name]: text }),
    error: fieldError(error, name),
    spellCheck: false,
    autoComplete: 'off',
  })
  return (
    <>
      <div className="grid grid-3">
        <TextField label="Server" hint="Name or address, for example smtp.example.com" {...field('host')} />
        <TextField label="Port" inputMode="numeric" {...field('port')} />
        <SelectField
          label="Encryption"
          value={draft.security}
          options={SECURITIES}
          onValue={(security) => change({ security })}
          error={fieldError(error, 'security')}
        />
        <TextField label="User name" hint="Empty: without signing in" {...field('username')} />
        <TextField
          label="Password"
          type="password"
          hint={mail.has_password ? 'One is set and is never shown. Empty: it stays' : 'None is set'}
          readOnly={forget}
          {...field('password')}
          autoComplete="new-password"
        />
      </div>
      {mail.has_password && <Check label="Take the password away" checked={forget} onValue={onForget} />}
      {draft.security === 'none' && draft.username.trim() !== '' && (
        <Notice kind="high">Without encryption, user name and password can be read on the way.</Notice>
      )}
      <div className="grid grid-3">
        <TextField
          label="Sender’s address"
          type="email"
          hint="A domain you may send from, with SPF and DKIM for this server"
          {...field('from_address')}
        />
        <TextField label="Sender’s name" {...field('from_name')} />
        <TextField label="Answers go to" type="email" hint="Empty: to the sender" {...field('reply_to')} />
      </div>
    </>
  )
}

function RemoveDialog({ mail, onClose }: { mail: Mail; onClose: () => void }) {
  return (
    <ConfirmDialog
      open
      title="Send no mail any more?"
      confirmLabel="Remove the mail server"
      onClose={onClose}
      onConfirm={async () => {
        await api.delete(PATH)
        notify({ kind: 'pass', text: 'The mail server is removed' })
        await refresh(PATH, ALSO)
      }}
    >
      <p>
        {mail.host} and its password are forgotten. Nobody in any organisation is told of alerts by mail any
        more; the alerts themselves go on.
      </p>
    </ConfirmDialog>
  )
}

function Queue({ queue }: { queue: Mail['queue'] }) {
  const { waiting, failed, last_error, last_sent_at } = queue
  return (
    <Panel title="Mail about alerts" sub="of all organisations">
      <div className="kv">
        <Props
          items={[
            ['Waiting', count(waiting)],
            [
              'Given up',
              failed === 0 ? 'none in 30 days' : <State kind="fail">{`${count(failed)} in 30 days`}</State>,
            ],
            ['Last sent', <Time key="sent" at={last_sent_at} as="relative" />],
            last_error !== null && ['Last error', last_error],
          ]}
        />
      </div>
    </Panel>
  )
}

/** What the server says to a mail, word by word. */
function MailTestPanel() {
  const me = useMe()
  const [to, setTo] = useState(me.user?.email ?? '')
  const test = useMutation({ mutationFn: () => api.post<MailTest>(`${PATH}/test`, { to: to.trim() }) })
  const result = test.data
  const reason = to.trim() === '' ? 'say to whom' : undefined
  return (
    <Panel title="Test" sub="with what is saved">
      <form
        className="pad col g12"
        noValidate
        aria-label="Test the mail server"
        onSubmit={(event) => {
          event.preventDefault()
          if (reason === undefined && !test.isPending) test.mutate()
        }}
      >
        <TextField
          label="Send a test mail to"
          type="email"
          fieldClass="mid"
          value={to}
          onText={setTo}
          error={fieldError(test.error, 'to')}
        />
        <div className="flex wrap">
          <Button type="submit" icon="mail" busy={test.isPending} reason={reason}>
            {test.isPending ? 'Sending' : 'Send test'}
          </Button>
        </div>
        {test.error !== null && !isAllFields(test.error, ['to']) && <ProblemNotice error={test.error} />}
        <div aria-live="polite">{result !== undefined && <Outcome result={result} />}</div>
      </form>
    </Panel>
  )
}

function Outcome({ result }: { result: MailTest }) {
  return (
    <div className="col g8">
      <Notice kind={result.ok ? 'pass' : 'critical'}>
        {result.ok
          ? `The server took the mail in ${result.ms} ms: ${result.response ?? ''}`
          : (result.error ?? 'The mail was not taken')}
      </Notice>
      {result.dialogue.length > 0 && (
        <Disclosure
          open={!result.ok}
          summary={
            <>
              What both sides said <span className="t3 t12">{plural(result.dialogue.length, 'line')}</span>
            </>
          }
        >
          {/* A box that scrolls must be reachable by keyboard. */}
          <pre className="raw" tabIndex={0} aria-label="What both sides said">
            {result.dialogue.join('\n')}
          </pre>
        </Disclosure>
      )}
    </div>
  )
}
