import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { address, api, fieldError } from '../../lib/api.ts'
import { plural } from '../../lib/format.ts'
import { covers, useCan, useMe } from '../../lib/me.ts'
import { refresh, useGet } from '../../lib/query.ts'
import type { Alert, Page } from '../../lib/types.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Menu, MenuItem, MenuLabel, MenuLine } from '../../ui/menu.tsx'
import { BulkBar, BULK_MAX } from '../../ui/selection.tsx'
import type { Selection } from '../../ui/selection.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'
import type { User } from '../users/types.ts'
import { DURATIONS, refusal } from './kinds.ts'
import type { AlertAction } from './kinds.ts'

const PATH = '/v1/alerts'
const DONE: Readonly<Record<AlertAction, string>> = {
  ack: 'acknowledged',
  resolve: 'resolved',
  silence: 'silenced',
}

interface BulkResult {
  results: { id: string; status: 'ok' | 'failed'; code?: string }[]
}

interface Step {
  action: AlertAction
  alerts: readonly Alert[]
  duration?: string
}

/** Takes one step for one or many alerts and says what came of it. */
export function useAlertStep(onDone?: () => void) {
  return useMutation({
    mutationFn: async ({ action, alerts, duration }: Step): Promise<number> => {
      const [only] = alerts
      if (only !== undefined && alerts.length === 1) {
        await api.post<Alert>(address(`${PATH}/${only.id}/${action}`, { duration }))
        return 1
      }
      const ids = alerts.slice(0, BULK_MAX).map(({ id }) => id)
      const { results } = await api.post<BulkResult>(`${PATH}/bulk`, {
        ids,
        action,
        ...(duration === undefined ? {} : { duration }),
      })
      return results.filter(({ status }) => status === 'ok').length
    },
    onSuccess: async (done, { action, alerts }) => {
      const missed = alerts.length - done
      const what = alerts.length === 1 ? `“${alerts[0]?.title}” is` : `${plural(done, 'alert')} `
      notify({
        kind: missed === 0 ? 'pass' : 'info',
        text:
          missed === 0
            ? `${what.trim()} ${DONE[action]}`
            : `${plural(done, 'alert')} ${DONE[action]}, ${missed} not: they changed in the meantime`,
      })
      onDone?.()
      await refresh(PATH)
    },
    onError: async (error) => {
      notifyProblem(error, 'Nothing was changed')
      await refresh(PATH)
    },
  })
}

interface SilenceProps {
  reason: string | undefined
  small?: boolean
  onChoose: (duration: string) => void
}

export function SilenceMenu({ reason, small = false, onChoose }: SilenceProps) {
  const button = (
    <Button small={small} icon="pause" reason={reason}>
      Silence
    </Button>
  )
  if (reason !== undefined) return button
  return (
    <Menu align="start" trigger={button}>
      <MenuLabel>Silence for</MenuLabel>
      {DURATIONS.map(({ value, label }) => (
        <MenuItem key={value} onSelect={() => onChoose(value)}>
          {label}
        </MenuItem>
      ))}
    </Menu>
  )
}

/** To oneself, to nobody, to another member. */
export function AssignMenu({ alert, reason }: { alert: Alert; reason: string | undefined }) {
  const me = useMe()
  const reads = covers(me.scopes, 'settings:read')
  const users = useGet<Page<User>>('/v1/settings/users', { limit: 200 }, { enabled: reads, poll: false })
  const own = me.user?.id
  const owner = alert.assigned_to
  const assign = async (user_id: string | null) => {
    try {
      await api.post(`${PATH}/${alert.id}/assign`, { user_id })
      await refresh(PATH)
    } catch (error) {
      notifyProblem(error, 'Not assigned')
    }
  }
  const button = (
    <Button icon="user" reason={reason}>
      {owner === null ? 'Assign' : (owner.name ?? 'Somebody')}
    </Button>
  )
  if (reason !== undefined) return button
  const others = (users.data?.items ?? []).filter(({ id }) => id !== own)
  return (
    <Menu align="start" trigger={button}>
      <MenuLabel>Owner</MenuLabel>
      {own !== undefined && (
        <MenuItem checked={owner?.id === own} onSelect={() => void assign(own)}>
          {me.user?.name} <span className="t3">(you)</span>
        </MenuItem>
      )}
      {others.map((user) => (
        <MenuItem key={user.id} checked={owner?.id === user.id} onSelect={() => void assign(user.id)}>
          {user.name}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem checked={owner === null} onSelect={() => void assign(null)}>
        Nobody
      </MenuItem>
    </Menu>
  )
}

export function NoteForm({ alert }: { alert: Alert }) {
  const can = useCan()
  const [text, setText] = useState('')
  const add = useMutation({
    mutationFn: () => api.post<Alert>(`${PATH}/${alert.id}/note`, { text: text.trim() }),
    onSuccess: async () => {
      setText('')
      await refresh(PATH)
    },
    onError: (error) => {
      if (fieldError(error, 'text') === undefined) notifyProblem(error, 'The note was not kept')
    },
  })
  const reason = can('alerts:write').reason ?? (text.trim() === '' ? 'write something' : undefined)
  return (
    <form
      className="col g8 mt-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (reason === undefined && !add.isPending) add.mutate()
      }}
    >
      <TextArea
        label="Add a note"
        hint="Stays in the history, with your name"
        rows={2}
        maxLength={2000}
        value={text}
        onText={setText}
        error={fieldError(add.error, 'text')}
      />
      <div className="flex">
        <Button type="submit" small busy={add.isPending} reason={reason}>
          Add note
        </Button>
      </div>
    </form>
  )
}

/** What can be done to all that is checked. */
export function AlertBulk({ selection, items }: { selection: Selection; items: readonly Alert[] }) {
  const can = useCan()
  const step = useAlertStep(selection.clear)
  const chosen = items.filter(({ id }) => selection.ids.has(id))
  const off = can('alerts:write').reason
  const too_many = chosen.length > BULK_MAX ? `at most ${BULK_MAX} at once` : undefined
  const why = (action: AlertAction) => off ?? too_many ?? refusal(action, chosen)
  const act = (action: AlertAction, duration?: string) => {
    if (!step.isPending)
      step.mutate({ action, alerts: chosen, ...(duration === undefined ? {} : { duration }) })
  }
  return (
    <BulkBar selection={selection} noun="alert">
      <Button small icon="check" busy={step.isPending} reason={why('ack')} onClick={() => act('ack')}>
        Acknowledge
      </Button>
      <Button small reason={why('resolve')} onClick={() => act('resolve')}>
        Resolve
      </Button>
      <SilenceMenu small reason={why('silence')} onChoose={(duration) => act('silence', duration)} />
    </BulkBar>
  )
}
