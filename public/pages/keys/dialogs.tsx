import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { exact, isoDay, nowMs, DAY_MS, plural } from '../../lib/format.ts'
import { useMe } from '../../lib/me.ts'
import { refresh, useGet } from '../../lib/query.ts'
import { ConfirmDialog, FormDialog, SecretDialog } from '../../ui/dialog.tsx'
import { Props } from '../../ui/drawer.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Tag } from '../../ui/state.tsx'
import { notify } from '../../ui/toast.tsx'
import { ScopePicker } from './scope-picker.tsx'
import { PRESETS } from './scopes.ts'
import type { ScopeRow } from './scopes.ts'
import { maskedKey, readNetworks } from './types.ts'
import type { Key, NewKey } from './types.ts'

const KEYS = '/v1/settings/keys'
const quiet = () => undefined

const EXPIRIES = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'On a day' },
  { value: 'never', label: 'Never' },
] as const
type Expiry = (typeof EXPIRIES)[number]['value']

interface Form {
  name: string
  scopes: string[]
  expiry: Expiry
  day: string
  networks: string
}

const EMPTY: Form = {
  name: '',
  scopes: [...(PRESETS[0]?.scopes ?? [])],
  expiry: '365',
  day: isoDay(nowMs() + 180 * DAY_MS),
  networks: '',
}

function expiryTime({ expiry, day }: Form): string | undefined {
  if (expiry === 'never') return undefined
  return expiry === 'date' ? day : new Date(nowMs() + Number(expiry) * DAY_MS).toISOString()
}

interface ExpiryProps {
  form: Form
  change: (patch: Partial<Form>) => void
  error: string | undefined
}

function ExpiryFields({ form, change, error }: ExpiryProps) {
  const dated = form.expiry === 'date'
  return (
    <div className="grid grid-2">
      <SelectField
        label="Expires"
        value={form.expiry}
        options={EXPIRIES}
        onValue={(expiry) => change({ expiry })}
        error={dated ? undefined : error}
      />
      {dated && (
        <TextField
          label="Day, UTC"
          type="date"
          min={isoDay(nowMs() + DAY_MS)}
          value={form.day}
          onText={(day) => change({ day })}
          error={error}
        />
      )}
    </div>
  )
}

/** Name, scopes, expiry, networks; then the key itself, once. */
export function CreateKey({ onClose, onCreated }: { onClose: () => void; onCreated: (key: NewKey) => void }) {
  const me = useMe()
  const scopes = useGet<{ items: ScopeRow[] }>('/v1/settings/scopes', {}, { poll: false })
  const [form, setForm] = useState(EMPTY)
  const change = (patch: Partial<Form>) => setForm({ ...form, ...patch })
  const networks = readNetworks(form.networks)
  const create = useMutation({
    mutationFn: () => {
      const expires_at = expiryTime(form)
      return api.post<NewKey>(KEYS, {
        name: form.name.trim(),
        scopes: form.scopes,
        ...(expires_at === undefined ? {} : { expires_at }),
        ...(networks.length === 0 ? {} : { allowed_cidrs: networks }),
      })
    },
    onSuccess: async (key) => {
      onCreated(key)
      await refresh(KEYS)
    },
  })
  const reason =
    form.name.trim() === '' ? 'give it a name' : form.scopes.length === 0 ? 'choose a scope' : undefined
  return (
    <FormDialog
      open
      wide
      title="Create an API key"
      submitLabel="Create key"
      onClose={onClose}
      onSubmit={() => create.mutateAsync().then(quiet, quiet)}
      busy={create.isPending}
      reason={reason}
      error={create.error}
      hideError={isAllFields(create.error, ['name', 'scopes', 'expires_at', 'allowed_cidrs'])}
    >
      <TextField
        label="Name"
        hint="Says who uses it; shown in the audit log"
        autoFocus
        maxLength={100}
        value={form.name}
        onText={(name) => change({ name })}
        error={fieldError(create.error, 'name')}
      />
      <ScopePicker
        items={scopes.data?.items ?? []}
        own={me.scopes}
        value={form.scopes}
        onChange={(chosen) => change({ scopes: chosen })}
        error={fieldError(create.error, 'scopes')}
      />
      <ExpiryFields form={form} change={change} error={fieldError(create.error, 'expires_at')} />
      <TextArea
        label="Allowed networks"
        hint="One CIDR a line, for example 192.0.2.0/24. Empty: from anywhere"
        mono
        rows={2}
        spellCheck={false}
        value={form.networks}
        onText={(text) => change({ networks: text })}
        error={fieldError(create.error, 'allowed_cidrs')}
      />
    </FormDialog>
  )
}

