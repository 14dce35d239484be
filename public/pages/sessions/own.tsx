import { useState } from 'react'
import { api } from '../../lib/api.ts'
import { refresh, useList } from '../../lib/query.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'
import { agentName } from './agent.ts'
import type { Session } from './types.ts'

/** Where, with what, since when: the same for own sessions and those of others. */
export const SESSION_COLUMNS: readonly Column<Session>[] = [
  {
    key: 'agent',
    title: 'Program',
    fixed: true,
    cell: (row) => (
      <>
        <span title={row.user_agent ?? undefined}>{agentName(row.user_agent)}</span>
        <span className="sub">
          <span className="mono">{row.ip ?? 'unknown address'}</span>
          {row.current && (
            <>
              {' '}
              <State kind="accent">This session</State>
            </>
          )}
        </span>
      </>
    ),
  },
  {
    key: 'seen',
    title: 'Last seen',
    priority: 2,
    cell: (row) => <Time at={row.last_seen_at} as="relative" />,
  },
  {
    key: 'created',
    title: 'Signed in',
    priority: 3,
    cell: (row) => <Time at={row.created_at} as="relative" />,
  },
  { key: 'ends', title: 'Ends', priority: 4, cell: (row) => <Time at={row.expires_at} as="relative" /> },
]

/** The sessions of the person who is signed in. */
export function OwnSessionsPanel() {
  const list = useList<Session>('/v1/me/sessions')
  const [asking, setAsking] = useState(false)
  const others = list.items.filter((session) => !session.current).length
  const end = async (session: Session) => {
    try {
      await api.delete(`/v1/me/sessions/${session.id}`)
      notify({ kind: 'pass', text: `The session on ${agentName(session.user_agent)} has ended` })
    } catch (error) {
      notifyProblem(error)
    }
    await refresh('/v1/me/sessions')
  }
  const columns: readonly Column<Session>[] = [
    ...SESSION_COLUMNS,
    {
      key: 'act',
      title: 'Action',
      fixed: true,
      num: true,
      cell: (row) => (
        <Button
          small
          kind="danger"
          reason={row.current ? 'log out to end this one' : undefined}
          onClick={() => void end(row)}
        >
          End<span className="vh"> the session on {agentName(row.user_agent)}</span>
        </Button>
      ),
    },
  ]
  return (
    <Panel
      title="Your sessions"
      sub="end those you do not know, then change the password"
      actions={
        <Button
          small
          reason={others === 0 ? 'there is no other session' : undefined}
          onClick={() => setAsking(true)}
        >
          End all others
        </Button>
      }
    >
      <div className="list">
        <Table
          name="own-sessions"
          caption="Your sessions"
          columns={columns}
          list={list}
          two
          rowId={(row) => row.id}
          rowName={(row) => agentName(row.user_agent)}
          empty={<p className="pad t13 t2">No session.</p>}
        />
      </div>
      <EndOthers open={asking} onClose={() => setAsking(false)} />
    </Panel>
  )
}

function EndOthers({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <ConfirmDialog
      open={open}
      title="End all other sessions?"
      confirmLabel="End the others"
      onClose={onClose}
      onConfirm={async () => {
        await api.delete('/v1/me/sessions')
        notify({ kind: 'pass', text: 'All other sessions have ended' })
        await refresh('/v1/me/sessions')
      }}
    >
      <p>Every other browser that is signed in as you must sign in again. This one stays.</p>
    </ConfirmDialog>
  )
}
