import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { exact } from '../../lib/format.ts'
import { useCan, useMe } from '../../lib/me.ts'
import { refresh, useGet } from '../../lib/query.ts'
import type { Page, Severity as Level } from '../../lib/types.ts'
import { Button } from '../../ui/button.tsx'
import { Check, SelectField, Switch, TextArea, TextField } from '../../ui/field.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { A } from '../../ui/link.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Severity } from '../../ui/state.tsx'
import { notify } from '../../ui/toast.tsx'
import type { User } from '../users/types.ts'
import { NOTIFICATIONS_PATH, SEVERITIES, timeZones } from './types.ts'
import type { Notifications } from './types.ts'

type Draft = Pick<Notifications, 'email_enabled' | 'immediate' | 'digest' | 'quiet_hours'> & {
  users: string[]
  addresses: string
}

const FIELDS = ['recipients', 'immediate', 'digest', 'quiet_hours'] as const

function draftOf(settings: Notifications): Draft {
  const { email_enabled, immediate, digest, quiet_hours, recipients } = settings
  return {
    email_enabled,
    immediate,
    digest,
    quiet_hours,
    users: recipients.filter((text) => !text.includes('@')),
    addresses: recipients.filter((text) => text.includes('@')).join('\n'),
  }
}

function bodyOf({ users, addresses, ...rest }: Draft) {
  const typed = addresses.split(/[\s,;]+/).filter((text) => text !== '')
  return { ...rest, recipients: [...users, ...typed] }
}

/** All of it in one form: what is saved is what is seen. */
export function NotificationForm({ settings }: { settings: Notifications }) {
  const can = useCan()
  const [draft, setDraft] = useState(() => draftOf(settings))
  const change = (patch: Partial<Draft>) => setDraft({ ...draft, ...patch })
  const save = useMutation({
    mutationFn: () =>
      api.patch<Notifications>(NOTIFICATIONS_PATH, bodyOf(draft), { version: settings.version }),
    onSuccess: async () => {
      notify({ kind: 'pass', text: 'Notifications saved' })
      await refresh(NOTIFICATIONS_PATH)
    },
  })
  const off = can('settings:write').reason
  const same = JSON.stringify(bodyOf(draft)) === JSON.stringify(bodyOf(draftOf(settings)))
  const reason = off ?? (same ? 'nothing has changed' : undefined)
  const part = { draft, change, off: off !== undefined, error: save.error }
  return (
    <Panel title="Mail about alerts">
      <form
        className="pad col g16"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (reason === undefined && !save.isPending) save.mutate()
        }}
      >
        {!settings.mail_configured && <NoServer />}
        <Switch
          label="Send mail about alerts"
          checked={draft.email_enabled}
          disabled={part.off}
          onValue={(email_enabled) => change({ email_enabled })}
        />
        <Recipients {...part} />
        <SeverityChoice
          legend="At once"
          hint="One mail for each new alert of these severities"
          value={draft.immediate}
          off={part.off}
          onChange={(immediate) => change({ immediate })}
        />
        <Digest {...part} />
        <QuietHours {...part} />
        {save.error !== null && !isAllFields(save.error, FIELDS) && <ProblemNotice error={save.error} />}
        <div className="flex wrap">
          <Button
            type="submit"
            kind="primary"
            busy={save.isPending}
            reason={reason}
            showReason={off !== undefined}
          >
            Save
          </Button>
          <span className="t12 t3">
            {settings.updated_at === null
              ? 'Not changed so far: these are the defaults'
              : `Last changed ${exact(settings.updated_at)}`}
          </span>
        </div>
      </form>
    </Panel>
  )
}

function NoServer() {
  const me = useMe()
  return (
    <Notice kind="high">
      No mail server is set up, so no mail is sent.{' '}
      {me.user?.is_operator === true ? (
        <A href="/settings/instance/mail">Set it up</A>
      ) : (
        'Ask the operator of this installation.'
      )}
    </Notice>
  )
}

interface PartProps {
  draft: Draft
  change: (patch: Partial<Draft>) => void
  off: boolean
  error: unknown
}

