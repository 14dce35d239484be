import { duration } from '../../lib/format.ts'
import { useList } from '../../lib/query.ts'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import type { Job } from './types.ts'

function JobState({ job }: { job: Job }) {
  if (job.running) return <State kind="half">Running</State>
  if (job.last_status === null) return <State kind="pending">Not yet</State>
  if (job.last_status === 'ok' || job.last_status === 'success') return <State kind="pass">Done</State>
  return <State kind="fail">{job.last_status === 'failed' ? 'Failed' : job.last_status}</State>
}

const COLUMNS: readonly Column<Job>[] = [
  { key: 'name', title: 'Job', fixed: true, cell: (row) => <span className="mono">{row.name}</span> },
  { key: 'state', title: 'Last run', fixed: true, cell: (row) => <JobState job={row} /> },
  { key: 'when', title: 'When', priority: 2, cell: (row) => <Time at={row.last_run_at} as="relative" /> },
  {
    key: 'took',
    title: 'Took',
    num: true,
    priority: 3,
    cell: (row) =>
      row.last_ms === null ? '' : row.last_ms < 1000 ? `${row.last_ms} ms` : duration(row.last_ms),
  },
  { key: 'next', title: 'Next', priority: 1, cell: (row) => <Time at={row.next_run_at} as="relative" /> },
  {
    key: 'plan',
    title: 'Schedule',
    priority: 4,
    cell: (row) => <span className="mono t2">{row.schedule}</span>,
  },
]

/** Work that goes on by itself. */
export function InstanceJobs() {
  const list = useList<Job>('/v1/instance/jobs')
  return (
    <Panel title="Jobs" sub="work that goes on by itself, UTC">
      <div className="list">
        <Table
          name="jobs"
          caption="Jobs"
          columns={COLUMNS}
          list={list}
          rowId={(row) => row.name}
          rowName={(row) => row.name}
          empty={<p className="pad t13 t2">No job is set up.</p>}
        />
      </div>
    </Panel>
  )
}
