import { useList } from '../../lib/query.ts'
import { useView } from '../../lib/view.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Table } from '../../ui/table.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { JobState, took } from './jobs.tsx'
import type { Job, JobRun } from './types.ts'

const COLUMNS: readonly Column<JobRun>[] = [
  { key: 'state', title: 'Result', fixed: true, cell: (row) => <JobState status={row.status} /> },
  { key: 'began', title: 'Began', fixed: true, cell: (row) => <Time at={row.started_at} as="exact" /> },
  { key: 'took', title: 'Took', num: true, priority: 1, cell: (row) => took(row.ms) },
  {
    key: 'detail',
    title: 'What it did',
    priority: 2,
    className: 'brk',
    cell: (row) => <span className="t2">{row.detail}</span>,
  },
]

/** What a job did before, newest first. */
export function JobRuns({ job }: { job: Job }) {
  const view = useView()
  const list = useList<JobRun>(`/v1/instance/jobs/${encodeURIComponent(job.name)}/runs`)
  return (
    <Panel
      title={`Runs of ${job.name}`}
      sub="newest first"
      actions={
        <Button kind="quiet" small icon="x" onClick={() => view.set({ job: undefined })}>
          Close
        </Button>
      }
    >
      <div className="list">
        <Table
          name="job-runs"
          caption={`Runs of ${job.name}`}
          columns={COLUMNS}
          list={list}
          rowId={(row) => row.id}
          rowName={(row) => row.started_at}
          empty={
            <Empty kind="yet" icon="refresh" title="It has not run yet">
              Its first run is planned; it can also be started now.
            </Empty>
          }
        />
      </div>
    </Panel>
  )
}
