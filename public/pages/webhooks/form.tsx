import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, fieldError, isAllFields } from '../../lib/api.ts'
import { refresh } from '../../lib/query.ts'
import { FormDialog, SecretDialog } from '../../ui/dialog.tsx'
import { Disclosure } from '../../ui/drawer.tsx'
import { TextField } from '../../ui/field.tsx'
import { EventPicker } from './event-picker.tsx'
import { hostOf, WEBHOOKS } from './types.ts'
import type { NewWebhook } from './types.ts'

const quiet = () => undefined

export interface Draft {
  url: string
  description: string
  events: string[]
}

interface FieldsProps {
  draft: Draft
  change: (patch: Partial<Draft>) => void
  error: unknown
  autoFocus?: boolean
}

export const FIELDS = ['url', 'description', 'events', 'secret'] as const

/** What can be changed later as well. */
export function WebhookFields({ draft, change, error, autoFocus = false }: FieldsProps) {
  return (
    <>
      <TextField
        label="URL"
        type="url"
        mono
        required
        autoFocus={autoFocus}
        autoComplete="off"
        spellCheck={false}
        placeholder="https://hooks.example.com/wardpost"
        hint="https only. Addresses inside your network must be allowed by the operator"
        value={draft.url}
        onText={(url) => change({ url })}
        error={fieldError(error, 'url')}
      />
      <TextField
        label="Description"
        maxLength={200}
        hint="Who receives it, for those who come after you"
        value={draft.description}
        onText={(description) => change({ description })}
        error={fieldError(error, 'description')}
      />
      <EventPicker
        value={draft.events}
        onChange={(events) => change({ events })}
        error={fieldError(error, 'events')}
      />
    </>
  )
}

/** What is missing before it can be sent. */
export function missingOf(draft: Draft): string | undefined {
  if (draft.url.trim() === '') return 'give it a URL'
  return draft.events.length === 0 ? 'choose an event' : undefined
}

interface CreateProps {
  onClose: () => void
  onCreated: (made: NewWebhook) => void
}

/** URL, events, and a secret of one's own for those who have one. */
export function CreateWebhook({ onClose, onCreated }: CreateProps) {
  const [draft, setDraft] = useState<Draft>({ url: '', description: '', events: [] })
  const [secret, setSecret] = useState('')
  const create = useMutation({
    mutationFn: () =>
      api.post<NewWebhook>(WEBHOOKS, {
        url: draft.url.trim(),
        events: draft.events,
        description: draft.description.trim(),
        ...(secret === '' ? {} : { secret }),
      }),
    onSuccess: async (made) => {
      onCreated(made)
      await refresh(WEBHOOKS)
    },
  })
  const error = create.error
  return (
    <FormDialog
      open
      wide
      title="Add an endpoint"
      submitLabel="Add endpoint"
      onClose={onClose}
      onSubmit={() => create.mutateAsync().then(quiet, quiet)}
      busy={create.isPending}
      reason={missingOf(draft)}
      error={error}
      hideError={isAllFields(error, FIELDS)}
    >
      <WebhookFields
        autoFocus
        draft={draft}
        change={(patch) => setDraft((old) => ({ ...old, ...patch }))}
        error={error}
      />
      <Disclosure summary="A secret of your own" open={fieldError(error, 'secret') !== undefined}>
        <TextField
          label="Secret"
          mono
          autoComplete="off"
          spellCheck={false}
          maxLength={256}
          hint="16 to 256 visible characters. Empty: one is made for you"
          value={secret}
          onText={setSecret}
          error={fieldError(error, 'secret')}
        />
      </Disclosure>
    </FormDialog>
  )
}

/** The secret, this once: after adding an endpoint, and after a new one was made for it. */
export function ShownSecret({ made, onSaved }: { made: NewWebhook; onSaved: () => void }) {
  return (
    <SecretDialog
      open
      title="Save this secret now"
      label={`Secret for ${hostOf(made.url)}`}
      secret={made.secret}
      why="Your receiver needs it to check signatures. It cannot be shown again, only replaced."
      onSaved={onSaved}
    >
      <p className="t13 t2">
        How to check a signature, in four languages: the tab Signature of the endpoint.
      </p>
    </SecretDialog>
  )
}