/** The key, this once. */
export function ShownKey({ created, onSaved }: { created: NewKey; onSaved: () => void }) {
  return (
    <SecretDialog
      open
      title="Save this key now"
      label={`Key for ${created.name}`}
      secret={created.api_key}
      onSaved={onSaved}
    >
      <Props
        items={[
          ['Scopes', <ScopeTags key="s" scopes={created.scopes} />],
          ['Networks', created.allowed_cidrs.length === 0 ? 'anywhere' : created.allowed_cidrs.join(', ')],
          ['Expires', created.expires_at === null ? 'never' : exact(created.expires_at)],
        ]}
      />
    </SecretDialog>
  )
}

export function ScopeTags({ scopes, most = Number.POSITIVE_INFINITY }: { scopes: string[]; most?: number }) {
  return (
    <span className="flex wrap g4">
      {scopes.slice(0, most).map((scope) => (
        <Tag key={scope}>{scope}</Tag>
      ))}
      {scopes.length > most ? <span className="t12 t3">and {scopes.length - most} more</span> : null}
    </span>
  )
}

/** Name and networks can change; scopes cannot, so that what a key may do is known from its first day. */
export function EditKey({ item, onClose }: { item: Key; onClose: () => void }) {
  const [name, setName] = useState(item.name)
  const [text, setText] = useState(item.allowed_cidrs.join('\n'))
  const save = useMutation({
    mutationFn: () =>
      api.patch<Key>(`${KEYS}/${item.id}`, { name: name.trim(), allowed_cidrs: readNetworks(text) }),
    onSuccess: async () => {
      onClose()
      notify({ kind: 'pass', text: 'Key changed' })
      await refresh(KEYS)
    },
  })
  return (
    <FormDialog
      open
      title={`Change ${item.name}`}
      submitLabel="Save"
      onClose={onClose}
      onSubmit={() => save.mutateAsync().then(quiet, quiet)}
      busy={save.isPending}
      reason={name.trim() === '' ? 'give it a name' : undefined}
      error={save.error}
      hideError={isAllFields(save.error, ['name', 'allowed_cidrs'])}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onText={setName}
        error={fieldError(save.error, 'name')}
      />
      <TextArea
        label="Allowed networks"
        hint="One CIDR a line. Empty: from anywhere"
        mono
        spellCheck={false}
        value={text}
        onText={setText}
        error={fieldError(save.error, 'allowed_cidrs')}
      />
    </FormDialog>
  )
}

const OVERLAPS = [
  { value: '0', label: 'None, the old key stops now' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
] as const

/** A new key with the same rights; the old one goes on for a while, so that nothing stops in between. */
export function RollKey(props: { item: Key; onClose: () => void; onCreated: (key: NewKey) => void }) {
  const { item, onClose, onCreated } = props
  const [hours, setHours] = useState<(typeof OVERLAPS)[number]['value']>('24')
  const roll = useMutation({
    mutationFn: () => api.post<NewKey>(`${KEYS}/${item.id}/roll`, { overlap_hours: Number(hours) }),
    onSuccess: async (key) => {
      onCreated(key)
      await refresh(KEYS)
    },
  })
  return (
    <FormDialog
      open
      title={`Roll the key ${item.name}`}
      submitLabel="Make the new key"
      onClose={onClose}
      onSubmit={() => roll.mutateAsync().then(quiet, quiet)}
      busy={roll.isPending}
      error={roll.error}
    >
      <p className="t2">
        Makes a new key with the same name, {plural(item.scopes.length, 'scope')} and networks. Put it where{' '}
        <span className="mono">{maskedKey(item)}</span> is used; that one then ends by itself.
      </p>
      <SelectField label="The old key goes on for" value={hours} options={OVERLAPS} onValue={setHours} />
    </FormDialog>
  )
}

export function RevokeKey({ item, onClose, onRoll }: { item: Key; onClose: () => void; onRoll: () => void }) {
  return (
    <ConfirmDialog
      open
      title={`Revoke the key ${item.name}?`}
      confirmLabel="Revoke key"
      typed={item.name}
      onClose={onClose}
      onConfirm={async () => {
        await api.delete(`${KEYS}/${item.id}`)
        notify({ kind: 'pass', text: `${item.name} is revoked` })
        await refresh(KEYS)
      }}
    >
      <p>
        Requests with <span className="mono">{maskedKey(item)}</span> get 401 from this moment.{' '}
        {item.last_used_at === null
          ? 'It was never used.'
          : `It was last used ${exact(item.last_used_at)}${item.last_used_ip === null ? '' : ` from ${item.last_used_ip}`}.`}
      </p>
      <Notice kind="high">
        To avoid a gap, roll it instead: the old key goes on for a while.{' '}
        <button type="button" className="as-link" onClick={onRoll}>
          Roll
        </button>
      </Notice>
    </ConfirmDialog>
  )
}