function Recipients({ draft, change, off, error }: PartProps) {
  const users = useGet<Page<User>>('/v1/settings/users', { limit: 200 }, { poll: false }).data?.items ?? []
  const toggle = (id: string, on: boolean) =>
    change({ users: on ? [...draft.users, id] : draft.users.filter((each) => each !== id) })
  const everybody = draft.users.length === 0 && draft.addresses.trim() === ''
  return (
    <Group
      legend="Recipients"
      hint={everybody ? 'Nobody is chosen: all owners and admins are told' : undefined}
    >
      <div className="checks">
        {users.map((user) => (
          <Check
            key={user.id}
            label={
              <>
                {user.name} <span className="t3">{user.email}</span>
              </>
            }
            checked={draft.users.includes(user.id)}
            disabled={off}
            onValue={(on) => toggle(user.id, on)}
          />
        ))}
      </div>
      <TextArea
        label="Other addresses"
        hint="One a line, for example a team mailbox or a ticket system"
        rows={2}
        spellCheck={false}
        readOnly={off}
        value={draft.addresses}
        onText={(addresses) => change({ addresses })}
        error={fieldError(error, 'recipients')}
      />
    </Group>
  )
}

function Digest({ draft, change, off, error }: PartProps) {
  const { digest } = draft
  const set = (patch: Partial<Draft['digest']>) => change({ digest: { ...digest, ...patch } })
  return (
    <Group legend="Once a day">
      <Switch
        label="Send a summary of the rest"
        checked={digest.enabled}
        disabled={off}
        onValue={(enabled) => set({ enabled })}
      />
      {digest.enabled && (
        <>
          <TextField
            label="At"
            hint={`Time zone ${draft.quiet_hours.timezone}, chosen below`}
            type="time"
            fieldClass="short"
            readOnly={off}
            value={digest.at}
            onText={(at) => set({ at })}
            error={fieldError(error, 'digest')}
          />
          <SeverityChoice
            legend="With these severities"
            value={digest.severities}
            off={off}
            onChange={(severities) => set({ severities })}
          />
        </>
      )}
    </Group>
  )
}

function QuietHours({ draft, change, off, error }: PartProps) {
  const { quiet_hours } = draft
  const set = (patch: Partial<Draft['quiet_hours']>) => change({ quiet_hours: { ...quiet_hours, ...patch } })
  return (
    <Group legend="Quiet hours" hint="No mail at all in between; it goes at their end">
      <Switch
        label="Keep quiet hours"
        checked={quiet_hours.enabled}
        disabled={off}
        onValue={(enabled) => set({ enabled })}
      />
      <div className="grid grid-3">
        {quiet_hours.enabled && (
          <>
            <TextField
              label="From"
              type="time"
              readOnly={off}
              value={quiet_hours.from}
              onText={(from) => set({ from })}
            />
            <TextField
              label="To"
              type="time"
              readOnly={off}
              value={quiet_hours.to}
              onText={(to) => set({ to })}
              error={fieldError(error, 'quiet_hours')}
            />
          </>
        )}
        <SelectField
          label="Time zone"
          value={quiet_hours.timezone}
          disabled={off}
          options={timeZones(quiet_hours.timezone).map((zone) => ({ value: zone, label: zone }))}
          onValue={(timezone) => set({ timezone })}
        />
      </div>
    </Group>
  )
}

interface SeverityProps {
  legend: string
  hint?: string
  value: readonly Level[]
  off: boolean
  onChange: (value: Level[]) => void
}

function SeverityChoice({ legend, hint, value, off, onChange }: SeverityProps) {
  return (
    <Group legend={legend} {...(hint === undefined ? {} : { hint })}>
      <div className="flex wrap g16">
        {SEVERITIES.map((level) => (
          <Check
            key={level}
            label={<Severity level={level} />}
            checked={value.includes(level)}
            disabled={off}
            onValue={(on) =>
              onChange(SEVERITIES.filter((each) => (each === level ? on : value.includes(each))))
            }
          />
        ))}
      </div>
    </Group>
  )
}

function Group({
  legend,
  hint,
  children,
}: {
  legend: string
  hint?: string | undefined
  children: ReactNode
}) {
  return (
    <fieldset className="fset">
      <legend>{legend}</legend>
      {hint !== undefined && <p className="hint">{hint}</p>}
      {children}
    </fieldset>
  )
}
