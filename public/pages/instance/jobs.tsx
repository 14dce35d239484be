import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { api } from '../../lib/api.ts'
import { duration, nowMs } from '../../lib/format.ts'
import { POLL_MS, refresh } from '../../lib/query.ts'
import type { Page } from '../../lib/types.ts'
import { useView } from '../../lib/view.ts'
import { Button } from '../../ui/button.tsx'
import { A } from '../../ui/link.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Panel } from '../../ui/panel.tsx'
import { State } from '../../ui/state.tsx'
import { Time } from '../../ui/time.tsx'
import { notify, notifyProblem } from '../../ui/toast.tsx'
import { JobRuns } from './runs.tsx'
import type { Job } from './types.ts'

const PATH = '/v1/instance/jobs'
/** While something runs, one wants to see it end. */
const WATCH_MS = 1000

/** Work that goes on by itself: when, how it ended, what it did before, and once more by hand. */
export function InstanceJobs() {
  const view = useView()
  const chosen = view.get('job')
  const list = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => api.get<Page<Job>>(PATH, {}, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.items.some((job) => job.running) === true ? WATCH_MS : POLL_MS,
  })
  const jobs = list.data?.items ?? []
  const job = jobs.find(({ name }) => name === chosen)
  useEnds(jobs)
  return (
    <>
      <Panel
        title="Jobs"
        sub="work that goes on by itself, UTC"
        foot="A job that was started goes on when you leave this page."
      >
        {list.error !== null && jobs.length === 0 && (
          <div className="pad">
            <ProblemNotice error={list.error} retry={() => void list.refetch()} />
          </div>
        )}
        <div className="list">
          <table className="t two">
            <caption className="vh">Jobs</caption>
            <thead>
              <tr>
                <th scope="col">Job</th>
                <th scope="col">Last run</th>
                <th scope="col" className="p2">
                  When
                </th>
                <th scope="col" className="num p3">
                  Took
                </th>
                <th scope="col" className="p1">
                  Next
                </th>
                <th scope="col" className="num">
                  Action
                </th>
              </tr>
            </thead>
            <tbody>
              {jobs.map((row) => (
                <JobRow key={row.name} job={row} open={row.name === chosen} />
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
      {job !== undefined && <JobRuns key={job.name} job={job} />}
    </>
  )
}

/** What was running and is not any more is said, and its history is read again. */
function useEnds(jobs: readonly Job[]): void {
  const before = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const running = new Set(jobs.filter((job) => job.running).map((job) => job.name))
    const ended = jobs.filter((job) => before.current.has(job.name) && !running.has(job.name))
    before.current = running
    for (const job of ended) {
      const good = job.last_status === 'ok'
      notify({
        kind: good ? 'pass' : 'fail',
        text: `${job.name} ${good ? 'is done' : 'failed'}${job.last_detail === null ? '' : `: ${job.last_detail}`}`,
      })
      void refresh(`${PATH}/${encodeURIComponent(job.name)}/runs`)
    }
  }, [jobs])
}

function JobRow({ job, open }: { job: Job; open: boolean }) {
  const view = useView()
  return (
    <tr aria-selected={open || undefined}>
      <td>
        <A className="mono" href={view.with({ job: open ? undefined : job.name })} aria-expanded={open}>
          {job.name}
        </A>
        <span className="sub mono">{job.schedule}</span>
      </td>
      <td>
        <JobState
          status={job.running ? 'running' : job.last_status}
          since={job.running ? job.last_run_at : null}
        />
      </td>
      <td className="p2">
        <Time at={job.last_run_at} as="relative" />
      </td>
      <td className="num p3">{took(job.last_ms)}</td>
      <td className="p1">
        <Time at={job.next_run_at} as="relative" />
      </td>
      <td className="num">
        <RunButton job={job} />
      </td>
    </tr>
  )
}

export function took(ms: number | null): string {
  if (ms === null) return ''
  return ms < 1000 ? `${Math.round(ms)}\u00a0ms` : duration(ms)
}

export function JobState({ status, since = null }: { status: Job['last_status']; since?: string | null }) {
  if (status === 'running') {
    const going = since === null ? '' : `, ${duration(nowMs() - new Date(since).getTime())}`
    return <State kind="half">Running{going}</State>
  }
  if (status === null) return <State kind="pending">Not yet</State>
  if (status === 'ok') return <State kind="pass">Done</State>
  return <State kind="fail">{status === 'failed' ? 'Failed' : 'Interrupted'}</State>
}

function RunButton({ job }: { job: Job }) {
  const view = useView()
  const run = useMutation({
    mutationFn: () => api.post(`${PATH}/${encodeURIComponent(job.name)}/run`),
    onSuccess: async () => {
      notify({ kind: 'info', text: `${job.name} has begun` })
      view.set({ job: job.name })
      await refresh(PATH)
    },
    onError: (error) => notifyProblem(error, `${job.name} was not started`),
  })
  return (
    <Button
      small
      icon="refresh"
      busy={run.isPending}
      reason={job.running ? 'it is running' : undefined}
      onClick={() => run.mutate()}
    >
      Run now<span className="vh"> {job.name}</span>
    </Button>
  )
}
