import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiProblem, api } from '../../lib/api.ts'
import { count } from '../../lib/format.ts'
import { useCan } from '../../lib/me.ts'
import { refresh } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Check, TextField } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { notify } from '../../ui/toast.tsx'
import { KEPT } from './retention.ts'
import type { Kept, Retention } from './retention.ts'

interface Props {
  retention: Retention
  version: number
}

type Draft = Record<keyof Retention, string>

const draftOf = (retention: Retention): Draft =>
  Object.fromEntries(KEPT.map(({ name }) => [name, String(retention[name] ?? '')])) as Draft

/** What differs from what holds now; an empty field is for ever. */
function changesOf(draft: Draft, retention: Retention): Partial<Retention> {
  const changed = KEPT.flatMap(({ name }): [string, number | null][] => {
    const value = draft[name].trim() === '' ? null : Number(draft[name])
    return value === retention[name] ? [] : [[name, value]]
  })
  return Object.fromEntries(changed)
}

function errorOf({ name, min, max }: Kept, draft: Draft): string | undefined {
  const text = draft[name].trim()
  if (text === '' && name === 'audit_days') return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= min && value <= max) return undefined
  return `“${text}” is not ${count(min)} to ${count(max)} days`
}

/** What would be kept less long than now. */
function shorterIn(changes: Partial<Retention>, retention: Retention): Kept[] {
  return KEPT.filter(({ name }) => {
    const value = changes[name]
    return typeof value === 'number' && value < (retention[name] ?? Number.POSITIVE_INFINITY)
  })
}

/** Shorter means that data goes: it is said before. */
export function RetentionPanel({ retention, version }: Props) {
  const can = useCan()
  const [draft, setDraft] = useState(() => draftOf(retention))
  const [asking, setAsking] = useState(false)
  const changes = changesOf(draft, retention)
  const shorter = shorterIn(changes, retention)
  const store = async () => {
    await api.patch('/v1/settings', { retention: changes }, { version })
    notify({ kind: 'pass', text: 'Retention saved: it holds from the next night on' })
    await refresh('/v1/settings')
  }
  const save = useMutation({ mutationFn: store })
  const off = can('settings:write').reason
  const wrong = KEPT.some((kept) => errorOf(kept, draft) !== undefined)
  const reason =
    off ??
    (wrong ? 'a number is out of its range' : undefined) ??
    (Object.keys(changes).length === 0 ? 'nothing has changed' : undefined)
  return (
    <Panel title="Retention" sub="how long what is kept, in days">
      <form
        className="pad col g16"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (reason !== undefined || save.isPending) return
          if (shorter.length > 0) setAsking(true)
          else save.mutate()
        }}
      >
        <div className="grid grid-3">
          {KEPT.map((kept) => (
            <Days key={kept.name} kept={kept} draft={draft} off={off !== undefined} onDraft={setDraft} />
          ))}
        </div>
        {save.error instanceof ApiProblem && <ProblemNotice error={save.error} />}
        <div className="flex wrap">
          <Button
            type="submit"
            kind="primary"
            busy={save.isPending}
            reason={reason}
            showReason={off !== undefined}
          >
            Save retention
          </Button>
        </div>
      </form>
      {asking && (
        <ConfirmDialog
          open
          title="Delete what is older?"
          confirmLabel="Save and delete"
          onClose={() => setAsking(false)}
          onConfirm={store}
        >
          <p>From the next night on, this goes for good, except in backups:</p>
          <ul className="ul">
            {shorter.map(({ name, label }) => (
              <li key={name}>
                {label}: older than {count(Number(draft[name]))} days
              </li>
            ))}
          </ul>
        </ConfirmDialog>
      )}
    </Panel>
  )
}

interface DaysProps {
  kept: Kept
  draft: Draft
  off: boolean
  onDraft: (draft: Draft) => void
}

function Days({ kept, draft, off, onDraft }: DaysProps) {
  const { name, label, hint, min, max } = kept
  const forever = name === 'audit_days' && draft[name].trim() === ''
  const set = (text: string) => onDraft({ ...draft, [name]: text })
  return (
    <div className="col g8">
      <TextField
        label={label}
        inputMode="numeric"
        readOnly={off || forever}
        placeholder={forever ? 'for ever' : undefined}
        hint={`${count(min)} to ${count(max)} days, ${hint}`}
        value={draft[name]}
        onText={set}
        error={errorOf(kept, draft)}
      />
      {name === 'audit_days' && (
        <Check
          label="Keep for ever"
          checked={forever}
          disabled={off}
          onValue={(on) => set(on ? '' : String(max))}
        />
      )}
    </div>
  )
}
