import { useMutation } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { bytes } from '../../lib/format.ts'
import { refresh, useList } from '../../lib/query.ts'
import type { Backup } from '../../lib/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Empty } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'

const PATH = '/v1/instance/backups'

const COLUMNS: readonly Column<Backup>[] = [
  {
    key: 'name',
    title: 'File',
    fixed: true,
    cell: (row) => <span className="mono brk">{row.name}</span>,
  },
  { key: 'made', title: 'Made', cell: (row) => <Time at={row.created_at} as="relative" /> },
  { key: 'kind', title: 'Kind', priority: 2, cell: (row) => row.kind },
  { key: 'size', title: 'Size', num: true, priority: 1, cell: (row) => bytes(row.bytes) },
  {
    key: 'verified',
    title: 'Verified',
    cell: (row) => (row.verified ? <State kind="pass">Yes</State> : <State kind="fail">No</State>),
  },
  {
    key: 'sha',
    title: 'SHA-256',
    priority: 3,
    cell: (row) => (
      <span className="flex g4">
        <span className="mono t3">{row.sha256.slice(0, 12)}…</span>
        <CopyButton text={row.sha256} what={`SHA-256 of ${row.name}`} />
      </span>
    ),
  },
]

/** Made every night and by hand; each is opened and checked before it counts. */
export function InstanceBackups({ path }: { path: string }) {
  const list = useList<Backup>(PATH)
  const make = useMutation({
    mutationFn: () => api.post<Backup>(PATH),
    onSuccess: async (made) => {
      notify({
        kind: 'pass',
        text: `${made.name}, ${bytes(made.bytes)}, ${made.verified ? 'verified' : 'not verified'}`,
      })
      await refresh(PATH)
    },
    onError: (error) => notifyProblem(error, 'No backup was made'),
  })
  const button = (
    <Button kind="primary" icon="archive" busy={make.isPending} onClick={() => make.mutate()}>
      {make.isPending ? 'Backing up' : 'Back up now'}
    </Button>
  )
  return (
    <Panel
      title="Backups"
      sub="made while running, without interruption"
      actions={button}
      foot={
        <>
          <span>
            They lie in <span className="mono brk">{path}/backups</span>: copy them to another machine.
          </span>
          <span>
            Restore with <span className="mono">wardpost restore BACKUP --data DIR</span>
          </span>
        </>
      }
    >
      <div className="list">
        <Table
          name="backups"
          caption="Backups, newest first"
          columns={COLUMNS}
          list={list}
          rowId={(row) => row.name}
          rowName={(row) => row.name}
          empty={
            <Empty kind="yet" icon="archive" title="No backup yet">
              The first one is made this night, or now.
            </Empty>
          }
        />
      </div>
    </Panel>
  )
}
