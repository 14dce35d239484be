import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { api, ApiProblem, isAllFields } from '../../lib/api.ts'
import { useCan } from '../../lib/me.ts'
import { refresh } from '../../lib/query.ts'
import { useView } from '../../lib/view.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/drawer.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { notify } from '../../ui/toast.tsx'
import { FIELDS, missingOf, WebhookFields, type Draft } from './form.tsx'
import { hostOf, WEBHOOKS } from './types.ts'
import type { Webhook } from './types.ts'

/** URL, description, events; and the end of it. */
export function WebhookSettings({ item, close }: { item: Webhook; close: string }) {
  const view = useView()
  const can = useCan()
  const [deleting, setDeleting] = useState(false)
  const reason = can('webhooks:write').reason
  const host = hostOf(item.url)
  return (
    <>
      <Section title="Settings">
        <SettingsForm item={item} reason={reason} />
      </Section>
      <Section title="Delete">
        <p className="t13 t2 mb-3">
          Its deliveries go with it, and so does its secret. To stop for a while, pause it instead.
        </p>
        <Button kind="danger" icon="trash" reason={reason} onClick={() => setDeleting(true)}>
          Delete this endpoint
        </Button>
        <ConfirmDialog
          open={deleting}
          title={`Delete ${host}?`}
          confirmLabel="Delete endpoint"
          typed={host}
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await api.delete(`${WEBHOOKS}/${item.id}`)
            notify({ kind: 'pass', text: `${host} is deleted` })
            view.go(close)
            await refresh(WEBHOOKS)
          }}
        >
          <p>
            <span className="mono brk">{item.url}</span> gets nothing any more from this moment: what is open
            is cancelled, what was delivered is forgotten, and its secret is destroyed.
          </p>
        </ConfirmDialog>
      </Section>
    </>
  )
}

interface Edited extends Draft {
  /** The version the draft was made from: what others change meanwhile is not overwritten. */
  version: number
}

const draftOf = ({ url, description, events, version }: Webhook): Edited => ({
  url,
  description,
  events,
  version,
})

function SettingsForm({ item, reason }: { item: Webhook; reason: string | undefined }) {
  const [draft, setDraft] = useState(() => draftOf(item))
  const save = useMutation({
    mutationFn: () => {
      const { url, description, events, version } = draft
      const body = { url: url.trim(), description: description.trim(), events }
      return api.patch<Webhook>(`${WEBHOOKS}/${item.id}`, body, { version })
    },
    onSuccess: async (saved) => {
      setDraft(draftOf(saved))
      notify({ kind: 'pass', text: `${hostOf(saved.url)} is saved` })
      await refresh(WEBHOOKS)
    },
  })
  const missing = reason ?? missingOf(draft)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (missing === undefined) save.mutate()
  }
  return (
    <form className="col g16" noValidate onSubmit={submit}>
      <WebhookFields
        draft={draft}
        change={(patch) => setDraft((old) => ({ ...old, ...patch }))}
        error={save.error}
      />
      <SaveProblem error={save.error} />
      <div className="flex">
        <Button kind="primary" type="submit" busy={save.isPending} reason={missing} showReason>
          Save
        </Button>
      </div>
    </form>
  )
}

function SaveProblem({ error }: { error: unknown }) {
  if (error instanceof ApiProblem && error.status === 412) {
    return (
      <Notice kind="high" alert>
        Somebody changed this endpoint in the meantime. Close and open it again to see how it is now.
      </Notice>
    )
  }
  return error === null || isAllFields(error, FIELDS) ? null : <ProblemNotice error={error} />
}
