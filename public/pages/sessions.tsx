import { useState } from 'react'
import { api } from '../lib/api.ts'
import { useCan, useMe } from '../lib/me.ts'
import { refresh, useList } from '../lib/query.ts'
import { useTitle } from '../lib/view.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { PageHead, Panel } from '../ui/panel.tsx'
import { Table } from '../ui/table.tsx'
import type { Column } from '../ui/table.tsx'
import { notify } from '../ui/toast.tsx'
import { agentName } from './sessions/agent.ts'
import { OwnSessionsPanel, SESSION_COLUMNS } from './sessions/own.tsx'
import type { TenantSession } from './sessions/types.ts'

/** /settings/sessions: one's own, and those of everybody in the tenant for who may see them. */
export function SessionsPage() {
  const can = useCan()
  const { allowed, reason } = can('settings:read')
  useTitle('Sessions')
  return (
    <>
      <PageHead title="Sessions" lead="Who is signed in, where and since when." />
      <div className="stack">
        <OwnSessionsPanel />
        {allowed ? <TenantSessions /> : <Notice>The sessions of others are not shown: {reason}.</Notice>}
      </div>
    </>
  )
}

function TenantSessions() {
  const me = useMe()
  const can = useCan()
  const list = useList<TenantSession>('/v1/settings/sessions')
  const [ending, setEnding] = useState<TenantSession>()
  const { reason } = can('settings:write')
  const columns: readonly Column<TenantSession>[] = [
    {
      key: 'user',
      title: 'User',
      fixed: true,
      cell: (row) => (
        <>
          <span className="med">{row.user_name}</span>
          <span className="sub">{row.user_email}</span>
        </>
      ),
    },
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
          reason={row.current ? 'log out to end this one' : reason}
          onClick={() => setEnding(row)}
        >
          End<span className="vh"> the session of {row.user_name}</span>
        </Button>
      ),
    },
  ]
  return (
    <Panel title={`Everybody in ${me.tenant.name}`}>
      <div className="list">
        <Table
          name="sessions"
          caption={`Sessions of everybody in ${me.tenant.name}`}
          columns={columns}
          list={list}
          two
          rowId={(row) => row.id}
          rowName={(row) => row.user_name}
          empty={<p className="pad t13 t2">Nobody is signed in.</p>}
        />
      </div>
      {ending !== undefined && <EndSession session={ending} onClose={() => setEnding(undefined)} />}
    </Panel>
  )
}

function EndSession({ session, onClose }: { session: TenantSession; onClose: () => void }) {
  return (
    <ConfirmDialog
      open
      title={`End the session of ${session.user_name}?`}
      confirmLabel="End session"
      onClose={onClose}
      onConfirm={async () => {
        await api.delete(`/v1/settings/sessions/${session.id}`)
        notify({ kind: 'pass', text: `The session of ${session.user_name} has ended` })
        await refresh('/v1/settings/sessions', '/v1/me/sessions')
      }}
    >
      <p>
        {agentName(session.user_agent)} at <span className="mono">{session.ip}</span> is signed out at once.
        {` ${session.user_name}`} can sign in again; to keep somebody out, remove them from the users.
      </p>
    </ConfirmDialog>
  )
}
